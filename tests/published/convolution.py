import numpy as np

print(np.convolve([1, 2, 3], [0, 1, 0.5], mode="same"), np.correlate([1, 2, 3], [0, 1, 0.5]))
print(
    np.interp([0.5, 1.5], [0, 1, 2], [0, 10, 20]), np.diff([1, 4, 9], n=2), np.trapezoid([1, 2, 3])
)
