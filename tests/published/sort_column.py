import numpy as np

a = np.array([[3, 1, 2], [1, 9, 0], [2, 4, 7]])
print(a[a[:, 1].argsort()], np.lexsort((a[:, 1], a[:, 2])))
print(np.partition([7, 2, 9, 4, 1], 2)[:2].sum())
