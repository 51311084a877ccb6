"""Conjugate gradients (Hestenes and Stiefel, 1952): matrix products, vectors updated in place."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

SMALL, FULL = (8, 5), (300, 40)


def inputs(n: int, steps: int) -> tuple[Any, ...]:
    random = numpy.random.RandomState(0)
    root = random.normal(size=(n, n)) / numpy.sqrt(n)
    return root @ root.T + numpy.eye(n), random.normal(size=n), steps


def program(np: Any, matrix: Any, right: Any, steps: int) -> Any:
    x = np.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    square = residual @ residual
    for _ in range(steps):
        product = matrix @ direction
        length = square / (direction @ product)
        x += length * direction
        residual -= length * product
        before, square = square, residual @ residual
        direction *= square / before
        direction += residual
    return x


def by_hand(matrix: Any, right: Any, steps: int) -> Any:
    def step(_: int, state: Any) -> Any:
        x, residual, direction, square = state
        product = matrix @ direction
        length = square / (direction @ product)
        x, residual = x + length * direction, residual - length * product
        after = residual @ residual
        return x, residual, direction * (after / square) + residual, after

    return jax.lax.fori_loop(0, steps, step, (jnp.zeros_like(right), right, right, right @ right))[
        0
    ]
