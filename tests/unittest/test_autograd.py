"""Recording and differentiating: what is recorded, where gradients go, writes in place, second
order, life of a graph.
"""

import numpy as onp
import pytest

from npcompat import autograd, errors, np, npx

PLACEMENT = "jax"

pytestmark = pytest.mark.usefixtures("backend")


def variable(values, grad_req="write", dtype="float64"):
    x = np.array(values, dtype=dtype)
    x.attach_grad(grad_req)
    return x


def numeric(f, x, step=1e-6):
    """Central differences of a function of a NumPy array."""
    grad = onp.zeros_like(x)
    for i in onp.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        grad[i] = (f(up) - f(down)) / (2 * step)
    return grad


def check(program, *values):
    """The gradients of `program(xp, *arrays)`, a number, are its finite differences on NumPy; eager
    and compiled.
    """
    expected = [
        numeric(
            lambda x, i=i: float(
                program(onp, *[(v if j != i else x).copy() for j, v in enumerate(values)])
            ),
            onp.asarray(v, "float64"),
        )
        for i, v in enumerate(values)
    ]
    arrays = [variable(v) for v in values]

    def run(*given):
        with autograd.record():
            return program(np, *given)

    for compiled in (False, True):
        if compiled and npx.current_backend() == "numpy":
            break
        recorded(run, arrays, compiled).backward()
        for a, e in zip(arrays, expected, strict=True):
            onp.testing.assert_allclose(a.grad.asnumpy(), e, rtol=1e-5, atol=1e-7)


def recorded(run, arrays, compiled):
    with autograd.record():
        copies = [a * 1 for a in arrays]  # programs may write their arguments; the variables stay
        return (npx.jit(run) if compiled else run)(*copies)


X = onp.array([[0.3, -1.2, 2.0], [1.5, 0.7, -0.4]])
Y = onp.array([1.1, -0.6, 0.9])


# --- what is recorded -----------------------------------------------------------------------------


def test_modes_nest_and_are_restored():
    assert not autograd.is_recording() and not autograd.is_training()
    with autograd.record():
        assert autograd.is_recording() and autograd.is_training()
        with autograd.pause():
            assert not autograd.is_recording() and not autograd.is_training()
            with autograd.train_mode():
                assert not autograd.is_recording() and autograd.is_training()
        with autograd.predict_mode():
            assert autograd.is_recording() and not autograd.is_training()
    with autograd.record(train_mode=False):
        assert autograd.is_recording() and not autograd.is_training()
    with pytest.raises(ZeroDivisionError), autograd.record():
        raise ZeroDivisionError
    assert not autograd.is_recording() and not autograd.is_training()
    assert autograd.set_recording(True) is False
    assert autograd.set_recording(False) is True
    assert autograd.set_training(True) is False
    assert autograd.set_training(False) is True


def test_only_what_is_recorded_is_differentiated():
    x = variable([2.0])
    with autograd.record():
        y = x * x
        with autograd.pause():
            z = y * x
        w = y + z
    w.backward()
    assert x.grad.tolist() == [4.0]
    outside = x * 3
    with pytest.raises(
        RuntimeError, match=r"not recorded: compute it inside `with autograd\.record\(\):`"
    ):
        outside.backward()


def test_backward_of_a_variable_itself_and_of_a_constant():
    x = variable([1.0, 2.0])
    with autograd.record():
        y = x + 0
    y.backward()
    assert x.grad.tolist() == [1, 1]
    with autograd.record():
        c = np.ones(2) * 3
    with pytest.raises(RuntimeError, match="not recorded"):
        c.backward()


# --- attach_grad ----------------------------------------------------------------------------------


def test_grad_is_there_at_once_in_the_shape_and_dtype_of_the_variable():
    for dtype in ("float16", "float32", "float64", "bfloat16", "complex64"):
        x = np.ones((2, 0, 3), dtype=dtype)
        assert x.grad is None
        x.attach_grad()
        assert x.grad.shape == x.shape and x.grad.dtype == x.dtype


def test_grad_req_write_replaces_add_adds_null_leaves_alone():
    w, a, n = variable([3.0]), variable([3.0], "add"), variable([3.0], "null")
    held = w.grad
    for _ in range(3):
        with autograd.record():
            y = w * a * n
        y.backward()
    assert w.grad.tolist() == [9] and a.grad.tolist() == [27] and n.grad is None
    assert w.grad is held and held.tolist() == [9]
    a.zero_grad()
    assert a.grad.tolist() == [0]
    a.attach_grad()
    with autograd.record():
        y = a * 2
    y.backward()
    assert a.grad.tolist() == [2]
    a.drop_grad()
    assert a.grad is None
    with autograd.record():
        y = a * 2
    with pytest.raises(RuntimeError, match="not recorded"):
        y.backward()


def test_attach_grad_on_integers_says_how_to_make_floats():
    with pytest.raises(TypeError, match=r"only floats have gradients; use \.astype\('float32'\)"):
        np.arange(3).attach_grad()
    with pytest.raises(ValueError, match="grad_req: expected 'write', 'add' or 'null', got 'sum'"):
        np.ones(2).attach_grad("sum")


def test_mark_variables_uses_the_arrays_that_are_given():
    x, y, gx, gy = np.ones(2), np.ones(2), np.zeros(2), np.zeros(2)
    autograd.mark_variables([x, y], [gx, gy], ["write", "add"])
    for _ in range(2):
        with autograd.record():
            z = 3 * x + y
        z.backward()
    assert gx.tolist() == [3, 3] and gy.tolist() == [2, 2] and x.grad is gx
    with pytest.raises(
        ValueError, match=r"gradients: expected shape \(2,\), as the variable has, got \(3,\)"
    ):
        autograd.mark_variables(x, np.zeros(3))
    with pytest.raises(ValueError, match="got 1 variables, 2 gradients and 1 grad_reqs"):
        autograd.mark_variables([x], [gx, gy])


def test_a_variable_that_is_written_stays_a_variable():
    x = variable([1.0, 2.0])
    x[...] = np.array([5.0, 6.0])
    x[0] = 7
    x += 1
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [16, 14]


def test_a_view_can_be_a_variable():
    a = np.arange(4.0)
    v = a[1:3]
    v.attach_grad()
    with autograd.record():
        y = (v * v).sum()
    y.backward()
    assert v.grad.tolist() == [2, 4]
    a[1] = 10
    with autograd.record():
        y = (v * v).sum()
    y.backward()
    assert v.grad.tolist() == [20, 4]


# --- backward -------------------------------------------------------------------------------------


def test_head_gradients_weigh_the_head():
    x = variable([1.0, 2.0])
    with autograd.record():
        y = x * x
    y.backward(np.array([10.0, 0.5]))
    assert x.grad.tolist() == [20, 2]
    with autograd.record():
        y = x * x
    with pytest.raises(
        ValueError, match=r"head gradient: expected shape \(2,\), as its head has, got \(3,\)"
    ):
        y.backward(np.ones(3))


def test_several_heads_add_up():
    x = variable([3.0])
    with autograd.record():
        y, z = x * x, 2 * x
    autograd.backward([y, z], [None, np.array([10.0])])
    assert x.grad.tolist() == [26]
    with autograd.record():
        y = x * x
    autograd.backward([y, y])
    assert x.grad.tolist() == [12]
    with autograd.record():
        y = x * x
    with pytest.raises(
        ValueError, match="head_grads: expected 1 gradients, one for each head, got 2"
    ):
        autograd.backward(y, [None, None])


def test_a_graph_is_used_once_unless_it_is_retained():
    x = variable([3.0])
    with autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [6]
    with pytest.raises(RuntimeError, match=r"multiply a second time.*retain_graph=True"):
        y.backward()


def test_a_used_graph_is_reported_before_anything_is_written():
    x, w = variable([3.0]), variable([2.0])
    with autograd.record():
        y = x * x
        z = y * w
    y.backward()
    x.grad[...] = -1
    with pytest.raises(RuntimeError, match="a second time"):
        z.backward()
    assert x.grad.tolist() == [-1] and w.grad.tolist() == [0]


def test_a_diamond_is_walked_once():
    x = variable([2.0])
    with autograd.record():
        y = x * x
        z = y
        for _ in range(30):
            z = z + z
        out = z * y
    out.backward()
    assert x.grad.tolist() == [4 * 2.0**30 * 8]


def test_deep_graphs_do_not_overflow_the_stack():
    x = variable([1.0])
    with autograd.record():
        y = x
        for _ in range(3000):
            y = y + x
    y.backward()
    assert x.grad.tolist() == [3001]
    del y


def test_integers_on_the_way_stop_gradients():
    x = variable([1.5, 2.5])
    with autograd.record():
        i = x.astype("int64")
        y = (x * i + i).sum()
        flag = x > 2
    y.backward()
    assert x.grad.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="not recorded"):
        flag.backward()


def test_casts_carry_gradients_in_the_dtype_of_the_variable():
    x = variable([1.5, 2.5], dtype="float32")
    with autograd.record():
        y = (x.astype("float64") * x.astype("float16")).sum()
    y.backward()
    assert x.grad.dtype == "float32" and x.grad.tolist() == [3, 5]


def test_broadcasting_sums_gradients():
    check(lambda xp, x, y: (x * y + y).sum(), X, Y)
    check(lambda xp, x, y: (x + y[0]).sum() * y[1], X, Y)


def test_zero_size_and_0d_gradients():
    x, s = variable(onp.zeros((0, 3))), variable(2.0)
    with autograd.record():
        y = x.sum() + s * s * s
    y.backward()
    assert x.grad.shape == (0, 3) and float(s.grad) == 12 and s.grad.shape == ()


def test_complex_arrays_are_differentiated_through_their_parts():
    c = np.array([1 + 2j, -3j], dtype="complex128")
    c.attach_grad()
    with autograd.record():
        y = (c.real**2 + 3 * c.imag).sum()
    y.backward()
    found = c.grad.asnumpy()
    assert found.real.tolist() == [2, 0] and abs(found.imag).tolist() == [3, 3]


# --- grad -----------------------------------------------------------------------------------------


def test_grad_returns_gradients_and_leaves_grad_alone():
    x, w, unused = variable([3.0]), variable([5.0]), variable([1.0, 1.0])
    with autograd.record():
        y = x * x * w
    gx, gw, gu = autograd.grad(y, [x, w, unused])
    assert gx.tolist() == [30] and gw.tolist() == [9] and gu.tolist() == [0, 0]
    assert x.grad.tolist() == [0]
    with autograd.record():
        y = x * x
    assert autograd.grad(y, x, np.array([2.0])).tolist() == [12]
    with pytest.raises(
        RuntimeError,
        match=r"variables\[0\] is no variable, nor was it recorded: call attach_grad\(\)",
    ):
        autograd.grad(y, [np.ones(1)])


def test_second_and_third_order():
    x = variable([1.0, 2.0, 3.0])
    with autograd.record():
        y = x**4
        d1 = autograd.grad(y, x, create_graph=True)
        d2 = autograd.grad(d1, x, create_graph=True)
        d3 = autograd.grad(d2, x, create_graph=True)
    d3.backward()
    assert (
        d1.tolist() == [4, 32, 108] and d2.tolist() == [12, 48, 108] and d3.tolist() == [24, 48, 72]
    )
    assert x.grad.tolist() == [24, 24, 24]


def test_a_gradient_penalty_mixes_orders():
    x, w = variable([1.0, 2.0]), variable([3.0, -1.0])
    with autograd.record():
        loss = (w * x * x).sum()
        gx = autograd.grad(loss, x, create_graph=True)
        total = loss + (gx * gx).sum()
    total.backward()
    onp.testing.assert_allclose(w.grad.asnumpy(), [1 + 8 * 3, 4 + 8 * 4 * -1])
    onp.testing.assert_allclose(x.grad.asnumpy(), [6 + 8 * 9, -4 + 8 * 2])


def test_backward_with_create_graph_records_the_gradient():
    x = variable([2.0])
    with autograd.record():
        y = x**3
        y.backward(create_graph=True)
        z = x.grad * x.grad
    z.backward()
    assert x.grad.tolist() == [2 * 12 * 12]


def test_second_order_of_functions_of_several_outputs():
    x = variable([[4.0, 1.0], [2.0, 3.0]])
    with autograd.record():
        q, r = np.divmod(x, 3)
        y = (r**3).sum()
        (g,) = autograd.grad(y, [x], create_graph=True)
    g.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), 6 * onp.mod([[4.0, 1.0], [2.0, 3.0]], 3))


# --- views and writes -----------------------------------------------------------------------------


def test_gradients_of_views():
    check(
        lambda xp, x: (
            (x[0] * x[1, ::-1]).sum() + (x.T[1:] ** 2).sum() + x.reshape(-1)[4] * x[..., 0].sum()
        ),
        X,
    )
    check(
        lambda xp, x: (
            (x.reshape(3, 2).T * x).sum() + (x[:, None] * x[None]).sum() + (x.diagonal() ** 3).sum()
        ),
        X,
    )
    check(lambda xp, x: (xp.broadcast_to(x[0], (4, 3)) ** 2).sum(), X)


def test_gradients_of_advanced_reads():
    check(
        lambda xp, x: (
            (x[[0, 1, 0]] ** 2).sum() + (x[:, [2, 2]] * 3).sum() + x[[0, 1], [1, 2]].prod()
        ),
        X,
    )
    check(lambda xp, x: (x[onp.array([[True, False, True], [False, True, False]])] ** 3).sum(), X)


def overwrite_part(xp, x, y):
    x[0] = y
    x[:, 1] *= y[0]
    return (x**2).sum()


def write_through_views_of_views(xp, x, y):
    v = x.T[1:]
    w = v[:, ::-1]
    w[0] = y[:2]
    v *= 2
    x += 1
    w[1] += x[0, 0]
    return (x**3).sum() + (w * v).sum()


def write_with_arrays(xp, x, y):
    x[[0, 1], [2, 0]] = y[:2] ** 2
    x[[1, 1]] += y
    x[onp.array([[True, False, True], [False, True, False]])] *= 3
    return (x * x).sum()


def use_then_overwrite(xp, x, y):
    before = x * x
    x[...] = 0
    x[1] = before[0] * y
    return (x * before).sum()


def write_constants(xp, x, y):
    z = xp.zeros((2, 3), dtype="float64")
    z[0] = x[1] * 2
    z[1, :2] = y[1:]
    z[1, 2] = 5
    return (z * z * x).sum()


def in_place_operators(xp, x, y):
    x += y
    x *= x
    x -= y / 2
    x /= 2 + y * y
    x **= 2
    return x.sum()


def out_and_where(xp, x, y):
    r = xp.zeros((2, 3), dtype="float64")
    xp.multiply(x, y, out=r)
    xp.add(r, x, out=x, where=onp.array([True, False, True]))
    return (x * r).sum()


def diagonal_and_flat(xp, x, y):
    z = x[:, :2] * 1
    z.reshape(-1)[1:3] = y[:2]
    return (z @ z).sum() + z.diagonal().prod()


WRITES = [
    overwrite_part,
    write_through_views_of_views,
    write_with_arrays,
    use_then_overwrite,
    write_constants,
    in_place_operators,
    out_and_where,
    diagonal_and_flat,
]


@pytest.mark.parametrize("program", WRITES, ids=lambda p: p.__name__)
def test_writes_in_place_are_differentiated(program):
    check(program, X, Y)


def test_what_is_overwritten_has_no_gradient():
    x = variable([1.0, 2.0])
    with autograd.record():
        y = x * 3
        y[0] = 7
        z = y.sum()
    z.backward()
    assert x.grad.tolist() == [0, 3]


@pytest.mark.parametrize("view", [lambda z: z.view(), lambda z: z[:1], lambda z: z.T[:1][::-1]])
def test_a_view_that_was_written_can_be_walked_back(view):
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        z = view((x * x).sum(keepdims=True))
        z[...] = z * 2
    z.backward()
    assert x.grad.tolist() == [4, 8]
    y = x[:1]  # made and read outside
    with pytest.raises(errors.AutogradError, match="not recorded"):
        y.backward()


def test_a_view_made_before_the_write_sees_the_graph_of_the_write():
    x = variable([1.0, 2.0, 3.0])
    with autograd.record():
        y = x * 1
        v = y[1:]
        y[1] = x[0] ** 2
        z = v.sum()
    z.backward()
    assert x.grad.tolist() == [2, 0, 1]


def test_writing_outside_of_record_cuts_the_graph():
    x = variable([2.0])
    with autograd.record():
        y = x * x
    y += 1
    with pytest.raises(RuntimeError, match="not recorded"):
        y.backward()


def test_writing_a_variable_after_it_was_used_does_not_change_the_gradient():
    x = variable([2.0])
    with autograd.record():
        y = x * x
    x[...] = 100
    y.backward()
    assert x.grad.tolist() == [4]


def test_gradients_of_heads_have_the_dtype_of_their_heads(backend):
    x = np.array([1.0, 2.0])
    x.attach_grad()

    def gradient(head):
        with autograd.record():
            y = x * x
        y.backward(head)
        return x.grad

    for head in (
        np.array([1.0, 3.0], dtype="float64"),
        onp.array([1, 3]),
        [1.0, 3.0],
        np.array([1, 3], dtype="float16"),
    ):
        assert gradient(head).dtype == "float32" and gradient(head).tolist() == [2, 12]
    with pytest.raises(
        TypeError, match="head gradient: expected dtype float32, as its head has, got complex64"
    ):
        gradient(np.array([1j, 0]))
    with pytest.raises(
        ValueError, match=r"head gradient: expected shape \(2,\), as its head has, got \(\)"
    ):
        gradient(2.0)


def test_gradients_of_64_bits_cross_from_the_host_to_what_ran_on_xla():
    with npx.backend("auto"):
        x, head = (
            np.array([1.0, 2.0], dtype="float64"),
            np.array([1.0, 1 + 2.0**-40], dtype="float64"),
        )
        x.attach_grad()
        with autograd.record():
            y = npx.jit(lambda a: a * 3)(x)
        y.backward(head)
        assert x.grad.dtype == "float64" and x.grad.tolist() == (head * 3).tolist()
