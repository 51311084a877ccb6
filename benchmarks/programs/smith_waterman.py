"""Local sequence alignment (Smith and Waterman, 1981) along antidiagonals: integer indexing."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

SMALL, FULL = (4, 5), (24, 28)
MATCH, MISMATCH, GAP = 3, -3, 2


def inputs(first: int, second: int) -> tuple[Any, ...]:
    random = numpy.random.RandomState(0)
    return random.randint(0, 4, size=first), random.randint(0, 4, size=second)


def program(np: Any, first: Any, second: Any) -> Any:
    n, m = len(first), len(second)
    score = np.where(first[:, None] == second, MATCH, MISMATCH)
    table = np.zeros((n + 1, m + 1), dtype="int64")
    for d in range(2, n + m + 1):
        i = np.arange(max(1, d - m), min(n, d - 1) + 1)
        j = d - i
        diagonal = table[i - 1, j - 1] + score[i - 1, j - 1]
        gap = np.maximum(table[i - 1, j], table[i, j - 1]) - GAP
        table[i, j] = np.maximum(np.maximum(diagonal, gap), 0)
    return table


def by_hand(first: Any, second: Any) -> Any:
    n, m = len(first), len(second)
    i = jnp.arange(1, n + 1)
    score = jnp.where(first[:, None] == second, MATCH, MISMATCH)

    def step(table: Any, d: Any) -> Any:
        j = d - i
        on = (j >= 1) & (j <= m)
        at = jnp.clip(j, 1, m)
        diagonal = table[i - 1, at - 1] + score[i - 1, at - 1]
        gap = jnp.maximum(table[i - 1, at], table[i, at - 1]) - GAP
        found = jnp.maximum(jnp.maximum(diagonal, gap), 0)
        return table.at[i, jnp.where(on, at, m + 1)].set(found, mode="drop"), None

    return jax.lax.scan(step, jnp.zeros((n + 1, m + 1), "int64"), jnp.arange(2, n + m + 1))[0]
