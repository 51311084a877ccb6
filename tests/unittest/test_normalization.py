"""Normalization and dropout: values, statistics, modes and derivatives."""

import numpy as onp
import pytest
from nn_oracle import check, functional, normal, torch

from npcompat import autograd, np, npx

PLACEMENT = "jax"


@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5), (2, 3, 4, 4)])
def test_batch_norm_agrees_with_torch_and_moves_the_running_statistics(shape, backend):
    x, g, b = 3 * normal(*shape) + 1, normal(3), normal(3)

    def ours(x, g, b):
        with autograd.train_mode():
            return npx.batch_norm(x, g, b, mean, variance, eps=1e-5, fix_gamma=False)

    mean, variance = np.zeros(3), np.ones(3)
    check(
        ours,
        lambda x, g, b: functional.batch_norm(x, None, None, g, b, training=True),
        x,
        g,
        b,
        rtol=2e-4,
        atol=2e-4,
    )
    axes = tuple(i for i in range(len(shape)) if i != 1)
    onp.testing.assert_allclose(mean.asnumpy(), 0.1 * x.mean(axes), rtol=1e-4, atol=1e-5)
    onp.testing.assert_allclose(variance.asnumpy(), 0.9 + 0.1 * x.var(axes), rtol=1e-4)

    def predicted(x, g, b):
        with autograd.predict_mode():
            return npx.batch_norm(x, g, b, mean, variance, eps=1e-5, fix_gamma=False)

    check(
        predicted,
        lambda x, g, b: functional.batch_norm(
            x, torch.tensor(mean.asnumpy()), torch.tensor(variance.asnumpy()), g, b
        ),
        x,
        g,
        b,
        rtol=2e-4,
        atol=2e-4,
    )


def test_batch_norm_does_not_keep_the_graph_in_the_running_statistics():
    mean, variance, x = np.zeros(2), np.ones(2), np.array(normal(4, 2))
    x.attach_grad()
    with autograd.record():
        npx.batch_norm(x, np.ones(2), np.zeros(2), mean, variance)
    with pytest.raises(RuntimeError, match="not recorded"):
        mean.backward()


def test_batch_norm_options(backend):
    x, mean, variance = np.array(normal(4, 2)), np.zeros(2), np.ones(2)
    with autograd.train_mode():
        y, m, v = npx.batch_norm(
            x, np.array([5.0, 5.0]), np.zeros(2), mean, variance, output_mean_var=True
        )
        npx.batch_norm(x, np.ones(2), np.zeros(2), m, v, use_global_stats=True)
    onp.testing.assert_allclose(m.asnumpy(), x.asnumpy().mean(0), rtol=1e-5, atol=1e-6)
    onp.testing.assert_allclose(v.asnumpy(), (x.asnumpy().var(0) + 1e-3) ** -0.5, rtol=1e-4)
    stated = npx.batch_norm(x, m, m, np.zeros(2), np.array([3.0, 0.0]), 1.0, output_mean_var=True)
    onp.testing.assert_allclose(stated[2], [0.5, 1.0])
    assert abs(y.asnumpy().std() - 1) < 0.01, "fix_gamma leaves gamma out"
    half = npx.batch_norm(x.astype("float16"), np.ones(2), np.zeros(2), mean, variance)
    assert half.dtype == "float16" and mean.dtype == "float32"
    assert npx.batch_norm(np.zeros((0, 2)), np.ones(2), np.zeros(2), mean, variance).shape == (0, 2)
    with pytest.raises(ValueError, match=r"batch_norm: mean: expected shape \(2,\)"):
        npx.batch_norm(x, np.ones(2), np.zeros(2), np.zeros(3), np.ones(2))
    with (
        autograd.train_mode(),
        pytest.raises(TypeError, match="running_mean is written in training mode"),
    ):
        npx.batch_norm(x, np.ones(2), np.zeros(2), onp.zeros(2), np.ones(2))


def normalized(x, g, b):
    with autograd.train_mode():
        return npx.batch_norm(x, g, b, np.zeros(len(g)), np.ones(len(g)), fix_gamma=False, eps=1e-5)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (normalized, lambda x, g, b: functional.batch_norm(x, None, None, g, b, training=True)),
        (lambda x, g, b: npx.layer_norm(x, g, b, axis=1, eps=1e-5),
         lambda x, g, b: functional.layer_norm(x.swapaxes(1, 2), (4,), g, b).swapaxes(1, 2)),
        (lambda x, g, b: npx.group_norm(x, g, b, num_groups=2, eps=1e-5), lambda x, g, b: functional.group_norm(x, 2, g, b)),
        (lambda x, g, b: npx.instance_norm(x, g, b, eps=1e-5), lambda x, g, b: functional.instance_norm(x, weight=g, bias=b)),
    ],
    ids=["batch", "layer", "group", "instance"],
)  # fmt: skip
def test_norms_have_torchs_second_derivatives(ours, theirs, backend):
    arrays = [normal(*shape, dtype="float64") for shape in ((3, 4, 5), (4,), (4,))]
    directions = [normal(*a.shape, 2, dtype="float64")[..., 0] for a in arrays]
    mine, others = (
        [np.array(a) for a in arrays],
        [torch.tensor(a, requires_grad=True) for a in arrays],
    )
    for a in mine:
        a.attach_grad()
    with autograd.record():
        first = autograd.grad((ours(*mine) ** 3).sum(), mine, create_graph=True)
        total = sum((f * np.array(d)).sum() for f, d in zip(first, directions, strict=True))
    total.backward()
    theirs_first = torch.autograd.grad((theirs(*others) ** 3).sum(), others, create_graph=True)
    sum(
        (f * torch.tensor(d)).sum() for f, d in zip(theirs_first, directions, strict=True)
    ).backward()
    for a, b in zip(mine, others, strict=True):
        onp.testing.assert_allclose(a.grad.asnumpy(), b.grad.numpy(), rtol=1e-8, atol=1e-8)


def test_layer_group_and_instance_norm_agree_with_torch(backend):
    x, g, b = normal(2, 4, 5), normal(5), normal(5)
    check(
        lambda x, g, b: npx.layer_norm(x, g, b, eps=1e-5),
        lambda x, g, b: functional.layer_norm(x, (5,), g, b),
        x,
        g,
        b,
        rtol=2e-4,
        atol=2e-4,
    )
    g, b = normal(4), normal(4)
    check(
        lambda x, g, b: npx.group_norm(x, g, b, num_groups=2, eps=1e-5),
        lambda x, g, b: functional.group_norm(x, 2, g, b),
        x,
        g,
        b,
        rtol=2e-4,
        atol=2e-4,
    )
    check(
        lambda x, g, b: npx.instance_norm(x, g, b, eps=1e-5),
        lambda x, g, b: functional.instance_norm(x, weight=g, bias=b),
        x,
        g,
        b,
        rtol=2e-4,
        atol=2e-4,
    )
    _, mean, deviation = npx.layer_norm(
        np.array(x), np.ones(4), np.zeros(4), axis=1, output_mean_var=True
    )
    onp.testing.assert_allclose(mean.asnumpy(), x.mean(1, keepdims=True), rtol=1e-5, atol=1e-6)
    onp.testing.assert_allclose(deviation.asnumpy(), x.std(1, keepdims=True), rtol=1e-3)
    assert npx.group_norm(np.array(x), np.ones(4), np.zeros(4), 2, output_mean_var=True)[
        1
    ].shape == (2, 2)
    for mode, axes in (("instance", (1, 2)), ("channel", (1,)), ("spatial", (2,))):
        expected = x / onp.sqrt((x * x).sum(axes, keepdims=True))
        onp.testing.assert_allclose(
            npx.l2_normalization(np.array(x), mode=mode).asnumpy(), expected, rtol=1e-5
        )


# --- dropout --------------------------------------------------------------------------------------


def test_dropout_draws_the_same_numbers_everywhere():
    def draw():
        np.random.seed(5)
        with autograd.train_mode():
            return npx.dropout(np.ones(1000), p=0.3).asnumpy()

    eager = draw()
    with npx.backend("numpy"):
        onp.testing.assert_array_equal(draw(), eager)
    np.random.seed(5)
    with autograd.train_mode():
        onp.testing.assert_array_equal(
            npx.jit(lambda x: npx.dropout(x, p=0.3))(np.ones(1000)).asnumpy(), eager
        )
    assert set(onp.unique(eager)) == {0, onp.float32(1 / 0.7)} and 0.25 < (eager == 0).mean() < 0.35


def test_dropout_passes_gradients_where_it_passed_values(backend):
    x = np.ones((4, 50))
    x.attach_grad()
    with autograd.record():
        y = npx.dropout(x, p=0.5, axes=(0,))
    y.backward()
    assert (x.grad == y).all() and (y[0] == y[1]).all() and 0 < (y == 0).sum() < y.size


def test_dropout_outside_of_training_gives_a_copy():
    x = np.ones(3)
    y = npx.dropout(x)
    y += 1
    assert x.tolist() == [1, 1, 1]
    assert (npx.dropout(np.ones(100), mode="always") == 0).any() and (
        npx.dropout(x, p=1, mode="always") == 0
    ).all()
