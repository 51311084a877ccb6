"""Values that depend on no argument and no captured array are known while a function is traced."""

import numpy as onp
import pytest
from internals import MOST_KNOWN, TracedValueError

from npcompat import autograd, np, npx


def same(function, *args):
    """The result of a function, compiled and called twice, which must be what it is without."""
    expected = function(*args)
    compiled = npx.jit(function)
    for _ in range(2):
        found = compiled(*args)
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype and isinstance(one, np.ndarray) == isinstance(
                other, np.ndarray
            )
            onp.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


@pytest.fixture
def x(backend):
    return np.arange(12.0).reshape(3, 4)


def test_python_may_branch_on_what_is_known(x):
    def f(x):
        n = np.arange(4)
        if n.sum() > 3 and int(n[-1]) == 3 and bool((n < 9).all()):
            return (x * float(n[1]),)
        return (x,)

    same(f, x)


def test_known_positions_and_masks_are_keys(x):
    def f(x):
        n, mask = np.arange(3), np.array([True, False, True])
        y = x * 1
        y[n, n[::-1]] = -1
        y[mask] += 1
        return (
            y,
            x[n, n],
            x[mask],
            x[:, n > 0 if len(n) == 4 else n],
            x[n[2]],
            x[n[1], n[0]],
            x[mask].T,
            x[n[0] : n[2]],
        )

    same(f, x)


def test_a_position_out_of_bounds_raises_while_compiling(x):
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
        npx.jit(lambda x: x[np.array([0, 5])])(x)


def test_loops_over_known_arrays(x):
    def f(x):
        y = np.zeros(4)
        for i in np.arange(3)[::2]:
            y = y + x[i] * i
        return (y,)

    same(f, x)


def test_writes_into_known_arrays(x):
    def f(x):
        a = np.zeros(5)
        a[1] = 2
        a[a > 1] += 1
        b = a[1:3]
        b[:] = 7
        assert a.tolist() == [0, 7, 7, 0, 0]
        a[0] = x[1, 1]  # from here on it is not
        return a, b

    same(f, x)


def test_what_comes_from_outside_is_not_known(x):
    offset = np.ones(())
    with pytest.raises(TracedValueError):
        npx.jit(lambda x: x if x[0, 0] > 0 else -x, loops="python")(x)
    with pytest.raises(TracedValueError):
        npx.jit(lambda x: x if np.arange(3).sum() + offset > 0 else -x, loops="python")(x)
    with pytest.raises(TracedValueError):
        npx.jit(lambda x: x if np.random.uniform() > 2 else -x, loops="python")(x)


def test_much_is_left_to_the_program(x):
    with pytest.raises(TracedValueError):
        npx.jit(lambda x: x if np.zeros(MOST_KNOWN + 1)[0] > 0 else -x, loops="python")(x)
    same(lambda x: (np.zeros((100, 100)) + x[0, 1], np.arange(MOST_KNOWN + 1) * x[0, 1]), x)


def test_a_known_array_that_leaves_the_function_is_its_own(x):
    kept = []

    @npx.jit
    def f(x):
        n = np.arange(3)
        kept.append(n)
        return n, n, x + n.sum()

    n, again, total = f(x)
    assert n is again
    kept[0][0] = 100
    n[1] = 50
    assert f(x)[0].tolist() == [0, 1, 2] and float(f(x)[2][0, 0]) == float(total[0, 0]) == 3


@pytest.mark.parametrize(
    "key",
    [
        "(i, i)",
        "(i, i + 1)",
        "(i[:, None], i)",
        "(..., i, -i)",
        "(i, slice(None), i)",
        "(i, 1, i)",
        "(slice(1, 3), i, i)",
        "(i[:0], i[:0])",
        "(i, i, i)",
    ],
)
def test_known_positions_on_several_axes(backend, key):
    def f(x, y):
        i = np.arange(2)
        at = eval(key, {"i": i})
        z = x * 1
        z[at] = y[at] * 2 if len(key) > 8 else 7
        z[at] += 1
        with autograd.record():
            loss = (x[at] ** 2).sum() + z.sum() * 0
        loss.backward()
        return x[at], z, x.grad

    x, y = np.arange(64.0).reshape(4, 4, 4), np.ones((4, 4, 4))
    x.attach_grad()
    same(f, x, y)


def test_a_captured_array_gets_known_values_each_time(x):
    state = np.zeros(3)

    @npx.jit
    def f(x):
        state[:] = np.arange(3) + 1
        return x

    f(x)
    state[0] = 9
    f(x)
    assert state.tolist() == [1, 2, 3]


def test_what_is_known_is_read_after_it_was_written_into_a_captured_array(x):
    state, table = np.zeros(3), np.zeros((2, 3))

    def f(x):
        state[:] = 2
        table[...] = np.ones((3, 2), order="F").T
        table[0, 1] = state[0]
        return state + 1, table * 2, np.ones((2, 3), order="F") + x[0, 0]

    expected, compiled = [a.tolist() for a in f(x)], npx.jit(f)
    for _ in range(3):
        state[:], table[:] = 7, 8
        assert [a.tolist() for a in compiled(x)] == expected
        assert state.tolist() == [2, 2, 2] and table.tolist() == [[1, 2, 1], [1, 1, 1]]


def test_masks_of_known_and_unknown(x):
    def f(x):
        y = x * 1
        y[x > np.arange(4)] = y[x > np.arange(4)] * 2  # the same mask, computed twice
        return (y,)

    same(f, x)


def test_known_starts_of_loops_and_operands_of_branches(x):
    def f(x):
        i = np.arange(3)
        outs, last = npx.foreach(lambda row, s: (row + i[1], s + row), x, np.zeros(4))
        chosen = npx.cond(x.sum() > 3, lambda: i * 2, lambda: i + 1)
        _, (_, doubled) = npx.while_loop(
            lambda a, b: a < 3,
            lambda a, b: (None, (a + 1, b * 2)),
            (np.zeros((), "int32"), np.ones(2)),
            5,
        )
        return outs, last, chosen, doubled

    same(f, x)


def test_gradients_of_known_arrays(x):
    def f(x):
        w = np.ones(3)
        w.attach_grad()
        with autograd.record():
            y = (w * w * x[:, 0]).sum()
        y.backward()
        return y, w.grad

    same(f, x)


def test_known_errors_are_numpys(x):
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        npx.jit(lambda x: np.zeros(3) @ np.zeros(4) + x)(x)
    assert npx.jit(lambda x: np.ones(2) / np.zeros(2) + x[0, 0])(x).tolist() == [
        onp.inf,
        onp.inf,
    ]  # no warning, as of compiled functions
