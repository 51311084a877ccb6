"""Sums, states, what is looped over, helpers and algorithms."""

import numpy as onp

from loop_programs.table import FLOATS, matrix, staged
from npcompat import np

# --- sums and states


@staged(derivative=True)
def running_sum_in_place(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]


@staged(derivative=True)
def sum_from_zero(a):
    s = 0
    for i in range(len(a)):
        s = s + a[i]
    return s


@staged(derivative=True)
def sum_over_items(a):
    s = a[0] * 0
    for x in a:
        s += x * x
    return s


@staged()
def python_float_accumulated(a):
    s = 0.0
    for i in range(len(a)):
        s += i * 0.5
    return a * s


@staged(lambda d: [onp.arange(30).astype(d), onp.zeros(30, d)], FLOATS)
def jacobi_odd(a, b):
    for _ in range(11):
        b[1:-1] = (a[:-2] + a[2:]) / 2
        a, b = b, a
    return a


@staged(lambda d: [onp.arange(30).astype(d), onp.zeros(30, d)], FLOATS)
def jacobi_even(a, b):
    for _ in range(12):
        b[1:-1] = (a[:-2] + a[2:]) / 2
        a, b = b, a
    return b


@staged(matrix(), derivative=True)
def row_views(m):
    for i in range(len(m)):
        r = m[i]
        r[:] = r[::-1]
        r *= 2


@staged(matrix(), derivative=True)
def sums_of_triangle(m):
    s = np.zeros(len(m), m.dtype)
    for i in range(len(m)):
        s[i] = m[i, :i].sum()
    return s


@staged(matrix())
def maxima_of_triangle(m):
    s = np.zeros(len(m), m.dtype)
    for i in range(len(m)):
        s[i] = m[i, : i + 1].max()
    return s


@staged(matrix())
def writes_of_triangle(m):
    for i in range(len(m)):
        m[i, :i] = i
        m[i, i:] *= 2


@staged(matrix(), derivative=True)
def nested(m):
    t = m[0, 0] * 0
    for i in range(len(m)):
        for j in range(i):
            t = t + m[i, j] * m[j, i]
    return t


@staged(matrix(), derivative=True)
def column_by_column(m):
    for j in range(m.shape[1]):
        m[:, j] -= m[:, 0] * j


# --- what is looped over


@staged(matrix())
def rows_of_a_matrix(m):
    s = m[0] * 0
    for row in m:
        s = s + row
    return s


@staged(matrix())
def rows_are_views(m):
    for row in m:
        row[0] = 0


@staged()
def enumerated(a):
    s = a[0] * 0
    for i, x in enumerate(a):
        s = s + i * x
    return s


@staged(lambda d: [onp.arange(20).astype(d), onp.arange(20, 40).astype(d)])
def zipped(a, b):
    s = a[0] * 0
    for x, y in zip(a, b):
        s = s + x * y
    return s


@staged()
def reversed_range(a):
    for i in reversed(range(len(a) - 1)):
        a[i] += a[i + 1]


@staged()
def reversed_array(a):
    s = a[0] * 0
    for x in reversed(a):
        s = s * 2 + x
    return s


@staged()
def strided_range(a):
    for i in range(17, 0, -1):
        a[i] -= a[i - 1]
    for i in range(0, 20, 2):
        a[i] *= 3


@staged()
def weights_in_a_list(a):
    weights = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]
    s = a[0] * 0.0
    for i in range(10):
        s = s + weights[i] * a[i]
    return s


# --- helpers


def _helper(x, k=2):
    if x > 3:
        return x * k
    return x


@staged()
def helpers(a):
    def inner(x, i):
        return _helper(x) + i

    s = a[0] * 0
    for i in range(len(a)):
        s = s + inner(a[i], i)
    return s


@staged()
def lambdas(a):
    f = lambda x: x * 2 if x > 3 else x
    s = a[0] * 0
    for i in range(len(a)):
        s = s + f(a[i])
    return s


class _Scale:
    def __init__(self):
        self.factor = 3

    def scaled(self, x):
        if x > 2:
            return x * self.factor
        return x


_SCALE = _Scale()


@staged()
def methods(a):
    s = a[0] * 0
    for i in range(len(a)):
        s = s + _SCALE.scaled(a[i])
    return s


# --- algorithms


@staged(lambda d: [(onp.arange(100).reshape(10, 10) * 7 % 5 == 0).astype(d)])
def game_of_life(m):
    n = len(m)
    for _ in range(9):
        new = np.zeros_like(m)
        for i in range(n):
            for j in range(n):
                s = m[(i - 1) % n, j] + m[(i + 1) % n, j] + m[i, (j - 1) % n] + m[i, (j + 1) % n]
                if m[i, j] == 1:
                    if s == 2 or s == 3:
                        new[i, j] = 1
                elif s == 3:
                    new[i, j] = 1
        m = new
    return m


@staged(matrix())
def floyd_warshall(m):
    n = len(m)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if m[i, k] + m[k, j] < m[i, j]:
                    m[i, j] = m[i, k] + m[k, j]


@staged(matrix(), FLOATS)
def gauss(m):
    n = len(m)
    for i in range(n):
        m[i, i] += 100
    for k in range(n):
        for i in range(k + 1, n):
            f = m[i, k] / m[k, k]
            m[i, k:] -= f * m[k, k:]


@staged(matrix(), FLOATS, derivative=True)
def cholesky(m):
    n = len(m)
    a = m @ m.T + np.eye(n, dtype=m.dtype) * 1000
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
    return np.tril(a)


def _csr(dtype):
    rows = onp.array([0, 2, 2, 5, 6, 6, 9, 10, 12, 12, 15])
    columns = onp.arange(15) * 7 % 11
    return [rows, columns, (onp.arange(15) % 5 + 1).astype(dtype), onp.arange(11).astype(dtype)]


@staged(_csr)
def sparse_product(rows, columns, values, x):
    y = np.zeros(len(rows) - 1, values.dtype)
    for i in range(len(rows) - 1):
        at = columns[rows[i] : rows[i + 1]]
        y[i] = values[rows[i] : rows[i + 1]] @ x[at]
    return y


@staged(_csr)
def sparse_product_by_elements(rows, columns, values, x):
    y = np.zeros(len(rows) - 1, values.dtype)
    for i in range(len(rows) - 1):
        for k in range(rows[i], rows[i + 1]):
            y[i] += values[k] * x[columns[k]]
    return y


@staged(lambda d: [onp.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]).astype(d)])
def longest_increasing(a):
    n = len(a)
    best = np.ones(n, "int64")
    for i in range(n):
        for j in range(i):
            if a[j] < a[i]:
                best[i] = max(best[i], best[j] + 1)
    return best.max()
