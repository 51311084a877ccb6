"""The infix operators of arrays, new and in place.

Hot path: an operator goes straight to the dispatcher.
"""

from typing import Any

import numpy as onp
from numpy._core._exceptions import _UFuncNoLoopError

from npcompat._internal import dispatch, dtypes, execution, modes, subclasses
from npcompat._internal.handle import Handle
from npcompat._internal.op import Op
from npcompat.numpy import _arithmetic, _bits, _comparison, _products
from npcompat.numpy._overrides import overridden
from npcompat.numpy._ufunc import name_of, on_host, store

_apply = dispatch.apply
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


class Operators(Handle):
    """What `+`, `<` and their siblings do."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return _binary(_arithmetic._add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary(_arithmetic._add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary(_arithmetic._subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary(_arithmetic._subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary(_arithmetic._multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary(_arithmetic._multiply, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _binary(_arithmetic._divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary(_arithmetic._divide, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _binary(_arithmetic._floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _binary(_arithmetic._floor_divide, other, self)

    def __mod__(self, other: Any) -> Any:
        return _binary(_arithmetic._remainder, self, other)

    def __rmod__(self, other: Any) -> Any:
        return _binary(_arithmetic._remainder, other, self)

    def __pow__(self, other: Any, modulo: None = None) -> Any:
        _arithmetic.refuse_negative_powers(self, other)
        return _binary(_arithmetic._power, self, other)

    def __rpow__(self, other: Any, modulo: None = None) -> Any:
        _arithmetic.refuse_negative_powers(other, self)
        return _binary(_arithmetic._power, other, self)

    def __and__(self, other: Any) -> Any:
        return _binary(_bits._bitwise_and, self, other)

    def __rand__(self, other: Any) -> Any:
        return _binary(_bits._bitwise_and, other, self)

    def __or__(self, other: Any) -> Any:
        return _binary(_bits._bitwise_or, self, other)

    def __ror__(self, other: Any) -> Any:
        return _binary(_bits._bitwise_or, other, self)

    def __xor__(self, other: Any) -> Any:
        return _binary(_bits._bitwise_xor, self, other)

    def __rxor__(self, other: Any) -> Any:
        return _binary(_bits._bitwise_xor, other, self)

    def __lshift__(self, other: Any) -> Any:
        return _binary(_bits._left_shift, self, other)

    def __rlshift__(self, other: Any) -> Any:
        return _binary(_bits._left_shift, other, self)

    def __rshift__(self, other: Any) -> Any:
        return _binary(_bits._right_shift, self, other)

    def __rrshift__(self, other: Any) -> Any:
        return _binary(_bits._right_shift, other, self)

    def __matmul__(self, other: Any) -> Any:
        return _binary(_products._matmul, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _binary(_products._matmul, other, self)

    def __divmod__(self, other: Any) -> Any:
        return _binary(_arithmetic._divmod, self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return _binary(_arithmetic._divmod, other, self)

    def __lt__(self, other: Any) -> Any:
        return _binary(_comparison._less, self, other)

    def __le__(self, other: Any) -> Any:
        return _binary(_comparison._less_equal, self, other)

    def __gt__(self, other: Any) -> Any:
        return _binary(_comparison._greater, self, other)

    def __ge__(self, other: Any) -> Any:
        return _binary(_comparison._greater_equal, self, other)

    def __eq__(self, other: Any) -> Any:
        return _comparison_of(_comparison._equal, self, other, False)

    def __ne__(self, other: Any) -> Any:
        return _comparison_of(_comparison._not_equal, self, other, True)

    def __neg__(self) -> Any:
        return _apply(_arithmetic._negative, (self,))

    def __pos__(self) -> Any:
        return _apply(_arithmetic._positive, (self,))

    def __abs__(self) -> Any:
        return _apply(_arithmetic._absolute, (self,))

    def __invert__(self) -> Any:
        return _apply(_bits._invert, (self,))

    __hash__ = None  # type: ignore[assignment]


class InPlaceOperators(Handle):
    """What `+=` and its siblings do."""

    __slots__ = ()

    def __iadd__(self, other: Any) -> Any:
        return _in_place(_arithmetic._add, self, other)

    def __isub__(self, other: Any) -> Any:
        return _in_place(_arithmetic._subtract, self, other)

    def __imul__(self, other: Any) -> Any:
        return _in_place(_arithmetic._multiply, self, other)

    def __itruediv__(self, other: Any) -> Any:
        return _in_place(_arithmetic._divide, self, other)

    def __ifloordiv__(self, other: Any) -> Any:
        return _in_place(_arithmetic._floor_divide, self, other)

    def __imod__(self, other: Any) -> Any:
        return _in_place(_arithmetic._remainder, self, other)

    def __ipow__(self, other: Any) -> Any:
        _arithmetic.refuse_negative_powers(self, other)
        return _in_place(_arithmetic._power, self, other)

    def __iand__(self, other: Any) -> Any:
        return _in_place(_bits._bitwise_and, self, other)

    def __ior__(self, other: Any) -> Any:
        return _in_place(_bits._bitwise_or, self, other)

    def __ixor__(self, other: Any) -> Any:
        return _in_place(_bits._bitwise_xor, self, other)

    def __ilshift__(self, other: Any) -> Any:
        return _in_place(_bits._left_shift, self, other)

    def __irshift__(self, other: Any) -> Any:
        return _in_place(_bits._right_shift, self, other)

    def __imatmul__(self, other: Any) -> Any:
        _products.check_in_place(self, other)
        return _in_place(_products._matmul, self, other)
