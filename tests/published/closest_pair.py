import numpy as np

p = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 3.5], [9.0, 1.0]])
d = np.sqrt(((p[:, None] - p[None]) ** 2).sum(-1))
np.fill_diagonal(d, np.inf)
print(np.unravel_index(d.argmin(), d.shape), d.min())
