"""Infix operators of arrays, out of place and in place.

Hot path: an operator goes straight to the dispatcher.
"""

import operator as python
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as onp
from numpy._core._exceptions import _UFuncNoLoopError

from npcompat._internal.backend.jax import sharding
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value, bump_version
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import (
    array_like,
    execution,
    handles,
    late_bound,
    subclasses,
    writes,
)
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.backends import XLA_ARRAY
from npcompat._internal.dispatch.placement import SCALARS
from npcompat._internal.dispatch.traced_number import TracedNumber, has_one_meaning
from npcompat._internal.native import fast_path
from npcompat.numpy import _arithmetic, _bits, _comparison, _floats, _products
from npcompat.numpy._checks import is_live
from npcompat.numpy._integer_powers import refuse_negative_powers
from npcompat.numpy._other_classes import (
    from_numpys,
    is_jaxs,
    is_sparse,
    means_more,
    names_class,
    overrides,
    to_numpys,
)
from npcompat.numpy._overrides import overridden
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy._ufunc import name_of, on_host, store

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_apply = apply
Kind = TypeVar("Kind", bound=type)
_OPERANDS = (int, float, bool, complex, list, tuple, onp.ndarray, onp.generic)
Infix = Callable[..., Any]
_EXPONENTS = (
    (2, _arithmetic._square, 0),
    (-1, _arithmetic._reciprocal, 11),
    (0.5, _floats._sqrt, 11),
)


def _on_scalars(op: Op, infix: Infix | None, args: tuple[Any, ...]) -> Any:
    """Apply NumPy's infix operator to scalars on the host, which stand for NumPy's scalars.

    Returns None for other operands, and in other modes.
    """
    mode = modes.current()
    if infix is None or op.outputs != 1 or not mode.is_default:
        return None
    operands = []
    for x in args:
        if (
            type(x) in late_bound.scalars
            and type(x._value.payload) is onp.ndarray
            and dtypes.on_devices(x.dtype)
        ):
            operands.append(x._value.payload)
        elif type(x) in (int, float, complex) or (
            isinstance(x, onp.generic) and not isinstance(x, Handle) and dtypes.on_devices(x.dtype)
        ):
            operands.append(x)
        else:
            return None
    found = host.quick(
        op,
        operands,
        mode.numpy_dtypes,
        lambda *arrays: infix(*[a[()] if type(a) is onp.ndarray else a for a in arrays]),
    )
    return None if found is None else handles.wrap_scalar(Value(found))


def _by_exponent(x: Any, exponent: Any) -> Op | None:
    """Return the operator that NumPy's `**` takes for squares, reciprocals and roots."""
    if type(x) is late_bound.ndarray and type(exponent) in (int, float):
        for number, op, _ in _EXPONENTS:
            if type(number) is type(exponent) and number == exponent:
                return (
                    op
                    if dtypes.is_inexact(x.dtype)
                    or (op is _arithmetic._square and x.dtype.kind in "iub")
                    else None
                )
    return None


def _binary(op: Op, infix: Infix, x1: Any, x2: Any) -> Any:
    """Apply a binary operator; NotImplemented for operands that refuse arrays."""
    if (
        type(x1) is not late_bound.ndarray
        and type(x2) is not late_bound.ndarray
        and (found := _on_scalars(op, infix, (x1, x2))) is not None
    ):
        return found
    if not (isinstance(x1, Handle) and isinstance(x2, Handle)):
        ours, other = (x1, x2) if isinstance(x1, Handle) else (x2, x1)
        if (
            means_more(other)
            or (names_class(other) and not is_live(ours))
            or (not isinstance(other, _OPERANDS) and is_sparse(other))
            or (is_jaxs(other) and not is_live(ours))
        ):
            return infix(to_numpys(x1, other), to_numpys(x2, other))
        if type(ours) in late_bound.scalars and _is_object(ours, other):
            if infix not in _COMPARISONS and handles.read(ours).node is not None:
                raise TypeError(
                    f"a recorded scalar meets a {type(other).__name__}, whose operators have no "
                    "derivatives here: give a number, as float(y), or x.item()"
                )
            number = handles.to_host(ours)[()]  # NumPy's scalars leave it to the object's operator
            return infix(number, other) if ours is x1 else infix(other, number)
        if not isinstance(other, _OPERANDS) and _takes_over(type(other)):
            return _by_class(infix, x1, x2, ours, other)
        if isinstance(other, TracedNumber):
            if other.needs_wider(op, ours.dtype):
                wide = ours.astype(onp.int64)  # type: ignore[union-attr]
                return _binary(op, infix, *((wide, x2) if ours is x1 else (x1, wide)))
            types = (ours.dtype, ours.dtype)
            numbers = (None, other) if ours is x1 else (other, None)
            if type(ours) in late_bound.scalars and not has_one_meaning(
                op, types, numbers, op.named(())
            ):
                return NotImplemented  # the number computes both
        if op.ufunc is onp.multiply and _repeats(ours, other):
            return NotImplemented
        if not isinstance(other, _OPERANDS) and hasattr(other, "__array_wrap__"):
            return _of_truths(_apply(op, (x1, x2)), infix, ours, other)
    return _apply(op, (x1, x2))


def _by_class(infix: Infix, x1: Any, x2: Any, ours: Any, other: Any) -> Any:
    """Apply a binary operator as the other operand's class does; as NumPy, where that declines.

    A class that knows NumPy's arrays only, as dates of pandas, gets one over the same memory.
    """
    if getattr(type(other), "__array_ufunc__", _apply) is None:
        return NotImplemented
    if x1 is ours:
        method = getattr(type(other), _REFLECTED[infix], None)
        made = NotImplemented if method is None else method(other, ours)
        if made is not NotImplemented:
            return made
    return from_numpys(infix(to_numpys(x1, other), to_numpys(x2, other)), other)


_REFLECTED: dict[Infix, str] = {
    python.lt: "__gt__",
    python.le: "__ge__",
    python.eq: "__eq__",
    python.ne: "__ne__",
    python.gt: "__lt__",
    python.ge: "__le__",
    python.add: "__radd__",
    python.sub: "__rsub__",
    python.mul: "__rmul__",
    python.truediv: "__rtruediv__",
    python.floordiv: "__rfloordiv__",
    python.mod: "__rmod__",
    divmod: "__rdivmod__",
    python.pow: "__rpow__",
    python.matmul: "__rmatmul__",
    python.and_: "__rand__",
    python.or_: "__ror__",
    python.xor: "__rxor__",
    python.lshift: "__rlshift__",
    python.rshift: "__rrshift__",
}
"""Names of the methods by which the right operand's class answers an operator."""


def _of_truths(made: Any, infix: Infix, ours: Any, other: Any) -> Any:
    """Return a result as bools, if it is torch's of truths: its `__array_wrap__` makes uint8 of them."""
    names = [str(getattr(x, "dtype", "")).removeprefix("torch.") for x in (made, ours, other)]
    if names[0] == "uint8" and (infix in _COMPARISONS or names[1:] == ["bool", "bool"]):
        return made.bool() if hasattr(made, "bool") else made
    return made


_COMPARISONS = (python.lt, python.le, python.eq, python.ne, python.gt, python.ge)


def _is_object(x: Any, other: Any) -> bool:
    """Return True for an object that has operators of its own beside a scalar, as fractions."""
    if isinstance(other, (*_OPERANDS, str, bytes, type(None), TracedNumber)):
        return False
    return late_bound.is_host_scalar(x) or handles.is_known(x)


def _repeats(x: Any, other: Any) -> bool:
    """Return True if Python repeats the sequence, as in `[1, 2] * np.int64(3)`, or raises."""
    return type(x) in late_bound.scalars and isinstance(
        other, str | bytes | bytearray | list | tuple
    )


def _takes_over(kind: Any) -> bool:
    """Return True if a class has its own operators.

    Its `__array_ufunc__` is None, or it has a higher priority and is no array of numbers, as
    matrices of SymPy's.
    """
    if hasattr(kind, "__array_ufunc__"):
        return kind.__array_ufunc__ is None
    priority = getattr(kind, "__array_priority__", 0)
    numeric = hasattr(kind, "__array__") and hasattr(kind, "__dlpack__")
    return isinstance(priority, int | float) and priority > 0 and not numeric


def _comparison_of(op: Op, infix: Infix, x1: Any, x2: Any, otherwise: bool) -> Any:
    """Apply `==` or `!=`; operands that can't be compared are unequal."""
    if x2 is None and dtypes.on_devices(x1.dtype):
        # A number never equals None, also in a compiled function.
        return handles.as_scalar(array_like.array_of(onp.full(x1.shape, otherwise)))
    try:
        return _binary(op, infix, x1, x2)
    except _UFuncNoLoopError:
        host1, host2 = [handles.to_host(x) if isinstance(x, Handle) else x for x in (x1, x2)]
        found = host1 != host2 if otherwise else host1 == host2  # records are compared by NumPy
        made, class_source = (
            array_like.array_of(onp.asarray(found)),
            subclasses.result_class_source((x1, x2)),
        )
        return (
            handles.as_scalar(made)
            if class_source is None
            else subclasses.wrapped(class_source, made, late_bound.ufuncs[op.name], (x1, x2), 0)
        )


def _in_place(op: Op, x: Any, *others: Any) -> Any:
    """Apply a binary operator and write the result into the first operand."""
    if type(x) not in late_bound.ordinary and overrides(x):
        made = overridden(op, "__call__", (x, *others), {"out": (x,)})
        if made is not NotImplemented:
            return made
    for other in others:
        if not isinstance(other, Handle) and not isinstance(other, _OPERANDS):
            if getattr(type(other), "__array_ufunc__", _apply) is None:
                raise TypeError(
                    f"operand {type(other).__name__!r} does not support ufuncs (__array_ufunc__=None)"
                )
            if is_sparse(other) or _takes_over(type(other)) or (is_jaxs(other) and not is_live(x)):
                return NotImplemented  # Python tries the operator that makes a new array
            made = overridden(op, "__call__", (x, other), {"out": (x,)})
            if made is not NotImplemented:
                return made
    mode = modes.current()
    if (
        mode.may_touch_host_buffers
        and op.ufunc is not None
        and on_host(op, (x, *others), x, mode.is_default)
    ):
        return x
    # Subclasses may override the result.
    known = type(x) is late_bound.ndarray and all(
        [type(other) in late_bound.ordinary for other in others]
    )
    rare = x._extra
    free = rare is None or (rare.leaf is None and not rare.readonly)
    if (
        mode.is_default
        and known
        and free
        and x._view is None
        and type(x._value.payload) is XLA_ARRAY
    ):
        if _keeps_type(op, x, others):
            writes.update(x, op, [array_like.as_value(other) for other in others])
            return x
        value, before = _apply(op, (x, *others))._value, x._value.payload
        if (
            type(value.payload) is XLA_ARRAY
            and value.payload.aval == before.aval
            and not sharding.several[0]
        ):
            bump_version(x)
            x._value = value  # short form of `store`
            return x
        store(x, value, what=f"ufunc '{name_of(op)}'")
        return x
    value = execution.run(op, [handles.read(x), *map(array_like.as_value, others)])
    store(x, value, what=f"ufunc '{name_of(op)}'")
    return x


_LARGE = 1 << 20
"""Size in bytes from which an array on XLA is overwritten in place (buffer donation).

Below it, a new buffer costs less than the check that it can be overwritten.
"""


def _keeps_type(op: Op, x: Any, others: tuple[Any, ...]) -> bool:
    """Return True if an array is large and the operator surely keeps its shape and dtype."""
    if x.nbytes < _LARGE or op.outputs != 1:
        return False
    kinds: list[Any] = [x.dtype]
    for other in others:
        if type(other) in SCALARS:
            kinds.append(type(other))
        elif isinstance(other, Handle) and other.shape in ((), x.shape):
            kinds.append(other.dtype)
        else:
            return False
    try:
        return bool(op.rule(tuple(kinds), op.named(()))[1] == x.dtype)
    except TypeError:  # the call itself raises it
        return False


def _power(op: Op, infix: Infix, x: Any, exponent: Any) -> Any:
    """Apply `**`, with NumPy's special exponents and its refusal of negative integer powers."""
    if (chosen := _by_exponent(x, exponent)) is not None:
        return _apply(chosen, (x,))
    refuse_negative_powers(x, exponent)
    return _binary(op, infix, x, exponent)


def _power_in_place(op: Op, x: Any, exponent: Any) -> Any:
    """Apply `**=`, with NumPy's special exponents and refusals."""
    if (chosen := _by_exponent(x, exponent)) is not None:
        return _in_place(chosen, x)
    refuse_negative_powers(x, exponent)
    return _in_place(op, x, exponent)


def _product_in_place(op: Op, x: Any, other: Any) -> Any:
    """Apply `@=`; the result must fit the first operand."""
    _products.check_in_place(x, other)
    return _in_place(op, x, other)


def _of_one(op: Op, infix: Infix) -> Any:
    """Make a unary special method."""

    @fast_path.method("unary", op, infix)
    def method(self: Handle) -> Any:
        found = _on_scalars(op, infix, (self,))
        return _apply(op, (self,)) if found is None else found

    return method


def _of_two(op: Op, infix: Infix, do: Callable[..., Any] = _binary, **how: Any) -> tuple[Any, Any]:
    """Make a binary special method and its reflected one."""

    @fast_path.method("binary", op, infix, **how)
    def method(self: Handle, other: Any) -> Any:
        return do(op, infix, self, other)

    @fast_path.method("reflected", op, infix, **how)
    def reflected(self: Handle, other: Any) -> Any:
        return do(op, infix, other, self)

    return method, reflected


def _in_place_of(op: Op, do: Callable[..., Any] = _in_place) -> Any:
    """Make a special method that writes its result into the first operand."""

    def method(self: Handle, other: Any) -> Any:
        return do(op, self, other)

    # `**=` and `@=` check before they write, so they do not take the fast path.
    return fast_path.method("in place", op)(method) if do is _in_place else method


def _of_equality(op: Op, infix: Infix, otherwise: bool) -> Any:
    @fast_path.method("binary", op, infix)
    def method(self: Handle, other: Any) -> Any:
        return _comparison_of(op, infix, self, other, otherwise)

    return method


def _named(kind: Kind) -> Kind:
    """Set the names of a class's special methods."""
    for name, method in vars(kind).items():
        function = getattr(method, "__wrapped__", method)
        if isinstance(function, FunctionType):
            function.__name__, function.__qualname__ = name, f"{kind.__qualname__}.{name}"
            # Tracebacks and profiles show the code object's name.
            function.__code__ = function.__code__.replace(
                co_name=name, co_qualname=function.__qualname__
            )
    return kind


@_named
class Operators(Handle):
    """Mixin of `ndarray` for infix operators and comparisons."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __add__(self, other: ArrayLike, /) -> "ndarray": ...
        def __radd__(self, other: Any, /) -> "ndarray": ...
        def __sub__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rsub__(self, other: Any, /) -> "ndarray": ...
        def __mul__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rmul__(self, other: Any, /) -> "ndarray": ...
        def __truediv__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rtruediv__(self, other: Any, /) -> "ndarray": ...
        def __floordiv__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rfloordiv__(self, other: Any, /) -> "ndarray": ...
        def __mod__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rmod__(self, other: Any, /) -> "ndarray": ...
        def __pow__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rpow__(self, other: Any, /) -> "ndarray": ...
        def __matmul__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rmatmul__(self, other: Any, /) -> "ndarray": ...
        def __and__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rand__(self, other: Any, /) -> "ndarray": ...
        def __or__(self, other: ArrayLike, /) -> "ndarray": ...
        def __ror__(self, other: Any, /) -> "ndarray": ...
        def __xor__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rxor__(self, other: Any, /) -> "ndarray": ...
        def __lshift__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rlshift__(self, other: Any, /) -> "ndarray": ...
        def __rshift__(self, other: ArrayLike, /) -> "ndarray": ...
        def __rrshift__(self, other: Any, /) -> "ndarray": ...
        def __divmod__(self, other: ArrayLike, /) -> "tuple[ndarray, ndarray]": ...
        def __rdivmod__(self, other: Any, /) -> "tuple[ndarray, ndarray]": ...
        def __lt__(self, other: ArrayLike, /) -> "ndarray": ...
        def __le__(self, other: ArrayLike, /) -> "ndarray": ...
        def __gt__(self, other: ArrayLike, /) -> "ndarray": ...
        def __ge__(self, other: ArrayLike, /) -> "ndarray": ...
        def __eq__(self, other: object, /) -> "ndarray": ...  # type: ignore[override]
        def __ne__(self, other: object, /) -> "ndarray": ...  # type: ignore[override]
        def __neg__(self) -> "ndarray": ...
        def __pos__(self) -> "ndarray": ...
        def __abs__(self) -> "ndarray": ...
        def __invert__(self) -> "ndarray": ...
    else:
        __add__, __radd__ = _of_two(_arithmetic._add, python.add)
        __sub__, __rsub__ = _of_two(_arithmetic._subtract, python.sub)
        __mul__, __rmul__ = _of_two(_arithmetic._multiply, python.mul)
        __truediv__, __rtruediv__ = _of_two(_arithmetic._divide, python.truediv)
        __floordiv__, __rfloordiv__ = _of_two(_arithmetic._floor_divide, python.floordiv)
        __mod__, __rmod__ = _of_two(_arithmetic._remainder, python.mod)
        __pow__, __rpow__ = _of_two(
            _arithmetic._power, python.pow, _power, only_on_host=True, exponents=_EXPONENTS
        )
        __divmod__, __rdivmod__ = _of_two(_arithmetic._divmod, divmod)
        __matmul__, __rmatmul__ = _of_two(_products._matmul, python.matmul)
        __and__, __rand__ = _of_two(_bits._bitwise_and, python.and_)
        __or__, __ror__ = _of_two(_bits._bitwise_or, python.or_)
        __xor__, __rxor__ = _of_two(_bits._bitwise_xor, python.xor)
        __lshift__, __rlshift__ = _of_two(_bits._left_shift, python.lshift)
        __rshift__, __rrshift__ = _of_two(_bits._right_shift, python.rshift)
        __lt__, _ = _of_two(_comparison._less, python.lt)
        __le__, _ = _of_two(_comparison._less_equal, python.le)
        __gt__, _ = _of_two(_comparison._greater, python.gt)
        __ge__, _ = _of_two(_comparison._greater_equal, python.ge)
        __eq__ = _of_equality(_comparison._equal, python.eq, False)
        __ne__ = _of_equality(_comparison._not_equal, python.ne, True)
        __neg__ = _of_one(_arithmetic._negative, python.neg)
        __pos__ = _of_one(_arithmetic._positive, python.pos)
        __abs__ = _of_one(_arithmetic._absolute, python.abs)
        __invert__ = _of_one(_bits._invert, python.invert)
        del _
    __hash__ = None  # type: ignore[assignment]


@_named
class InPlaceOperators(Handle):
    """Mixin of `ndarray` for augmented assignment, such as `+=`."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __iadd__(self, other: ArrayLike, /) -> Self: ...
        def __isub__(self, other: ArrayLike, /) -> Self: ...
        def __imul__(self, other: ArrayLike, /) -> Self: ...
        def __itruediv__(self, other: ArrayLike, /) -> Self: ...
        def __ifloordiv__(self, other: ArrayLike, /) -> Self: ...
        def __imod__(self, other: ArrayLike, /) -> Self: ...
        def __ipow__(self, other: ArrayLike, /) -> Self: ...
        def __iand__(self, other: ArrayLike, /) -> Self: ...
        def __ior__(self, other: ArrayLike, /) -> Self: ...
        def __ixor__(self, other: ArrayLike, /) -> Self: ...
        def __ilshift__(self, other: ArrayLike, /) -> Self: ...
        def __irshift__(self, other: ArrayLike, /) -> Self: ...
        def __imatmul__(self, other: ArrayLike, /) -> Self: ...
    else:
        __iadd__ = _in_place_of(_arithmetic._add)
        __isub__ = _in_place_of(_arithmetic._subtract)
        __imul__ = _in_place_of(_arithmetic._multiply)
        __itruediv__ = _in_place_of(_arithmetic._divide)
        __ifloordiv__ = _in_place_of(_arithmetic._floor_divide)
        __imod__ = _in_place_of(_arithmetic._remainder)
        __ipow__ = _in_place_of(_arithmetic._power, _power_in_place)
        __iand__ = _in_place_of(_bits._bitwise_and)
        __ior__ = _in_place_of(_bits._bitwise_or)
        __ixor__ = _in_place_of(_bits._bitwise_xor)
        __ilshift__ = _in_place_of(_bits._left_shift)
        __irshift__ = _in_place_of(_bits._right_shift)
        __imatmul__ = _in_place_of(_products._matmul, _product_in_place)
