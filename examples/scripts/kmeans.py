"""Clusters of points by k-means, and a decomposition of the same points."""

import numpy as np

centres = np.array([[0.0, 0.0], [5.0, 5.0], [0.0, 6.0]])
angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
points = np.concatenate([c + r * circle for c in centres for r in (0.2, 0.7)])

guess = points[[0, 90, 170]].copy()
for _ in range(20):
    distance = np.linalg.norm(points[:, None] - guess[None], axis=2)
    nearest = distance.argmin(axis=1)
    new = np.array([points[nearest == k].mean(axis=0) for k in range(3)])
    if np.allclose(new, guess):
        break
    guess = new
print("sizes:", np.bincount(nearest))
print(np.round(guess, 6) + 0.0)

centred = points - points.mean(axis=0)
values = np.linalg.svd(centred, compute_uv=False)
print("variance explained:", np.round(values**2 / (values**2).sum(), 4))
