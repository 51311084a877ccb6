import numpy as np

links = np.array([[0, 0, 1, 0], [1, 0, 0, 0], [1, 1, 0, 1], [0, 1, 0, 0]], dtype=float)
m = links / links.sum(axis=0)
r = np.ones(4) / 4
while True:
    new = 0.85 * m @ r + 0.15 / 4
    if np.abs(new - r).max() < 1e-10:
        break
    r = new
print(r.round(7))
