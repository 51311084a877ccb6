"""PageRank (Brin and Page, 1998): power iteration until convergence, which depends on values."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

SMALL, FULL = (8,), (300,)
DAMPING, TOLERANCE = 0.85, 1e-8
COMPILES = False


def inputs(n: int) -> tuple[Any, ...]:
    return (numpy.random.RandomState(0).uniform(size=(n, n)) < 0.2,)


def program(np: Any, links: Any) -> Any:
    n = len(links)
    counts = links.sum(axis=0)
    moves = links / np.where(counts > 0, counts, 1)
    moves[:, counts == 0] = 1 / n
    rank = np.full(n, 1 / n)
    while True:
        before = rank.copy()
        rank[...] = DAMPING * (moves @ before) + (1 - DAMPING) / n
        if np.abs(rank - before).sum() < TOLERANCE:
            return rank


def by_hand(links: Any) -> Any:
    n = len(links)
    counts = links.sum(axis=0)
    moves = jnp.where(counts > 0, links / jnp.maximum(counts, 1), 1 / n)

    def step(state: Any) -> Any:
        rank, _ = state
        after = DAMPING * (moves @ rank) + (1 - DAMPING) / n
        return after, abs(after - rank).sum()

    return jax.lax.while_loop(
        lambda state: state[1] >= TOLERANCE, step, (jnp.full(n, 1 / n), jnp.inf)
    )[0]
