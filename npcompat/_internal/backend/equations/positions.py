"""Gathers and scatters computed from two primitives: `take` and `put` along one axis.

All positions that reach these are within the axis: what XLA clips is clipped here, and what it
fills or drops is filled or dropped here.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.equations.decompositions import Decomposition, _limit, primitive
from npcompat._internal.backend.equations.program import UnsupportedError

take = primitive(
    "take",
    lambda x, at, *, axis: ((*x.shape[:axis], at.shape[0], *x.shape[axis + 1 :]), x.dtype),
)
"""Parts of an array along an axis, at a vector of positions."""
put = primitive("put", lambda x, at, new, *, axis, kind: (x.shape, x.dtype))
"""The array with parts along an axis replaced, or combined with others, at a vector of positions.

The kind is `set`, `add`, `mul`, `min` or `max`; positions may be repeated, of which `set` takes any.
"""
_LARGEST = 2**63 - 1


def _starts(starts: Any, axes: Sequence[int], limits: Sequence[int], clips: bool) -> Any:
    """Starts within their axes, and where they were before; None where that is not asked."""
    if starts.dtype == onp.uint64:
        starts = lax.min(starts, lax.full_like(starts, _LARGEST))
    starts = starts.astype(jnp.int64)
    inside = None
    if not clips:
        ok = (starts >= 0) & (starts <= onp.asarray(limits, onp.int64))
        inside = ok.all(-1)
    return jnp.clip(starts, 0, onp.maximum(onp.asarray(limits, onp.int64), 0)), inside


def _clips(mode: Any) -> bool:
    return "FILL" not in str(mode).upper()


def _linear(
    shape: Sequence[int],
    starts: Any,
    axes: Sequence[int],
    windows: Sequence[int],
    window_at: Sequence[int],
    batch_at: Sequence[int],
    batched: Sequence[int],
    starts_batched: Sequence[int],
    out: Sequence[int],
) -> Any:
    """Positions in the raveled array of each element of a result of shape `out`."""
    strides = [math.prod(shape[d + 1 :]) for d in range(len(shape))]

    def along(axis: int, values: Any) -> Any:
        return values.reshape([-1 if i == axis else 1 for i in range(len(out))])

    found = jnp.zeros((), jnp.int64)
    for d, o in zip(windows, window_at, strict=True):
        found = found + along(o, lax.iota(jnp.int64, out[o]) * onp.int64(strides[d]))
    for d, b in zip(batched, starts_batched, strict=True):
        o = batch_at[b]
        found = found + along(o, lax.iota(jnp.int64, out[o]) * onp.int64(strides[d]))
    middle = [1] * len(out)
    for o, n in zip(batch_at, starts.shape[:-1], strict=True):
        middle[o] = n
    for k, d in enumerate(axes):
        found = found + lax.index_in_dim(starts, k, -1, False).reshape(middle) * onp.int64(
            strides[d]
        )
    return jnp.broadcast_to(found, out).reshape(-1)


def _spread(flags: Any, batch_at: Sequence[int], out: Sequence[int]) -> Any:
    """Flags of each start, for each element of a result."""
    return lax.broadcast_in_dim(flags, out, tuple(batch_at))


def _is_along_one_axis(axes: Any, dropped: Any, batched: Any, sizes: Any, shape: Any) -> bool:
    """Return True if whole parts along one axis are taken."""
    if len(axes) != 1 or tuple(dropped) != tuple(axes) or batched:
        return False
    return all(k == n for d, (k, n) in enumerate(zip(sizes, shape, strict=True)) if d != axes[0])


def _order(axis: int, batch: int, window_at: Sequence[int], batch_at: Sequence[int]) -> list[int]:
    """For each axis of a result, the axis where it is when starts lie in the place of `axis`."""
    places = [*range(axis), *range(axis + batch, axis + batch + len(window_at) - axis)]
    found = dict(zip(window_at, places, strict=True))
    found.update(zip(batch_at, range(axis, axis + batch), strict=True))
    return [found[o] for o in range(len(found))]


def _gather(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    dn, sizes, clips = params["dimension_numbers"], params["slice_sizes"], _clips(params["mode"])
    operand, out = ins[0], outs[0].shape
    batched, axes = tuple(dn.operand_batching_dims), tuple(dn.start_index_map)
    dropped = (*dn.collapsed_slice_dims, *batched)
    windows = [d for d in range(operand.ndim) if d not in dropped]
    batch_at = [o for o in range(len(out)) if o not in dn.offset_dims]
    limits = [operand.shape[d] - sizes[d] for d in axes]
    fill = params.get("fill_value")

    def compute(x: Any, starts: Any) -> Any:
        if 0 in out:
            return jnp.zeros(out, x.dtype)
        starts, inside = _starts(starts, axes, limits, clips)
        if _is_along_one_axis(axes, dn.collapsed_slice_dims, batched, sizes, operand.shape):
            (axis,) = axes
            found = take.bind(x, starts.reshape(-1), axis=axis)
            found = found.reshape((*x.shape[:axis], *starts.shape[:-1], *x.shape[axis + 1 :]))
            found = lax.transpose(found, _order(axis, len(batch_at), dn.offset_dims, batch_at))
        else:
            at = _linear(
                x.shape, starts, axes, windows, dn.offset_dims, batch_at,
                batched, dn.start_indices_batching_dims, out,
            )  # fmt: skip
            found = take.bind(x.reshape(-1), at, axis=0).reshape(out)
        if inside is None:
            return found
        value = _fill_value(x.dtype) if fill is None else fill
        return jnp.where(_spread(inside, batch_at, out), found, onp.asarray(value).astype(x.dtype))

    return compute


def _fill_value(dtype: Any) -> Any:
    if dtype.kind in "fcV":
        return onp.nan
    if dtype.kind == "b":
        return True
    return onp.iinfo(dtype).min if dtype.kind == "i" else onp.iinfo(dtype).max


def _neutral(kind: str, dtype: Any) -> Any:
    """Return the identity element of the operation."""
    if kind == "add":
        return -0.0 if dtype.kind not in "biu" else 0
    return 1 if kind == "mul" else _limit(dtype, kind == "max")


def _scatter(kind: str) -> Decomposition:
    def make(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
        dn, clips = params["dimension_numbers"], _clips(params["mode"])
        operand, _, updates = ins
        batched, axes = tuple(dn.operand_batching_dims), tuple(dn.scatter_dims_to_operand_dims)
        dropped = (*dn.inserted_window_dims, *batched)
        windows = [d for d in range(operand.ndim) if d not in dropped]
        at_update = dict(zip(windows, dn.update_window_dims, strict=True))
        batch_at = [o for o in range(updates.ndim) if o not in dn.update_window_dims]
        sizes = [updates.shape[at_update[d]] if d in at_update else 1 for d in range(operand.ndim)]
        limits = [operand.shape[d] - sizes[d] for d in axes]
        out = updates.shape
        body = params.get("update_jaxpr")
        if kind == "set" and body is not None and body.eqns:
            raise UnsupportedError("scatter", "by a function")

        def compute(x: Any, starts: Any, new: Any) -> Any:
            if 0 in out or 0 in x.shape:
                return x
            starts, inside = _starts(starts, axes, limits, clips)
            one = _is_along_one_axis(axes, dn.inserted_window_dims, batched, sizes, x.shape)
            ok = None if inside is None else _spread(inside, batch_at, out)
            if ok is not None and kind != "set":
                new = jnp.where(ok, new, onp.asarray(_neutral(kind, x.dtype)).astype(x.dtype))
            if one:
                (axis,) = axes
                at = starts.reshape(-1)
                order = _order(axis, len(batch_at), dn.update_window_dims, batch_at)
                new = lax.transpose(new, tuple(onp.argsort(order).tolist()))
                new = new.reshape((*x.shape[:axis], at.shape[0], *x.shape[axis + 1 :]))
                flags = None if inside is None else inside.reshape(-1)
                whole = x
            else:
                axis, whole, new = 0, x.reshape(-1), new.reshape(-1)
                at = _linear(
                    x.shape, starts, axes, windows, dn.update_window_dims, batch_at,
                    batched, dn.scatter_indices_batching_dims, out,
                )  # fmt: skip
                flags = None if ok is None else ok.reshape(-1)
            return _placed(whole, at, new, axis, kind, flags).reshape(x.shape)

        return compute

    return make


def _placed(whole: Any, at: Any, new: Any, axis: int, kind: str, flags: Any) -> Any:
    """Put parts at positions; of `set`, what is outside goes to one more place, which is cut off."""
    if kind != "set" or flags is None:
        return put.bind(whole, at, new, axis=axis, kind=kind)
    length = whole.shape[axis]
    spare = jnp.zeros((*whole.shape[:axis], 1, *whole.shape[axis + 1 :]), whole.dtype)
    at = jnp.where(flags, at, onp.int64(length))
    found = put.bind(lax.concatenate([whole, spare], axis), at, new, axis=axis, kind=kind)
    return lax.slice_in_dim(found, 0, length, axis=axis)


def _subtracted(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    add = _scatter("add")(params, ins, outs)
    return lambda x, starts, new: add(x, starts, -new)


TABLE: dict[str, Decomposition] = {
    "gather": _gather,
    "scatter": _scatter("set"),
    "scatter-sub": _subtracted,
    "scatter_sub": _subtracted,
    **{f"scatter{sign}{k}": _scatter(k) for k in ("add", "mul", "min", "max") for sign in "-_"},
}

__all__ = ["TABLE", "put", "take"]
