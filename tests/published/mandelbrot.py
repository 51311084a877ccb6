import numpy as np

x, y = np.linspace(-2.0, 0.5, 25), np.linspace(-1.2, 1.2, 17)
c = x + y[:, None] * 1j
n, z = np.zeros(c.shape, dtype=int), np.zeros(c.shape, complex)
for i in range(20):
    inside = abs(z) < 2
    n[inside] = i
    z[inside] = z[inside] ** 2 + c[inside]
for row in n:
    print("".join(" .:-=+*#%@"[v // 2] for v in row))
