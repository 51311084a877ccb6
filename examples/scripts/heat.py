"""Heat in a plate by Jacobi's method, written in place, and the same by a sparse solver of SciPy."""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

n = 12
plate = np.zeros((n, n))
plate[0] = 100.0
plate[:, -1] = 50.0
for _ in range(600):
    plate[1:-1, 1:-1] = (
        plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
    ) / 4
print(plate[::3, ::3].round(3))

m = n - 2
line = scipy.sparse.diags_array([-1.0, 4.0, -1.0], offsets=[-1, 0, 1], shape=(m, m))
side = scipy.sparse.diags_array([-1.0, -1.0], offsets=[-1, 1], shape=(m, m))
matrix = scipy.sparse.kron(scipy.sparse.eye_array(m), line) + scipy.sparse.kron(
    side, scipy.sparse.eye_array(m)
)
right = np.zeros((m, m))
right[0] += plate[0, 1:-1]
right[-1] += plate[-1, 1:-1]
right[:, 0] += plate[1:-1, 0]
right[:, -1] += plate[1:-1, -1]
solution = scipy.sparse.linalg.spsolve(matrix.tocsr(), right.ravel()).reshape(m, m)
print("largest difference:", np.abs(solution - plate[1:-1, 1:-1]).max() < 1e-6)
