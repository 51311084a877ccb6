import numpy as np

a = np.array([[0, 3, 0], [0, 1, 2]])
print((~a.any(axis=0)).any(), np.isnan([1.0, np.nan]).any(), np.where(a > 1, a, -a))
