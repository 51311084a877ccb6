"""Heat equation of a plate with fixed edges (Jacobi's method).

It has a stencil of slices, `out=`, and two buffers that are swapped.
"""

from typing import Any

import jax
import numpy

SMALL, FULL = (16, 6), (256, 60)


def inputs(n: int, steps: int) -> tuple[Any, ...]:
    plate = numpy.zeros((n, n))
    plate[0], plate[-1], plate[:, 0] = 100.0, -20.0, numpy.linspace(100, -20, n)
    return plate, steps


def program(np: Any, plate: Any, steps: int) -> Any:
    now, after = plate.copy(), plate.copy()
    for _ in range(steps):
        inner = after[1:-1, 1:-1]
        np.add(now[:-2, 1:-1], now[2:, 1:-1], out=inner)
        inner += now[1:-1, :-2]
        inner += now[1:-1, 2:]
        inner /= 4
        now, after = after, now
    return now


def by_hand(plate: Any, steps: int) -> Any:
    def step(_: int, u: Any) -> Any:
        return u.at[1:-1, 1:-1].set((u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4)

    return jax.lax.fori_loop(0, steps, step, plate)
