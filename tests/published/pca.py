import numpy as np

x = np.array([[2.5, 2.4], [0.5, 0.7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0], [2.3, 2.7]])
centred = x - x.mean(axis=0)
values, vectors = np.linalg.eigh(np.cov(centred, rowvar=False))
order = np.argsort(values)[::-1]
print(values[order].round(6), np.abs(vectors[:, order]).round(6))
u, s, vt = np.linalg.svd(centred, full_matrices=False)
print(s.round(6), np.allclose(u * s @ vt, centred))
