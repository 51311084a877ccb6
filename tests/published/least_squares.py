import numpy as np

x = np.array([0.0, 1.0, 2.0, 3.0])
y = np.array([-1, 0.2, 0.9, 2.1])
m, c = np.linalg.lstsq(np.vstack([x, np.ones(len(x))]).T, y, rcond=None)[0]
print(round(float(m), 6), round(float(c), 6))
