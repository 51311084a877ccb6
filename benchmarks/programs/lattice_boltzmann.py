"""Lattice Boltzmann method (D2Q9), flow past a cylinder: rolls, reductions, and a mask.

The mask reverses velocities.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

SMALL, FULL = (12, 24, 2), (60, 160, 12)
X = (0, 0, 1, 1, 1, 0, -1, -1, -1)
Y = (0, 1, 1, 0, -1, -1, -1, 0, 1)
OPPOSITE = (0, 5, 6, 7, 8, 1, 2, 3, 4)
WEIGHTS = (4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36)
RELAXATION = 0.6


def inputs(height: int, width: int, steps: int) -> tuple[Any, ...]:
    flow = 1 + 0.01 * numpy.random.RandomState(0).normal(size=(height, width, 9))
    flow[:, :, 3] += 2 * (1 + 0.2 * numpy.cos(2 * numpy.pi * numpy.arange(width) / width * 4))
    flow *= 100 / flow.sum(axis=2, keepdims=True)
    y, x = numpy.mgrid[:height, :width]
    return flow, (x - width / 4) ** 2 + (y - height / 2) ** 2 < (height / 4) ** 2, steps


def program(np: Any, flow: Any, cylinder: Any, steps: int) -> Any:
    flow = flow.copy()
    for _ in range(steps):
        for i in range(1, 9):
            flow[:, :, i] = np.roll(np.roll(flow[:, :, i], X[i], axis=1), Y[i], axis=0)
        reflected = flow[:, :, OPPOSITE]
        density = flow.sum(axis=2)
        u = (flow * X).sum(axis=2) / density
        v = (flow * Y).sum(axis=2) / density
        u[cylinder] = 0
        v[cylinder] = 0
        balanced = np.zeros_like(flow)
        for i in range(9):
            along = 3 * (X[i] * u + Y[i] * v)
            balanced[:, :, i] = (
                WEIGHTS[i] * density * (1 + along + along**2 / 2 - 1.5 * (u**2 + v**2))
            )
        flow += (balanced - flow) / RELAXATION
        np.copyto(flow, reflected, where=cylinder[:, :, None])
    return flow


def by_hand(flow: Any, cylinder: Any, steps: int) -> Any:
    x, y, weights = jnp.array(X), jnp.array(Y), jnp.array(WEIGHTS)

    def step(_: int, flow: Any) -> Any:
        flow = jnp.stack(
            [jnp.roll(flow[:, :, i], (Y[i], X[i]), axis=(0, 1)) for i in range(9)], axis=2
        )
        reflected = flow[:, :, jnp.array(OPPOSITE)]
        density = flow.sum(axis=2)
        u = jnp.where(cylinder, 0, (flow * x).sum(axis=2) / density)[..., None]
        v = jnp.where(cylinder, 0, (flow * y).sum(axis=2) / density)[..., None]
        along = 3 * (x * u + y * v)
        balanced = weights * density[..., None] * (1 + along + along**2 / 2 - 1.5 * (u**2 + v**2))
        return jnp.where(cylinder[..., None], reflected, flow + (balanced - flow) / RELAXATION)

    return jax.lax.fori_loop(0, steps, step, flow)
