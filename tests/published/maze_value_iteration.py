import numpy as np

maze = np.array([[0, 0, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0]])
g = np.where(maze == 1, -np.inf, 0.0)
g[0, 0] = 1.0
for _ in range(20):
    p = np.pad(g, 1, constant_values=-np.inf)
    best = np.maximum.reduce([p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:], g / 0.9])
    g = np.where(maze == 1, -np.inf, np.maximum(g, 0.9 * best))
    g[0, 0] = 1.0
print(g.round(5))
