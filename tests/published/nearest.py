import numpy as np

z = np.linspace(0, 1, 11)
print(z[np.abs(z - 0.42).argmin()])
print(np.searchsorted(z, [0.05, 0.5, 2]))
