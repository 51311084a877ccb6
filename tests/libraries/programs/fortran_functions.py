"""Functions of BLAS and LAPACK: what they copy, and what they overwrite."""

import numpy as np
from scipy import linalg

matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
right = np.array([1.0, 2.0])
linalg.lapack.dgesv(matrix, right)
print(matrix, right)

(potrf,) = linalg.get_lapack_funcs(("potrf",), (matrix,))
print(potrf(np.asfortranarray(matrix), lower=True))

y = np.ones(2)
print(linalg.blas.dgemv(1.0, matrix, right, beta=1.0, y=y), y)
print(linalg.blas.dgemv(1.0, matrix, right, beta=1.0, y=y, overwrite_y=True), y)
linalg.blas.daxpy(right, y, a=3.0)
print(y)
