"""Arguments of reductions and accumulations: the dtype in which they compute, axes and masks."""

from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import array_like
from npcompat._internal.native import fast_path
from npcompat.numpy._ufunc import name_of

_SUMMED = {
    "cumprod": onp.multiply, "cumsum": onp.add, "mean": onp.add, "nanmean": onp.add,
    "nanprod": onp.multiply, "nansum": onp.add, "prod": onp.multiply, "sum": onp.add,
    "trace": onp.add,
}  # fmt: skip
"""The ufuncs by which NumPy computes functions over axes."""


def accumulated_in(dtype: Any, a: Any, op: Op, out: Any = None) -> onp.dtype[Any] | None:
    """Return the dtype in which to accumulate: the requested one, or that for `out`, or None.

    NumPy's warning is given if it drops imaginary parts. NumPy's function of the name of `op` says
    in which dtype it computes with dates and durations, or raises its error.
    """
    if dtype is None:
        same = out is None or getattr(out, "dtype", None) is getattr(a, "dtype", a)
        return None if same else accumulated_for(out, a, name_of(op))
    wanted = dtypes.canonical(dtype)
    if wanted.kind in "biuf":
        have = _dtype_of(a)
        if have.kind == "c" and wanted.kind != "b":
            fast_path.dont_cache()
            dtypes.warn_of_lost_parts(have, wanted, 4)
        elif have.kind in "mM":
            function = getattr(onp, name_of(op), None)
            if function is not None and not isinstance(function, onp.ufunc):
                fast_path.dont_cache()
                return onp.asarray(function(onp.ones((1, 1), have), dtype=wanted)).dtype
    return wanted


def accumulated_for(out: Any, a: Any, name: str) -> onp.dtype[Any] | None:
    """Return the dtype in which NumPy accumulates into `out`, or None for the usual one."""
    want = getattr(out[0] if isinstance(out, tuple) else out, "dtype", None)
    ufunc = _SUMMED.get(name) or getattr(onp, name, None)
    if want is None or not isinstance(ufunc, onp.ufunc):
        return None
    have, averages = _dtype_of(a), name in ("mean", "nanmean")
    if want == have or any([dtype.kind not in "biufc" for dtype in (have, want)]):
        return None
    if averages and have.kind in "biu":
        return None
    if averages and have == onp.float16:
        return onp.dtype(onp.float32)
    return ufunc.resolve_dtypes((want, have, None), casting="unsafe", reduction=True)[0]


def _dtype_of(a: Any) -> onp.dtype[Any]:
    found: onp.dtype[Any] = a.dtype if isinstance(a, Handle) else array_like.host_array(a).dtype
    return found


def mask_of(xp: Any, a: Any, where: Any) -> Any:
    """Return the mask of a reduction as a bool array that broadcasts to the array."""
    if xp.name != "numpy" and (
        onp.ndim(where) > a.ndim or onp.broadcast_shapes(onp.shape(where), a.shape) != a.shape
    ):
        raise ValueError(f"where: shape {onp.shape(where)} does not broadcast to {a.shape}")
    return xp.astype(where, onp.bool_)


def reduced_axis(a: Any, axis: Any) -> Any:
    """Return the axis of a reduction.

    Reductions accept axis 0 or -1 of a 0-d array, as in NumPy; averages do not.
    """
    return None if a.ndim == 0 and axis in (0, -1) else axis


__all__ = ["accumulated_for", "accumulated_in", "mask_of", "reduced_axis"]
