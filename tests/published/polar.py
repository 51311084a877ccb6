import numpy as np

points = np.array([[3.0, 4.0], [1.0, 1.0], [-1.0, 0.0]])
x, y = points[:, 0], points[:, 1]
print(np.sqrt(x**2 + y**2).round(4), np.degrees(np.arctan2(y, x)).round(2))
