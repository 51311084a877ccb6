"""The small functions of npx: what they compute, eager and compiled, and their errors."""

import numpy as onp
import pytest

import npcompat
from npcompat import autograd, gluon, np, npx, symbol, util

PLACEMENT = "jax"


def rng(seed=0):
    return onp.random.default_rng(seed)


def agree(function, *arrays):
    """Assert that results and gradients agree on each backend, eager and compiled; return them."""
    found = []
    for backend, call in (("numpy", function), ("jax", function), ("jax", npx.jit(function))):
        with npx.backend(backend):
            given = [np.array(a) for a in arrays]
            for a in given:
                if a.dtype.kind == "f":
                    a.attach_grad()
            with autograd.record():
                y = call(*given)
                loss = (y * np.arange(1.0, y.size + 1).reshape(y.shape)).sum()
            if any(a.dtype.kind == "f" for a in given):
                loss.backward()
            found.append([y.asnumpy(), *[a.grad.asnumpy() for a in given if a.dtype.kind == "f"]])
    for other in found[1:]:
        for one, another in zip(found[0], other, strict=True):
            onp.testing.assert_allclose(another, one, rtol=1e-6)
    return found[0]


# --- steps with the derivative of the identity ----------------------------------------------------


@pytest.mark.parametrize("function", [npx.round_ste, npx.sign_ste])
def test_the_derivative_of_steps_is_that_of_the_identity(function, backend):
    x = np.array([-1e10, -2.5, -0.3, 0.0, 0.5, 7.2, onp.inf])
    x.attach_grad()
    for call in (function, npx.jit(function)):
        with autograd.record():
            y = call(x) * np.arange(7.0)
        y.backward()
        assert x.grad.tolist() == [0, 1, 2, 3, 4, 5, 6]
    expected = {"round_ste": [-1e10, -3, 0, 0, 1, 7, onp.inf], "sign_ste": [-1, -1, -1, 0, 1, 1, 1]}
    assert function(x).tolist() == expected[function.__name__]
    assert npx.round_ste([0.49999997, 8388609.0]).tolist() == [
        0,
        8388609,
    ]  # where adding a half is not exact


# --- conditions -----------------------------------------------------------------------------------


def test_constraint_check_raises_when_values_are_read():
    assert npx.constraint_check([True, True]).tolist() is True
    with npx.backend("numpy"), pytest.raises(ValueError, match="^Constraint violated.$"):
        npx.constraint_check([True, False])
    with npx.backend("jax"):
        held = npx.constraint_check(np.array([1.0, -1.0]) > 0, "not positive")
        with pytest.raises(ValueError, match="^not positive$"):
            held.asnumpy()
    checked = npx.jit(
        lambda x: (npx.constraint_check(x > 0, "not positive, compiled"), np.sqrt(x))[1]
    )
    assert checked(np.array([4.0])).tolist() == [2]
    bad = checked(np.array([-4.0]))
    with pytest.raises(ValueError, match="not positive, compiled"):
        bad.asnumpy()
    with pytest.raises(TypeError, match="msg must be a str, got int"):
        npx.constraint_check([True], 3)


def test_graphs_of_symbols_carry_no_conditions():
    x, n = (
        symbol.var("x", shape=(3, 2), dtype="float32"),
        symbol.var("n", shape=(2,), dtype="int64"),
    )
    assert npx.constraint_check(x > 0).eval(x=np.ones((3, 2)))[0].tolist() is True
    last = npx.sequence_last(x, n, use_sequence_length=True)
    assert last.eval(x=np.arange(6.0).reshape(3, 2), n=np.array([1, 3]))[0].tolist() == [0, 5]


def test_lengths_out_of_range_are_errors(backend):
    for lengths in ([0, 1], [1, 4]):
        with pytest.raises(ValueError, match="sequence_length must be between 1 and 3"):
            npx.sequence_last(np.ones((3, 2)), lengths, use_sequence_length=True).asnumpy()
    last = npx.jit(lambda n: npx.sequence_reverse(np.ones((3, 2)), n, use_sequence_length=True))
    with pytest.raises(
        ValueError, match="sequence_reverse: sequence_length must be between 1 and 3"
    ):
        last(np.array([1, 5])).asnumpy()


def test_sequences_without_lengths_are_as_long_as_the_axis():
    x = rng().normal(size=(3, 2, 2))
    assert (
        npx.sequence_last(x).tolist() == x[-1].tolist()
        and npx.sequence_last(x, axis=1).tolist() == x[:, -1].tolist()
    )
    assert npx.sequence_reverse(x).tolist() == x[::-1].tolist()
    assert npx.sequence_last(np.ones((2, 0, 3))).shape == (0, 3)


# --- writing --------------------------------------------------------------------------------------


def test_index_add_adds_at_each_position():
    x, v = rng().normal(size=(3, 4, 2)), rng(1).normal(size=(3, 2))
    places = onp.array([[0, 2, 0], [1, 3, 1]])
    y, gx, gv = agree(lambda x, v: npx.index_add(x, places, v), x, v)
    expected = x.copy()
    onp.add.at(expected, tuple(places), v)
    head = onp.arange(1.0, 25).reshape(x.shape)
    for mine, theirs in ((y, expected), (gx, head), (gv, head[tuple(places)])):
        onp.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_index_update_replaces_at_each_position():
    x, v = rng().normal(size=(4, 3)), rng(1).normal(size=(2, 1))
    y, gx, gv = agree(lambda x, v: npx.index_update(x, np.array([2, 0]), v), x, v)
    expected, head = x.copy(), onp.arange(1.0, 13).reshape(4, 3)
    expected[[2, 0]] = v
    outside = head.copy()
    outside[[2, 0]] = 0
    for mine, theirs in ((y, expected), (gx, outside), (gv, head[[2, 0]].sum(1, keepdims=True))):
        onp.testing.assert_allclose(mine, theirs, rtol=1e-6)
    kept = np.zeros(3)
    assert npx.index_update(kept, 1, 5.0).tolist() == [0, 5, 0] and kept.tolist() == [0, 0, 0]
    assert npx.index_add(kept, [-1], 5.0).tolist() == [0, 0, 5]


# --- shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "codes", "reverse", "expected"),
    [
        ((8, 3, 3, 3, 4, 4), (-6, 2, -1, -4), False, (2, 4, 3, 3, 3, 4, 4)),
        ((8, 3, 3, 3, 4, 4), (-6, 2, -1, -6, -1, 1, -4), False, (2, 4, 3, 1, 3, 3, 4, 4)),
        ((8, 3, 3, 3, 4, 4), (-5, -4), False, (24, 3, 3, 4, 4)),
        ((8, 3, 3, 3, 4, 4), (-5, -1, 4), False, (24, 36, 4)),
        ((8, 3, 3, 3, 4, 4), (-2, -2, -2, -2, -1), False, (8, 3, 3, 3, 16)),
        ((8, 3, 3, 3, 4, 4), (-4, -1, 2, -6), True, (8, 3, 3, 3, 4, 2, 2)),
        ((8, 3, 3, 3, 4, 4), (-4, -5), True, (8, 3, 3, 3, 16)),
        ((8, 1, 1, 3), (-2, -3, -3, -1), False, (8, 3)),
        ((2, 3), (-4,), False, (2, 3)),
        ((2, 0, 3), (-2, -5), False, (2, 0)),
        ((6,), 6, False, (6,)),
        ((), (1, 1), False, (1, 1)),
    ],
)
def test_reshape_reads_codes(shape, codes, reverse, expected):
    x = onp.arange(onp.prod(shape, dtype=int)).reshape(shape)
    found = npx.reshape(np.array(x), codes, reverse=reverse)
    assert found.shape == expected and found.asnumpy().ravel().tolist() == x.ravel().tolist()
    assert npx.jit(lambda x: npx.reshape(x, codes, reverse))(np.array(x)).shape == expected


def test_reshape_gives_a_view_and_a_gradient():
    x = np.zeros((2, 3))
    npx.reshape(x, (-5,))[4] = 1.0
    assert x.tolist() == [[0, 0, 0], [0, 1, 0]]
    y, grad = agree(lambda x: npx.reshape(x, (-6, 1, 2, -2)), rng().normal(size=(2, 3)))
    assert y.shape == (1, 2, 3) and grad.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_parts_are_copies_with_gradients():
    x = rng().normal(size=(4, 6))
    cases = [
        (lambda x: npx.slice(x, (1, None), (None, -1), (2, None)), x[1::2, :-1]),
        (lambda x: npx.slice_axis(x, -1, 1, 4), x[:, 1:4]),
        (lambda x: npx.slice_like(x, np.zeros((2, 9)), axes=(0,)), x[:2]),
        (lambda x: npx.slice_like(x, np.zeros((2, 3))), x[:2, :3]),
        (lambda x: npx.slice_channel(x, 3)[1], x[:, 2:4]),
    ]
    for function, expected in cases:
        y, grad = agree(function, x)
        onp.testing.assert_array_equal(
            y, expected.astype("float32" if y.dtype == "float32" else "float64")
        )
        assert onp.count_nonzero(grad) == expected.size
    ours = np.array(x)
    npx.slice(ours, 0, 1)[...] = 9
    assert (ours.asnumpy() == x).all()
    parts = npx.slice_channel(ours, 4, axis=0, squeeze_axis=True)
    assert [p.shape for p in parts] == [(6,)] * 4


def test_broadcast_like_pad_and_shapes():
    x = rng().normal(size=(2, 1))
    y, grad = agree(lambda x: npx.broadcast_like(x, np.zeros((2, 3))), x)
    assert (y == onp.broadcast_to(x, (2, 3)).astype(y.dtype)).all() and grad.tolist() == [[6], [15]]
    y, grad = agree(lambda x: npx.pad(x, "edge", (1, 0, 0, 2)), x)
    assert (y == onp.pad(x, ((1, 0), (0, 2)), "edge").astype(y.dtype)).all() and grad.sum() == sum(
        range(1, 10)
    )
    assert (
        npx.pad(x, "reflect", (1, 1, 0, 0)).tolist()
        == onp.pad(x, ((1, 1), (0, 0)), "reflect").tolist()
    )
    assert (
        npx.shape_array(x).tolist() == [2, 1]
        and npx.size_array(x).tolist() == [2]
        and npx.size_array(x).dtype == "int64"
    )


# --- arithmetic -----------------------------------------------------------------------------------


def test_sums_norms_and_comparisons():
    x, z = rng().normal(size=(3, 4)), rng(1).normal(size=(3, 4))
    y, gx, gz = agree(npx.add_n, x, z)
    onp.testing.assert_allclose(y, x + z, rtol=1e-6)
    assert (gx == gz).all()
    parts = [np.ones(2), np.ones(2)]
    assert npx.add_n(*parts, out=parts[0]) is parts[0] and parts[0].tolist() == [2, 2]
    for order in (1, 2):
        for axis in (None, 0, (0, 1)):
            y, _ = agree(lambda x, o=order, a=axis: npx.norm(x, o, a, keepdims=True), x)
            expected = (
                abs(x).sum(axis, keepdims=True)
                if order == 1
                else onp.sqrt((x * x).sum(axis, keepdims=True))
            )
            onp.testing.assert_allclose(y, expected, rtol=1e-6)
    y, grad = agree(lambda x: npx.norm(x, axis=1), onp.array([[3.0, 4.0], [0.0, 0.0]]))
    assert y.tolist() == [5, 0] and onp.allclose(grad, [[0.6, 0.8], [0, 0]])
    assert (
        npx.norm([3, 4]) == 5
        and npx.norm([3, -4], ord=1).dtype == "int64"
        and npx.norm([3 + 4j]) == 5
    )
    assert npx.norm(np.ones(4, dtype="float16"), out_dtype="float64").dtype == "float64"
    assert npx.broadcast_greater(x, z[:1]).tolist() == (x > z[:1]).astype(float).tolist()
    assert npx.broadcast_greater([1, 2], 1).dtype == "int64"
    assert npx.nonzero([[0, 3], [0, 0], [1, 0]]).tolist() == [[0, 1], [2, 0]] and npx.nonzero(
        np.zeros((0, 2))
    ).shape == (0, 2)
    assert npx.cast([1.5], "bfloat16").dtype == "bfloat16"


# --- other libraries, devices, switches -----------------------------------------------------------


def test_arrays_come_from_and_go_to_other_libraries(backend):
    theirs = onp.arange(3.0)
    ours = npx.from_numpy(theirs, zero_copy=False)
    theirs[0] = 9
    assert ours.dtype == "float64" and ours.tolist() == [0, 1, 2]
    assert npx.from_dlpack(onp.arange(3)).tolist() == [0, 1, 2]
    assert npx.from_dlpack(npx.to_dlpack_for_read(ours)).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="from_numpy: expected a numpy.ndarray, got list"):
        npx.from_numpy([1])
    with pytest.raises(
        TypeError, match="to_dlpack_for_read: expected an npcompat ndarray, got ndarray"
    ):
        npx.to_dlpack_for_read(theirs)


def test_from_numpy_shares_memory_that_numpy_can_not_write_any_more():
    theirs = onp.arange(6.0).reshape(2, 3)
    with npx.backend("numpy"):
        ours = npx.from_numpy(theirs)
        assert onp.shares_memory(theirs, ours)
        ours[0, 1] = 9
        with pytest.raises(ValueError, match="read-only"):
            theirs[0, 0] = 1
        again = npx.from_numpy(theirs)
        with pytest.raises(ValueError, match="read-only"):
            again += 1
        with pytest.raises(ValueError, match=r"from_numpy\(zero_copy=True\): .* contiguous"):
            npx.from_numpy(onp.arange(6.0).reshape(2, 3).T)
    assert theirs.tolist() == ours.tolist() == again.tolist() == [[0, 9, 2], [3, 4, 5]]
    with npx.backend("jax"):
        copied = npx.from_numpy(theirs)
        copied[0, 0] = 7
    assert theirs[0, 0] == 0


def test_memory_on_the_host_can_be_written_by_others():
    with npx.backend("numpy"):
        ours = np.zeros(3)
        shared = npx.from_dlpack(npx.to_dlpack_for_write(ours))
        shared += 1
        assert shared.tolist() == ours.tolist() == [1, 1, 1]
        read = npx.from_dlpack(npx.to_dlpack_for_read(ours))
        assert read.tolist() == [1, 1, 1]
        torch = pytest.importorskip("torch", reason="writes through DLPack")
        torch.utils.dlpack.from_dlpack(npx.to_dlpack_for_write(ours))[1] = 5
        assert ours.tolist() == [1, 5, 1]
    with (
        npx.backend("jax"),
        pytest.raises(NotImplementedError, match="the array is on XLA, recorded or read-only"),
    ):
        npx.to_dlpack_for_write(np.zeros(3))


def test_the_modules_of_switches_and_devices_have_what_npx_has():
    assert (
        npcompat.device.cpu_pinned() == npx.cpu(0) == npcompat.cpu()
        and npcompat.num_gpus() == util.get_gpu_count()
    )
    assert util.set_np_shape(True) is True and util.is_np_shape()
    with util.np_shape(), util.np_array():
        assert np.zeros(()).shape == ()
    assert util.use_np_shape(len) is len
    for off in (util.set_np_shape, util.np_shape, util.np_array):
        with pytest.raises(NotImplementedError, match="there are no other semantics"):
            off(False)
    with pytest.raises(ValueError, match="does not exist"):
        util.get_gpu_memory(1000)
    assert gluon.tensor_types == (np.ndarray,)


def test_the_default_float_can_be_chosen_for_the_process_and_for_a_class():
    assert npx.set_np_default_dtype(True) is False
    try:
        assert np.ones(1).dtype == "float64" and util.dtype_from_number(1.0) == "float64"
    finally:
        assert npx.set_np_default_dtype(False) is True

    @util.use_np_default_dtype
    class Maker:
        def ones(self):
            return np.ones(1)

    assert Maker().ones().dtype == "float64" and np.ones(1).dtype == "float32"


def test_util_makes_arrays_and_passes_devices_on():
    assert util.default_array([1, 2], ctx=npx.cpu(), dtype="float16").dtype == "float16"
    assert util.dtype_from_number(3) == "int64" and util.dtype_from_number(2**63) == "uint64"
    assert util.set_module(None)(max) is max
    placed = util.wrap_ctx_to_device_func(lambda device=None: device)
    assert placed() is None and placed(device=1) == 1
    with pytest.raises(TypeError, match="two names of one argument"):
        placed(device=1, ctx=2)
    with pytest.raises(TypeError, match="expected an int or a float, got str"):
        util.dtype_from_number("1")


def test_dense_parameters_have_no_sparse_rows():
    weight = gluon.Parameter("weight", shape=(2, 2))
    weight.initialize()
    for get in (weight.row_sparse_data, weight.list_row_sparse_data):
        with pytest.raises(RuntimeError, match="'weight' is dense"):
            get(np.array([0]))


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: npx.add_n(), TypeError, "at least one array"),
        (
            lambda: npx.add_n(np.ones(2), np.ones(1)),
            ValueError,
            r"must have one shape, got \(2,\), \(1,\)",
        ),
        (lambda: npx.norm(np.ones(2), ord=3), ValueError, "ord must be 1 or 2, got 3"),
        (
            lambda: npx.reshape(np.ones((2, 3)), (-3, -1)),
            ValueError,
            "-3 leaves out axis 0, whose length must be 1",
        ),
        (
            lambda: npx.reshape(np.ones((2, 3)), (-6, 2)),
            ValueError,
            "-6 must be followed by two lengths",
        ),
        (lambda: npx.reshape(np.ones((6, 3)), (-6, 4, -1, -2)), ValueError, "4 does not divide 6"),
        (lambda: npx.reshape(np.ones((6, 3)), (-6, 4, 2, -2)), ValueError, "4 times 2 is not 6"),
        (lambda: npx.reshape(np.ones((6, 3)), (-6, -1, -1, -2)), ValueError, "one may be -1"),
        (
            lambda: npx.reshape(np.ones(6), (-2, -2)),
            ValueError,
            r"newshape=\(-2, -2\) does not fit shape \(6,\): it asks for more axes",
        ),
        (lambda: npx.reshape(np.ones(6), (-7,)), ValueError, "-7 means nothing"),
        (lambda: npx.reshape(np.ones(6), 6, order="F"), NotImplementedError, "order"),
        (lambda: npx.slice(np.ones(3), (0,), (1, 2)), ValueError, "end must have 1 entries"),
        (
            lambda: npx.slice_like(np.ones((2, 2)), np.ones(2)),
            ValueError,
            "must have as many axes, or axes be given",
        ),
        (
            lambda: npx.slice_like(np.ones((2, 2)), np.ones((3, 1))),
            ValueError,
            "is longer than data",
        ),
        (
            lambda: npx.slice_channel(np.ones((2, 3)), 2),
            ValueError,
            "num_outputs=2 must divide the length of axis 1",
        ),
        (
            lambda: npx.slice_channel(np.ones((2, 4)), 2, squeeze_axis=True),
            ValueError,
            "parts of length 1",
        ),
        (
            lambda: npx.broadcast_like(np.ones(1), np.ones(2), lhs_axes=(0,)),
            ValueError,
            "given together",
        ),
        (
            lambda: npx.broadcast_like(np.ones(1), np.ones((2, 2)), (0,), (0, 1)),
            ValueError,
            "must name as many axes",
        ),
        (
            lambda: npx.pad(np.ones((1, 2)), pad_width=(1, 1)),
            ValueError,
            "two numbers for each of 2 axes",
        ),
        (lambda: npx.pad(np.ones(2), "wrap", (1, 1)), ValueError, "mode must be 'constant'"),
        (lambda: npx.index_add(np.ones(2), [0.5], 1), ValueError, "ind must hold integers"),
        (lambda: npx.index_update(np.ones(2), [[0], [0]], 1), IndexError, "the array has 1 axes"),
        (lambda: npx.index_add(np.ones(2), [2], 1), IndexError, "index 2 is out of bounds"),
        (
            lambda: npx.sequence_last(np.ones((3, 2)), [1, 1]),
            ValueError,
            "use_sequence_length=False, but sequence_length is given",
        ),
        (lambda: npx.sequence_last(np.ones((0, 2))), ValueError, "have no last element"),
        (
            lambda: npx.sequence_reverse(np.ones((3, 2)), [1], True),
            ValueError,
            r"must have shape \(2,\)",
        ),
        (lambda: npx.sequence_reverse(np.ones((3, 2)), axis=2), ValueError, "time being 0 or 1"),
        (
            lambda: npx.get_cuda_compute_capability("cpu"),
            ValueError,
            r"expected a GPU, got cpu\(0\)",
        ),
        (
            lambda: util.default_array([1], device="cpu", ctx="cpu"),
            TypeError,
            "two names of one argument",
        ),
    ],
)
def test_what_does_not_fit_is_an_error(call, error, text):
    with pytest.raises(error, match=text):
        call()
