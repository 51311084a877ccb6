"""Convolution by slices, as in a network's first layer.

It has an accumulator, a threshold in place, and pooling by strides.
"""

from typing import Any

import jax.numpy as jnp
import numpy

SMALL, FULL = (10, 2, 3), (128, 8, 5)


def inputs(n: int, filters: int, width: int) -> tuple[Any, ...]:
    random = numpy.random.RandomState(0)
    return random.normal(size=(n, n)).astype("float32"), random.normal(
        size=(filters, width, width)
    ).astype("float32")


def program(np: Any, image: Any, kernels: Any) -> Any:
    filters, width, _ = kernels.shape
    size = (image.shape[0] - width + 1) // 2 * 2
    out = np.zeros((filters, size, size), dtype=image.dtype)
    for i in range(width):
        for j in range(width):
            out += kernels[:, i, j, None, None] * image[i : i + size, j : j + size]
    out[out < 0] = 0
    pooled = np.maximum(out[:, ::2, ::2], out[:, 1::2, ::2])
    np.maximum(pooled, out[:, ::2, 1::2], out=pooled)
    np.maximum(pooled, out[:, 1::2, 1::2], out=pooled)
    pooled -= pooled.mean(axis=(1, 2), keepdims=True)
    return pooled


def by_hand(image: Any, kernels: Any) -> Any:
    filters, width, _ = kernels.shape
    size = (image.shape[0] - width + 1) // 2 * 2
    out = jnp.zeros((filters, size, size), image.dtype)
    for i in range(width):
        for j in range(width):
            out += kernels[:, i, j, None, None] * image[i : i + size, j : j + size]
    pooled = jnp.maximum(out, 0).reshape(filters, size // 2, 2, size // 2, 2).max(axis=(2, 4))
    return pooled - pooled.mean(axis=(1, 2), keepdims=True)
