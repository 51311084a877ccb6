"""Kinds of operators: what the members of each share, on small members of their own."""

import numpy as onp
import pytest
from internals import (
    InferenceError,
    OperatorError,
    apply,
    binary,
    broadcast,
    convolution,
    dtypes,
    for_axis,
    pooling,
    reduce_axis,
    unary,
)
from numpy.lib.stride_tricks import sliding_window_view

from npcompat import autograd, np, npx, ops
from npcompat.test_utils import assert_almost_equal


@for_axis("_npi_test_reversed")
def _reversed(xp, a, axis, *, twice=False):
    """The elements in the other order along an axis."""
    return a if twice else xp.flip(a, axis)


def _last_on_xla(xp, a, axis):
    assert axis == 1  # as the function's, an axis that exists
    return xp.flip(a, axis)


@for_axis("_npi_test_kernel", kernels={"jax": _last_on_xla})
def _last(xp, a, axis):
    return xp.flip(a, axis)


@reduce_axis("_npi_test_spread")
def _spread(xp, a, axes):
    return xp.max(a, axis=axes) - xp.min(a, axis=axes)


@convolution("_npi_test_correlated")
def _correlated(xp, windows, weight, *, scale=1.0):
    return xp.sum(windows * weight, axis=(2, 3)) * xp.asarray(scale, windows.dtype)


@pooling("_npi_test_pooled", fill=-1.0)
def _pooled(xp, windows):
    return xp.max(windows, axis=2)


@binary("_npi_test_apart")
def _apart(xp, x1, x2):
    return xp.abs(x1 - x2)


@broadcast("_npi_test_total")
def _total(xp, *arrays):
    return sum(arrays[1:], arrays[0])


@unary("_npi_test_bump")
def _bump(xp, x, *, width=1.0):
    return xp.exp(-(x**2) / width)


DATA = onp.arange(24.0, dtype="float32").reshape(2, 3, 4) % 7


def test_kinds_give_inputs_attributes_patterns_and_types():
    for op, inputs, attrs, pattern in (
        (_reversed, ("a",), {"axis": None, "twice": False}, "opaque"),
        (_spread, ("a",), {"axis": None, "keepdims": False}, "reduction"),
        (_pooled, ("x",), ["kernel", "stride", "pad"], "complex"),
        (
            _correlated,
            ("x", "weight"),
            {"stride": (), "dilate": (), "pad": (), "scale": 1.0},
            "complex",
        ),
        (_apart, ("x1", "x2"), {}, "broadcast"),
        (_total, ("arrays",), {}, "broadcast"),
        (_bump, ("x",), {"width": 1.0}, "elementwise"),
    ):
        assert op.inputs == inputs and op.pattern == pattern
        assert list(op.attrs) == attrs if isinstance(attrs, list) else op.attrs == attrs
    assert (
        apply(_bump, ([1, 2],)).dtype == "float32"
        and apply(_total, ([1], [2.0], [3])).dtype == "float32"
    )
    assert _reversed.doc == "The elements in the other order along an axis."


@pytest.mark.parametrize("how", [lambda f: f, npx.jit], ids=["eager", "compiled"])
def test_axes_are_counted_from_both_ends_and_checked(how, backend):
    x = np.array(DATA)
    for axis in (0, 2, -1, -3):
        assert_almost_equal(
            how(lambda x, axis=axis: apply(_reversed, (x,), (axis, False)))(x), onp.flip(DATA, axis)
        )
        assert_almost_equal(
            how(lambda x, axis=axis: apply(_spread, (x,), (axis, True)))(x),
            onp.ptp(DATA, axis, keepdims=True),
        )
    assert_almost_equal(how(lambda x: apply(_reversed, (x,)))(x), DATA.reshape(-1)[::-1])
    assert_almost_equal(
        how(lambda x: apply(_spread, (x,), ((0, -1), False)))(x),
        onp.ptp(onp.moveaxis(DATA, 0, 1).reshape(3, -1), 1),
    )
    assert how(lambda x: apply(_reversed, (x,), (-1, False)))(np.array(2.0)).shape == (1,)
    for op in (_reversed, _spread):
        with pytest.raises(
            onp.exceptions.AxisError, match="axis 3 is out of bounds for array of dimension 3"
        ):
            how(lambda x, op=op: apply(op, (x,), (3, False)))(x)


def test_windows_are_those_of_correlation_and_pooling(backend):
    x, w = (
        onp.random.default_rng(0).normal(size=(2, 2, 5, 6)),
        onp.random.default_rng(1).normal(size=(3, 2, 2, 3)),
    )
    padded = onp.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)])
    windows = sliding_window_view(padded, (2, 5), (2, 3))[:, :, ::2, :, :, ::2]
    expected = onp.einsum("nchwij,fcij->nfhw", windows, w) * 2
    found = apply(_correlated, (np.array(x), np.array(w)), ((2, 1), (1, 2), (1, 0), 2.0))
    assert_almost_equal(found, expected, 1e-12, 1e-12)
    padded = onp.pad(x, [(0, 0), (0, 0), (0, 0), (1, 1)], constant_values=-1.0)
    expected = sliding_window_view(padded, (2, 3), (2, 3))[:, :, ::3].max(axis=(4, 5))
    assert_almost_equal(apply(_pooled, (np.array(x),), ((2, 3), (3, 1), (0, 1))), expected)
    assert apply(_pooled, (np.ones((0, 2, 5)),), ((2,), (), ())).shape == (0, 2, 4)


def test_gradients_are_accumulated():
    x, w = np.array(DATA), np.ones((1, 3, 2))
    for a in (x, w):
        a.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            y = apply(_correlated, (x, w)) + apply(
                _total, (x[:, :1, :3], x[:, 1:2, 1:], x[:, :1, :3])
            )
        y.backward()
    expected = onp.full((2, 3, 4), 2.0)
    expected[:, :, [0, 3]] = 1
    expected[:, 0, :3] += 2
    expected[:, 1, 1:] += 1
    assert_almost_equal(x.grad, 2 * expected)
    assert_almost_equal(
        w.grad, 2 * onp.stack([DATA[:, :, i : i + 3].sum(axis=(0, 2)) for i in range(2)], -1)[None]
    )


def test_types_are_inferred():
    rows = ops.TensorType(("n", 3, 8), "float32")
    kinds = [
        (ops.TestReversed(axis=-1), [rows], ("n", 3, 8)),
        (ops.TestReversed(), [rows], ("24*n",)),
        (ops.TestSpread(axis=(1, 2)), [rows], ("n",)),
        (
            ops.TestCorrelated(stride=(2,), pad=(1,)),
            [rows, ops.TensorType((5, 3, 3), "float32")],
            ("n", 5, 4),
        ),
        (ops.TestPooled(kernel=(3,)), [rows], ("n", 3, 6)),
        (ops.TestTotal(), [rows, ops.TensorType((8,), "float32")], ("n", 3, 8)),
    ]
    for op, types, shape in kinds:
        assert op.infer(types).outputs == (ops.TensorType(shape, "float32"),), op
    with pytest.raises(
        InferenceError,
        match=r"expected data \(N, C, ...\) and weight \(F, C, ...\) with as many axes and channels",
    ):
        ops.TestCorrelated().infer([rows, ops.TensorType((5, 4, 3), "float32")])


def test_bad_declarations_and_sizes_are_refused():
    with pytest.raises(
        OperatorError,
        match="_npi_test_two: this kind of operators has 1 inputs, the function has x1, x2",
    ):
        unary("_npi_test_two")(lambda xp, x1, x2: x1)
    with pytest.raises(
        OperatorError,
        match="_npi_test_two: this kind of operators has 2 inputs, the function has arrays",
    ):
        binary("_npi_test_two", rule=dtypes.promote)(lambda xp, *arrays: arrays[0])
    x = np.ones((1, 1, 4))
    for attrs, message in (
        (
            ((5,), (), ()),
            r"windows of \(5,\) do not fit into data of shape \(1, 1, 4\) with padding \(0,\)",
        ),
        (
            ((2, 2), (), ()),
            r"kernel needs an int of at least 1 for each of 1 spatial axes, got \(2, 2\)",
        ),
        (
            ((2,), (0,), ()),
            r"stride needs an int of at least 1 for each of 1 spatial axes, got \(0,\)",
        ),
        (
            ((2,), (), (-1,)),
            r"pad needs an int of at least 0 for each of 1 spatial axes, got \(-1,\)",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            apply(_pooled, (x,), attrs)
    with pytest.raises(ValueError, match=r"expected data \(N, C, ...\), got shape \(4,\)"):
        apply(_pooled, (np.ones(4),), ((2,), (), ()))


def test_kernels_of_backends_are_called_as_the_function_is():
    for backend in ("numpy", "jax"):
        with npx.backend(backend):
            found = apply(_last, (np.array([[1, 2], [3, 4]]),), (-1,))
            assert found.tolist() == [[2, 1], [4, 3]]
    with npx.backend("jax"), pytest.raises(onp.exceptions.AxisError):
        apply(_last, (np.ones((2, 2)),), (2,))
