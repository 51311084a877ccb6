"""Programs with loops, branches and whiles, as people write them, and what becomes of each.

`STAGED` are one program whatever the number of rounds; `UNROLLED` are as before, with a reason in
the compile log; `REFUSED` raise an error that says what to do. Arguments are made by a function of a
dtype. They lie here, and not in a file of tests, as pytest rewrites the code of those.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as onp

from npcompat import np

FLOATS = ("float32", "float64")
EVERY = (*FLOATS, "int64")


@dataclass
class Program:
    function: Callable[..., Any]
    arguments: Callable[[str], list[Any]]
    dtypes: tuple[str, ...] = EVERY
    derivative: bool = False


STAGED: dict[str, Program] = {}
UNROLLED: dict[str, Program] = {}
REFUSED: dict[str, Program] = {}


def vector(n=20):
    return lambda dtype: [onp.arange(1, n + 1).astype(dtype) % 7 + 1]


def matrix(n=12):
    def made(dtype):
        return [(onp.arange(n * n).reshape(n, n) * 37 % 23 + 1).astype(dtype)]

    return made


def program(where, arguments=None, dtypes=EVERY, derivative=False):
    def add(function):
        found = Program(function, arguments or vector(), dtypes, derivative)
        where[function.__name__] = found
        return function

    return add


def staged(arguments=None, dtypes=EVERY, derivative=False):
    return program(STAGED, arguments, dtypes, derivative)


def unrolled(arguments=None, dtypes=EVERY, derivative=False):
    return program(UNROLLED, arguments, dtypes, derivative)


def refused(arguments=None, dtypes=EVERY):
    return program(REFUSED, arguments, dtypes)


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


# --- branches


@staged(derivative=True)
def branches(a):
    s = a[0] * 0
    for i in range(len(a)):
        if a[i] > 3:
            s = s + a[i] * 2
        elif a[i] == 2:
            s = s - a[i]
        else:
            s = s + 1
    return s


@staged()
def writes_in_an_arm(a):
    for i in range(1, len(a)):
        if a[i] > a[i - 1]:
            a[i] = a[i - 1]
        elif a[i] < 2:
            a[i - 1] += 1


@staged()
def bubble_sort(a):
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                t = a[j]
                a[j] = a[j + 1]
                a[j + 1] = t


@staged()
def bubble_sort_by_tuples(a):
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]


@staged()
def insertion_sort(a):
    for i in range(1, len(a)):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x


@staged()
def up_to_the_end(a):
    i = 0
    while i < len(a) and a[i] < 100:
        i += 1
    return a[: 0 + 1] * i


@staged()
def conditional_expression(a):
    s = a[0] * 0
    for i in range(len(a)):
        s += a[i] if a[i] > 3 else -a[i]
    return s


@staged()
def calls_that_write_under_and(a):
    def takes(x, i):
        x[i] = 0
        return x[i] == 0

    n = 0
    for i in range(len(a)):
        if a[i] > 4 and takes(a, i):
            n += 1
    return a * n


@staged()
def not_and_or(a):
    n = 0
    for i in range(len(a)):
        if not (a[i] > 3 or a[i] == 1) and i != 5:
            n += i
    return a + n


@staged()
def chained_comparison(a):
    n = 0
    for i in range(len(a)):
        if 2 < a[i] <= 5:
            n += 1
    return a * n


# --- whiles


@staged(lambda d: [onp.array(2.0, d)], FLOATS)
def newton(c):
    x = c
    steps = 0
    while abs(x * x - c) > 1e-3:
        x = (x + c / x) / 2
        steps += 1
    return x, steps


@staged(lambda d: [onp.array(2.0, d)], FLOATS)
def bisection(c):
    low, high = c * 0, c
    while high - low > 1e-3:
        mid = (low + high) / 2
        if mid * mid > c:
            high = mid
        else:
            low = mid
    return low, high


@staged(lambda d: [onp.array([27]).astype(d)], ("int64",))
def collatz(a):
    n, steps = a[0], 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@staged(lambda d: [onp.array([252, 105]).astype(d)], ("int64",))
def euclid(a):
    x, y = a[0], a[1]
    while y:
        x, y = y, x % y
    return x


@staged(lambda d: [onp.array([252, 105]).astype(d)], ("int64",))
def euclid_of_ints(a):
    x, y = int(a[0]), int(a[1])
    while y:
        x, y = y, x % y
    return x


@staged(lambda d: [(onp.arange(64).reshape(8, 8) % 9 + onp.eye(8) * 20).astype(d)], FLOATS)
def power_iteration(m):
    x = np.ones(8, m.dtype)
    for _ in range(40):
        y = m @ x
        x = y / np.sqrt((y * y).sum())
    return x


@staged(lambda d: [onp.arange(30).astype(d)], FLOATS)
def converges_in_place(a):
    change = 1.0
    n = 0
    while change > 0.5 and n < 500:
        old = a.copy()
        a[1:-1] = (a[:-2] + a[2:]) * 0.4
        change = abs(a - old).max()
        n += 1
    return n


# --- jumps


@staged()
def first_above(a):
    for i in range(len(a)):
        if a[i] > 5:
            return i
    return -1


@staged()
def first_pair(a):
    for i in range(len(a)):
        for j in range(i):
            if a[i] + a[j] == 9:
                return i, j
    return -1, -1


@staged()
def breaks(a):
    s = a[0] * 0
    for i in range(len(a)):
        if a[i] == 6:
            break
        s += a[i]
    return s


@staged()
def breaks_with_else(a):
    n = 0
    for i in range(len(a)):
        if a[i] == 60:
            break
    else:
        n = 5
    return a + n


@staged()
def continues(a):
    s = a[0] * 0
    for i in range(len(a)):
        if a[i] == 6:
            continue
        s += a[i]
    return s


@staged()
def nested_breaks(a):
    n = 0
    for i in range(len(a)):
        for j in range(len(a)):
            if j > i:
                break
            if a[j] == 3:
                continue
            n += 1
        if n > 40:
            break
    return a * n


@staged()
def bound_in_one_branch(a):
    for i in range(len(a)):
        if a[i] == 4:
            k = i
    return a * k


@staged()
def unbound_after_the_loop(a):
    for i in range(len(a)):
        if a[i] == 400:
            k = i
    return a * k


@staged()
def bound_by_no_round(a):
    for k in range(int(a[0]) - 2):
        a[k] += 1
    return a * k


@staged()
def index_after_the_loop(a):
    for i in range(len(a)):
        a[i] *= 2
    return a * i


@staged()
def traced_range(a):
    s = 0
    for i in range(int(a[3])):
        s += i
    return a + s


@staged()
def traced_range_of_no_rounds(a):
    s = a[0]
    for i in range(int(a[3]) - 40):
        s = s + a[i]
    return s


# --- errors


@staged()
def raises(a):
    for i in range(len(a)):
        if a[i] > 6:
            raise ValueError("too large")
        a[i] += 1


@staged()
def could_raise(a):
    for i in range(len(a)):
        if a[i] > 60:
            raise ValueError("too large")
        a[i] += 1


@staged()
def asserts(a):
    for i in range(len(a)):
        assert a[i] < 6, "too large"


@staged()
def asserts_what_holds(a):
    for i in range(len(a)):
        assert a[i] < 60
        a[i] += 1


@staged()
def out_of_bounds(a):
    s = a[0]
    for i in range(len(a)):
        s = s + a[i + int(a[2] > 0) * 5]
    return s


@staged()
def negative_index(a):
    s = a[0] * 0
    for i in range(len(a)):
        s = s + a[-i] * i
    return s


@staged()
def divides_by_zero(a):
    n = 0
    for i in range(len(a)):
        n += 10 // (i - 12)
    return a * n


@staged(lambda d: [onp.arange(20).astype("uint8")], ("int64",))
def does_not_fit_a_narrow_dtype(a):
    for i in range(len(a)):
        a[i] = a[i] + i * 100


@refused()
def int_beyond_64_bits(a):
    n = 1
    for _i in range(80):
        n *= 2
    return a + n % 3


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


# --- as Python runs them


@unrolled()
def counts_in_a_dict(a):
    seen = {"n": 0}
    for i in range(len(a)):
        seen["n"] += 1
        a[i] += seen["n"]


@unrolled()
def appends_to_a_list(a):
    found = []
    for i in range(len(a)):
        found.append(a[i] * 2)
    return np.stack(found)


@unrolled()
def extends_a_list(a):
    found = []
    for i in range(len(a)):
        found += [a[i] * 2]
    return np.stack(found)


class _Counted:
    def __init__(self, value):
        self.value = value
        self.count = 0

    def __add__(self, other):
        self.count += 1
        return self.value + other + self.count

    @property
    def counted(self):
        self.count += 1
        return self.count


@unrolled()
def operators_of_users(a):
    c = _Counted(1)
    for i in range(len(a)):
        a[i] = c + i


@unrolled()
def properties_of_users(a):
    c = _Counted(1)
    for i in range(len(a)):
        a[i] += c.counted


@unrolled()
def next_of_an_iterator(a):
    it = iter(range(100))
    for i in range(len(a)):
        a[i] += next(it)


@unrolled(lambda d: [onp.arange(30).astype(d), onp.zeros(30, d)], FLOATS)
def names_change_places_and_another_name(a, b):
    c = a
    for _ in range(11):
        b[1:-1] = (a[:-2] + a[2:]) / 2 + c[0]
        a, b = b, a
    return c


@unrolled()
def view_kept_after_the_loop(a):
    for i in range(10):
        r = a[i : i + 1]
    r[:] = 99


@unrolled()
def shapes_from_the_index(a):
    s = a[0] * 0
    for i in range(1, 12):
        s = s + np.ones(i, a.dtype).sum()
    return s


@unrolled()
def growing_array(a):
    b = a[:1]
    for i in range(10):
        b = np.concatenate([b, a[i : i + 1]])
    return b


@unrolled()
def membership_of_a_set(a):
    wanted = {3, 5, 11}
    for i in range(len(a)):
        if i in wanted:
            a[i] = 0


@unrolled()
def tries(a):
    for i in range(len(a)):
        try:
            a[i] += 1
        except ValueError:
            a[i] = 0


# --- refused, with what to do


@refused()
def another_array_in_one_arm(a):
    b = a * 2
    z = a if a[0] > 100 else b
    z += 1
    return z


@refused()
def types_differ_between_arms(a):
    if a[0] > 100:
        x = a * 2
    else:
        x = None
    return x


@refused()
def shapes_differ_between_arms(a):
    if a[0] > 100:
        x = a[:3] * 2
    else:
        x = a * 2
    return x


@refused()
def appends_in_a_while(a):
    found = []
    while a[0] < 100:
        a[0] += 1
        found.append(a[0])
    return np.stack(found)
