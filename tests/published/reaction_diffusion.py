import numpy as np

n = 16
u, v = np.ones((n + 2, n + 2)), np.zeros((n + 2, n + 2))
u[6:10, 6:10], v[6:10, 6:10] = 0.5, 0.25
for _ in range(60):
    lu = u[:-2, 1:-1] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1] + u[1:-1, 2:] + u[2:, 1:-1]
    lv = v[:-2, 1:-1] + v[1:-1, :-2] - 4 * v[1:-1, 1:-1] + v[1:-1, 2:] + v[2:, 1:-1]
    ui, vi = u[1:-1, 1:-1], v[1:-1, 1:-1]
    uvv = ui * vi * vi
    ui += 0.16 * lu - uvv + 0.06 * (1 - ui)
    vi += 0.08 * lv + uvv - (0.06 + 0.062) * vi
print(u.sum().round(8), v.max().round(8))
