"""N-body gravity (leapfrog): pairwise differences by broadcasting, updates in place."""

from typing import Any

import jax
import numpy

SMALL, FULL = (6, 4), (128, 20)
STEP, SOFTENING = 0.01, 0.1


def inputs(n: int, steps: int) -> tuple[Any, ...]:
    random = numpy.random.RandomState(0)
    return (
        random.normal(size=(n, 3)),
        0.1 * random.normal(size=(n, 3)),
        random.uniform(0.5, 1.5, size=(n, 1)) / n,
        steps,
    )


def program(np: Any, position: Any, velocity: Any, mass: Any, steps: int) -> Any:
    position, velocity = position.copy(), velocity.copy()

    def acceleration() -> Any:
        away = position[None, :, :] - position[:, None, :]
        cubed = ((away**2).sum(axis=2) + SOFTENING**2) ** 1.5
        return (away * (mass.T / cubed)[:, :, None]).sum(axis=1)

    force = acceleration()
    for _ in range(steps):
        velocity += force * (STEP / 2)
        position += velocity * STEP
        force = acceleration()
        velocity += force * (STEP / 2)
    return np.concatenate([position, velocity], axis=1)


def by_hand(position: Any, velocity: Any, mass: Any, steps: int) -> Any:
    def acceleration(position: Any) -> Any:
        away = position[None, :, :] - position[:, None, :]
        cubed = ((away**2).sum(axis=2) + SOFTENING**2) ** 1.5
        return (away * (mass.T / cubed)[:, :, None]).sum(axis=1)

    def step(_: int, state: Any) -> Any:
        position, velocity, force = state
        velocity = velocity + force * (STEP / 2)
        position = position + velocity * STEP
        force = acceleration(position)
        return position, velocity + force * (STEP / 2), force

    position, velocity, _ = jax.lax.fori_loop(
        0, steps, step, (position, velocity, acceleration(position))
    )
    return jax.numpy.concatenate([position, velocity], axis=1)
