import numpy as np

a = np.array([[4.0, 1.0], [2.0, 3.0]])
v = np.ones(2)
for _ in range(50):
    v = a @ v
    v /= np.linalg.norm(v)
print((v @ a @ v).round(8), np.linalg.eigvals(a).real.max().round(8))
