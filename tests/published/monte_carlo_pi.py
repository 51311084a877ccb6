import numpy as np

np.random.seed(3)
inside = (np.random.rand(20000, 2) ** 2).sum(axis=1) < 1
print(abs(4 * inside.mean() - np.pi) < 0.05)
