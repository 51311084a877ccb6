"""The infix operators of arrays, new and in place.

Hot path: an operator goes straight to the dispatcher.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numpy as onp
from numpy._core._exceptions import _UFuncNoLoopError

from npcompat._internal import dispatch, dtypes, execution, modes, short, subclasses
from npcompat._internal.handle import Handle
from npcompat._internal.op import Op
from npcompat.numpy import _arithmetic, _bits, _comparison, _products
from npcompat.numpy._overrides import overridden
from npcompat.numpy._ufunc import name_of, on_host, store

_apply = dispatch.apply
Kind = TypeVar("Kind", bound=type)
_OPERANDS = (int, float, bool, complex, list, tuple, onp.ndarray, onp.generic)


def _binary(op: Op, x1: Any, x2: Any) -> Any:
    """An infix operator; NotImplemented for operands that don't want to meet arrays."""
    if not (isinstance(x1, Handle) and isinstance(x2, Handle)):
        other = x2 if isinstance(x1, Handle) else x1
        if not isinstance(other, _OPERANDS) and _takes_over(type(other)):
            return NotImplemented
    return _apply(op, (x1, x2))


def _takes_over(kind: Any) -> bool:
    """Whether a class wants its own operators: its `__array_ufunc__` is None, or it has a priority and gives no array."""
    if hasattr(kind, "__array_ufunc__"):
        return kind.__array_ufunc__ is None
    priority = getattr(kind, "__array_priority__", 0)
    return isinstance(priority, int | float) and priority > 0 and not hasattr(kind, "__array__")


def _comparison_of(op: Op, x1: Any, x2: Any, otherwise: bool) -> Any:
    """Whether elements are equal, or not; what can't be compared is unequal."""
    if x2 is None and dtypes.on_devices(x1.dtype):
        return dispatch.as_scalar(dispatch.array_of(onp.full(x1.shape, otherwise)))  # no number is None, in a compiled function, too
    try:
        return _binary(op, x1, x2)
    except _UFuncNoLoopError:
        host1, host2 = [dispatch.to_host(x) if isinstance(x, Handle) else x for x in (x1, x2)]
        found = host1 != host2 if otherwise else host1 == host2  # NumPy compares records itself
        made, chief = dispatch.array_of(onp.asarray(found)), subclasses.leader((x1, x2))
        return dispatch.as_scalar(made) if chief is None else subclasses.wrapped(chief, made, dispatch.ufuncs[op.name], (x1, x2), 0)


def _in_place(op: Op, x: Any, other: Any) -> Any:
    if not isinstance(other, Handle) and not isinstance(other, _OPERANDS):
        if getattr(type(other), "__array_ufunc__", _apply) is None:
            return NotImplemented
        made = overridden(op, "__call__", (x, other), {"out": (x,)})
        if made is not NotImplemented:
            return made
    mode = modes.current()
    if mode.direct and op.ufunc is not None and on_host(op, (x, other), x, mode.plain):
        return x
    known = type(x) is dispatch.ndarray and type(other) in dispatch.ordinary  # classes that users derive have a say
    if mode.plain and known and x._view is None and x._extra is None and type(x._value.payload) is execution.XLA_ARRAY:
        value, before = _apply(op, (x, other))._value, x._value.payload
        if type(value.payload) is execution.XLA_ARRAY and value.payload.aval == before.aval:
            x._value = value  # what `store` comes to
            return x
        store(x, value, what=f"ufunc '{name_of(op)}'")
        return x
    value = execution.run(op, [dispatch.read(x), dispatch.as_value(other)])
    store(x, value, what=f"ufunc '{name_of(op)}'")
    return x


def _of_one(op: Op) -> Any:
    """A method of one operand."""

    @short.method("unary", op)
    def method(self: Handle) -> Any:
        return _apply(op, (self,))

    return method


def _of_two(op: Op, check: Callable[[Any, Any], None] | None = None) -> tuple[Any, Any]:
    """A method of two operands, and the one for operands that stand the other way round.

    `check` raises what NumPy's own function raises itself on the host.
    """

    @short.method("binary", op, check is not None)
    def method(self: Handle, other: Any) -> Any:
        if check is not None:
            check(self, other)
        return _binary(op, self, other)

    @short.method("reflected", op, check is not None)
    def reflected(self: Handle, other: Any) -> Any:
        if check is not None:
            check(other, self)
        return _binary(op, other, self)

    return method, reflected


def _in_place_of(op: Op, check: Callable[[Any, Any], None] | None = None) -> Any:
    """A method that writes its result into its first operand."""

    def method(self: Handle, other: Any) -> Any:
        if check is not None:
            check(self, other)
        return _in_place(op, self, other)

    return method if check is not None else short.method("in place", op)(method)  # what is refused shall not have been half written


def _of_equality(op: Op, otherwise: bool) -> Any:
    @short.method("binary", op)
    def method(self: Handle, other: Any) -> Any:
        return _comparison_of(op, self, other, otherwise)

    return method


def _named(kind: Kind) -> Kind:
    """Give the methods of a class their names."""
    for name, method in vars(kind).items():
        function = getattr(method, "__wrapped__", method)
        if isinstance(function, FunctionType):
            function.__name__, function.__qualname__ = name, f"{kind.__qualname__}.{name}"
            function.__code__ = function.__code__.replace(co_name=name, co_qualname=function.__qualname__)  # tracebacks, profiles
    return kind


@_named
class Operators(Handle):
    """What `+`, `<` and their siblings do."""

    __slots__ = ()

    __add__, __radd__ = _of_two(_arithmetic._add)
    __sub__, __rsub__ = _of_two(_arithmetic._subtract)
    __mul__, __rmul__ = _of_two(_arithmetic._multiply)
    __truediv__, __rtruediv__ = _of_two(_arithmetic._divide)
    __floordiv__, __rfloordiv__ = _of_two(_arithmetic._floor_divide)
    __mod__, __rmod__ = _of_two(_arithmetic._remainder)
    __pow__, __rpow__ = _of_two(_arithmetic._power, _arithmetic.refuse_negative_powers)
    __divmod__, __rdivmod__ = _of_two(_arithmetic._divmod)
    __matmul__, __rmatmul__ = _of_two(_products._matmul)
    __and__, __rand__ = _of_two(_bits._bitwise_and)
    __or__, __ror__ = _of_two(_bits._bitwise_or)
    __xor__, __rxor__ = _of_two(_bits._bitwise_xor)
    __lshift__, __rlshift__ = _of_two(_bits._left_shift)
    __rshift__, __rrshift__ = _of_two(_bits._right_shift)
    __lt__, _ = _of_two(_comparison._less)
    __le__, _ = _of_two(_comparison._less_equal)
    __gt__, _ = _of_two(_comparison._greater)
    __ge__, _ = _of_two(_comparison._greater_equal)
    __eq__ = _of_equality(_comparison._equal, False)
    __ne__ = _of_equality(_comparison._not_equal, True)
    __neg__ = _of_one(_arithmetic._negative)
    __pos__ = _of_one(_arithmetic._positive)
    __abs__ = _of_one(_arithmetic._absolute)
    __invert__ = _of_one(_bits._invert)
    __hash__ = None  # type: ignore[assignment]
    del _


@_named
class InPlaceOperators(Handle):
    """What `+=` and its siblings do."""

    __slots__ = ()

    __iadd__ = _in_place_of(_arithmetic._add)
    __isub__ = _in_place_of(_arithmetic._subtract)
    __imul__ = _in_place_of(_arithmetic._multiply)
    __itruediv__ = _in_place_of(_arithmetic._divide)
    __ifloordiv__ = _in_place_of(_arithmetic._floor_divide)
    __imod__ = _in_place_of(_arithmetic._remainder)
    __ipow__ = _in_place_of(_arithmetic._power, _arithmetic.refuse_negative_powers)
    __iand__ = _in_place_of(_bits._bitwise_and)
    __ior__ = _in_place_of(_bits._bitwise_or)
    __ixor__ = _in_place_of(_bits._bitwise_xor)
    __ilshift__ = _in_place_of(_bits._left_shift)
    __irshift__ = _in_place_of(_bits._right_shift)
    __imatmul__ = _in_place_of(_products._matmul, _products.check_in_place)
