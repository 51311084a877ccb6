"""Host backend: NumPy's kernels on NumPy arrays; nothing is compiled.

Decisions that depend only on an operator, its attributes and the types of its operands are cached
by these. XLA computes gradients when backward runs: see `npcompat/_internal/autograd/tape.py`.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.typed_kernel import cast, chosen, kernel
from npcompat._internal.core import autocast_policy, modes
from npcompat._internal.core.dtypes import Type
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.program_cache import FORWARD
from npcompat._internal.support.kernel_table import KernelNamespace

name = "numpy"


xp = KernelNamespace(name, (onp,), {})


def type_of(array: Any) -> Type:
    """Type of an operand; Python scalars are weak."""
    return array.dtype if isinstance(array, onp.ndarray) else type(array)


def asarray(array: Any, device: Any = None) -> onp.ndarray[Any, Any]:
    """Copy an array, as the caller's array may change."""
    return onp.array(array)


def forward(op: Op, attrs: Attrs, donate: Collection[int] = ()) -> Callable[..., Any]:
    """Return the operator as a function of NumPy arrays."""
    if op.only_on_xla:
        return run_on_xla(op, attrs)
    if op.ufunc is not None and op.outputs == 1 and attrs == _OBJECTS:
        return partial(_of_objects, op.ufunc)
    return kernel(op, attrs, xp, type_of, onp.asarray)


_OBJECTS = (onp.dtype(object),)
"""Attributes of a ufunc that is called with `dtype=object`.

NumPy returns results of another dtype for some of them: comparisons return bools.
"""


def _of_objects(ufunc: onp.ufunc, *arrays: Any) -> onp.ndarray[Any, Any]:
    return onp.asarray(ufunc(*arrays, dtype=object), object)


_WIDE = frozenset(onp.dtype(name).num for name in ("float64", "complex128"))
_EXTENDED = 256
"""First type number of dtypes that are not NumPy's own."""


def quick(
    op: Op, arrays: Sequence[Any], numpy_dtypes: int, function: Callable[..., Any] | None = None
) -> Any:
    """Call NumPy's own function, or another one, with arrays and Python scalars.

    None if the dtype of its result is not that of our policy.
    """
    ufunc = op.ufunc
    if ufunc is None or op.outputs != 1 or autocast_policy.current() is not None:
        return None
    for a in arrays:
        if type(a) is onp.ndarray and a.dtype.num >= _EXTENDED:
            return None  # beside these, NumPy does not treat Python scalars as weak
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
    """Return a function of arrays of these dtypes that needs no cast, and the dtype of its result.

    None if there is none.
    """
    if op.outputs != 1 or op.prefers_xla or op.only_on_xla:
        return None
    named = op.named(attrs)
    casts, out = op.rule(types, named)
    if not isinstance(out, onp.dtype):
        return None
    found = (
        op.numpy_constructor(*attrs)
        if op.numpy_constructor is not None
        else None
        if op.numpy_function is None
        else op.numpy_function(types, named)
    )
    if found is None and all(
        [
            c is None or (isinstance(t, onp.dtype) and t == c)
            for t, c in zip(types, casts, strict=True)
        ]
    ):
        found = partial(chosen(op, name), xp, **named)
    return None if found is None else (found, out)


def run_on_xla(op: Op, attrs: Attrs) -> Callable[..., Any]:
    """Return an operator that has only an XLA kernel, as a function of NumPy arrays.

    Random bits are an example: all backends must draw the same numbers.
    """
    # programs are shared with arrays on XLA
    programs = op.programs.table(FORWARD, xla.name, modes.current().numpy_dtypes)
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
            else audit.record_xla_fallback(op.name, arrays, partial(compute, *arrays))
        )

    return call


def _to_xla(array: Any) -> Any:
    return xla.asarray(array) if isinstance(array, onp.ndarray) else xla.scalar(array)


def to_host(payload: Any) -> onp.ndarray[Any, Any]:
    """Return the payload itself."""
    return onp.asarray(payload)


__all__ = ["asarray", "cast", "forward", "name", "to_host", "type_of", "xp"]
