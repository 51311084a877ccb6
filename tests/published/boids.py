import numpy as np

angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
position = np.stack([np.cos(angle), np.sin(angle)], axis=1) * 3
velocity = np.stack([-np.sin(2 * angle), np.cos(angle)], axis=1)
for _ in range(10):
    delta = position[:, None] - position
    distance = np.hypot(delta[..., 0], delta[..., 1])
    near = (distance > 0) & (distance < 2.5)
    count = np.maximum(near.sum(axis=1), 1).reshape(-1, 1)
    cohesion = np.dot(near, position) / count - position * near.any(axis=1)[:, None]
    alignment = np.dot(near, velocity) / count
    velocity += 0.05 * cohesion + 0.1 * alignment
    velocity *= np.minimum(1, 2 / np.linalg.norm(velocity, axis=1))[:, None]
    position += 0.1 * velocity
print(position.round(6))
