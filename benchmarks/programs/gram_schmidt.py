"""Modified Gram-Schmidt process: columns normalized, and projected out of later ones, in place."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

SMALL, FULL = (6, 3), (400, 24)


def inputs(rows: int, columns: int) -> tuple[Any, ...]:
    return (numpy.random.RandomState(0).normal(size=(rows, columns)),)


def program(np: Any, matrix: Any) -> Any:
    q = matrix.copy()
    for j in range(q.shape[1]):
        column = q[:, j]
        column /= np.sqrt((column**2).sum())
        if j + 1 < q.shape[1]:
            q[:, j + 1 :] -= np.outer(column, column @ q[:, j + 1 :])
    return q


def by_hand(matrix: Any) -> Any:
    columns = matrix.shape[1]

    def step(j: Any, q: Any) -> Any:
        column = q[:, j] / jnp.sqrt((q[:, j] ** 2).sum())
        follows = jnp.arange(columns) > j
        return (q - jnp.outer(column, jnp.where(follows, column @ q, 0))).at[:, j].set(column)

    return jax.lax.fori_loop(0, columns, step, matrix)
