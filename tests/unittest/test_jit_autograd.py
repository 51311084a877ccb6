"""Gradients through compiled functions, backward inside them, and whole training steps."""

import gc
import weakref

import numpy as onp
import pytest
from internals import apply, from_function
from oracle import both

from npcompat import autograd, np, npx

PLACEMENT = "jax"


def variable(values, grad_req="write", dtype="float64"):
    x = np.array(values, dtype=dtype)
    x.attach_grad(grad_req)
    return x


# --- recorded outside -----------------------------------------------------------------------------


def test_a_recorded_call_is_one_node():
    def make(jit):
        w, x = variable([2.0, 3.0]), variable([1.0, -1.0])

        @jit
        def f(x):
            y = x
            for _ in range(10):
                y = np.tanh(w * y) + x
            return y.sum()

        with autograd.record():
            z = f(x) * 2
        z.backward()
        return z, w.grad, x.grad

    both(make, rtol=1e-12)
    w = variable([2.0])
    f = npx.jit(lambda x: np.sin(w * x) * x)
    with autograd.record():
        y = f(np.ones(1))
    assert y._value.node.op.name == "<lambda>" and [
        v.node is not None for v in y._value.node.inputs
    ] == [True, False]


def test_writes_inside_are_differentiated_from_outside():
    def make(jit):
        w = variable([1.0, 2.0, 3.0])
        buffer = np.zeros(3, dtype="float64")

        @jit
        def f(x):
            y = w * x
            y[0] = y[1] ** 2
            v = y[1:]
            v *= w[0]
            buffer[1:] = v[::-1]
            x += y  # the argument is written, too
            return y.sum()

        x = variable([1.0, 1.0, 2.0])
        with autograd.record():
            x2 = x * 1
            total = f(x2) + (buffer**2).sum() + (x2 * 3).sum()
        total.backward()
        return total, w.grad, x.grad, buffer, x2

    both(make)


def test_recording_is_decided_at_each_call():
    w, x = variable([2.0]), variable([3.0])
    f = npx.jit(lambda x: w * x * x)
    assert f(x)._value.node is None
    with autograd.record():
        y = f(x)
    y.backward()
    assert w.grad.tolist() == [9] and x.grad.tolist() == [12]
    with autograd.record():
        y = f(x.detach())
    y.backward()
    assert w.grad.tolist() == [9]
    w2 = np.ones(1)
    g = npx.jit(lambda x: w2 * x)
    with autograd.record():
        assert g(np.ones(1))._value.node is None
    w2.attach_grad()
    with autograd.record():
        y = g(np.ones(1))
    y.backward()
    assert w2.grad.tolist() == [1]


def test_pause_and_detach_inside_cut_the_gradient():
    def make(jit):
        w = variable([3.0])

        @jit
        def f(x):
            a = w * x
            with autograd.pause():
                b = w * x
            c = (w * x).detach()
            return (a + b * w + c * w).sum()

        with autograd.record():
            y = f(np.array([2.0], dtype="float64"))
        y.backward()
        return w.grad, y

    both(make)


def test_second_order_through_a_compiled_function():
    def make(jit):
        x = variable([1.0, 2.0])
        f = jit(lambda x: (x**4).sum())
        with autograd.record():
            y = f(x)
            g = autograd.grad(y, x, create_graph=True)
            h = (g * x).sum()
        h.backward()
        return g, x.grad

    both(make)


def test_running_statistics_under_record_do_not_grow_a_graph():
    def make(jit):
        mean, w = np.zeros(2), variable([1.0, 2.0], dtype="float32")

        @jit
        def layer(x):
            now = (w * x).mean(axis=0)
            if autograd.is_training():
                with autograd.pause():
                    mean[...] = 0.5 * mean + 0.5 * now
            return w * x - now

        x = np.arange(6.0).reshape(3, 2)
        for _ in range(4):
            with autograd.record():
                y = (layer(x) ** 2).sum()
            y.backward()
            assert mean._value.node is None
        with autograd.predict_mode():
            still = layer(x)
        return mean, w.grad, still

    both(make)


def test_graphs_of_compiled_functions_are_freed_without_the_garbage_collector():
    w = variable([1.0, 2.0])

    @npx.jit
    def f(x):
        return np.sin(w * x), (w * x).sum()

    def step():
        with autograd.record():
            a, b = f(np.ones(2))
            c = a.sum() + b
        c.backward()
        return weakref.ref(a), weakref.ref(c), weakref.ref(a._value.payload)

    step()
    while gc.collect():  # what earlier tests left may hold more such
        pass
    gc.disable()
    try:
        assert all(r() is None for r in step())
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_graph_of_a_compiled_function_is_used_once_unless_retained():
    w = variable([2.0])
    f = npx.jit(lambda: w * w)
    with autograd.record():
        y = f()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_gradients_reach_views_that_are_arguments():
    def make(jit):
        x = variable(onp.arange(6.0).reshape(2, 3))
        f = jit(lambda a, b: (a * b[::-1]).sum())
        with autograd.record():
            y = f(x[0], x[1]) + f(x[:, 0], x[:, 1])
        y.backward()
        return x.grad, y

    both(make)


def test_integer_and_bool_outputs_have_no_gradient():
    w = variable([2.0, -1.0])
    f = npx.jit(lambda x: (w * x, (w * x).astype("int64"), w > 0))
    with autograd.record():
        a, b, c = f(np.ones(2))
        y = (a * b * c).sum()
    y.backward()
    assert w.grad.tolist() == [2, 0] and b._value.node is None and c._value.node is None


# --- backward inside ------------------------------------------------------------------------------


def test_a_whole_training_step_is_one_program():
    def make(jit):
        onp_x = onp.linspace(-1, 1, 12, dtype="float32").reshape(6, 2)
        w, b = variable([[0.5], [-0.25]], dtype="float32"), variable([0.1], dtype="float32")
        velocity, steps = np.zeros((2, 1)), np.array(0)

        @jit
        def step(x, y):
            with autograd.record():
                loss = ((x @ w + b - y) ** 2).mean()
            loss.backward()
            velocity[...] = 0.9 * velocity - 0.1 * w.grad
            w[...] += velocity
            b[...] -= 0.1 * b.grad
            steps[...] += 1
            return loss

        x = np.array(onp_x)
        y = x[:, :1] * 2 - x[:, 1:] + 1
        losses = [step(x, y) for _ in range(5)]
        return losses, w, b.grad, steps

    both(make, rtol=1e-5)


def test_the_step_is_compiled_once_and_leaves_no_graph():
    w = variable([1.0, 2.0])

    @npx.jit
    def step(x):
        with autograd.record():
            loss = ((w - x) ** 2).sum()
        loss.backward()
        w[...] -= 0.25 * w.grad
        return loss

    with npx.compile_log() as log:
        losses = [step(np.zeros(2, dtype="float64")).item() for _ in range(4)]
    assert losses == [5, 1.25, 0.3125, 0.078125] and sum(e.name == "step" for e in log) == 1
    assert w._value.node is w._extra.leaf
    with autograd.record():
        y = (w * w).sum()
    y.backward()
    onp.testing.assert_array_equal(w.grad.asnumpy(), 2 * w.asnumpy())


def test_gradients_of_arguments_inside():
    def make(jit):
        @jit
        def f(x, y):
            with autograd.record():
                z = (x * x * y).sum()
            z.backward()
            return z

        x, y = variable([1.0, 2.0]), np.array([3.0, 4.0], dtype="float64")
        held = x.grad
        found = [f(x, y), f(x, y)]
        return found, x.grad, held, held is x.grad

    both(make)


def test_grad_add_accumulates_inside_and_outside():
    def make(jit):
        x = variable([2.0], "add")

        @jit
        def f():
            with autograd.record():
                z = x * x
            z.backward()

        f()
        f()
        with autograd.record():
            z = x * 3
        z.backward()
        f()
        seen = x.grad + 0
        x.zero_grad()
        f()
        return seen, x.grad

    both(make)


def test_attach_grad_inside():
    def make(jit):
        @jit
        def f(x):
            y = x * 2
            y.attach_grad()
            with autograd.record():
                z = (y**3).sum()
            z.backward()
            return y.grad, z

        return f(np.array([1.0, 2.0]))

    both(make)


def test_autograd_grad_inside_and_of_higher_order():
    def make(jit):
        w = variable([1.5])

        @jit
        def f(x):
            with autograd.record():
                y = (w * x) ** 3
                g = autograd.grad(y, w, create_graph=True)
                h = autograd.grad(g, w, create_graph=True)
                s = (g + h).sum()
            s.backward()
            return g, h

        return f(np.array([2.0], dtype="float64")), w.grad

    both(make)


def test_head_gradients_and_several_heads_inside():
    def make(jit):
        x, y = variable([1.0, 2.0]), variable([3.0, 4.0])

        @jit
        def f(head):
            with autograd.record():
                a, b = x * y, x + y
            autograd.backward([a, b], [head, None])
            return a

        return f(np.array([10.0, 0.5], dtype="float64")), x.grad, y.grad

    both(make)


def test_a_graph_used_twice_inside_raises_while_tracing():
    x = variable([2.0])

    @npx.jit
    def f():
        with autograd.record():
            y = x * x
        y.backward()
        y.backward()

    with pytest.raises(RuntimeError, match="a second time"):
        f()
    assert x.grad.tolist() == [0]


def test_backward_inside_of_what_was_recorded_outside_is_refused():
    x = variable([2.0])
    with autograd.record():
        y = x * x

    @npx.jit
    def f():
        y.backward()

    with pytest.raises(RuntimeError, match="reached what was recorded before it was called"):
        f()
    y.backward()
    assert x.grad.tolist() == [4]


def test_backward_inside_of_a_recorded_call():
    def make(jit):
        w = variable([3.0])

        @jit
        def inner(x):
            return (w * x) ** 2

        @jit
        def outer(x):
            with autograd.record():
                y = inner(x)
            y.backward()
            return y, w.grad * 1

        return outer(np.array([2.0], dtype="float64")), w.grad

    both(make)


def test_the_gradient_of_a_captured_array_is_read_by_the_function():
    def make(jit):
        w = variable([1.0, 2.0])
        clipped = np.zeros(2, dtype="float64")

        @jit
        def f(x):
            with autograd.record():
                loss = (w * w * x).sum()
            loss.backward()
            w.grad[...] = np.minimum(w.grad, 3)
            clipped[...] = w.grad
            w.grad[0] *= 2

        f(np.array(2.0, dtype="float64"))
        w[...] = 0.5
        f(np.array(2.0, dtype="float64"))
        return clipped, w.grad

    both(make)


def test_draws_inside_a_recorded_program_are_those_of_eager_code():
    def make(jit):
        np.random.seed(9)
        w = variable(onp.ones(4), dtype="float32")

        @jit
        def f(x):
            keep = np.random.uniform(size=(4,)) > 0.5
            return (w * x * keep).sum()

        for _ in range(3):
            with autograd.record():
                y = f(np.ones(4))
            y.backward()
        return y, w.grad, np.random.uniform()

    both(make)


def test_a_custom_function_with_saved_arrays_in_a_step():
    def make(jit):
        w = variable([-1.0, 0.25, 2.0])

        class StraightThrough(autograd.Function):
            def forward(self, x):
                self.save_for_backward(x)
                return np.round(x)

            def backward(self, dy):
                (x,) = self.saved_tensors
                return dy * (abs(x) <= 1)

        @jit
        def step(x):
            with autograd.record():
                loss = (StraightThrough()(w * 1) * x).sum()
            loss.backward()
            w[...] -= 0.5 * w.grad
            return loss

        x = np.array([1.0, 2.0, 3.0], dtype="float64")
        return [step(x) for _ in range(2)], w, w.grad

    both(make)


# --- what tracing costs ---------------------------------------------------------------------------


def test_operators_of_many_equations_are_traced_once_for_calls_alike():
    seen = []

    def compute(xp, x, *, scale):
        seen.append((x.shape, scale))
        return xp.exp(x) * scale - xp.sum(x)

    op = from_function("_npi_test_of_many_equations", compute)
    x = variable(onp.linspace(0, 1, 12).reshape(3, 4))

    @npx.jit
    def step(x):
        with autograd.record():
            y = apply(op, (x,), (2.0,)) + apply(op, (x,), (2.0,)) + apply(op, (x,), (3.0,))
            z = y.sum() + apply(op, (x[0],), (2.0,)).sum()
        z.backward()
        return x.grad

    expected = 7 * onp.exp(x.asnumpy()) - 36
    expected[0] += 2 * onp.exp(x.asnumpy()[0]) - 4
    onp.testing.assert_allclose(step(x).asnumpy(), expected, rtol=1e-12)
    assert seen == [((3, 4), 2.0), ((3, 4), 3.0), ((4,), 2.0)]


def test_no_garbage_is_collected_while_a_function_is_traced():
    inside = []

    @npx.jit
    def inner(x):
        inside.append(gc.isenabled())
        return x + 1

    @npx.jit
    def f(x):
        inside.append(gc.isenabled())
        return inner(x) * 2

    @npx.jit
    def fails(x):
        raise KeyError("mine")

    x = np.ones(3)
    assert gc.isenabled()
    inner(x)
    f(x)
    with pytest.raises(KeyError):
        fails(x)
    assert gc.isenabled() and inside == [False] * 3
    try:
        gc.disable()
        npx.jit(lambda x: x - 1)(x)
        assert not gc.isenabled(), "who has turned it off keeps it off"
    finally:
        gc.enable()
