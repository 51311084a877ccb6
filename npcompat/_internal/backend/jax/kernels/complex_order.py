"""Order of complex numbers on XLA, as in NumPy: by real part, then by imaginary part, nan last."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from npcompat._internal.support.kernel_table import register_kernel


def _keys(a: Any) -> tuple[Any, ...]:
    """Sort keys of complex numbers, the most significant last."""
    real, imag = a.real, a.imag
    clean_real = jnp.where(jnp.isnan(real), 0, real)
    clean_imag = jnp.where(jnp.isnan(imag), 0, imag)
    return clean_imag, clean_real, jnp.isnan(imag), jnp.isnan(real)


@register_kernel("sort", backend="jax")
def sort(a: Any, axis: int = -1) -> Any:
    """Sort in ascending order, nan last."""
    if not jnp.iscomplexobj(a):
        return jnp.sort(a, axis=axis)
    return jnp.take_along_axis(a, argsort(a, axis), axis=axis)


@register_kernel("argsort", backend="jax")
def argsort(a: Any, axis: int = -1, stable: bool = True) -> Any:
    """Positions that sort; equal elements keep their order."""
    if not jnp.iscomplexobj(a):
        return jnp.argsort(a, axis=axis, stable=True)
    return jnp.lexsort(_keys(a), axis=axis)


@register_kernel("lexsort", backend="jax")
def lexsort(keys: Sequence[Any], axis: int = -1) -> Any:
    """Positions that sort by several keys, the last one first."""
    return jnp.lexsort(
        [k for key in keys for k in (_keys(key) if jnp.iscomplexobj(key) else (key,))], axis=axis
    )


def _less(x: Any, y: Any) -> Any:
    """Return True where complex numbers come before others."""
    found: Any = False
    for mine, other in zip(_keys(x), _keys(y), strict=True):
        found = (mine < other) | ((mine == other) & found)
    return found


@register_kernel("searchsorted", backend="jax")
def searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    """Positions of values in a sorted vector: in front of equal elements, or behind them."""
    if not jnp.iscomplexobj(a):
        return jnp.searchsorted(a, v, side)
    count = a.shape[0]
    low, high = jnp.zeros(v.shape, int), jnp.full(v.shape, count)
    for _ in range(count.bit_length()):
        middle = (low + high) // 2
        there = a[jnp.minimum(middle, count - 1)]
        later = (_less(there, v) if side == "left" else ~_less(v, there)) & (low < high)
        low, high = jnp.where(later, middle + 1, low), jnp.where(later, high, middle)
    return low


def _complex_extreme(a: Any, axis: int | None, keepdims: bool, largest: bool) -> Any:
    shape = a.shape
    if axis is None:
        a, along = a.ravel(), 0
    else:
        along = axis
    worst = -jnp.inf if largest else jnp.inf
    choose = jnp.max if largest else jnp.min
    nan = jnp.isnan(a)
    real = jnp.where(nan, worst, a.real)
    at_real = real == choose(real, axis=along, keepdims=True)
    imag = jnp.where(at_real & ~nan, a.imag, worst)
    found = at_real & ~nan & (imag == choose(imag, axis=along, keepdims=True))
    found = jnp.where(jnp.any(nan, axis=along, keepdims=True), nan, found)
    position = jnp.argmax(found, axis=along, keepdims=keepdims)
    return position.reshape((1,) * len(shape)) if axis is None and keepdims else position


@register_kernel("argmax", backend="jax")
def argmax(a: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Position of the first largest element; nan is larger than all."""
    if not jnp.iscomplexobj(a):
        return jnp.argmax(a, axis=axis, keepdims=keepdims)
    return _complex_extreme(a, axis, keepdims, True)


@register_kernel("argmin", backend="jax")
def argmin(a: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Position of the first smallest element; nan is smaller than all."""
    if not jnp.iscomplexobj(a):
        return jnp.argmin(a, axis=axis, keepdims=keepdims)
    return _complex_extreme(a, axis, keepdims, False)


__all__ = ["argmax", "argmin", "argsort", "lexsort", "searchsorted", "sort"]
