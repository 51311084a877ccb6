import numpy as np

a = np.ones((5, 6))
a[1:-1, 1:-1] = 0
print(np.pad(a, 1, constant_values=9))
print(np.diag(1 + np.arange(4), k=-1))
