"""`npx.cond`, `npx.while_loop` and `npx.foreach`: Python's own branches and loops eagerly,
operators when compiled.
"""

import numpy as onp
import pytest
from oracle import both

from npcompat import autograd, gluon, np, npx
from npcompat.gluon import nn
from npcompat.test_utils import assert_almost_equal

PLACEMENT = "jax"


def variable(values, dtype="float64"):
    x = np.array(values, dtype=dtype)
    x.attach_grad()
    return x


# --- cond -----------------------------------------------------------------------------------------


def test_cond_chooses_and_returns_nested_containers():
    def make(jit):
        @jit
        def f(x, y):
            return npx.cond(x.sum() > y, lambda: (x * 2, [y]), lambda: (-x, [y + 1]))

        x = np.arange(3.0)
        return f(x, np.array(0.0)), f(x, np.array(10.0))

    both(make, scalars=False)


def test_cond_takes_inputs_and_a_function_as_condition():
    def make(jit):
        f = jit(
            lambda x, y: npx.cond(
                lambda a, b: (a > b).all(), lambda a, b: a - b, lambda a, b: b * 2, [x, y]
            )
        )
        return f(np.array([3.0]), np.array([1.0])), f(np.array([0.0]), np.array([1.0]))

    both(make)


def test_only_the_chosen_branch_writes():
    def make(jit):
        a, b, v = np.zeros(3), np.zeros(2), np.arange(4.0)
        view = v[1:3]

        def then():
            a[1] += 1
            view[...] = 7
            return a.sum()

        def otherwise():
            b[...] = b + 5
            a[0] -= 1
            return b.sum()

        @jit
        def f(x):
            r = npx.cond(x > 0, then, otherwise)
            a[2] = r
            return r

        return [f(np.array(s)) for s in (1.0, -1.0, 1.0)], a, b, v, view

    both(make)


def test_draws_in_a_branch_advance_the_stream_only_if_it_is_taken():
    def make(jit):
        np.random.seed(4)
        f = jit(lambda x: npx.cond(x > 0, lambda: np.random.uniform(size=2), lambda: np.zeros(2)))
        return f(np.array(1)), f(np.array(-1)), f(np.array(1)), np.random.uniform()

    both(make)


def test_cond_is_differentiated_through_reads_and_writes():
    def make(jit):
        w, c = variable([2.0, 3.0]), variable(4.0)
        found = []
        for sign in (1.0, -1.0):

            @jit
            def f(x, buffer):
                def then():
                    buffer[0] = w[1] * c
                    return (w * w * x).sum()

                return npx.cond(x.sum() > 0, then, lambda: (w * c).sum()) + buffer.sum()

            with autograd.record():
                y = f(np.full(2, sign, dtype="float64"), np.zeros(2, dtype="float64"))
            y.backward()
            found += [y, w.grad + 0, c.grad + 0]
        return found

    both(make)


def test_cond_inside_a_whole_step():
    def make(jit):
        w = variable([5.0])
        skipped = np.array(0)

        @jit
        def step(limit):
            with autograd.record():
                loss = (w * w).sum()
            loss.backward()

            def update():
                w[...] = w - 0.1 * w.grad
                return w.sum()

            def skip():
                skipped[...] += 1
                return w.sum()

            return npx.cond(abs(w.grad).max() < limit, update, skip)

        return step(np.array(100.0)), step(np.array(1.0)), step(np.array(100.0)), w, skipped

    both(make)


def test_cond_on_a_known_condition_traces_one_branch():
    traced = []

    @npx.jit
    def f(x, flag):
        return npx.cond(
            flag, lambda: traced.append("then") or x, lambda: traced.append("else") or -x
        )

    assert f(np.ones(1), True).tolist() == [1] and traced == ["then"]


def test_branches_that_differ_are_refused_with_both_types():
    f = npx.jit(lambda x: npx.cond(x.sum() > 0, lambda: x, lambda: x[:1]))
    with pytest.raises(
        ValueError,
        match=r"test_control_flow\.py:\d+: npx\.cond: both branches must return the same structure, shapes and dtypes; got .*\[3\].* and .*\[1\]",
    ):
        f(np.ones(3))
    with pytest.raises(ValueError, match="both branches must return"):
        npx.jit(lambda x: npx.cond(x.sum() > 0, lambda: (x, x), lambda: x))(np.ones(3))
    with pytest.raises(ValueError, match="both branches must return"):
        npx.jit(lambda x: npx.cond(x.sum() > 0, lambda: x, lambda: x.astype("int64")))(np.ones(3))


def test_a_condition_of_several_elements_is_refused():
    with pytest.raises(ValueError):
        npx.cond(np.ones(2) > 0, lambda: 1, lambda: 2)
    with pytest.raises((ValueError, TypeError)):
        npx.jit(lambda x: npx.cond(x > 0, lambda: x, lambda: -x))(np.ones(2))


def test_nested_conds():
    def make(jit):
        @jit
        def f(x):
            return npx.cond(
                x > 0, lambda: npx.cond(x > 10, lambda: x * 100, lambda: x * 10), lambda: -x
            )

        return [f(np.array(v)) for v in (20.0, 5.0, -3.0)]

    both(make)


# --- foreach --------------------------------------------------------------------------------------


def test_foreach_stacks_outputs_and_carries_states():
    def make(jit):
        @jit
        def f(x, s):
            return npx.foreach(
                lambda row, state: (row * state[0], [state[0] + row.sum(), state[1] * 2]), x, s
            )

        return f(np.arange(6.0).reshape(3, 2), [np.array(1.0), np.ones(2)])

    both(make)


def test_foreach_over_numpys_arrays():
    data, step = onp.arange(6.0).reshape(3, 2), lambda x, s: (x + s, x * 1 + s)
    outs, last = npx.foreach(step, data, onp.zeros(2))
    assert isinstance(last, np.ndarray) and outs.tolist() == [[0, 1], [2, 4], [6, 9]]
    (outs,), _ = npx.foreach(lambda x, s: ([x[0] + x[1]], s), [data, data], onp.zeros(2))
    assert outs.tolist() == (data * 2).tolist()


def test_foreach_over_several_arrays_with_nested_states():
    def make(jit):
        @jit
        def f(a, b):
            def body(pieces, state):
                x, y = pieces
                return {"p": x * y, "q": [state["n"]]}, {
                    "n": state["n"] + 1,
                    "t": (state["t"][0] + x,),
                }

            return_value, last = npx.foreach(body, [a, b], {"n": np.array(0), "t": (np.zeros(2),)})
            return return_value["p"], return_value["q"][0], last["n"], last["t"][0]

        return f(np.arange(6.0).reshape(3, 2), np.arange(3.0))

    both(make)


def test_foreach_writes_arrays_from_outside():
    def make(jit):
        total, rows, count = np.zeros(2), np.zeros((4, 2)), np.array(0)

        @jit
        def f(x):
            def body(row, s):
                total[...] += row
                rows[count] = total
                count[...] += 1
                return total * 1, s

            return npx.foreach(body, x, np.array(0.0))[0]

        return f(np.arange(6.0).reshape(3, 2)), total, rows, count

    both(make)


def test_foreach_is_differentiated():
    def make(jit):
        w, h0 = variable([[0.5, -0.2], [0.1, 0.3]]), variable([1.0, -1.0])
        x = variable(onp.linspace(-1, 1, 6).reshape(3, 2))

        @jit
        def f(x):
            outs, last = npx.foreach(
                lambda row, h: (np.tanh(w @ h + row), np.tanh(w @ h + row)), x, h0
            )
            return (outs**2).sum() + last.sum()

        with autograd.record():
            y = f(x)
        y.backward()
        return y, w.grad, h0.grad, x.grad

    both(make, rtol=1e-10)


def test_draws_in_a_loop_are_those_of_python():
    def make(jit):
        np.random.seed(6)
        f = jit(
            lambda x: npx.foreach(
                lambda row, s: (row + np.random.uniform(size=2), s + np.random.normal()),
                x,
                np.array(0.0),
            )
        )
        return f(np.zeros((3, 2))), np.random.uniform()

    both(make, rtol=1e-6)


def test_a_state_that_changes_its_type_is_refused():
    with pytest.raises(
        ValueError,
        match=r"state 0: expected float32\[2\], as it began, got float32\[1\] from the body",
    ):
        npx.jit(lambda x: npx.foreach(lambda r, s: (r, s[:1]), x, np.zeros(2)))(np.ones((3, 2)))
    with pytest.raises(
        ValueError, match=r"state 0: expected int64\[\], as it began, got float32\[\] from the body"
    ):
        npx.jit(lambda x: npx.foreach(lambda r, s: (r, s + 0.5), x, np.array(0)))(np.ones((3, 2)))


def test_data_of_different_lengths_are_refused():
    with pytest.raises(
        ValueError, match=r"npx\.foreach: data: expected arrays of one length, got \[2, 3\]"
    ):
        npx.foreach(lambda p, s: (p[0], s), [np.ones(3), np.ones(2)], np.array(0))


@pytest.mark.parametrize("compiled", [False, True])
def test_outputs_of_no_rounds(compiled):
    def through(data):
        return npx.foreach(lambda p, s: ({"a": p * 2}, s + p.sum()), data, np.array(1.0))

    def until(n):
        return npx.while_loop(
            lambda i, s: i < n,
            lambda i, s: ([s * 2, i], (i + 1, s + 1)),
            (np.array(0), np.ones(2)),
            max_iterations=3,
        )

    outs, last = (npx.jit(through) if compiled else through)(np.ones((0, 2)))
    assert outs["a"].shape == (0, 2) and last.item() == 1
    (doubled, counts), (i, s) = (npx.jit(until) if compiled else until)(np.array(0))
    assert doubled.tolist() == [[0, 0]] * 3 and counts.tolist() == [0, 0, 0]
    assert counts.dtype == i.dtype and i.item() == 0 and s.tolist() == [1, 1]


def test_an_index_out_of_bounds_in_a_loop_is_raised():
    a = np.zeros(3)
    f = npx.jit(lambda idx: npx.foreach(lambda i, s: (a[i], s), idx, np.array(0))[0])
    assert f(np.array([0, 2, -3])).tolist() == [0, 0, 0]
    found = f(np.array([0, 3, 1]))
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 3"):
        found.asnumpy()


# --- while_loop -----------------------------------------------------------------------------------


def test_while_loop_runs_until_the_condition_fails():
    def make(jit):
        @jit
        def f(n):
            return npx.while_loop(
                lambda i, s: i < n, lambda i, s: (None, [i + 1, s + i]), [np.array(0), np.array(0)]
            )[1]

        return f(np.array(5)), f(np.array(0)), f(np.array(50))

    both(make, scalars=False)


def test_while_loop_pads_its_outputs():
    def make(jit):
        @jit
        def f(n):
            return npx.while_loop(
                lambda i, s: i < n,
                lambda i, s: ((s * 2, i), (i + 1, s + 1)),
                [np.array(0), np.ones(2)],
                max_iterations=4,
            )

        return [f(np.array(n)) for n in (3, 4, 9)]

    both(make)


def test_while_loop_writes_arrays_from_outside():
    def make(jit):
        trace, steps = np.zeros(8), np.array(0)

        @jit
        def collatz(n):
            def body(k):
                trace[steps] = k
                steps[...] += 1
                return None, [np.where(k % 2 == 0, k // 2, 3 * k + 1)]

            return npx.while_loop(lambda k: k != 1, body, [n])[1]

        return collatz(np.array(6))[0], steps, trace[:8]

    both(make)


def test_while_loop_with_a_limit_is_differentiated():
    def make(jit):
        w = variable(1.5)

        @jit
        def f(x):
            outs, (i, y) = npx.while_loop(
                lambda i, y: y < 20, lambda i, y: (y, [i + 1, y * w]), [np.array(0), x], 12
            )
            return y + outs.sum()

        x = variable(1.0)
        with autograd.record():
            z = f(x)
        z.backward()
        return z, w.grad, x.grad

    both(make, rtol=1e-10)


def test_outputs_need_a_limit_when_compiled():
    with pytest.raises(
        ValueError,
        match="max_iterations is needed in a compiled function whose body returns outputs",
    ):
        npx.jit(lambda x: npx.while_loop(lambda i: i < 3, lambda i: (i, [i + 1]), [x]))(np.array(0))


def test_a_body_that_returns_another_number_of_states_is_refused():
    with pytest.raises(ValueError, match="the body got 1 states and returned 2"):
        npx.jit(lambda x: npx.foreach(lambda r, s: (r, [s[0], s[0]]), x, [np.array(0)]))(np.ones(3))


def test_loops_inside_loops_and_branches():
    def make(jit):
        grid = np.zeros((3, 3))

        @jit
        def f(x):
            def outer(row, s):
                def inner(v, t):
                    grid[0, 0] += v
                    return npx.cond(v > 2, lambda: v * 10, lambda: v), t + v

                out, total = npx.foreach(inner, row, np.array(0.0))
                return out, s + total

            return npx.foreach(outer, x, np.array(0.0))

        return f(np.arange(6.0).reshape(2, 3)), grid

    both(make)


def test_an_exception_in_a_body_leaves_everything_as_it_was():
    a = np.zeros(2)

    def body(row, s):
        a[...] = 5
        raise KeyError("mine")

    with pytest.raises(KeyError):
        npx.jit(lambda x: npx.foreach(body, x, np.array(0)))(np.ones(2))
    assert a.tolist() == [0, 0]


class Recurrent(gluon.HybridBlock):
    """A batch normalization within the body of a loop, which writes its running statistics."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm(in_channels=3)
        self.dense = nn.Dense(3, in_units=3)

    def forward(self, xs, h):
        def body(x, h):
            h = self.norm(self.dense(x) + h)
            return h, h

        return npx.foreach(body, xs, h)


def test_running_statistics_in_the_body_of_a_recorded_loop():
    np.random.seed(0)
    net = Recurrent()
    net.initialize()
    eager = Recurrent()
    eager.initialize()
    for a, b in zip(net.collect_params().values(), eager.collect_params().values(), strict=True):
        b.set_data(a.data())
    net.hybridize()
    for _ in range(3):
        xs = np.random.normal(size=(4, 2, 3))
        for block in (net, eager):
            with autograd.record():
                out, _ = block(xs, np.zeros((2, 3)))
                loss = (out**2).sum()
            loss.backward()
        mine, theirs = (n.dense.weight.grad().asnumpy() for n in (net, eager))
        onp.testing.assert_allclose(mine, theirs, 1e-3, 1e-4)
    for a, b in zip(net.collect_params().values(), eager.collect_params().values(), strict=True):
        onp.testing.assert_allclose(a.data().asnumpy(), b.data().asnumpy(), 1e-4, 1e-5)


@pytest.mark.parametrize("how", ["plain", "paused", "detached"])
def test_arrays_written_beside_what_is_differentiated(how):
    n, w = np.zeros(1), np.ones(1)
    w.attach_grad()

    def body(a, s):
        if how == "plain":
            n[...] += 1
        elif how == "paused":
            with autograd.pause():
                n[...] += a
        else:
            n[...] = n + (w * a).detach()
        return w * a + s, s

    f = npx.jit(lambda xs: npx.foreach(body, xs, np.zeros(1))[0])
    for i in range(3):
        with autograd.record():
            loss = f(np.ones((3, 1))).sum()
        loss.backward()
        assert w.grad.tolist() == [3]
        assert n.tolist() == [3 * (i + 1)]


@pytest.mark.parametrize("inside", [False, True])
def test_truncated_backpropagation(inside):
    w = np.full(1, 0.5)
    w.attach_grad()

    def run(xs, h):
        def body(x, h):
            h = np.tanh(w * x + h)
            return h, h.detach() if inside else h

        out, h = npx.foreach(body, xs, h)
        return out.sum(), h.detach()

    compiled = npx.jit(run)
    found = []
    for f in (run, compiled):
        h, grads = np.zeros(1), []
        for _ in range(3):
            with autograd.record():
                loss, h = f(np.ones((3, 1)), h)
            loss.backward()
            grads.append(w.grad.item())
        found.append(grads)
    onp.testing.assert_allclose(found[1], found[0], 1e-5)


def test_what_a_state_becomes_differentiable_by_is_recorded():
    """The outputs depend on `w` only through the state, which is a constant in the first round."""
    w = np.full(1, 0.5)
    w.attach_grad()

    def body(x, h):
        return h * 1, h + w * x

    f = npx.jit(lambda xs: npx.foreach(body, xs, np.zeros(1))[0])
    with autograd.record():
        loss = f(np.ones((3, 1))).sum()
    loss.backward()
    assert w.grad.tolist() == [3]


@pytest.mark.parametrize("used", [0, 1], ids=["outputs", "states"])
def test_gradients_of_a_compiled_loop_of_which_a_part_is_used(used):
    def loop(x, h):
        return npx.foreach(lambda v, s: (np.tanh(v + s), np.tanh(v + s)), x, h)

    found = []
    for call in (loop, npx.jit(loop)):
        x, h = np.ones((4, 3)) / 3, np.ones(3) / 2
        x.attach_grad()
        h.attach_grad()
        with autograd.record():
            total = call(x, h)[used].sum()
        total.backward()
        found.append((x.grad, h.grad))
    for eager, compiled in zip(*found, strict=True):
        assert_almost_equal(compiled, eager)
        assert (eager != 0).all()
