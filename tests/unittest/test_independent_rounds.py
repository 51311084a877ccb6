"""Loops whose rounds are computed at once give what the rounds give, and others stay loops."""

import linecache
import random
import warnings
from functools import partial

import jax
import numpy as onp
import pytest
from internals import at_once, rewritten
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jaxprs import names

from npcompat import autograd, np, npx
from npcompat.errors import TracedValueError

N = 20


def rows(np, a, b, k):
    total = np.zeros(N)
    for i in range(N):
        total[i] = (a[i] * b[i - 1]).sum() + b[3, i] * i
    return total


def elements(np, a, b, k):
    total = np.zeros((N, N))
    for i in range(N):
        for j in range(N):
            total[i, j] = np.dot(a[i], b[:, j]) + i - 2 * j
    return total


def strided_from_behind(np, a, b, k):
    for i in range(N - 2, 0, -2):
        a[2:, i] = a[:-2, i] * 2 + b[i, 2:]
    return a


def read_again(np, a, b, k):
    for i in range(1, N, 2):
        a[i] -= a[i].mean()
        a[i] /= a[i].std() + 1
        a[i] *= a[i]
    return a


def of_columns_below(np, a, b, k):
    for i in range(N):
        for j in range(N):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    return b


def gathered(np, a, b, k):
    total = np.zeros((N, 3))
    for i in range(N):
        total[i] = a[i, k[:3]] + b[k[i], 1]
    return total


def sparse(np, a, b, k):
    total = np.zeros(N - 1)
    begin, values = np.cumsum(k % 4), np.arange(60.0)
    for i in range(N - 1):
        part = values[begin[i] : begin[i + 1]]
        total[i] = part @ part
    return total


def bound_last(np, a, b, k):
    row, largest = a[0] * 1, False
    for i in range(N):
        row = a[i] + b[i]
        largest = largest | (row.sum() > 3)
    return np.stack([row, a[0]]), largest


AT_ONCE = {
    rows: 0,
    elements: 0,
    strided_from_behind: 0,
    read_again: 0,
    of_columns_below: 1,
    gathered: 0,
    sparse: 0,
    bound_last: 0,
}
"""Loops that are left of functions."""


def one_before(np, a, b, k):
    for i in range(1, N):
        a[i] += a[i - 1]
    return a


def first_row(np, a, b, k):
    for i in range(N):
        a[i] += a[0]
    return a


def other_axis(np, a, b, k):
    for i in range(N):
        a[i, 1] = a[1, i] + 1
    return a


def running(np, a, b, k):
    total, found = 0.0, np.zeros(N)
    for i in range(N):
        total = total * 0.5 + a[i, 0]
        found[i] = total
    return found


def of_two_arrays(np, a, b, k):
    for i in range(N):
        a[i] = b[i - 1]
        b[i] = a[i] + 1
    return a


def wherever(np, a, b, k):
    for i in range(N):
        a[k[i]] = b[i]
    return a


LOOPS = [one_before, first_row, other_axis, running, of_two_arrays, wherever]


def _arrays():
    made = onp.random.default_rng(0)
    return [*made.normal(size=(2, N, N)), made.integers(-N, N, N)]


def _loops(jaxpr):
    found = names(jaxpr, apart=("put_in_place",))
    return found.count("scan") + found.count("while")


def _compare(found, expected):
    if not isinstance(expected, tuple):
        found, expected = [found], [expected]
    for got, wanted in zip(found, expected, strict=True):
        assert got.dtype == wanted.dtype
        onp.testing.assert_allclose(onp.asarray(got), wanted, 1e-12, 1e-12)


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("function", [*AT_ONCE, *LOOPS])
def test_values(function, rewritten_jaxprs):
    theirs, mine = _arrays(), [*map(np.array, _arrays())]
    expected = function(onp, *theirs)
    found = npx.jit(lambda *given: function(np, *given))(*mine)
    _compare(found, expected)
    _compare(mine, tuple(theirs))
    assert _loops(rewritten_jaxprs[-1]) == AT_ONCE.get(function, 1)


@pytest.mark.usefixtures("numpy_mode")
def test_rounds_of_long_slices_are_a_loop(rewritten_jaxprs):
    """One branch reads slices through windows, the other one whole arrays."""

    def sums(np, begin, values):
        total = np.zeros(begin.size - 1)
        for i in range(begin.size - 1):
            total[i] = values[begin[i] : begin[i + 1]].sum()
        return total

    compiled = npx.jit(lambda *given: sums(np, *given))
    for longest in (3, 300):
        begin = onp.cumsum([0, 1, 2, 0, 1, longest, 2, 1, 0, 2, 1])
        values = onp.arange(400.0)
        _compare(compiled(np.array(begin), np.array(values)), sums(onp, begin, values))
    assert "cond" in names(rewritten_jaxprs[-1])


def next_by_sign(np, a):
    y = np.ones(N)
    for i in range(N - 1):
        if y[i] > 0:
            y[i + 1] = -1
        else:
            y[i + 1] = (a @ a).sum()
    return y


def next_flag(np, a):
    y, z = np.zeros(N), np.ones(N)
    for i in range(N - 1):
        if z[i] > 0:
            y[i] = 2
        else:
            y[i] = np.sort(a[i])[0]
        z[i + 1] = -1
    return y


def own_sign(np, a):
    y = a[:, 0] * 1
    for i in range(N):
        if y[i] > 0:
            y[i] = -1
        else:
            y[i] = np.sort(a[i])[0]
    return y


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("function", [next_by_sign, next_flag, own_sign])
def test_branches_that_the_state_chooses(function):
    a = _arrays()[0]
    _compare(npx.jit(lambda a: function(np, a))(np.array(a)), function(onp, a))


def test_rounds_with_effects_are_a_loop():
    called = []

    def rounds(y):
        def one(i, y):
            jax.debug.callback(called.append, i)
            new = jax.numpy.full(1, i, y.dtype)
            return jax.lax.dynamic_update_slice(y, new, (i,), allow_negative_indices=False)

        return jax.lax.fori_loop(0, 12, one, y)

    y = jax.numpy.zeros(12)
    made = jax.make_jaxpr(rounds)(y)
    (found,) = jaxpr_as_fun(ClosedJaxpr(rewritten(made.jaxpr), made.consts))(y)
    assert found.tolist() == [*range(12)]
    jax.effects_barrier()
    assert len(called) == 12


def test_starts_that_rounds_add_up():
    plain = partial(jax.lax.dynamic_slice, allow_negative_indices=False)
    b, k = jax.numpy.arange(400.0).reshape(20, 20), jax.numpy.arange(20) % 3

    def rounds(b, k):
        def one(i, state):
            s, y = state
            new, step = plain(b, (i, s), (1, 1))[0], plain(k, (i,), (1,))[0]
            y = jax.lax.dynamic_update_slice(y, new, (i,), allow_negative_indices=False)
            return s + step, y

        return jax.lax.fori_loop(0, 20, one, (0, jax.numpy.zeros(20)))

    made = jax.make_jaxpr(rounds)(b, k)
    found = jaxpr_as_fun(ClosedJaxpr(rewritten(made.jaxpr), made.consts))(b, k)
    onp.testing.assert_array_equal(found[1], rounds(b, k)[1])


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("function", [rows, elements, read_again, gathered, bound_last])
def test_gradients(function):
    found = []
    for compiled in (False, True):
        a, b, k = map(np.array, _arrays())
        a.attach_grad()
        b.attach_grad()

        def loss(a, b, k):
            out = function(np, a * 1, b * 1, k)
            return np.sin(out[0] if isinstance(out, tuple) else out).sum()

        with autograd.record():
            value = npx.jit(loss)(a, b, k) if compiled else loss(a, b, k)
        value.backward()
        found.append((a.grad.asnumpy(), b.grad.asnumpy()))
    for eager, staged in zip(*found, strict=True):
        onp.testing.assert_allclose(staged, eager, 1e-9, 1e-12)


@pytest.mark.parametrize("reverse", [False, True])
def test_scans_that_return_and_read_rows(reverse):
    """Sums, flags and what the last round binds, in a scan of JAX's from behind."""
    a = onp.random.default_rng(0).normal(size=(N, 3)).astype("float32")

    def rounds(a):
        def one(state, row):
            i, count, flag, last, largest, own = state
            row = row * i + jax.lax.dynamic_index_in_dim(a, i // 2, keepdims=False)
            high = (row > 1).sum(dtype="int32")
            own = jax.lax.dynamic_update_index_in_dim(own, row.sum(), i - 3, 0)
            largest = jax.numpy.maximum(high, largest)
            state = i + 2, count + high, flag & (row[0] < 9), row, largest, own
            return state, row.sum() + a[0]

        own = jax.numpy.ones(2 * N + 2)
        return jax.lax.scan(one, (3, 5, True, a[0], 1, own), a, reverse=reverse)

    made = jax.make_jaxpr(rounds)(a)
    found = rewritten(made.jaxpr)
    assert _loops(made.jaxpr) == 1 and _loops(found) == 0
    got = jaxpr_as_fun(ClosedJaxpr(found, made.consts))(a)
    for mine, theirs in zip(got, jax.tree.leaves(rounds(a)), strict=True):
        assert mine.dtype == theirs.dtype
        onp.testing.assert_allclose(mine, theirs, 1e-5, 1e-6)


@pytest.mark.parametrize("rounds", [7, 8, 1000, 1 << 20])
def test_few_and_many_rounds_are_a_loop(rounds):
    made = jax.make_jaxpr(lambda x: jax.lax.fori_loop(0, rounds, lambda i, n: n + i * i, x))(0)
    assert (at_once(made.jaxpr.eqns[-1]) is None) == (rounds not in (8, 1000))


def test_long_rounds_are_a_loop():
    def rows(a):
        return jax.lax.map(lambda row: jax.numpy.sin(row) + 1, a)

    made = [jax.make_jaxpr(rows)(onp.ones((8, n), "float32")) for n in (100, 10_000)]
    assert [_loops(rewritten(m.jaxpr)) for m in made] == [0, 1]


# --- random functions -----------------------------------------------------------------------------

PLACES = (
    "i",
    "i",
    "i",
    "i",
    "i, j",
    "i, 1:",
    ":, i",
    ":, i",
    "i - 1",
    "i + 1",
    "0",
    "2, i",
    "k[i]",
)
INPUTS = (*PLACES, "n - 1 - i", "i, k[i]", "k[:3], i", "i, :i", "i:, i", "k")
ROUNDS = (
    "range(n)",
    "range(n - 1, -1, -1)",
    "range(1, n - 1)",
    "range(n - 2, 1, -2)",
    "range(1, n, 3)",
)


def _term(rng):
    array = rng.choice("aabcxy")
    where = rng.choice(INPUTS if array in "ab" else PLACES)
    reduced = rng.choice((".sum()", ".max()", ".mean()", "", "", "[..., 0]"))
    return rng.choice(
        (f"{array}[{where}]{reduced}",) * 4 + ("i", "t", "1.5", "np.dot(a[i], b[:, i])")
    )


def _line(rng):
    value = f"{_term(rng)} {rng.choice('+-*')} {_term(rng)}"
    value = rng.choice((value, value, f"np.sin({value})", f"np.maximum({value}, 0)"))
    kind = rng.random()
    if kind < 0.15:
        return f"t = {value}"
    if kind < 0.2:  # through a name of its own
        return (
            f"r = {rng.choice('xac')}[{rng.choice(PLACES)}]; r {rng.choice(('+=', '*='))} {value}"
        )
    if kind < 0.3:
        return f"flag = flag | (np.sum({value}) > 3)"
    return (
        f"{rng.choice('xyac')}[{rng.choice(PLACES)}] {rng.choice(('=', '=', '+=', '*='))} {value}"
    )


def _source(rng):
    inner = rng.random() < 0.4
    body = [_line(rng) for _ in range(rng.randint(1, 4))]
    if not inner:
        body = [line.replace("j", "2") for line in body]
    indent = "        " if inner else "    "
    loops = f"    for i in {rng.choice(ROUNDS)}:\n"
    if inner:
        loops += f"        for j in {rng.choice(ROUNDS)}:\n"
    begin = "    n, t, flag = 12, 0.0, False\n    c, x, y = a * 2, a * 0, a[0] * 0\n"
    lines = "".join(f"{indent}    {line}\n" for line in body)
    return f"def f(np, a, b, k):\n{begin}{loops}{lines}    return c, x, y, np.array(t), flag\n"


def _made(seed):
    text, name = _source(random.Random(f"independent {seed}")), f"<independent {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), space := {})
    return space["f"], text


def _attempt(seed):
    """Compare a random function with NumPy; return False if it is refused, or fails there."""
    function, text = _made(seed)
    rng = onp.random.default_rng(seed)
    given = [*rng.normal(size=(2, 12, 12)) / 2, rng.permutation(12)]
    theirs, mine = [a.copy() for a in given], [*map(np.array, given)]
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = function(onp, *theirs)
        except (ValueError, IndexError, TypeError):
            return False
        try:
            found = npx.jit(lambda *arrays: function(np, *arrays))(*mine)
        except (TracedValueError, NotImplementedError):
            return False
    if max([onp.abs(wanted).max() for wanted in (*expected, *theirs)]) > 1e4:
        return False  # the sine of a rounding error of large numbers is any number
    for got, wanted in zip([*found, *mine], [*expected, *theirs], strict=True):
        got, wanted = onp.asarray(got), onp.asarray(wanted)
        assert got.shape == wanted.shape and got.dtype == wanted.dtype, text
        assert onp.allclose(got, wanted, 1e-7, 1e-9, equal_nan=True), text
    return True


@pytest.mark.usefixtures("numpy_mode")
def test_random_functions():
    assert sum([_attempt(seed) for seed in range(60)]) > 20


@pytest.mark.slow
@pytest.mark.usefixtures("numpy_mode")
def test_many_random_functions():
    assert sum([_attempt(seed) for seed in range(60, 1000)]) > 250
