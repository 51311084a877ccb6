import numpy as np

print(np.unravel_index(99, (6, 7, 8)))
print(np.ravel_multi_index((1, 5, 3), (6, 7, 8)))
print([int(i) for i in np.argwhere(np.array([1, 2, 0, 0, 4, 0])).ravel()])
