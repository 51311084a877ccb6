"""Cholesky factorization by columns: growing slices, products with them, writes in place."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

SMALL, FULL = (5,), (40,)


def inputs(n: int) -> tuple[Any, ...]:
    root = numpy.random.RandomState(0).normal(size=(n, n))
    return (root @ root.T + n * numpy.eye(n),)


def program(np: Any, matrix: Any) -> Any:
    n = len(matrix)
    factor = np.zeros_like(matrix)
    for j in range(n):
        row = factor[j, :j]
        factor[j, j] = np.sqrt(matrix[j, j] - row @ row)
        factor[j + 1 :, j] = (matrix[j + 1 :, j] - factor[j + 1 :, :j] @ row) / factor[j, j]
    return factor


def by_hand(matrix: Any) -> Any:
    below = jnp.arange(len(matrix))

    def step(j: Any, factor: Any) -> Any:
        column = matrix[:, j] - factor @ factor[j]  # columns from j on are zeros still
        pivot = jnp.sqrt(column[j])
        return factor.at[:, j].set(jnp.where(below < j, 0, column / pivot))

    return jax.lax.fori_loop(0, len(matrix), step, jnp.zeros_like(matrix))
