"""Mixed precision: which operators compute in 16 bits, dynamic scaling of losses, blocks converted
for prediction.
"""

import os

import numpy as onp
import pytest
from internals import REGISTRY

from npcompat import amp, autograd, gluon, np, npx
from npcompat.gluon import nn

RANDOM = onp.random.RandomState(6)
X, Y = RANDOM.normal(size=(8, 5)).astype("float32"), RANDOM.randint(0, 3, 8)
LOSS = gluon.loss.SoftmaxCrossEntropyLoss()


@pytest.fixture(autouse=True)
def as_before():
    yield
    amp.reset()


# --- which operators ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_products_are_computed_in_16_bits(dtype, backend):
    a = np.array(X)
    before = (a @ a.T).asnumpy()
    amp.init(dtype)
    product = a @ a.T
    assert product.dtype == np.dtype(dtype)
    onp.testing.assert_allclose(product.astype("float32").asnumpy(), before, rtol=0.02, atol=0.1)
    assert npx.fully_connected(a, a, no_bias=True, num_hidden=8).dtype == np.dtype(dtype)
    assert npx.softmax(product).dtype == product.sum().dtype == "float32"
    assert (product + a[:, :1]).dtype == (a * 2).dtype == "float32"
    assert (a.astype("float64") @ a.T).dtype == "float64" and (
        np.arange(4).reshape(2, 2) @ np.arange(2)
    ).dtype == "int64"
    amp.reset()
    onp.testing.assert_array_equal((a @ a.T).asnumpy(), before)
    assert npx.softmax(a.astype(dtype)).dtype == np.dtype(dtype)


def test_operators_can_be_chosen():
    a = np.array(X)
    amp.init(
        "bfloat16",
        target_precision_ops=["_npi_matmul", "_npx_softmax"],
        fp32_ops=["_npi_dot"],
        conditional_fp32_ops=[("_npx_softmax", "axis", [0])],
    )
    assert (a @ a.T).dtype == "bfloat16" and np.dot(a, a.T).dtype == "float32"
    assert np.dot(a.astype("bfloat16"), a.T.astype("bfloat16")).dtype == "float32"
    assert npx.softmax(a, axis=-1).dtype == "bfloat16" and npx.softmax(a, axis=0).dtype == "float32"
    names = set(amp.list_lp16_ops()) | set(amp.list_fp32_ops())
    assert names <= REGISTRY.keys() and {
        "_npx_convolution",
        "_npx_batch_dot",
        "_npi_einsum",
    } <= set(amp.list_lp16_ops())
    for arguments, kind, text in (
        ({"target_dtype": "int8"}, ValueError, "must be 'float16' or 'bfloat16', got 'int8'"),
        (
            {"fp32_ops": ["FullyConnected"]},
            ValueError,
            r"fp32_ops=...\): there are no operators FullyConnected",
        ),
        (
            {"conditional_fp32_ops": [("_npx_softmax", "mode", [1])]},
            ValueError,
            "_npx_softmax has no attribute 'mode'; it has axis",
        ),
        (
            {"target_precision_ops": ["_npi_dot"], "fp32_ops": ["_npi_dot"]},
            ValueError,
            "in target_precision_ops and in fp32_ops",
        ),
        ({"layout_optimization": True}, NotImplementedError, "XLA chooses layouts"),
    ):
        with pytest.raises(kind, match=text):
            amp.init(**arguments)


def network():
    net = nn.HybridSequential()
    net.add(
        nn.Dense(16, activation="relu", in_units=5),
        nn.BatchNorm(in_channels=16),
        nn.Dense(3, in_units=16),
    )
    np.random.seed(4)
    net.initialize()
    return net


def train(mode, steps=6, spoil=None, clip=False, rule="adam", scaler=None):
    """Losses, weights and trainer; at a step, the input may be spoilt."""
    net = network()
    if mode == "hybridized":
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), rule, {"learning_rate": 0.02})
    amp.init_trainer(trainer, scaler)

    def step(x, y):
        with autograd.record():
            loss = LOSS(net(x), y)
            with amp.scale_loss(loss, trainer) as scaled:
                autograd.backward(scaled)
        if clip:
            amp.unscale(trainer)
            grads = [p.grad() for p in net.collect_params().values() if p.grad_req != "null"]
            gluon.utils.clip_global_norm(grads, 0.5, check_isfinite=False)
        trainer.step(len(x))
        return loss.mean()

    run = npx.jit(step) if mode == "jit" else step
    losses, found = [], []
    for i in range(steps):
        x = np.array(X * onp.float32(onp.nan) if i == spoil else X)
        losses.append(run(x, np.array(Y)).item())
        found.append([net[0].weight.data().asnumpy(), net[2].bias.data().asnumpy()])
    return losses, found, trainer


@pytest.mark.parametrize("mode", ["eager", "hybridized", "jit"])
def test_training_in_16_bits_follows_that_in_32(mode):
    exact, weights, _ = train("eager")
    amp.init("bfloat16")
    losses, found, _ = train(mode)
    onp.testing.assert_allclose(losses, exact, rtol=0.05)
    assert found[-1][0].dtype == "float32" and losses[-1] < losses[0]
    assert (found[-1][0] != weights[-1][0]).any()


# --- scaling --------------------------------------------------------------------------------------


@pytest.mark.parametrize("clip", [False, True])
def test_scaling_changes_nothing_but_range(clip):
    def plain():
        net = network()
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
        for _ in range(6):
            with autograd.record():
                loss = LOSS(net(np.array(X)), np.array(Y))
            loss.backward()
            if clip:
                gluon.utils.clip_global_norm(
                    [p.grad() for p in net.collect_params().values() if p.grad_req != "null"], 0.5
                )
            trainer.step(8)
        return net[0].weight.data().asnumpy()

    expected = plain()
    for mode in ("eager", "jit"):
        _, found, trainer = train(mode, clip=clip)
        # With users' flags XLA fuses the compiled step; Adam, which divides by the root of a mean
        # square, makes rounding of small gradients larger.
        fused = mode == "jit" and os.environ.get("NPCOMPAT_TEST_XLA") == "user"
        atol = 2e-5 if fused else 1e-6
        onp.testing.assert_allclose(found[-1][0], expected, rtol=1e-4, atol=atol)
        assert trainer._scaler.loss_scale == 2.0**16


@pytest.mark.parametrize(
    ("mode", "rule"), [("eager", "adam"), ("jit", "adam"), ("eager", "sgld"), ("jit", "sgld")]
)
def test_a_step_with_nan_is_left_out_and_the_scale_falls(mode, rule):
    losses, found, trainer = train(mode, spoil=2, rule=rule)
    assert onp.isnan(losses[2]) and not any(
        onp.isnan(a).any() for weights in found for a in weights
    )
    for after, before in zip(found[2], found[1], strict=True):
        onp.testing.assert_array_equal(after, before)
    assert (found[3][0] != found[2][0]).any()
    assert trainer._scaler.loss_scale == 2.0**15 and trainer.optimizer.num_update == 5
    assert trainer.optimizer.rescale_grad == 1 / 8


def test_the_scale_grows_after_many_steps_and_stays_within_bounds():
    scaler = amp.LossScaler(4.0, scale_window=2, max_scale=8.0, min_scale=2.0)
    train("eager", steps=6, scaler=scaler)
    assert scaler.loss_scale == 8.0
    for expected in (4.0, 2.0, 2.0):
        scaler._step(np.array(False))
        assert scaler.loss_scale == expected
    with pytest.raises(ValueError, match="0 < min_scale <= init_scale <= max_scale"):
        amp.LossScaler(0.5)


def test_gradients_that_vanish_in_float16_do_not_when_scaled():
    def trained(scaled):
        net = nn.Dense(1, in_units=1, use_bias=False, weight_initializer="ones")
        net.initialize()
        net.cast("float16")
        trainer = gluon.Trainer(
            net.collect_params(), "sgd", {"learning_rate": 1e6, "multi_precision": True}
        )
        if scaled:
            amp.init_trainer(trainer, amp.LossScaler(2.0**14))
        for _ in range(3):
            with autograd.record():
                loss = net(np.array([[1e-4]], dtype="float16")) * 1e-4
                if scaled:
                    with amp.scale_loss([loss], trainer) as (loss,):
                        loss.backward()
                else:
                    loss.backward()
            trainer.step(1)
        return net.weight.data().item()

    assert trained(False) == 1
    assert trained(True) == pytest.approx(0.97, abs=1e-3)


def test_overflow_and_unscale_can_be_asked_for():
    net = nn.Dense(1, in_units=1, use_bias=False, weight_initializer="ones")
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    for call in (
        lambda: amp.unscale(trainer),
        lambda: amp.scale_loss(np.ones(1), trainer).__enter__(),
    ):
        with pytest.raises(
            ValueError, match=r"call amp.init_trainer on the trainer first, got Trainer"
        ):
            call()
    with pytest.raises(TypeError, match=r"expected a gluon.Trainer, got Dense"):
        amp.init_trainer(net)
    amp.init_trainer(trainer)
    for x, overflow in ((2.0, False), (onp.inf, True)):
        with autograd.record(), amp.scale_loss(net(np.array([[x]])), trainer) as scaled:
            autograd.backward(scaled)
        amp.unscale(trainer)
        amp.unscale(trainer)  # once is enough
        assert trainer._scaler.has_overflow(trainer._params) is overflow
        if not overflow:
            assert net.weight.grad().item() == 2


def test_the_scale_is_part_of_the_states(tmp_path):
    _, _, trainer = train("eager", steps=3, spoil=1)
    trainer.save_states(tmp_path / "states")
    other = gluon.Trainer(network().collect_params(), "adam")
    with pytest.raises(ValueError, match="loss_scale: not a state of this trainer"):
        other.load_states(tmp_path / "states")
    amp.init_trainer(other)
    other.load_states(tmp_path / "states")
    assert other._scaler.loss_scale == 2.0**15


def test_skipped_steps_with_an_optax_transformation():
    optax = pytest.importorskip("optax", reason="a user's transformation is optax's")
    losses, found, trainer = train("jit", spoil=1, rule="sgd", steps=3)
    assert onp.isnan(losses[1]) and (found[1][0] == found[0][0]).all()
    net = network()
    trainer = gluon.Trainer(net.collect_params(), optax.adam(0.01))
    amp.init_trainer(trainer)
    for x in (X, X * onp.float32(onp.nan)):
        before = net[0].weight.data().asnumpy()
        with (
            autograd.record(),
            amp.scale_loss(LOSS(net(np.array(x)), np.array(Y)), trainer) as scaled,
        ):
            autograd.backward(scaled)
        trainer.step(8)
    onp.testing.assert_array_equal(net[0].weight.data().asnumpy(), before)
    assert trainer.optimizer.num_update == 1 and trainer.optimizer.state["[0].count"].item() == 1


# --- conversion -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_converted_blocks_predict_in_16_bits(dtype):
    net = network()
    half = amp.convert_hybrid_block(net, [np.array(X)], dtype)
    y = half(np.array(X))
    assert (
        y.dtype == "float32"
        and str(half.block[0].weight.dtype) == dtype
        and net[0].weight.dtype == "float32"
    )
    assert half.block[1].running_mean.dtype == "float32"
    onp.testing.assert_allclose(y.asnumpy(), net(np.array(X)).asnumpy(), atol=0.03)
    with pytest.raises(
        NotImplementedError, match=r"convert_hybrid_block\(excluded_sym_names=...\)"
    ):
        amp.convert_hybrid_block(net, excluded_sym_names=["a"])
    with pytest.raises(
        TypeError,
        match="expected a HybridBlock, got Dropout|expected a HybridBlock, got Sequential",
    ):
        amp.convert_hybrid_block(nn.Sequential())
