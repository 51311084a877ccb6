"""K-means (Lloyd's algorithm): distances by broadcasting, cluster sums by `np.add.at`."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

SMALL, FULL = (40, 2, 3, 4), (4000, 8, 10, 10)


def inputs(n: int, features: int, clusters: int, rounds: int) -> tuple[Any, ...]:
    random = numpy.random.RandomState(0)
    means = 4 * random.normal(size=(clusters, features))
    return means[numpy.arange(n) % clusters] + random.normal(size=(n, features)), clusters, rounds


def program(np: Any, points: Any, clusters: int, rounds: int) -> Any:
    centres = points[:clusters].copy()
    for _ in range(rounds):
        distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        sums = np.zeros_like(centres)
        counts = np.zeros(clusters)
        np.add.at(sums, nearest, points)
        np.add.at(counts, nearest, 1)
        filled = counts > 0
        centres[...] = np.where(filled[:, None], sums / np.maximum(counts, 1)[:, None], centres)
    return centres


def by_hand(points: Any, clusters: int, rounds: int) -> Any:
    def step(_: int, centres: Any) -> Any:
        distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        sums = jnp.zeros_like(centres).at[nearest].add(points)
        counts = jnp.zeros(clusters, points.dtype).at[nearest].add(1)
        return jnp.where(counts[:, None] > 0, sums / jnp.maximum(counts, 1)[:, None], centres)

    return jax.lax.fori_loop(0, rounds, step, points[:clusters])
