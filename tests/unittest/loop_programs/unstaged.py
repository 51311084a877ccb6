"""Programs that Python runs round by round, and those that are refused."""

import numpy as onp

from loop_programs.table import FLOATS, refused, unrolled
from npcompat import np

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
