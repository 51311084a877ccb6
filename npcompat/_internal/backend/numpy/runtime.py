"""The host backend: NumPy's kernels on NumPy arrays; nothing is compiled.

What an operator, its attributes and the kinds of its operands decide is decided once, and looked up
by kinds after. Gradients come from XLA, when they are asked for: see
`npcompat/_internal/autograd/tape.py`.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.numpy import (
    array_functions,
    bits,
    deconvolution,
    linalg,
    loops,
    nn,
    recurrence,
)
from npcompat._internal.backend.typed_kernel import cast, chosen, kernel
from npcompat._internal.core import autocast_policy, modes
from npcompat._internal.core.dtypes import Type
from npcompat._internal.core.op import Attrs, Op

name = "numpy"
slot = 2


class _Namespace:
    """What an operator's compute sees as `xp`: NumPy, and the kernels that it lacks."""

    name = "numpy"

    def __getattr__(self, attribute: str) -> Any:
        for module in (bits, deconvolution, array_functions, linalg, loops, nn, recurrence, onp):
            found = getattr(module, attribute, None)
            if found is not None:
                break
        else:
            raise AttributeError(f"the numpy backend has no kernel {attribute!r}")
        setattr(self, attribute, found)
        return found


xp = _Namespace()


def type_of(array: Any) -> Type:
    """The type of an operand; Python scalars are weak."""
    return array.dtype if isinstance(array, onp.ndarray) else type(array)


def asarray(array: Any, device: Any = None) -> onp.ndarray[Any, Any]:
    """A copy, as the caller's array may change."""
    return onp.array(array)


def forward(op: Op, attrs: Attrs, donate: Collection[int] = ()) -> Callable[..., Any]:
    """The operator as a function of NumPy arrays."""
    if op.only_on_xla:
        return across(op, attrs)
    if op.ufunc is not None and op.outputs == 1 and attrs == _OBJECTS:
        return partial(_of_objects, op.ufunc)
    return kernel(op, attrs, xp, type_of, onp.asarray)


_OBJECTS = (onp.dtype(object),)
"""The attributes of a ufunc of which results that are objects are asked, where NumPy may have
others: those of comparisons.
"""


def _of_objects(ufunc: onp.ufunc, *arrays: Any) -> onp.ndarray[Any, Any]:
    return onp.asarray(ufunc(*arrays, dtype=object), object)


_WIDE = frozenset(onp.dtype(name).num for name in ("float64", "complex128"))
_EXTENDED = 256
"""Numbers of dtypes from here on are not NumPy's own."""


def quick(
    op: Op, arrays: Sequence[Any], numpy_dtypes: int, function: Callable[..., Any] | None = None
) -> Any:
    """What NumPy's own function makes of arrays and Python scalars, or the one given; None where
    its dtype is not the one of our policy.
    """
    ufunc = op.ufunc
    if ufunc is None or op.outputs != 1 or autocast_policy.current() is not None:
        return None
    for a in arrays:
        if type(a) is onp.ndarray and a.dtype.num >= _EXTENDED:
            return None  # NumPy does not know that Python scalars are weak beside these
    out = (function or ufunc)(*arrays)
    if type(out) is not onp.ndarray:
        out = onp.asarray(out)
    number = out.dtype.num
    if number in _WIDE:
        if not numpy_dtypes and not any(
            [a.dtype.num in _WIDE for a in arrays if type(a) is onp.ndarray]
        ):
            return None
    elif number >= _EXTENDED:
        return None
    return out


def direct(
    op: Op, attrs: Attrs, types: tuple[Type, ...]
) -> tuple[Callable[..., Any], onp.dtype[Any]] | None:
    """A function of arrays of these dtypes, as they are, and the dtype that it returns; None if
    there is none.
    """
    if op.outputs != 1 or op.heavy or op.only_on_xla:
        return None
    named = op.named(attrs)
    casts, out = op.rule(types, named)
    if not isinstance(out, onp.dtype):
        return None
    found = (
        op.makes(*attrs)
        if op.makes is not None
        else None
        if op.direct is None
        else op.direct(types, named)
    )
    if found is None and all(
        [
            c is None or (isinstance(t, onp.dtype) and t == c)
            for t, c in zip(types, casts, strict=True)
        ]
    ):
        found = partial(chosen(op, name), xp, **named)
    return None if found is None else (found, out)


def across(op: Op, attrs: Attrs) -> Callable[..., Any]:
    """An operator that has an XLA kernel only (random bits, whose numbers must be the same
    everywhere).
    """
    programs = op.programs[
        xla.slot + modes.current().numpy_dtypes
    ]  # what XLA has compiled for its own arrays is used here, too
    program = programs.get(attrs)
    if program is None:
        program = programs[attrs] = xla.forward(op, attrs)

    def compute(*arrays: Any) -> Any:
        out = program(*map(_to_xla, arrays))
        return tuple(map(onp.asarray, out)) if op.outputs != 1 else onp.asarray(out)

    def call(*arrays: Any) -> Any:
        audit = modes.current().audit
        return (
            compute(*arrays)
            if audit is None
            else audit.across(op.name, arrays, partial(compute, *arrays))
        )

    return call


def _to_xla(array: Any) -> Any:
    return xla.asarray(array) if isinstance(array, onp.ndarray) else xla.scalar(array)


def to_host(payload: Any) -> onp.ndarray[Any, Any]:
    """The payload itself."""
    return onp.asarray(payload)


__all__ = ["asarray", "cast", "forward", "name", "slot", "to_host", "type_of", "xp"]
