import numpy as np

mass = np.array([1.0, 1e-3, 2e-3])
q = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
v = np.array([[0.0, 0.0], [0.0, 1.0], [-0.7, 0.0]])
for _ in range(100):
    d = q[None] - q[:, None]
    r3 = ((d**2).sum(-1) + 1e-6) ** 1.5
    v += 0.01 * (mass[None, :, None] * d / r3[..., None]).sum(1)
    q += 0.01 * v
print(q.round(6), (mass[:, None] * v).sum(0).round(8))
