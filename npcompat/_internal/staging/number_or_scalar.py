"""Values that are a number of Python's or a scalar of NumPy's, as data decide.

`best = -math.inf`, and then `best = a[i]` under a condition on data, gives such a value. Python's
numbers take the dtypes of the arrays beside them, and scalars keep their own. So an operator on
such a value computes both results, of which the program takes one; beside an array both must have
one dtype.
"""

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

import numpy as onp

from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.staged_runs import refuse
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import execution, handles, late_bound
from npcompat._internal.dispatch.symbolic_number import SymbolicNumber, expect, symbolic
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.support.errors import RefusedError

Result = Callable[[], Any]
expression: list[Callable[[Any, Result, Result], Any]] = []
"""Holds the function that stages `then() if flag else otherwise()`; `wiring.py` fills it in."""


class NumberOrScalar(TracedNumber):
    """Number of Python's or scalar of NumPy's.

    Parameters
    ----------
    name : str
        Name of the variable, for messages.
    number : SymbolicNumber
        The number, if `flag` is not set.
    scalar : Handle
        The scalar, if it is set.
    flag : tracer
        True if the value is the scalar.
    """

    __slots__ = ("_value", "flag", "name", "number", "scalar")
    __array_priority__ = 0.0  # NumPy's scalars leave operators to this class

    def __init__(self, name: str, number: SymbolicNumber, scalar: Handle, flag: Any) -> None:
        self.name, self.number, self.scalar, self.flag = name, number, scalar, flag
        self._value = self._chosen(float if scalar.dtype.kind == "f" else number.kind)
        super().__init__(self._value.payload)

    def _chosen(self, dtype: Any) -> Value:
        """Return the number or the scalar in a dtype, or weakly typed as a class of Python's."""
        trace: Any = modes.current().trace
        number = numbers.element(self.number.payload, onp.dtype(self.number.kind))
        values = [Value(self.flag), Value(number)]
        values = [*map(trace.adopt, values), handles.read(self.scalar)]
        result: Value = execution.run(_choice(dtype), values)
        return result

    def as_operand(self) -> Value:
        """Return the value as an operand of an operator, weakly typed."""
        return self._value

    def check_default(self, use: str) -> None:
        """Refuse to make an array, unless both lead to one dtype."""
        if dtypes.strong(self.number.kind) != self.scalar.dtype:
            self.refuse(use)

    def as_result(self) -> Value:
        """Return the value as a scalar, which a compiled function can return."""
        dtype = self.scalar.dtype
        found = self._chosen(dtype)
        if dtype.kind != "b":
            message = (
                f"{self.name} is {describe(self.number.kind, dtype)}; the function returns a scalar "
                f"{dtype}, which does not hold the number"
            )
            expect(numbers.inexact(self.number.payload, dtype, self.flag), RefusedError, message)
        return found

    def element(self, dtype: onp.dtype[Any]) -> Any:
        """Return a scalar of an array's dtype, which can be written into the array."""
        if dtype.kind in "iu":
            self.refuse("is written into an array of integers")
        return handles.wrap_scalar(self._chosen(dtype))

    @property
    def is_int(self) -> bool:
        """True if both are ints, which can be positions."""
        return self.number.kind is int and self.scalar.dtype.kind in "iu"

    def check(self, op: Op, dtype: Any) -> None:
        """Refuse a power of ints, of which negative ones are an error."""
        if op.name == "_npi_power" and self.number.kind is int:
            self.refuse("is an operand of a power")

    @property
    def may_be(self) -> tuple[Any, Any]:
        """The two types that the value may have."""
        return self.number.kind, self.scalar.dtype

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for a use that depends on which of the two the value is."""
        kind, dtype = self.may_be
        refuse(
            f"{self.name} is {describe(kind, dtype)}, and {what}, where the two mean different "
            f"things; let it begin as a scalar, np.{dtype}(..)"
        )

    def __repr__(self) -> str:
        return f"<{describe(*self.may_be)}>"

    def __getattr__(self, name: str) -> Any:
        public = not name.startswith("__")
        if public and (hasattr(onp.float64, name) or hasattr(onp.int64, name)):
            self.refuse(f"its attribute {name!r} is asked for")
        raise AttributeError(f"a number or scalar has no attribute {name!r}")

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def _unknown(self, *_: Any, **__: Any) -> Any:
        self.refuse("its value is asked for while the function is being compiled")

    __bool__ = __index__ = __int__ = __float__ = __complex__ = __str__ = __format__ = _unknown
    __round__ = __trunc__ = __floor__ = __ceil__ = __reduce_ex__ = __hash__ = _unknown


def describe(kind: type, dtype: onp.dtype[Any]) -> str:
    """Return what such a value is, for messages."""
    article = "an" if kind is int else "a"
    return f"{article} {kind.__name__} of Python's or a scalar {dtype}, as data decide"


def can_be_either(kind: type, dtype: onp.dtype[Any]) -> bool:
    """Return True if a number of a class and a scalar of a dtype can be one such value."""
    if kind is bool or dtype.kind == "b":
        return kind is bool and dtype.kind == "b"
    if dtype.kind == "f":
        return dtype.itemsize <= 8
    return dtype.kind in "iu" and (kind is float or dtype.type is not onp.uint64)


@lru_cache(maxsize=64)
def _choice(dtype: Any) -> Op:
    def compute(xp: Any, flag: Any, number: Any, scalar: Any) -> Any:
        return numbers.chosen(flag, scalar, number, dtype)

    return Op(
        "_npx_number_or_scalar",
        compute,
        ("flag", "number", "scalar"),
        kernels={"jax": compute},
        differentiable=dtype is float or getattr(dtype, "kind", "") in "fcV",
    )


def _takes(other: Any) -> bool:
    """Return True for numbers and scalars, beside which the result is a number or a scalar, too."""
    return isinstance(other, (bool, int, float, complex, onp.generic, TracedNumber)) or (
        type(other) in late_bound.scalars
    )


def _operator(compute: Callable[[Any, Any], Any], reflected: bool) -> Any:
    def method(self: NumberOrScalar, other: Any) -> Any:
        other = symbolic(other)
        if not _takes(other):
            return NotImplemented

        def result(own: Any) -> Any:
            return compute(other, own) if reflected else compute(own, other)

        return expression[0](self.flag, lambda: result(self.scalar), lambda: result(self.number))

    return method


def _unary(compute: Callable[[Any], Any]) -> Any:
    def method(self: NumberOrScalar) -> Any:
        return expression[0](self.flag, lambda: compute(self.scalar), lambda: compute(self.number))

    return method


for _name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "and_", "or_", "xor"):
    _compute, _plain = getattr(operator, _name), _name.strip("_")
    setattr(NumberOrScalar, f"__{_plain}__", _operator(_compute, False))
    setattr(NumberOrScalar, f"__r{_plain}__", _operator(_compute, True))
for _name in ("lshift", "rshift", *numbers.COMPARISONS):
    setattr(NumberOrScalar, f"__{_name}__", _operator(getattr(operator, _name), False))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(NumberOrScalar, f"__{_name}__", _unary(getattr(operator, _name)))


__all__ = ["NumberOrScalar", "can_be_either", "describe"]
