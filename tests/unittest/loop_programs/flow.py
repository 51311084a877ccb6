"""Branches, whiles, jumps and errors."""

import numpy as onp

from loop_programs.table import FLOATS, refused, staged
from npcompat import np

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
def membership_of_a_set(a):
    wanted = {3, 5, 11}
    for i in range(len(a)):
        if i in wanted:
            a[i] = 0


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


@staged()
def int_beyond_64_bits_without_arrays(a):
    n = 1
    for _i in range(80):
        n *= 2
    return a + n % 3


@refused()
def int_beyond_64_bits(a):
    n = 1
    for i in range(80):
        n *= 2
        a[i % 4] += n % 3
    return a
