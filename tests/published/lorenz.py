import numpy as np


def lorenz(s, sigma=10, rho=28, beta=8 / 3):
    x, y, z = s
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


s = np.array([1.0, 1.0, 1.0])
for _ in range(200):
    k1 = lorenz(s)
    k2 = lorenz(s + 0.005 * k1)
    k3 = lorenz(s + 0.005 * k2)
    k4 = lorenz(s + 0.01 * k3)
    s = s + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
print(s.round(6))
