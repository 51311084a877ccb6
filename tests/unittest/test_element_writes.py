"""Rounds that write elements give what NumPy's give, and write once, after all of their reads."""

import linecache
import random

import numpy as onp
import pytest
from internals import SMALL
from jaxprs import equations

from npcompat import autograd, np, npx
from npcompat.errors import TracedValueError

N = 20  # 400 elements: smaller arrays are copied


def cholesky(np, a, k):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, N):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return a


def lu(np, a, k):
    for i in range(N):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, N):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def read_elsewhere(np, a, k):
    for i in range(N - 1):
        a[i, 3] = a[i, 3] * 2 + a[i, 2]
        a[i, 3] -= a[k[i], 3]  # which may be the one that has just been written
        a[i, 3] += a[3, i] + a[-1 - i, 3]
    return a


def until_large(np, a, k):
    i = 0
    while a[i, i] < 5 and i < N - 1:
        a[i + 1, i + 1] += a[i, i] + a[i, i + 1]
        i += 1
    return a, i


ONCE = [cholesky, lu, read_elsewhere, until_large]


def swapped(np, a, k):
    for i in range(N):
        a[i, 0], a[k[i], 1] = a[k[i], 1], a[i, 0]
    return a


def row_after_element(np, a, k):
    total = a[0] * 0
    for i in range(1, N):
        a[i, 2] += a[i - 1, 2]
        total += a[i]
    return a, total


def element_after_row(np, a, k):
    for i in range(1, N):
        a[i] = a[i - 1] + a[0]
        a[i, 3] = 7
    return a


def from_one_to_the_other(np, a, k):
    b = a.T * 1
    for i in range(1, N):
        a[i, 1] = b[i - 1, 1] + 1
        b[i, 1] = a[i - 1, 1] * 2
    return a, b


def under_a_condition(np, a, k):
    for i in range(1, N):
        if a[i, i - 1] > a[i - 1, i]:
            a[i, i] = a[i - 1, i - 1]
        a[i, i] += 1
    return a


def by_chance(np, a, k):
    for i in range(N):
        a[k[i], k[i - 1]] += a[i, i]
        a[k[i - 1], k[i]] -= a[i, k[i]]
    return a


OTHERS = [swapped, row_after_element, element_after_row, from_one_to_the_other]
OTHERS += [under_a_condition, by_chance]


def _arrays(dtype):
    made = onp.random.default_rng(0)
    a = made.normal(size=(N, N))
    a = a @ a.T + N * onp.eye(N) if dtype == "float64" else 3 * a
    return a.astype(dtype), made.integers(-N, N, N)


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("function", [*ONCE, *OTHERS])
def test_values(function, rewritten_jaxprs):
    a, k = _arrays("float64")
    mine = np.array(a)
    found = npx.jit(lambda a, k: function(np, a, k))(mine, np.array(k))
    expected = function(onp, a, k)
    onp.testing.assert_allclose(mine.asnumpy(), a, 1e-11)
    if isinstance(expected, tuple):
        for got, wanted in zip(found, expected, strict=True):
            onp.testing.assert_allclose(onp.asarray(got), wanted, 1e-11)
    if function in ONCE:
        assert "put_in_place" not in [e.params.get("name") for e in equations(rewritten_jaxprs[-1])]


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("dtype", ["int8", "uint16", "bool", "float16", "float32", "complex64"])
@pytest.mark.parametrize(
    "function", [read_elsewhere, swapped, row_after_element, from_one_to_the_other, by_chance]
)
def test_other_dtypes(function, dtype):
    if dtype == "bool":
        pytest.skip("NumPy subtracts no bools") if function in (read_elsewhere, by_chance) else None
    a, k = _arrays("float64" if dtype == "complex64" else dtype)
    a = a.astype(dtype)
    mine = np.array(a)
    npx.jit(lambda a, k: function(np, a, k))(mine, np.array(k))
    with onp.errstate(all="ignore"):
        function(onp, a, k)
    exact = a.dtype.kind != "c"  # whose products XLA rounds otherwise
    (onp.testing.assert_array_equal if exact else onp.testing.assert_allclose)(mine.asnumpy(), a)


@pytest.mark.usefixtures("numpy_mode")
def test_an_element_that_is_divided_twice():
    def halves(np, a, b):
        for i in range(N):
            a[i, i] /= b[i]
            a[i, i] /= b[0]
        return a

    a, b = _arrays("float64")[0], onp.linspace(0.1, 3, N)
    mine = np.array(a)
    npx.jit(lambda a, b: halves(np, a, b))(mine, np.array(b))
    onp.testing.assert_array_equal(mine.asnumpy(), halves(onp, a, b))  # not a / (b * c)


@pytest.mark.usefixtures("numpy_mode")
def test_an_index_out_of_bounds_is_raised():
    def beyond(a, k):
        for i in range(N):
            a[k[i], 0] += 1
            a[k[i], 0] *= 2
        return a

    a, k = _arrays("float64")
    k[7] = N
    with pytest.raises(IndexError, match="out of bounds"):
        npx.jit(beyond)(np.array(a), np.array(k)).wait_to_read()


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("function", [cholesky, read_elsewhere])
def test_gradients(function):
    found = []
    for compiled in (False, True):
        a, k = map(np.array, _arrays("float64"))
        a.attach_grad()

        def loss(a, k):
            return np.sin(function(np, a * 1, k)).sum()

        with autograd.record():
            value = npx.jit(loss)(a, k) if compiled else loss(a, k)
        value.backward()
        found.append(a.grad.asnumpy())
    onp.testing.assert_allclose(*found, 1e-8, 1e-10)


# --- random rounds --------------------------------------------------------------------------------


class Rounds:
    """Source of a function whose loops read and write elements of `a` and `b`."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.arrays = ["a", "b"][: self.rng.choice((1, 1, 2))]
        self.lines = ["def rounds(np, a, b, k, n):", "    s, j = a[0, 0], 2"]
        counts = ["range(20)", "range(n)", "range(1, 20)", "range(18, 0, -1)"]
        if self.rng.random() < 0.8:
            self.lines.append(f"    for i in {self.rng.choice(counts)}:")
            self.body("        ")
        else:
            self.lines += ["    i = 0", "    while i < n and a[i, i] < 1000000:"]
            self.body("        ")
            self.lines.append("        i += 1")
        self.text = "\n".join([*self.lines, "    return s", ""])

    def place(self):
        places = [
            "i",
            "i",
            "j",
            "k[i]",
            "k[j]",
            "i - 1",
            "-1 - i",
            "(i * 7) % 20",
            "3",
            "min(i, j)",
        ]
        return self.rng.choice(places)

    def element(self):
        return f"{self.rng.choice(self.arrays)}[{self.place()}, {self.place()}]"

    def value(self, depth=0):
        way = self.rng.random()
        if depth > 2 or way < 0.45:
            return self.element()
        if way < 0.55:
            return self.rng.choice(["1", "2", "i", "j", "s"])
        if way < 0.6:
            return f"{self.rng.choice(self.arrays)}[{self.place()}].sum()"
        if way < 0.65:
            return f"a[:{self.rng.choice(['i', 'j', '5'])}, {self.place()}].sum()"
        one, other = self.value(depth + 1), self.value(depth + 1)
        if way < 0.7:
            return f"np.where({self.element()} > {self.element()}, {one}, {other})"
        return f"({one} {self.rng.choice('+-*')} {other})"

    def body(self, indent, may_nest=True):
        target = self.element()
        for _ in range(self.rng.randint(1, 4)):
            way = self.rng.random()
            target = target if self.rng.random() < 0.5 else self.element()
            if way < 0.45:
                self.lines.append(f"{indent}{target} {self.rng.choice('+-*')}= {self.value()}")
            elif way < 0.8:
                self.lines.append(f"{indent}{target} = {self.value()}")
            elif way < 0.85:
                self.lines.append(f"{indent}s = {self.value()}")
            elif way < 0.9:
                self.lines.append(f"{indent}if {self.element()} > {self.element()}:")
                self.lines.append(f"{indent}    {target} = {self.value(2)}")
            elif way < 0.93:
                self.lines.append(f"{indent}a[{self.place()}] = a[{self.place()}]")
            elif may_nest:
                count = self.rng.choice(["i", "n", "20", "i, 20"])
                self.lines.append(f"{indent}for j in range({count}):")
                self.body(indent + "    ", False)
                self.lines.append(f"{indent}j = i")
            else:
                self.lines.append(f"{indent}s = {self.element()}")


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("seed", range(24))  # 1,500 were run
def test_random_rounds(seed):
    text, name = Rounds(seed).text, f"<rounds {seed}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    made = {}
    exec(compile(text, name, "exec"), made)
    draws = onp.random.default_rng(seed)
    dtype = ("int64", "int32", "int8", "float64")[seed % 4]
    theirs = [*draws.integers(-3, 4, (2, N, N)).astype(dtype)]
    k = draws.integers(0, N, N)
    mine = [*map(np.array, theirs)]
    raised = None
    try:
        found = npx.jit(made["rounds"])(np, *mine, np.array(k), N)
        npx.waitall()
    except TracedValueError:
        pytest.skip("refused")
    except OverflowError as error:
        raised = error
    try:
        with onp.errstate(all="ignore"):
            expected = made["rounds"](onp, *theirs, k, N)
    except OverflowError:
        pytest.skip("integers that do not fit wrap: docs/known_gaps.md")
    assert raised is None
    if dtype == "float64" and not max([abs(x).max() for x in theirs]) < 2**50:
        pytest.skip("rounding errors")
    for got, wanted in zip((found, *mine), (expected, *theirs), strict=True):
        onp.testing.assert_array_equal(onp.asarray(got), wanted, text)


def test_the_arrays_are_large_enough():
    assert N * N >= SMALL
