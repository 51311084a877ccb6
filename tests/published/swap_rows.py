import numpy as np

a = np.arange(25).reshape(5, 5)
a[[0, 1]] = a[[1, 0]]
a[:, [2, 4]] = a[:, [4, 2]]
print(a)
