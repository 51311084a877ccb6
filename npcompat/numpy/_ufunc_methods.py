"""Methods of ufuncs as operators: `reduce`, `accumulate`, `reduceat`, `at`.

Each method has one operator, whose attribute `ufunc` names the function.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type, in_signature
from npcompat._internal.core.op import (
    REGISTRY,
    REQUIRED,
    Kernel,
    from_attr,
    normalized_axes,
    operator,
)
from npcompat._internal.indexing.checks import checked_scalar
from npcompat.numpy._accumulation import mask_of, reduced_axis

IDENTITY = "identity"
"""Value of the attribute `initial` for NumPy's default."""

_WHOLE = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}
_ASSOCIATIVE = {
    "add",
    "multiply",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "gcd",
    "hypot",
    "logaddexp",
    "logaddexp2",
}
_ASSOCIATIVE |= {
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
}


def _pairwise(xp: Any, name: str) -> Callable[..., Any]:
    compute = REGISTRY[f"_npi_{name}"].compute
    return lambda *arrays: compute(xp, *arrays)


def _folded(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule of reductions: NumPy's loop; elements are cast to the result's dtype."""
    source = dtypes.strong(types[0])
    wanted: Any = (
        {}
        if attrs["dtype"] is None
        else {"signature": (in_signature(attrs["dtype"]), None, None), "casting": "unsafe"}
    )
    loop = getattr(onp, attrs["ufunc"]).resolve_dtypes(
        (None, source, None), reduction=True, **wanted
    )
    dtype = loop[2] if attrs["dtype"] is not None else dtypes.narrow(loop[2], types)
    return [dtype, *[None] * (len(types) - 1)], dtype


def _host_reduce(
    xp: Any, a: Any, *where: Any, ufunc: str, axis: Any, dtype: Any, keepdims: bool, initial: Any
) -> Any:
    options = {"where": onp.asarray(where[0], bool)} if where else {}
    if initial != IDENTITY:
        options["initial"] = from_attr(initial)
    return getattr(onp, ufunc).reduce(a, axis=axis, dtype=_chosen(a), keepdims=keepdims, **options)


def _chosen(a: Any) -> Any:
    """Return the loop dtype for elements already cast; None for dates and other host dtypes."""
    return a.dtype if dtypes.on_devices(a.dtype) else None


@operator("_npi_ufunc_reduce", rule=_folded, pattern="reduction", kernels={"numpy": _host_reduce})
def _reduce(
    xp: Any,
    a: Any,
    *where: Any,
    ufunc: str = REQUIRED,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = IDENTITY,
) -> Any:
    """Reduce by a ufunc over axes (fold)."""
    axes, initial = normalized_axes(reduced_axis(a, axis), a.ndim), from_attr(initial)
    mask = mask_of(xp, a, where[0]) if where else None
    if ufunc in _WHOLE and (
        initial == IDENTITY or (initial is not None and not ufunc.startswith("logical"))
    ):
        options = {} if mask is None else {"where": mask}
        if initial != IDENTITY:
            options["initial"] = checked_scalar(initial, a.dtype)
        return getattr(xp, _WHOLE[ufunc])(a, axis=axes, keepdims=keepdims, **options)
    identity = getattr(onp, ufunc).identity
    if len(axes) > 1 and ufunc not in _ASSOCIATIVE:
        raise ValueError(
            f"reduction operation '{ufunc}' is not reorderable, so at most one axis may be "
            "specified"
        )
    start = None if initial == IDENTITY else initial
    if type(start) is int:
        start = checked_scalar(start, a.dtype)
    total = xp.fold(
        _pairwise(xp, ufunc),
        a,
        axes,
        start,
        mask,
        None if initial is None else identity,
        ufunc in _ASSOCIATIVE,
    )
    return xp.expand_dims(total, axes) if keepdims else total


@operator(
    "_npi_ufunc_accumulate",
    order="K",
    rule=_folded,
    kernels={
        "numpy": lambda xp, a, *, ufunc, axis, dtype: getattr(onp, ufunc).accumulate(
            a, axis, _chosen(a)
        )
    },
)
def _accumulate(xp: Any, a: Any, *, ufunc: str = REQUIRED, axis: int = 0, dtype: Any = None) -> Any:
    """Accumulate by a ufunc along an axis (scan)."""
    (axis,) = normalized_axes(axis, a.ndim)
    if ufunc in _RUNNING:
        return getattr(xp, _RUNNING[ufunc])(a, axis=axis)
    return xp.running_fold(_pairwise(xp, ufunc), a, axis, ufunc in _ASSOCIATIVE)


def _host_reduceat(xp: Any, a: Any, indices: Any, *, ufunc: str, axis: int, dtype: Any) -> Any:
    return getattr(onp, ufunc).reduceat(a, indices, axis, _chosen(a))


@operator("_npi_ufunc_reduceat", rule=_folded, kernels={"numpy": _host_reduceat})
def _reduceat(
    xp: Any, a: Any, indices: Any, *, ufunc: str = REQUIRED, axis: int = 0, dtype: Any = None
) -> Any:
    """Reduce slices of an axis by a ufunc.

    Parameters
    ----------
    indices : array of int
        Start of each slice.
    """
    (axis,) = normalized_axes(axis, a.ndim)
    return xp.fold_between(_pairwise(xp, ufunc), a, xp.astype(indices, onp.int64), axis)


def _in_place(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule of `at`: the array keeps its dtype, values are cast to the ufunc's loop."""
    target = dtypes.strong(types[0])
    casts, _ = REGISTRY[f"_npi_{attrs['ufunc']}"].rule((target, *types[2:]), {"dtype": None})
    return [None, None, *casts[1:]], target


def _host_at(
    xp: Any, a: Any, positions: Any, *values: Any, ufunc: str, row: tuple[int, ...]
) -> Any:
    written = a.copy()
    rows = [
        onp.broadcast_to(v, (*positions.shape, *row)).reshape(positions.size, *row) for v in values
    ]
    getattr(onp, ufunc).at(written if row else written.reshape(-1), positions.reshape(-1), *rows)
    return written


def _at_once(
    xp: Any, a: Any, positions: Any, *values: Any, ufunc: str, row: tuple[int, ...]
) -> Any:
    return xp.scatter_at(
        ufunc, a, positions, xp.broadcast_to(values[0], (*positions.shape, *row)), row
    )


def _is_scatter(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> bool:
    """Return True if XLA can scatter in one step, in the array's own dtype."""
    a, _, *values = [onp.dtype(x.dtype) for x in arrays]
    if (
        attrs["ufunc"] not in ("add", "subtract", "multiply", "maximum", "minimum")
        or a == onp.bool_
    ):
        return False
    if a.kind == "c" and attrs["ufunc"] in ("maximum", "minimum"):
        return False
    return bool(REGISTRY[f"_npi_{attrs['ufunc']}"].rule((a, *values), {"dtype": None})[1] == a)


@operator(
    "_npi_ufunc_at",
    rule=_in_place,
    kernels={"numpy": _host_at},
    strategy=(Kernel("jax", _at_once, condition=_is_scatter),),
)
def _at(xp: Any, a: Any, positions: Any, *values: Any, ufunc: str = REQUIRED, row: Any = ()) -> Any:
    """Apply a ufunc at positions of the flattened array, or of its rows.

    Parameters
    ----------
    positions : array of int
        Positions of elements, or of rows; equal ones count each.
    *values : array
        Second operand of a function of two.
    row : tuple of int
        Shape of each row; `()` for elements.
    """
    value = xp.broadcast_to(values[0], (*positions.shape, *row)) if values else None
    if row:
        length = math.prod(row)
        positions = xp.reshape(
            positions, (*positions.shape, *[1] * len(row))
        ) * length + xp.reshape(xp.arange(length), row)
    casts, _ = REGISTRY[f"_npi_{ufunc}"].rule(
        (onp.dtype(a.dtype), *[onp.dtype(v.dtype) for v in values]), {"dtype": None}
    )
    function = _pairwise(xp, ufunc)
    return xp.apply_at(lambda x, *v: function(xp.astype(x, casts[0]), *v), a, positions, value)
