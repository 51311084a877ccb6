"""Network operators: values and gradients against torch or hand-written NumPy, on both backends;
errors by their text.
"""

import numpy as onp
import pytest
from nn_oracle import check, functional, normal, torch

from npcompat import autograd, np, npx

PLACEMENT = "jax"

ACTIVATIONS = {
    "relu": (npx.relu, functional.relu),
    "sigmoid": (npx.sigmoid, torch.sigmoid),
    "log_sigmoid": (npx.log_sigmoid, functional.logsigmoid),
    "softplus": (npx.softplus, functional.softplus),
    "softsign": (npx.softsign, functional.softsign),
    "mish": (npx.mish, functional.mish),
    "silu": (npx.silu, functional.silu),
    "gelu": (npx.gelu, functional.gelu),
    "gelu_tanh": (lambda x: npx.gelu(x, "tanh"), lambda x: functional.gelu(x, approximate="tanh")),
    "leaky": (lambda x: npx.leaky_relu(x, slope=0.3), lambda x: functional.leaky_relu(x, 0.3)),
    "elu": (
        lambda x: npx.leaky_relu(x, act_type="elu", slope=0.7),
        lambda x: functional.elu(x, 0.7),
    ),
    "selu": (lambda x: npx.leaky_relu(x, act_type="selu"), functional.selu),
    "erf": (npx.erf, torch.erf),
    "gammaln": (npx.gammaln, torch.lgamma),
    "digamma": (npx.digamma, torch.digamma),
    "smooth_l1": (
        npx.smooth_l1,
        lambda x: functional.smooth_l1_loss(x, torch.zeros_like(x), reduction="none"),
    ),
    "softmax": (npx.softmax, lambda x: functional.softmax(x, -1)),
    "softmax_axis": (
        lambda x: npx.softmax(x, axis=0, temperature=2.0),
        lambda x: functional.softmax(x / 2, 0),
    ),
    "log_softmax": (npx.log_softmax, lambda x: functional.log_softmax(x, -1)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_elementwise_functions_and_softmax_agree_with_torch(name, backend):
    ours, theirs = ACTIVATIONS[name]
    scale = 1 if name in ("gammaln", "digamma") else 20
    check(
        ours,
        theirs,
        onp.abs(normal(4, 5)) + 0.1 if scale == 1 else scale * normal(4, 5),
        rtol=2e-4,
        atol=2e-4,
    )


def test_prelu_has_a_slope_for_each_channel(backend):
    check(
        lambda x, a: npx.leaky_relu(x, gamma=a, act_type="prelu"),
        functional.prelu,
        normal(2, 3, 4),
        onp.float32([0.1, 0.2, 0.3]),
    )


@pytest.mark.parametrize(
    "function", [npx.relu, npx.sigmoid, npx.softmax, npx.log_softmax, npx.gelu, npx.batch_flatten]
)
@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), (3, 0)])
def test_empty_arrays_stay_empty(function, shape, backend):
    assert function(np.zeros(shape)).size == 0


def test_zero_dimensional_arrays(backend):
    assert (
        npx.relu(np.array(-1.0)).shape == ()
        and npx.softmax(np.array(3.0)).item() == 1
        and npx.log_softmax(np.array(3.0)).item() == 0
    )


def test_relu_keeps_the_dtype_and_nan_and_has_no_slope_at_zero(backend):
    assert (
        npx.relu(np.array([-1, 2])).tolist() == [0, 2]
        and npx.relu(np.array([-1, 2])).dtype == "int64"
    )
    assert onp.isnan(npx.relu(np.array([onp.nan])).item())
    x = np.zeros(2)
    x.attach_grad()
    with autograd.record():
        y = npx.relu(x)
    y.backward()
    assert x.grad.tolist() == [0, 0]


def test_sixteen_bit_softmax_is_summed_in_float32(backend):
    x = np.ones(5000, dtype="float16")
    assert npx.softmax(x).dtype == "float16"
    onp.testing.assert_allclose(npx.softmax(x, dtype="float32").sum().item(), 1, rtol=1e-5)
    onp.testing.assert_allclose(npx.log_softmax(x).asnumpy(), -onp.log(5000), rtol=1e-3)


def test_softmax_with_lengths_and_masks(backend):
    x = normal(3, 4)
    expected = onp.zeros((3, 4), "float32")
    for row, n in enumerate((4, 2, 0)):
        e = onp.exp(x[row, :n])
        expected[row, :n] = e / e.sum()
    lengths = np.array([4, 2, 0])
    onp.testing.assert_allclose(
        npx.softmax(np.array(x), lengths, use_length=True).asnumpy(), expected, rtol=1e-5
    )
    mask = np.arange(4) < lengths.reshape(3, 1)
    onp.testing.assert_allclose(
        npx.masked_softmax(np.array(x), mask).asnumpy(), expected, rtol=1e-5
    )
    logs = npx.masked_log_softmax(np.array(x), mask).asnumpy()
    onp.testing.assert_allclose(onp.exp(logs), expected, rtol=1e-5)
    assert onp.isneginf(logs[~mask.asnumpy()]).all()
    v = np.array(x)
    v.attach_grad()
    with autograd.record():
        y = (npx.masked_softmax(v, mask) * np.array(normal(3, 4))).sum()
    y.backward()
    assert onp.isfinite(v.grad.asnumpy()).all() and (v.grad.asnumpy()[~mask.asnumpy()] == 0).all()


def test_arguments_that_contradict_each_other_are_errors():
    x = np.ones((2, 3))
    for call, text in (
        (lambda: npx.softmax(x, length=np.ones(2)), "use_length=False, but length is given"),
        (lambda: npx.softmax(x, use_length=True), "length is missing"),
        (lambda: npx.fully_connected(x, x, bias=np.ones(2)), "no_bias=True, but bias is given"),
        (lambda: npx.fully_connected(x, x, num_hidden=5), "num_hidden=5, but weight has 2 rows"),
        (lambda: npx.activation(x, "nope"), "act_type must be one of relu"),
        (lambda: npx.leaky_relu(x, gamma=x), "gamma is the slopes of act_type='prelu'"),
        (lambda: npx.pick(x, np.zeros(3)), r"index must have shape \(2,\)"),
        (lambda: npx.topk(x, k=4), "k=4, but axis 1 of shape"),
        (lambda: npx.dropout(x, p=2), "p is a probability"),
        (lambda: npx.sequence_mask(x, np.ones(3)), "sequence_length is given"),
        (lambda: npx.embedding(x, np.ones((2, 2)), output_dim=3), "weight must have shape"),
    ):
        with pytest.raises(ValueError, match=text):
            call()


# --- dense ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("flatten", [True, False])
def test_fully_connected_agrees_with_torch(flatten, backend):
    x, w, b = normal(3, 4, 5), normal(2, 20 if flatten else 5), normal(2)
    check(
        lambda x, w, b: npx.fully_connected(x, w, b, no_bias=False, flatten=flatten),
        lambda x, w, b: functional.linear(x.flatten(1) if flatten else x, w, b),
        x,
        w,
        b,
    )


def test_fully_connected_says_which_shapes_do_not_fit():
    with pytest.raises(
        ValueError, match=r"data of shape \(2, 3\) does not fit weight of shape \(4, 5\)"
    ):
        npx.fully_connected(np.ones((2, 3)), np.ones((4, 5)))
    assert npx.fully_connected(np.ones((0, 3)), np.ones((4, 3))).shape == (0, 4)


def test_batch_dot_transposes(backend):
    check(
        lambda a, b: npx.batch_dot(a, b, transpose_a=True),
        lambda a, b: a.transpose(1, 2) @ b,
        normal(2, 3, 4),
        normal(2, 3, 5),
    )


# --- convolution and pooling ----------------------------------------------------------------------

CONVOLUTIONS = [
    (1, {"kernel": 3}, {}),
    (
        1,
        {"kernel": 2, "stride": 2, "pad": 1, "dilate": 2},
        {"stride": 2, "padding": 1, "dilation": 2},
    ),
    (2, {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 0)}, {"stride": (2, 1), "padding": (1, 0)}),
    (
        2,
        {"kernel": 3, "num_group": 2, "dilate": 2, "pad": 2},
        {"groups": 2, "dilation": 2, "padding": 2},
    ),
    (3, {"kernel": 2, "stride": 2}, {"stride": 2}),
]


@pytest.mark.parametrize(("spatial", "ours", "theirs"), CONVOLUTIONS)
def test_convolution_agrees_with_torch(spatial, ours, theirs, backend):
    kernel = ours["kernel"] if isinstance(ours["kernel"], tuple) else (ours["kernel"],) * spatial
    x, b = normal(2, 4, *(7, 6, 5)[:spatial]), normal(6)
    w = normal(6, 4 // ours.get("num_group", 1), *kernel)
    reference = getattr(functional, f"conv{spatial}d")
    check(
        lambda x, w, b: npx.convolution(x, w, b, num_filter=6, **ours),
        lambda x, w, b: reference(x, w, b, **theirs),
        x,
        w,
        b,
    )


def test_channels_may_come_last(backend):
    x, w = normal(2, 6, 5, 3), normal(4, 3, 3, 3)
    y = npx.convolution(np.array(x), np.array(w), layout="NHWC", pad=1).asnumpy()
    expected = functional.conv2d(
        torch.tensor(x.transpose(0, 3, 1, 2)), torch.tensor(w.transpose(0, 3, 1, 2)), padding=1
    )
    onp.testing.assert_allclose(y, expected.numpy().transpose(0, 2, 3, 1), rtol=1e-4, atol=1e-5)
    p = npx.pooling(np.array(x), kernel=2, stride=2, layout="NHWC").asnumpy()
    onp.testing.assert_allclose(
        p,
        functional.max_pool2d(torch.tensor(x.transpose(0, 3, 1, 2)), 2)
        .numpy()
        .transpose(0, 2, 3, 1),
    )


def test_convolution_says_what_does_not_fit():
    x = np.ones((2, 3, 8, 8))
    for weight, options, text in (
        (np.ones((4, 2, 3, 3)), {}, "has 3 channels; weight of shape .* expects 2"),
        (np.ones((4, 3, 9, 3)), {}, "the kernel covers 9 elements along axis 2"),
        (np.ones((4, 3, 3)), {}, "weight must have 4 axes"),
        (np.ones((4, 3, 3, 3)), {"kernel": 5}, r"kernel=\(5, 5\), but weight"),
        (np.ones((4, 3, 3, 3)), {"num_filter": 5}, "num_filter=5, but weight"),
        (
            np.ones((4, 3, 3, 3)),
            {"stride": (1, 2, 3)},
            "stride needs one entry for each of the 2 spatial axes",
        ),
        (np.ones((4, 3, 3, 3)), {"layout": "HWCN"}, "layout must be one of NCHW, NHWC"),
        (np.ones((4, 3, 3, 3)), {"bias": np.ones(3)}, r"bias must have shape \(4,\)"),
    ):
        with pytest.raises(ValueError, match=text):
            npx.convolution(x, weight, **options)
    assert npx.convolution(np.ones((0, 3, 8, 8)), np.ones((4, 3, 3, 3))).shape == (0, 4, 6, 6)


POOLINGS = [
    ({"kernel": 2, "stride": 2}, lambda x: functional.max_pool2d(x, 2)),
    ({"kernel": 3, "stride": 2, "pad": 1}, lambda x: functional.max_pool2d(x, 3, 2, 1)),
    (
        {"kernel": 3, "stride": 2, "pooling_convention": "full"},
        lambda x: functional.max_pool2d(x, 3, 2, ceil_mode=True),
    ),
    ({"kernel": 2, "stride": 2, "pool_type": "avg"}, lambda x: functional.avg_pool2d(x, 2)),
    (
        {"kernel": 3, "stride": 2, "pad": 1, "pool_type": "avg"},
        lambda x: functional.avg_pool2d(x, 3, 2, 1),
    ),
    (
        {
            "kernel": 3,
            "stride": 2,
            "pad": 1,
            "pool_type": "avg",
            "count_include_pad": False,
            "pooling_convention": "full",
        },
        lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    ),
    (
        {"kernel": 3, "stride": 2, "pad": 1, "pool_type": "avg", "pooling_convention": "full"},
        lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    ),
    (
        {"kernel": 2, "stride": 2, "pool_type": "sum"},
        lambda x: functional.avg_pool2d(x, 2, divisor_override=1),
    ),
    (
        {"kernel": 2, "stride": 2, "pool_type": "lp", "p_value": 3},
        lambda x: functional.lp_pool2d(x.abs(), 3, 2),
    ),
    ({"global_pool": True, "pool_type": "avg"}, lambda x: x.mean((2, 3), keepdim=True)),
    ({"global_pool": True}, lambda x: x.amax((2, 3), keepdim=True)),
]


@pytest.mark.parametrize(("options", "theirs"), POOLINGS, ids=[str(o) for o, _ in POOLINGS])
def test_pooling_agrees_with_torch(options, theirs, backend):
    check(lambda x: npx.pooling(x, **options), theirs, normal(2, 3, 8, 6))


def test_max_pooling_of_integers_and_equal_elements(backend):
    x = np.arange(8).reshape(1, 1, 8) - 4
    assert (
        npx.pooling(x, kernel=2, stride=2).tolist() == [[[-3, -1, 1, 3]]]
        and npx.pooling(x, kernel=2).dtype == "int64"
    )
    z = np.zeros((1, 1, 4))
    z.attach_grad()
    with autograd.record():
        y = npx.pooling(z, kernel=2, stride=2)
    y.backward()
    assert z.grad.tolist() == [[[1, 0, 1, 0]]]


@pytest.mark.parametrize("kernel", [(3, 3), (2, 18), (17, 1)])
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_pooling_of_equal_elements_and_by_long_windows_agrees_with_torch(kernel, kind, backend):
    x = onp.random.RandomState(0).randint(0, 3, (2, 2, 19, 20)).astype("float32")
    if kind == "max":
        check(lambda x: npx.pooling(x, kernel, 2), lambda x: functional.max_pool2d(x, kernel, 2), x)
        x[0, 0, 4, 5] = onp.nan
        found, expected = (
            npx.pooling(np.array(x), kernel, 2),
            functional.max_pool2d(torch.tensor(x), kernel, 2),
        )
        onp.testing.assert_array_equal(found.asnumpy(), expected.numpy())
    else:
        check(
            lambda x: npx.pooling(x, kernel, 2, pool_type="avg"),
            lambda x: functional.avg_pool2d(x, kernel, 2),
            x,
        )


def test_pooling_of_no_pictures(backend):
    for kind in ("max", "avg", "sum"):
        assert npx.pooling(np.zeros((0, 2, 5, 5)), 3, 2, pool_type=kind).shape == (0, 2, 2, 2)


def test_pooling_says_what_does_not_fit():
    x = np.ones((1, 1, 3))
    for options, text in (
        ({}, "kernel is needed"),
        ({"kernel": 4}, "a window of 4 does not fit"),
        ({"kernel": 2, "pool_type": "median"}, "pool_type must be"),
        ({"kernel": 2, "p_value": 2}, "p_value is a positive int for pool_type='lp'"),
    ):
        with pytest.raises(ValueError, match=text):
            npx.pooling(x, **options)
    with pytest.raises(NotImplementedError, match="pooling_convention='same'"):
        npx.pooling(x, kernel=2, pooling_convention="same")


# --- positions ------------------------------------------------------------------------------------


def test_embedding_gives_rows_and_adds_up_their_gradients(backend):
    check_positions = np.array([[1, 0], [1, -1]])
    w = np.array(normal(3, 2))
    w.attach_grad()
    with autograd.record():
        y = npx.embedding(check_positions, w, 3, 2)
    y.backward()
    onp.testing.assert_array_equal(y.asnumpy(), w.asnumpy()[check_positions.asnumpy()])
    assert w.grad.tolist() == [[1, 1], [2, 2], [1, 1]]
    assert npx.embedding(np.array([1.0]), w).shape == (1, 2)
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        npx.embedding(np.array([3]), w)
    with pytest.raises(NotImplementedError, match="sparse_grad"):
        npx.embedding(np.array([1]), w, sparse_grad=True)


def test_a_position_out_of_range_is_an_error_in_a_compiled_function_too():
    f = npx.jit(lambda i, w: npx.embedding(i, w))
    with pytest.raises(IndexError, match="out of bounds"):
        f(np.array([7]), np.ones((3, 2))).asnumpy()


def test_pick_agrees_with_indexing(backend):
    x, i = normal(3, 4, 2), onp.array([[1, 3], [0, 2], [9, -5]])
    clipped = onp.clip(i, 0, 3)
    expected = onp.take_along_axis(x, clipped[:, None], 1)[:, 0]
    onp.testing.assert_array_equal(npx.pick(np.array(x), np.array(i), axis=1).asnumpy(), expected)
    onp.testing.assert_array_equal(
        npx.pick(np.array(x), np.array(i, dtype="float32"), axis=1, keepdims=True).asnumpy(),
        expected[:, None],
    )
    wrapped = onp.take_along_axis(x, (i % 4)[:, None], 1)[:, 0]
    onp.testing.assert_array_equal(
        npx.pick(np.array(x), np.array(i), axis=1, mode="wrap").asnumpy(), wrapped
    )
    assert npx.pick(np.array(x), np.array([0, 23]), axis=None).tolist() == [x.flat[0], x.flat[23]]
    check(
        lambda x: npx.pick(x, np.array([0, 2, 1])),
        lambda x: x[torch.arange(3), torch.tensor([0, 2, 1])],
        normal(3, 4),
    )


@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_gradients_of_pick_lie_where_it_picked(mode, backend):
    x, positions, weights = normal(3, 4, 2), onp.array([[1, 3], [0, 2], [9, -5]]), normal(3, 2)
    taken = (onp.clip(positions, 0, 3) if mode == "clip" else positions % 4)[:, None]
    expected = onp.zeros_like(x)
    onp.put_along_axis(expected, taken, 2 * weights[:, None] * onp.take_along_axis(x, taken, 1), 1)
    x, positions, weights = np.array(x), np.array(positions), np.array(weights)

    def slopes(x):
        with autograd.record():
            y = (weights * npx.pick(x, positions, axis=1, mode=mode) ** 2).sum()
        return autograd.grad(y, x, create_graph=True)

    x.attach_grad()
    onp.testing.assert_allclose(slopes(x).asnumpy(), expected, rtol=1e-6)
    with autograd.record():
        y = (slopes(x) * x).sum()
    y.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), 2 * expected, rtol=1e-6)


def test_one_hot(backend):
    y = npx.one_hot(np.array([[1, 5], [0, -1]]), 3, on_value=2, off_value=-1, dtype="int32")
    assert y.dtype == "int32" and y.tolist() == [
        [[-1, 2, -1], [-1, -1, -1]],
        [[2, -1, -1], [-1, -1, -1]],
    ]
    with pytest.raises(TypeError, match="depth"):
        npx.one_hot(np.array([1]))


def test_topk(backend):
    x = onp.array([[3.0, 1.0, 3.0, 2.0], [0.0, 5.0, -1.0, 4.0]], "float32")
    a = np.array(x)
    assert npx.topk(a, k=2).tolist() == [[0, 2], [1, 3]] and npx.topk(a).dtype == "float32"
    assert npx.topk(a, k=2, ret_typ="value", axis=0).tolist() == [[3, 5, 3, 4], [0, 1, -1, 2]]
    values, positions = npx.topk(a, k=3, ret_typ="both", is_ascend=True, dtype="int64")
    assert values.tolist() == [[1, 2, 3], [-1, 0, 4]] and positions.tolist() == [
        [1, 3, 0],
        [2, 0, 3],
    ]
    assert npx.topk(a, k=1, ret_typ="mask").tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]
    assert npx.topk(a, axis=None, k=1, dtype="int32").tolist() == [5]
    check(
        lambda x: npx.topk(x, k=2, ret_typ="value"), lambda x: torch.topk(x, 2).values, normal(3, 5)
    )


def test_gather_nd_sequence_mask_and_shapes_by_example(backend):
    x = onp.arange(6).reshape(2, 3)
    assert npx.gather_nd(np.array(x), np.array([[1, 0], [2, 1]])).tolist() == [5, 1]
    assert npx.gather_nd(np.array(x), np.array([[1]])).tolist() == [[3, 4, 5]]
    with pytest.raises(IndexError):
        npx.gather_nd(np.array(x), np.array([[2], [0]]))
    y = npx.sequence_mask(np.ones((3, 2, 2)), np.array([1, 3]), use_sequence_length=True, value=-1)
    assert y[:, 0, 0].tolist() == [1, -1, -1] and y[:, 1, 1].tolist() == [1, 1, 1]
    assert npx.arange_like(np.zeros((2, 2)), start=1, step=2, repeat=2).tolist() == [[1, 1], [3, 3]]
    a = np.arange(6)
    view = npx.reshape_like(a, np.zeros((3, 2)))
    view[0, 0] = 9
    assert a[0] == 9
    assert npx.reshape_like(np.zeros((30, 7)), np.zeros((15, 2, 4)), 0, 1, 0, 2).shape == (15, 2, 7)


def test_special_functions_at_their_inverses(backend):
    x = np.array([-0.9, 0.0, 0.3])
    onp.testing.assert_allclose(npx.erfinv(npx.erf(x)).asnumpy(), x.asnumpy(), rtol=1e-4, atol=1e-6)
    onp.testing.assert_allclose(
        npx.gamma(np.array([1.0, 4.0, 5.0])).asnumpy(), [1, 6, 24], rtol=1e-4
    )
    assert (
        npx.erf(np.array(1)).dtype == "float32"
        and npx.erf(np.array(1.0, dtype="float64")).dtype == "float64"
    )


def test_stop_gradient(backend):
    x = np.array([3.0])
    x.attach_grad()
    with autograd.record():
        y = x * npx.stop_gradient(x) + npx.stop_gradient(x * x)
    y.backward()
    assert x.grad.tolist() == [3]


def test_rrelu_draws_slopes_in_training_only(backend):
    x = -np.ones(100)
    assert npx.leaky_relu(
        x, act_type="rrelu", lower_bound=0.1, upper_bound=0.3
    ).asnumpy() == pytest.approx(-0.2)
    with autograd.train_mode():
        y = -npx.leaky_relu(x, act_type="rrelu", lower_bound=0.1, upper_bound=0.3).asnumpy()
    assert 0.1 <= y.min() < 0.15 and 0.25 < y.max() <= 0.3
