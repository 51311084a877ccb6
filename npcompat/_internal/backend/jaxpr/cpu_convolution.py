"""Convolutions as products of matrices, where these are faster on the CPU.

XLA calls a library for a convolution, which takes two to eight times as long as a matrix product
if there are few channels, as in pictures and first layers, or if filters have one element. There
are three such products:

- *gathered*: the filters times the parts of the data that each element of a filter meets, which are
  stacked;
- *scattered*: each element of the filters times the data; the products are added up at their
  places. This is the transpose of the first product, and the derivative with respect to the data;
- *single*: the filters times the data as they lie, if filters or results have one element. The
  latter is the derivative with respect to filters of one element.

The first is used if few channels come in, the second if few go out. The stacked parts have to fit
into the processor's caches: else moving them takes longer than is gained. With many channels the
library is as fast. Both products go along one axis of the filter after the other. This reads more,
but compiles a part for each place along an axis, not for each element. A single product is used if
there is enough to compute: a small one gains less than compiling it takes.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

FEW = 8
"""Maximum number of channels of a gathered or scattered product."""
FITS = 8 << 20
"""Maximum size of the stacked parts in bytes."""
TAPS = 64
"""Maximum number of elements of a filter for one channel: the stacked parts grow with it."""
MUCH = 1 << 24
"""Minimum number of floating-point operations of a single product."""
_TYPES = ("float32", "float64")


def as_product(x: Any, weight: Any, params: Any) -> str | None:
    """Choose the product of matrices for a convolution of these types; None if there is none."""
    numbers = params["dimension_numbers"]
    sizes: Sequence[Any] = (*x.shape, *weight.shape)
    if (
        not all([type(n) is int and n > 0 for n in sizes])
        or x.dtype.name not in _TYPES
        or weight.dtype != x.dtype
    ):
        return None
    if params["feature_group_count"] != 1 or params["batch_group_count"] != 1:
        return None
    if params["preferred_element_type"] is not None and params["preferred_element_type"] != x.dtype:
        return None
    taps = math.prod([weight.shape[i] for i in numbers.rhs_spec[2:]])
    out = math.prod(_lengths(x, weight, params))
    filters, channels = weight.shape[numbers.rhs_spec[0]], weight.shape[numbers.rhs_spec[1]]
    batch = x.shape[numbers.lhs_spec[0]]
    into = math.prod([x.shape[i] for i in numbers.lhs_spec[2:]])
    spread, apart = not _ones(params["lhs_dilation"]), not _ones(params["window_strides"])
    if out and ((taps == 1 and not (spread and apart)) or (out == 1 and not spread)):
        operations = 2 * batch * filters * channels * taps * (into if spread else out)
        return "single" if operations >= MUCH else None
    if taps > min(TAPS, out):
        # a filter as large as the result: the derivative with respect to filters
        return None
    each = taps * batch * x.dtype.itemsize
    if not spread and channels <= FEW and channels * out * each <= FITS:
        return "gathered"
    if not apart and filters <= FEW and filters * into * each <= FITS:
        return "scattered"
    return None


def _ones(numbers: Sequence[int]) -> bool:
    return all([n == 1 for n in numbers])


def _lengths(x: Any, weight: Any, params: Any) -> list[int]:
    """Return the spatial lengths of the result."""
    numbers = params["dimension_numbers"]
    found = []
    for i, (low, high) in enumerate(params["padding"]):
        n, k = x.shape[numbers.lhs_spec[2 + i]], weight.shape[numbers.rhs_spec[2 + i]]
        spread = (n - 1) * params["lhs_dilation"][i] + 1 + low + high
        covered = (k - 1) * params["rhs_dilation"][i] + 1
        found.append(max(0, (spread - covered) // params["window_strides"][i] + 1))
    return found


def product(way: str, params: Any, x: Any, weight: Any) -> Any:
    """Compute a convolution by a product that `as_product` has chosen."""
    numbers = params["dimension_numbers"]
    lengths = _lengths(x, weight, params)
    # x has channels, batch, spatial axes; weight filters, channels, spatial axes; y filters, batch,
    # spatial axes
    x = jnp.transpose(x, (numbers.lhs_spec[1], numbers.lhs_spec[0], *numbers.lhs_spec[2:]))
    weight = jnp.transpose(weight, numbers.rhs_spec)
    y = _WAYS[way](params, lengths, x, weight)
    order = [0] * y.ndim
    for i, axis in enumerate(numbers.out_spec):
        order[axis] = (1, 0, *range(2, y.ndim))[i]
    return jnp.transpose(y, order)


def _single(params: Any, lengths: Sequence[int], x: Any, weight: Any) -> Any:
    """Multiply with channels last, as XLA's convolutions do, so that a transpose serves both."""
    x, kernel, zero = jnp.moveaxis(x, 0, -1), weight.shape[2:], jnp.zeros((), x.dtype)
    one_tap, spread = all([k == 1 for k in kernel]), not _ones(params["lhs_dilation"])
    if not spread:
        x = lax.pad(x, zero, [(0, 0, 0), *[(*p, 0) for p in params["padding"]], (0, 0, 0)])
        counts, steps = (
            (lengths, params["window_strides"]) if one_tap else (kernel, params["rhs_dilation"])
        )
        for axis, (count, step) in enumerate(zip(counts, steps, strict=True), 1):
            x = lax.slice_in_dim(x, 0, (count - 1) * step + 1, step, axis)
    if not one_tap:
        inner = tuple(range(1, x.ndim))
        y = lax.dot_general(
            weight,
            jnp.moveaxis(x, -1, 1),
            ((inner, inner), ((), ())),
            precision=params["precision"],
        )
        return y.reshape(*y.shape, *lengths)
    y = lax.dot(
        x.reshape(-1, x.shape[-1]), weight.reshape(len(weight), -1).T, precision=params["precision"]
    )
    y = y.reshape(*x.shape[:-1], -1)
    if spread:
        sizes = zip(params["padding"], lengths, x.shape[1:-1], params["lhs_dilation"], strict=True)
        around = [
            (low, length - low - (n - 1) * step - 1, step - 1)
            for (low, _), length, n, step in sizes
        ]
        y = lax.pad(y, zero, [(0, 0, 0), *around, (0, 0, 0)])
    return jnp.moveaxis(y, -1, 0)


def _gathered(params: Any, lengths: Sequence[int], x: Any, weight: Any) -> Any:
    filters, rank = len(weight), len(lengths)
    x = lax.pad(
        x, jnp.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *[(*p, 0) for p in params["padding"]]]
    )
    for i in reversed(range(rank)):
        apart, stride, axis = (
            params["rhs_dilation"][i],
            params["window_strides"][i],
            x.ndim - rank + i,
        )
        starts = [k * apart for k in range(weight.shape[2 + i])]
        x = jnp.stack(
            [
                lax.slice_in_dim(x, start, start + (lengths[i] - 1) * stride + 1, stride, axis)
                for start in starts
            ],
            1,
        )
    y = lax.dot(
        weight.reshape(filters, -1),
        x.reshape(math.prod(weight.shape[1:]), -1),
        precision=params["precision"],
    )
    return y.reshape(filters, -1, *lengths)


def _scattered(params: Any, lengths: Sequence[int], x: Any, weight: Any) -> Any:
    (filters, channels), kernel, rank = weight.shape[:2], weight.shape[2:], len(lengths)
    by_place = (
        jnp.moveaxis(weight, 1, -1)
        .reshape(filters, -1, channels)
        .swapaxes(0, 1)
        .reshape(-1, channels)
    )
    y = lax.dot(by_place, x.reshape(channels, -1), precision=params["precision"]).reshape(
        *kernel, filters, *x.shape[1:]
    )
    zero = jnp.zeros((), x.dtype)
    for i in reversed(range(rank)):
        spread, axis, terms = params["lhs_dilation"][i], y.ndim - rank + i, []
        for k in range(kernel[i]):
            low = params["padding"][i][0] - k * params["rhs_dilation"][i]
            around = [(0, 0, 0)] * (y.ndim - 1)
            around[axis - 1] = (
                low,
                lengths[i] - low - (x.shape[2 + i] - 1) * spread - 1,
                spread - 1,
            )
            terms.append(lax.pad(lax.index_in_dim(y, k, i, keepdims=False), zero, around))
        y = functools.reduce(lax.add, terms)
    return y


_WAYS = {"gathered": _gathered, "scattered": _scattered, "single": _single}
__all__ = ["FEW", "FITS", "MUCH", "TAPS", "as_product", "product"]
