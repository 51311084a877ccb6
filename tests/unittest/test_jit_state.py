"""Compiled functions write what the function writes: arguments, captured arrays, views of both,
aliasing or not.
"""

import gc

import jax
import numpy as onp
import pytest
from both_ways import NEEDED
from internals import (
    Program,
    RetainedOutputs,
    RetainedValue,
    Value,
    handles,
    jit,
    rerun_recent,
    version_of,
    writes,
)
from oracle import agrees, both

from npcompat import autograd, np, npx

PLACEMENT = "jax"


def test_written_arguments_and_captured_arrays_are_updated():
    def make(jit):
        total, history = np.zeros(3), np.zeros((4, 3))
        count = np.array(0)

        @jit
        def f(x):
            x *= 2
            total[...] = total + x
            history[count] = x
            count[...] += 1
            return total.sum()

        x = np.ones(3)
        returned = [f(x) for _ in range(4)]
        return returned, x, total, history, count

    both(make)


def test_an_argument_written_back_and_forth():
    def program(xp, a, b):
        t = a.copy()
        a[...] = b
        b[...] = t
        return a.sum()

    agrees(program, onp.arange(3.0), onp.ones(3))


def test_views_as_arguments_write_their_base():
    def make(jit):
        a = np.arange(12.0).reshape(3, 4)

        @jit
        def f(v):
            v += 10
            v[0] = -1
            return v, v.T, v.sum()

        found = f(a[1]), f(a[:, 2]), f(a.T[0]), f(a.reshape(-1)[5:9]), f(a[1:, ::2])
        return found, a, [r[0].base is a for r in found], [r[1].base is a for r in found]

    both(make)


def test_a_view_made_before_sees_what_the_compiled_function_writes():
    def make(jit):
        a, c = np.zeros(4), np.zeros(4)
        v, w = a[1:3], c[::-1]
        read = [v + 0, w + 0]

        @jit
        def f(x):
            x += 1
            c[0] = 5
            w[0] = 7

        f(a)
        return read, v, w, a, c

    both(make)


def test_a_captured_view_is_read_and_written():
    def make(jit):
        a = np.arange(6.0).reshape(2, 3)
        row, column = a[0], a[:, 1]

        @jit
        def f(k):
            row[...] += k
            column[...] *= 2
            return row.sum() + column[1], row[1:]

        found = [f(np.array(1.0)), f(np.array(2.0))]
        a[0] = 0
        found.append(f(np.array(3.0)))
        return found, a, row, column

    both(make)


@pytest.mark.parametrize(
    "alias",
    [
        lambda a: (a, a),
        lambda a: (a[:3], a[1:4]),
        lambda a: (a, a[1:3]),
        lambda a: (a[::-1], a),
        lambda a: (a[::2], a[1::2]),
        lambda a: (a[2:], a[2:]),
        lambda a: (a.reshape(2, 3), a.reshape(3, 2)),
        lambda a: (a[0], a[0, ...]) if a.ndim > 1 else (a[0, ...], a[:1]),
    ],
)
def test_arguments_that_alias(alias):
    def make(jit):
        a = np.arange(6.0)

        @jit
        def f(x, y):
            x += 1
            y *= 2
            x.reshape(-1)[0] += y.sum()
            return x, y, x.sum() + y.sum()

        found = [f(*alias(a)) for _ in range(3)]
        return found, a

    both(make)


def test_the_same_function_with_aliasing_and_without():
    def make(jit):
        @jit
        def f(x, y):
            x += y
            y += x
            return x * 1

        a, b, c = np.arange(3.0), np.ones(3), np.arange(5.0)
        return f(a, b), f(a, a), f(b, a), f(c[:3], c[2:]), f(c[:3], b), f(c[1:4], c[1:4]), a, b, c

    both(make)


def test_an_argument_that_is_also_captured():
    def make(jit):
        a = np.zeros(3)

        @jit
        def f(x):
            x += 1
            seen = a.sum()
            a[0] = 10
            return seen, x.sum()

        b = np.ones(3)
        return f(b), f(a), f(b), f(a[1:]), f(a), a, b

    both(make)


def test_a_view_of_a_captured_array_as_argument():
    def make(jit):
        state = np.zeros((2, 3))

        @jit
        def f(x):
            state[1] = x * 2
            x -= 1
            return state.sum()

        return (
            f(np.ones(3)),
            f(state[0]),
            f(state[1]),
            f(state[:, 0][:1].reshape(1)),
            f(state[0, :]),
            state,
        )

    both(make)


def test_one_array_twice_in_containers():
    def make(jit):
        a = np.ones(2)

        @jit
        def f(xs, d):
            xs[0] += 1
            d["k"] *= 3
            xs[1] += d["k"]
            return xs[0], d

        found = f([a, np.zeros(2)], {"k": a})
        return found[0], found[1]["k"], a

    both(make)


def test_captured_arrays_of_one_buffer_are_distinguished():
    def make(jit):
        a = np.arange(3.0)
        b = a.copy()  # nothing is copied until one of the two is written
        c = np.array(a)

        @jit
        def f(x):
            b[...] = b + x
            return a.sum(), b.sum(), c * x

        first = f(np.array(1.0))
        a[0] = 100
        return first, f(np.array(2.0)), a, b, c

    both(make)


def test_donation_spares_buffers_that_are_shared():
    w = np.arange(4.0)
    exported = onp.asarray(w)
    held = w.copy()
    view_read = w[1:] + 0

    @npx.jit
    def f(x):
        w[...] = w + x
        x[...] = 0
        return w.sum()

    x = np.ones(4)
    x_copy = x.copy()
    for _ in range(3):
        f(x)
        x += 1
    assert (
        exported.tolist() == [0, 1, 2, 3]
        and held.tolist() == [0, 1, 2, 3]
        and view_read.tolist() == [1, 2, 3]
    )
    assert x_copy.tolist() == [1, 1, 1, 1] and w.tolist() == [3, 4, 5, 6]
    taken = w.asnumpy()
    f(x)
    assert taken.tolist() == [3, 4, 5, 6]


@pytest.mark.of_xla("the addresses of its buffers")
def test_what_is_only_written_stays_in_its_memory():
    x, held = np.ones(100), np.zeros(100)
    x.attach_grad()

    @npx.jit
    def f(factor):
        with autograd.record():
            y = (x * factor).sum()
        y.backward()
        held[...] = x.grad
        return y

    def places():
        return [handles.read(a).payload.unsafe_buffer_pointer() for a in (x.grad, held)]

    f(np.array(2.0))
    before = places()
    f(np.array(3.0))
    assert places() == before and x.grad[0] == held[0] == 3
    taken = x.grad.copy()
    f(np.array(4.0))
    assert taken[0] == 3 and x.grad[0] == held[0] == 4
    x.grad[...] = np.ones(100, dtype="int8")
    f(np.array(5.0))
    assert x.grad[0] == held[0] == 5


def test_one_buffer_as_two_arguments_of_which_one_is_written():
    a = np.arange(3.0)
    b = a.copy()

    @npx.jit
    def f(x, y):
        x += 1
        return x + y

    assert f(a, b).tolist() == [1, 3, 5] and a.tolist() == [1, 2, 3] and b.tolist() == [0, 1, 2]


def test_a_read_only_argument_is_not_written():
    a = np.arange(3)
    a.flags.writeable = False

    @npx.jit
    def f(x):
        x += 1

    with pytest.raises(ValueError, match="read-only"):
        f(a)
    b = np.arange(3)
    f(b)
    assert a.tolist() == [0, 1, 2] and b.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        f(np.broadcast_to(b, (2, 3)))


# --- what a program keeps between its runs --------------------------------------------------------


@pytest.fixture(params=["fast", "slow"])
def path(request, monkeypatch):
    """Rerun equal calls by the fast path, where there is one, or by the slow path."""
    if request.param == "slow":
        monkeypatch.setattr(jit, "_rerun_recent", rerun_recent)


def counting():
    """A program that adds to an array outside, and that array, after two runs."""
    total = np.zeros(3)

    @npx.jit
    def f(x):
        total[...] = total + x
        return total.sum()

    f(np.ones(3))
    f(np.ones(3))
    assert type(total._value) is RetainedValue
    return f, total


@pytest.mark.usefixtures("path")
def test_what_a_program_wrote_is_read_and_written_by_others():
    f, total = counting()
    assert total.tolist() == [2, 2, 2]
    view = total[1:]
    assert view.tolist() == [2, 2]
    f(np.ones(3))
    assert view.tolist() == [3, 3]
    total[0] = 10
    view[...] += 1
    assert float(f(np.ones(3))) == 11 + 5 + 5
    assert total.tolist() == [11, 5, 5] and view.tolist() == [5, 5]


@pytest.mark.usefixtures("path")
def test_what_holds_a_value_or_its_buffer_sees_no_later_run():
    f, total = counting()
    same_value = handles.wrap(total._value)
    exported, payload = onp.asarray(total), total._value.payload
    f(np.ones(3))
    f(np.ones(3))
    assert same_value.tolist() == exported.tolist() == onp.asarray(payload).tolist() == [2, 2, 2]
    assert total.tolist() == [4, 4, 4]
    taken = handles.wrap(total._value)
    # the handle's value is another one now, and there is one holder of the old one, as before
    total += 1
    f(np.ones(3))
    assert taken.tolist() == [4, 4, 4] and total.tolist() == [6, 6, 6]


@pytest.mark.usefixtures("path")
def test_two_programs_write_the_same_array_in_turn():
    f, total = counting()

    @npx.jit
    def doubled(x):
        total[...] = total * x

    for _ in range(3):
        doubled(np.full(3, 2.0))
        f(np.ones(3))
    assert total.tolist() == [((2 * 2 + 1) * 2 + 1) * 2 + 1] * 3


@pytest.mark.usefixtures("path")
def test_what_is_made_read_only_between_runs_is_not_written():
    f, total = counting()
    total.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(np.ones(3))
    total.flags.writeable = True
    f(np.ones(3))
    assert total.tolist() == [3, 3, 3]


@pytest.mark.usefixtures("path")
def test_a_program_keeps_no_buffer_that_it_replaced():
    f, _ = counting()
    x = np.ones(3)
    f(x)
    before = len(jax.live_arrays())
    for _ in range(20):
        f(x)
    assert len(jax.live_arrays()) == before


def test_captured_arrays_end_with_the_functions_that_capture_them():
    def alive():
        gc.collect()
        return sum([a.shape == (54321,) for a in jax.live_arrays()])

    def used():
        w = np.ones(54321)
        f = npx.jit(lambda x: (w * x).sum())
        g = npx.jit(lambda x: w.sum() * x)
        w.attach_grad()
        with autograd.record():
            loss = f(np.ones(54321)) + g(2)
        loss.backward()
        assert w.grad[0] == 3
        return alive()

    assert used() > 0
    assert alive() == 0


@pytest.mark.usefixtures("path")
def test_a_recorded_run_follows_runs_that_were_not():
    f, total = counting()
    x = np.ones(3)
    x.attach_grad()
    with autograd.record():
        loss = f(x)
    loss.backward()
    assert x.grad.tolist() == [1, 1, 1] and total.tolist() == [3, 3, 3]
    f(np.ones(3))
    assert total.tolist() == [4, 4, 4]


def stepping():
    """Return a compiled step and its arrays: argument, weights, moments, rate."""
    w, m, rate = np.ones(3), np.zeros(3), np.array(0.5)
    w.attach_grad()

    @npx.jit
    def step(x):
        with autograd.record():
            loss = (w * x).sum()
        loss.backward()
        m[...] = m + w.grad
        w[...] = w - rate * m
        w.grad[...] = 0
        return loss

    x = np.array([1.0, 2.0, 3.0]) * 1
    for _ in range(3):
        step(x)
    return step, x, w, m, rate


def taken(a):
    """A handle that holds the array's value, too."""
    return handles.wrap(a._value)


def written(a):
    a[...] = a + 1


def on_the_host(a):
    writes.write(a, Value(a.asnumpy()))


BETWEEN = {
    "nothing": lambda step, x, w, m, rate: None,
    "weights are read": lambda step, x, w, m, rate: w.tolist(),
    "weights are written": lambda step, x, w, m, rate: written(w),
    "an element is written": lambda step, x, w, m, rate: m.__setitem__(0, 7),
    "a value is taken": lambda step, x, w, m, rate: taken(m),
    "a buffer is taken": lambda step, x, w, m, rate: w._value.payload,
    "a buffer is exported": lambda step, x, w, m, rate: onp.asarray(w),
    "a gradient is read": lambda step, x, w, m, rate: w.grad.tolist(),
    "a gradient is written": lambda step, x, w, m, rate: written(w.grad),
    "the rate is written": lambda step, x, w, m, rate: written(rate),
    "the rate is on the host": lambda step, x, w, m, rate: on_the_host(rate),
    "weights are on the host": lambda step, x, w, m, rate: on_the_host(w),
    "the argument is on the host": lambda step, x, w, m, rate: on_the_host(x),
    "the argument is made again": lambda step, x, w, m, rate: setattr(x, "_value", (x * 2)._value),
    "weights have a view": lambda step, x, w, m, rate: w[1:],
}


@pytest.mark.parametrize("between", BETWEEN)
def test_steps_go_on_whatever_happens_between_them(between, monkeypatch):
    found = {}
    for path in ("fast", "slow", "from handles"):
        with monkeypatch.context() as patched:
            if path != "fast":
                patched.setattr(jit, "_rerun_recent", rerun_recent)
            if path == "from handles":
                patched.setattr(RetainedOutputs, "operands", lambda *_: None)
            step, x, w, m, rate = arrays = stepping()
            held = BETWEEN[between](*arrays)
            before = None if held is None else onp.array(held, copy=True).tolist()
            losses = [float(step(x)) for _ in range(3)]
            if held is not None and between != "weights have a view":
                assert onp.array(held).tolist() == before
            found[path] = [
                losses,
                w.tolist(),
                m.tolist(),
                w.grad.tolist(),
                rate.tolist(),
                x.tolist(),
            ]
    assert found["fast"] == found["slow"] == found["from handles"]


@NEEDED
@pytest.mark.of_xla("the C fast path calls its programs")
def test_equal_calls_are_rerun_by_the_fast_path(monkeypatch):
    def never(*_):
        raise AssertionError("the slow path is taken")

    step, x, *_ = stepping()
    total = np.zeros(3)
    doubled = npx.jit(lambda x: x * 2)
    added = npx.jit(lambda x: (total.__iadd__(x), total * 2)[1])
    both = npx.jit(lambda x: (x * 2, x.sum()))
    loss = step(x)
    assert float(loss) == 6 - 14 * 0.5 * 6
    assert doubled(x).tolist() == doubled(x).tolist() == [2, 4, 6]
    assert [added(x).tolist() for _ in range(3)][2] == [6, 12, 18]
    assert both(x)[0].tolist() == both(x)[0].tolist()
    monkeypatch.setattr(Program, "rerun", never)
    monkeypatch.setattr(Program, "replay", never)
    made, sums = both(x)
    assert made.tolist() == [2, 4, 6] and float(sums) == 6
    monkeypatch.setattr(
        Program, "finished", never
    )  # where the function returns one array or scalar
    again = step(x)
    assert float(again) == 6 - 14 * 0.5 * 10 and type(again) is type(loss)
    assert doubled(x).tolist() == [2, 4, 6]
    version = version_of(total)
    assert (
        added(x).tolist() == [8, 16, 24]
        and total.tolist() == [4, 8, 12]
        and version_of(total) != version
    )


def test_equal_calls_have_one_entry_in_the_cache():
    w, m = np.ones(3), np.zeros(3)
    f = npx.jit(lambda x: (m.__setitem__(..., m + w * x), m.sum())[1])
    x = np.ones(3) * 1
    for i in range(6):
        m[0] = i  # so that the program takes everything from the handles again
        assert float(f(x)) == i + 1 + 2 * (i + 1)
    assert len(f._recent) == 1


@NEEDED
def test_calls_in_another_mode_are_not_run_again():
    seen = []

    @npx.jit
    def f(x):
        seen.append(autograd.is_training())
        return x * 2

    x = np.ones(3) * 1
    f(x)
    f(x)
    with autograd.train_mode():
        f(x)
        f(x)
    f(x)
    assert seen == [False, True]
    variable = np.ones(3) * 1
    variable.attach_grad()
    with autograd.record():
        y = f(variable)
    y.backward()
    assert variable.grad.tolist() == [2, 2, 2]
