"""Conway's game of life: neighbors counted by integer slices, cells updated through masks."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

SMALL, FULL = (12, 5), (256, 40)


def inputs(n: int, generations: int) -> tuple[Any, ...]:
    return numpy.random.RandomState(0).randint(0, 2, size=(n, n)).astype("int8"), generations


def program(np: Any, board: Any, generations: int) -> Any:
    board = board.copy()
    for _ in range(generations):
        count = np.zeros_like(board)
        count[1:] += board[:-1]
        count[:-1] += board[1:]
        sides = board + count
        count[:, 1:] += sides[:, :-1]
        count[:, :-1] += sides[:, 1:]
        board[(count < 2) | (count > 3)] = 0
        board[count == 3] = 1
    return board


def by_hand(board: Any, generations: int) -> Any:
    def step(_: int, board: Any) -> Any:
        count = jnp.zeros_like(board).at[1:].add(board[:-1]).at[:-1].add(board[1:])
        sides = board + count
        count = count.at[:, 1:].add(sides[:, :-1]).at[:, :-1].add(sides[:, 1:])
        return jnp.where((count == 3) | ((count == 2) & (board == 1)), jnp.int8(1), jnp.int8(0))

    return jax.lax.fori_loop(0, generations, step, board)
