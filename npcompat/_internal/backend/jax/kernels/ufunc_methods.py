"""Methods of ufuncs on XLA: a function of two arrays, folded along an axis or applied at positions.

An associative function is folded in a tree (log n vectorised steps), any other one from left to
right.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.jax.kernels.array_functions import astype, shaped_back
from npcompat._internal.support.kernel_table import register_kernel

Pairwise = Callable[[Any, Any], Any]


@register_kernel("fold", backend="jax")
def fold(
    f: Pairwise,
    a: Any,
    axes: Sequence[int],
    start: Any,
    where: Any,
    identity: Any,
    associative: bool,
) -> Any:
    """Compute `f(... f(f(start, a[0]), a[1]) ..., a[n])` over axes that are merged into one.

    Elements that the mask leaves out don't count. If `start` is None, the fold begins with the
    identity where elements may be missing, else with the first one.
    """
    if where is not None:
        where = _in_front(jnp.broadcast_to(where, a.shape), axes)
    a = _in_front(a, axes)
    if start is None and (where is not None or not a.shape[0]):
        if identity is None:
            raise ValueError(
                "a reduction without identity needs `initial` where elements may be missing"
            )
        start = identity
    if start is not None:
        first = jnp.full((1, *a.shape[1:]), onp.asarray(start).astype(a.dtype))
        a = jnp.concatenate([first, a])
        where = None if where is None else jnp.concatenate([jnp.ones(first.shape, bool), where])
    if associative and where is not None and identity is not None:
        return _tree(f, jnp.where(where, a, onp.asarray(identity).astype(a.dtype)))
    if associative and where is None:
        return _tree(f, a)
    masks = jnp.ones(a.shape, bool) if where is None else where
    return lax.scan(
        lambda total, x: (jnp.where(x[1], f(total, x[0]), total), None), a[0], (a[1:], masks[1:])
    )[0]


def _in_front(a: Any, axes: Sequence[int]) -> Any:
    """Move axes to the front, and merge them."""
    moved = jnp.moveaxis(a, axes, range(len(axes)))
    count = len(axes)
    return moved.reshape((math.prod(moved.shape[:count]), *moved.shape[count:]))


def _tree(f: Pairwise, a: Any) -> Any:
    while (count := a.shape[0]) > 1:
        even = count - count % 2
        pairs = f(a[:even:2], a[1:even:2])
        a = jnp.concatenate([pairs, a[even:]]) if count % 2 else pairs
    return a[0]


@register_kernel("running_fold", backend="jax")
def running_fold(f: Pairwise, a: Any, axis: int, associative: bool) -> Any:
    """Folds of the first element, of the first two, and so on."""
    if not a.shape[axis]:
        return a
    a = jnp.moveaxis(a, axis, 0)
    if associative:
        totals = lax.associative_scan(f, a)
    else:
        totals = jnp.concatenate(
            [a[:1], lax.scan(lambda total, x: (f(total, x),) * 2, a[0], a[1:])[1]]
        )
    return jnp.moveaxis(totals, 0, axis)


@register_kernel("fold_between", backend="jax")
def fold_between(f: Pairwise, a: Any, starts: Any, axis: int) -> Any:
    """Folds of `a[starts[i]:starts[i + 1]]`, or of `a[starts[i]]` if that is empty.

    The last fold goes to the end.
    """
    a = jnp.moveaxis(a, axis, 0)
    stops = jnp.concatenate([starts[1:], jnp.asarray([a.shape[0]], starts.dtype)])
    totals = a[starts]
    broadcast = (slice(None), *[None] * (a.ndim - 1))

    def step(i: Any, totals: Any) -> Any:
        inside = (i > starts) & (i < stops)
        return jnp.where(inside[broadcast], f(totals, jnp.broadcast_to(a[i], totals.shape)), totals)

    return jnp.moveaxis(lax.fori_loop(0, a.shape[0], step, totals), 0, axis)


@register_kernel("apply_at", backend="jax")
def apply_at(f: Callable[..., Any], a: Any, positions: Any, values: Any) -> Any:
    """Compute `a[p] = f(a[p], value)` for each position of the flattened array, in order.

    The values may be None.
    """
    flat, positions = a.reshape(-1), positions.reshape(-1)
    if not positions.size:
        return a
    operands = () if values is None else (values.reshape(-1),)

    def step(i: Any, flat: Any) -> Any:
        p = positions[i]
        return flat.at[p].set(astype(f(flat[p], *[v[i] for v in operands]), flat.dtype))

    return shaped_back(lax.fori_loop(0, positions.shape[0], step, flat), a.shape)


@register_kernel("scatter_at", backend="jax")
def scatter_at(name: str, a: Any, positions: Any, values: Any, row: tuple[int, ...]) -> Any:
    """Compute `apply_at` for functions that XLA scatters in one step, also at rows.

    These are add, subtract, multiply, maximum and minimum.
    """
    positions, values = positions.reshape(-1), values.reshape(positions.size, *row).astype(a.dtype)
    if not values.size:
        return a
    if name == "multiply" and jnp.issubdtype(a.dtype, jnp.inexact):
        length = math.prod(row)
        positions = (positions[:, None] * length + jnp.arange(length)).reshape(-1)
        return a * _products_at(positions, values.reshape(-1), a.size).reshape(a.shape)
    method = {"maximum": "max", "minimum": "min"}.get(name, name)
    if row:
        return getattr(a.at[positions], method)(values)
    return shaped_back(getattr(a.reshape(-1).at[positions], method)(values), a.shape)


def _products_at(positions: Any, values: Any, size: int) -> Any:
    """Product of the values at each of `size` places, with a gradient.

    JAX has no gradient for a scatter of products.
    """
    positions = jnp.where(positions < 0, positions + size, positions)
    order = jnp.argsort(positions, stable=True)
    positions, values = positions[order], values[order]
    changes = positions[1:] != positions[:-1]
    edge = jnp.ones(1, bool)

    def combine(left: Any, right: Any) -> Any:
        return left[0] | right[0], jnp.where(right[0], right[1], left[1] * right[1])

    _, totals = lax.associative_scan(combine, (jnp.concatenate([edge, changes]), values))
    complete = jnp.concatenate([changes, edge])
    return (
        jnp.ones(size, values.dtype)
        .at[jnp.where(complete, positions, size)]
        .set(totals, mode="drop", unique_indices=True)
    )


__all__ = ["apply_at", "fold", "fold_between", "running_fold", "scatter_at"]
