import numpy as np

x = np.arange(4)
y = x + 0.5
c = 1.0 / np.subtract.outer(x, y)
print(np.linalg.det(c).round(6))
