import numpy as np

z = np.zeros((8, 8), dtype=int)
z[1, 2] = z[2, 3] = z[3, 1] = z[3, 2] = z[3, 3] = 1
for _ in range(5):
    n = (
        z[:-2, :-2]
        + z[:-2, 1:-1]
        + z[:-2, 2:]
        + z[1:-1, :-2]
        + z[1:-1, 2:]
        + z[2:, :-2]
        + z[2:, 1:-1]
        + z[2:, 2:]
    )
    birth = (n == 3) & (z[1:-1, 1:-1] == 0)
    survive = ((n == 2) | (n == 3)) & (z[1:-1, 1:-1] == 1)
    z[...] = 0
    z[1:-1, 1:-1][birth | survive] = 1
print(z)
