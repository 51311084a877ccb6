import numpy as np

a = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
q = np.zeros_like(a)
for i in range(3):
    v = a[:, i] - q[:, :i] @ (q[:, :i].T @ a[:, i])
    q[:, i] = v / np.linalg.norm(v)
print(q.round(6), np.allclose(q.T @ q, np.eye(3)))
