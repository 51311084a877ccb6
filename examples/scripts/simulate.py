"""Simulations: a pendulum, a population, a walk over a graph, a fractal."""

import numpy as np


def pendulum(steps, dt=0.01):
    state = np.array([1.0, 0.0])
    track = np.empty((steps, 2))
    for i in range(steps):
        track[i] = state
        state = state + dt * np.array([state[1] - dt * np.sin(state[0]), -np.sin(state[0])])
    return track


track = pendulum(1000)
print(
    "swings:",
    np.count_nonzero(np.diff(np.sign(track[:, 0]))),
    "largest:",
    np.abs(track[:, 0]).max().round(3),
)

leslie = np.array([[0, 1.5, 1.0], [0.5, 0, 0], [0, 0.6, 0]])
people = np.array([100.0, 50, 20])
for _ in range(50):
    people = leslie @ people
growth = np.abs(np.linalg.eigvals(leslie)).max()
print("growth:", growth.round(4), "shares:", (people / people.sum()).round(4))

links = np.array([[0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 0]], dtype=float)
walk = links / links.sum(axis=0)
rank = np.full(4, 0.25)
while np.abs(0.85 * walk @ rank + 0.0375 - rank).max() > 1e-10:
    rank = 0.85 * walk @ rank + 0.0375
print("rank:", rank.round(5))

c = np.linspace(-2, 0.6, 40)[None, :] + 1j * np.linspace(-1.2, 1.2, 12)[:, None]
z, alive = np.zeros_like(c), np.ones(c.shape, dtype=bool)
for _ in range(40):
    z[alive] = z[alive] ** 2 + c[alive]
    alive &= np.abs(z) < 2
for row in alive:
    print("".join(np.where(row, "#", ".")))
