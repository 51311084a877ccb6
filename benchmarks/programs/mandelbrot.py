"""Mandelbrot set: masked iteration of complex numbers, by `where=` of ufuncs."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

SMALL, FULL = (12, 8, 8), (300, 200, 20)


def inputs(width: int, height: int, iterations: int) -> tuple[Any, ...]:
    x, y = numpy.linspace(-2.0, 0.5, width), numpy.linspace(-1.21, 1.21, height)
    return x + 1j * y[:, None], iterations


def program(np: Any, plane: Any, iterations: int) -> Any:
    z = np.zeros_like(plane)
    steps = np.zeros(plane.shape, dtype="int64")
    for _ in range(iterations):
        inside = z.real**2 + z.imag**2 <= 4
        np.multiply(z, z, out=z, where=inside)
        np.add(z, plane, out=z, where=inside)
        steps += inside
    return steps


def by_hand(plane: Any, iterations: int) -> Any:
    def step(_: int, state: Any) -> Any:
        z, steps = state
        inside = z.real**2 + z.imag**2 <= 4
        return jnp.where(inside, z * z + plane, z), steps + inside

    return jax.lax.fori_loop(
        0, iterations, step, (jnp.zeros_like(plane), jnp.zeros(plane.shape, "int64"))
    )[1]
