"""Histogram equalization of an image: counts, their cumulative sum, and a lookup table."""

from typing import Any

import jax.numpy as jnp
import numpy

SMALL, FULL = (12, 8), (512, 256)


def inputs(n: int, levels: int) -> tuple[Any, ...]:
    return numpy.clip(
        numpy.random.RandomState(0).normal(levels / 3, levels / 8, size=(n, n)), 0, levels - 1
    ).astype("int64"), levels


def program(np: Any, image: Any, levels: int) -> Any:
    counts, _ = np.histogram(image, bins=levels, range=(0, levels))
    below = counts.cumsum()
    least = below[np.argmax(counts > 0)]
    table = np.round((below - least) * (levels - 1) / (image.size - least)).astype("uint8")
    table[counts == 0] = 0
    return table[image]


def by_hand(image: Any, levels: int) -> Any:
    counts = jnp.zeros(levels, "int64").at[image.ravel()].add(1)
    below = counts.cumsum()
    least = below[jnp.argmax(counts > 0)]
    table = jnp.round((below - least) * (levels - 1) / (image.size - least)).astype("uint8")
    return jnp.where(counts == 0, jnp.uint8(0), table)[image]
