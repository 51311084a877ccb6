# needs: scipy
import numpy as np
from scipy import ndimage

a = np.zeros((9, 9))
a[1:3, 1:4] = 1
a[5:8, 5:8] = 2
labels, count = ndimage.label(a > 0)
print(count, ndimage.sum(a, labels, np.arange(1, count + 1)), ndimage.center_of_mass(a))
print(ndimage.median_filter(a, 3).sum(), ndimage.binary_erosion(a > 0).sum())
