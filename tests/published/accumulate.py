import numpy as np

values = np.array([1, 2, 3, 4, 5, 6])
index = np.array([1, 3, 9, 3, 4, 1])
print(np.bincount(index, weights=values))
into = np.zeros(10)
np.add.at(into, index, values)
print(into, np.maximum.accumulate([3, 1, 4, 1, 5]))
