"""Features that users of other libraries try first: each works, or says at once what to do."""

import numpy as onp
import optax
import pytest

from npcompat import autograd, errors, gluon, init, lr_scheduler, np, npx
from npcompat.gluon import nn


def made(optimizer="sgd", **arguments):
    net = nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(init.One())
    if isinstance(optimizer, str):
        arguments = {"learning_rate": 0.1, **arguments}
    return net, gluon.Trainer(net.collect_params(), optimizer, arguments or None)


def trained(net, trainer, steps=4, compiled=False):
    def step(x):
        with autograd.record():
            loss = (net(x) ** 2).sum()
        loss.backward()
        trainer.step(1)

    step = npx.jit(step) if compiled else step
    found = []
    for _ in range(steps):
        step(np.ones((1, 1)))
        found.append(net.weight.data().item())
    return found


# --- steps ----------------------------------------------------------------------------------------


def test_clipping_in_a_compiled_function_names_the_argument():
    @npx.jit
    def clipped(g, check):
        return gluon.utils.clip_global_norm([g], 1.0, check)

    with pytest.raises(errors.TracedValueError, match="pass check_isfinite=False"):
        clipped(np.array([3.0, 4.0]), True)
    assert clipped(np.array([3.0, 4.0]), False).item() == 5


class Called:
    base_lr = 0.1

    def __call__(self, num_update):
        if num_update < 3:
            return 0.1
        return 0.01


class Scheduled(lr_scheduler.LRScheduler):
    def schedule(self, xp, num_update):
        rate = self.base_lr
        if num_update > 2:
            rate = rate * 0.1
        return rate


@pytest.mark.parametrize("scheduler", [Called(), Scheduled(0.1)])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_schedulers_branch_in_compiled_steps(scheduler, optimizer):
    eager = trained(*made(optimizer, lr_scheduler=scheduler))
    assert trained(*made(optimizer, lr_scheduler=scheduler), compiled=True) == pytest.approx(eager)
    assert eager[1] - eager[2] < (eager[0] - eager[1]) / 5


def test_a_name_that_no_parameter_has_is_refused():
    net = made()[0]
    with pytest.raises(AttributeError, match="did you mean 'grad_req'"):
        net.setattr("grad_reqq", "null")
    net.setattr("lr_mult", 2.0)
    assert net.weight.lr_mult == 2


# --- optax ----------------------------------------------------------------------------------------


def test_optax_multisteps_steps_every_second_time():
    found = trained(*made(optax.MultiSteps(optax.sgd(0.1), 2)))
    assert found == pytest.approx([1, 0.8, 0.8, 0.64])


@pytest.mark.parametrize(
    "transformation",
    [
        optax.lbfgs(0.1),
        optax.polyak_sgd(0.1),
        optax.chain(optax.sgd(0.1), optax.contrib.reduce_on_plateau()),
    ],
)
def test_optax_transformations_that_ask_for_the_loss_are_refused(transformation):
    net, trainer = made(transformation)
    with pytest.raises(NotImplementedError, match="asks for 'value'"):
        trained(net, trainer)
    assert net.weight.data().item() == 1


@pytest.mark.parametrize("compiled", [False, True])
def test_rates_of_optax_are_read_and_set_where_it_shows_them(compiled):
    net, trainer = made(optax.inject_hyperparams(optax.sgd)(learning_rate=0.1))
    assert trainer.learning_rate == pytest.approx(0.1)
    assert trained(net, trainer, 1, compiled) == pytest.approx([0.8])
    trainer.set_learning_rate(0.25)
    assert trainer.learning_rate == pytest.approx(0.25)
    assert trained(net, trainer, 1, compiled) == pytest.approx([0.4])
    _, hidden = made(optax.sgd(0.1))
    with pytest.raises(NotImplementedError, match="inject_hyperparams"):
        hidden.learning_rate
    with pytest.raises(NotImplementedError, match="inject_hyperparams"):
        hidden.set_learning_rate(0.01)


# --- data -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_that_are_dicts_make_batches_that_are(workers):
    data = gluon.data.SimpleDataset(
        [{"x": onp.ones(2) * i, "more": {"y": i, "z": (i, 2.0)}} for i in range(4)]
    )
    loader = gluon.data.DataLoader(data, 2, num_workers=workers, thread_pool=True)
    *_, last = loader
    assert last["x"].tolist() == [[2, 2], [3, 3]]
    assert last["more"]["y"].tolist() == [2, 3]
    assert [a.tolist() for a in last["more"]["z"]] == [[2, 3], [2, 2]]
    assert isinstance(last["x"], np.ndarray)


def test_samples_of_which_no_array_can_be_made_are_refused():
    batchify = gluon.data.batchify.default_batchify_fn
    with pytest.raises(TypeError, match="samples of type object; pass a batchify_fn"):
        batchify([object(), object()])
    with pytest.raises(TypeError, match="samples of type NoneType"):
        batchify([(1, None), (2, None)])
    with pytest.raises(ValueError, match="the same keys"):
        batchify([{"a": 1}, {"b": 1}])


# --- sets while recording -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: np.unique(x), [1, 1, 0, 1]),
        (lambda x: np.unique(x, return_counts=True)[0], [1, 1, 0, 1]),
        (lambda x: np.unique_values(x), [1, 1, 0, 1]),
        (lambda x: np.unique(x.reshape(2, 2), axis=0), [1, 1, 1, 1]),
        (lambda x: np.unique([x[0], x[1], x[1]]), [1, 1, 0, 0]),
        (lambda x: np.union1d(x[:1], x[2:]), [1, 0, 1, 1]),
        (lambda x: np.intersect1d(x, [3.0, 7.0]), [1, 0, 0, 0]),
        (lambda x: np.setdiff1d(x, [3.0]), [0, 1, 0, 1]),
        (lambda x: np.setxor1d(x, [3.0, 5.0]), [0, 1, 0, 1]),
    ],
)
def test_elements_of_sets_have_gradients(function, expected):
    x = np.array([3.0, 1.0, 1.0, 2.0])
    x.attach_grad()
    plain = function(x)
    with autograd.record():
        found = function(x)
        total = found.sum()
    assert found.tolist() == plain.tolist()
    total.backward()
    assert x.grad.tolist() == expected


# --- gradients of what was computed ---------------------------------------------------------------


def numeric(function, start, step=1e-5):
    moved = onp.eye(len(start)) * step
    return [(function(start + m) - function(start - m)) / (2 * step) for m in moved]


@pytest.mark.parametrize("way", [lambda f: f, npx.jit], ids=["eager", "compiled"])
def test_inner_steps_are_differentiated(way, numpy_mode):
    w = np.array([1.0, 2.0])
    w.attach_grad()

    @way
    def outer(rate):
        with autograd.record():
            fast = w
            for _ in range(3):
                loss = (fast**3).sum()
                fast = fast - rate * autograd.grad(loss, fast, create_graph=True)
            loss = (fast**2).sum()
        loss.backward()
        return loss

    def reference(values):
        for _ in range(3):
            values = values - 0.1 * 3 * values**2
        return (values**2).sum()

    assert outer(0.1).item() == pytest.approx(reference(onp.array([1.0, 2.0])))
    assert w.grad.tolist() == pytest.approx(numeric(reference, onp.array([1.0, 2.0])), rel=1e-6)


def test_gradients_of_several_intermediate_arrays_and_variables():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        a = x * 2
        b = a**2
        first, second = np.split(b, 2)
        loss = (first * second * a).sum()
    found = autograd.grad(loss, [a, b, second, x, first], retain_graph=True)
    # a = (2, 4), b = (4, 16): loss = b0 b1 (a0 + a1)
    assert found[2].tolist() == [4 * 6.0]
    assert found[4].tolist() == [16 * 6.0]
    assert found[1].tolist() == [96, 24]
    assert found[0].tolist() == [64 + 96 * 4.0, 64 + 24 * 8.0]
    assert found[3].tolist() == [2 * (64 + 96 * 4.0), 2 * (64 + 24 * 8.0)]
    loss.backward()
    assert x.grad.tolist() == found[3].tolist()


def test_a_walk_ends_at_what_was_asked_for():
    x, other = np.array([3.0]), np.array([1.0])
    x.attach_grad()
    with autograd.record():
        a = x * x
        loss = a * 5
        apart = other * 2
    assert autograd.grad(loss, a).tolist() == [5]
    a.backward()  # what lies before it was not walked, and is there
    assert x.grad.tolist() == [6]
    with autograd.record():
        loss, free = x * 2, x * 3
    assert autograd.grad(loss, free).tolist() == [0]
    with pytest.raises(errors.AutogradError, match=r"variables\[0\] is no variable, nor was it"):
        autograd.grad(loss, apart)
    with autograd.record():
        a = x * x
        loss = a * 5
    autograd.grad(loss, a)
    with pytest.raises(errors.AutogradError, match="second time"):
        autograd.grad(loss, a)


# --- losses ---------------------------------------------------------------------------------------

PRED = onp.array([[1.0, 2.0, -1.0], [0.0, 0.5, 3.0], [2.0, 2.0, 0.0]])


def log_softmax(x, axis=-1):
    x = x - x.max(axis, keepdims=True)
    return x - onp.log(onp.exp(x).sum(axis, keepdims=True))


@pytest.mark.parametrize("label", [3, -1, 100, onp.nan])
@pytest.mark.parametrize("way", ["eager", "hybridized", "jit"])
def test_labels_that_are_no_class_raise(label, way, placed):
    loss = gluon.loss.SoftmaxCELoss()
    if way == "hybridized":
        loss.hybridize()
    called = npx.jit(lambda a, b: loss(a, b)) if way == "jit" else loss
    pred = np.array(PRED)
    called(pred, np.array([0, 1, 2.0])).tolist()
    with pytest.raises(IndexError, match="label: expected numbers of classes, from 0 to 2"):
        called(pred, np.array([0, label, 1.0])).tolist()
    assert called(pred, np.array([0, 1, 2.0])).shape == (3,)


def test_wrong_labels_on_xla_raise_at_the_next_read_and_once():
    with npx.backend("jax"):
        pred, label = np.array(PRED), np.array([0, 3, 1])
    found = gluon.loss.SoftmaxCELoss()(pred, label)
    with pytest.raises(IndexError, match="label: expected numbers of classes, from 0 to 2"):
        pred.tolist()
    assert found.shape == (3,) and len(found.tolist()) == 3


def test_ignored_labels_do_not_count():
    loss = gluon.loss.SoftmaxCELoss(ignore_index=-100)
    logs = log_softmax(PRED)
    pred = np.array(PRED)
    pred.attach_grad()
    with autograd.record():
        found = loss(pred, np.array([0, -100, 2]))
    onp.testing.assert_allclose(found.asnumpy(), [-logs[0, 0], 0, -logs[2, 2]], rtol=1e-5)
    found.backward()
    assert (pred.grad.asnumpy()[1] == 0).all() and (pred.grad.asnumpy()[0] != 0).all()
    words = loss(np.array(PRED[None]), np.array([[0, -100, 2]]))  # the mean of what counts
    onp.testing.assert_allclose(words.asnumpy(), [-(logs[0, 0] + logs[2, 2]) / 2], rtol=1e-5)
    assert loss(np.array(PRED[None]), np.array([[-100] * 3])).tolist() == [0]
    with pytest.raises(IndexError, match="or ignore_index=-100"):
        loss(np.array(PRED), np.array([0, -1, 2])).tolist()
    with pytest.raises(ValueError, match="ignore_index"):
        gluon.loss.SoftmaxCELoss(ignore_index=1, sparse_label=False)


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("weights", [None, [0.5, 2.0, 1.0]])
def test_class_weights_and_smoothing_are_those_of_the_formula(smoothing, weights, hybridized):
    label, logs = onp.array([0, 1, 2]), log_softmax(PRED)
    w = onp.ones(3) if weights is None else onp.array(weights)
    q = onp.eye(3)[label] * (1 - smoothing) + smoothing / 3
    expected = -(w * q * logs).sum(-1)
    for sparse in (True, False):
        loss = gluon.loss.SoftmaxCELoss(
            sparse_label=sparse, class_weight=weights, label_smoothing=smoothing
        )
        if hybridized:
            loss.hybridize()
        given = label if sparse else onp.eye(3)[label]
        onp.testing.assert_allclose(
            loss(np.array(PRED), np.array(given)).asnumpy(), expected, rtol=1e-5
        )
    moved = gluon.loss.SoftmaxCELoss(axis=0, class_weight=weights, label_smoothing=smoothing)
    onp.testing.assert_allclose(
        moved(np.array(PRED.T), np.array(label)).mean().item(), expected.mean(), rtol=1e-5
    )


def test_wrong_settings_of_the_loss_are_refused():
    with pytest.raises(ValueError, match="label_smoothing"):
        gluon.loss.SoftmaxCELoss(label_smoothing=1.5)
    with pytest.raises(ValueError, match="3 weights, one for each class"):
        gluon.loss.SoftmaxCELoss(class_weight=[1.0, 2.0])(np.array(PRED), np.array([0, 1, 2]))


# --- hooks and distributions ----------------------------------------------------------------------


def two_layers():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2, use_bias=False), nn.Dense(1, in_units=2, use_bias=False))
    net.initialize(init.One())
    x = np.array([[1.0, 2.0]])
    x.attach_grad()

    def step():
        with autograd.record():
            loss = (net(x) * 3).sum()
        loss.backward()
        return x.grad.tolist()

    return net, step


def test_backward_hooks_see_and_replace_gradients():
    net, step = two_layers()
    first, last = net
    assert step() == [[6, 6]]
    shapes = []

    def hook(block, inputs, outputs):
        shapes.append((inputs[0].shape, outputs[0].tolist()))
        return (inputs[0] * 10,)

    handle = last.register_backward_hook(hook)
    assert step() == [[60, 60]]
    assert first.collect_params()["weight"].grad().tolist() == [[30, 60], [30, 60]]
    assert last.collect_params()["weight"].grad().tolist() == [[9, 9]]
    assert shapes == [((1, 2), [[3]])]
    handle.detach()
    assert step() == [[6, 6]]


def test_backward_hooks_of_hybridized_blocks_are_their_own():
    net, step = two_layers()
    net.hybridize()
    assert step() == [[6, 6]]
    seen = []
    handle = net.register_backward_hook(lambda b, inputs, outputs: seen.append(outputs[0].item()))
    assert step() == [[6, 6]] and seen == [3]
    handle.detach()
    child = net[1].register_backward_hook(lambda b, inputs, outputs: None)
    with pytest.raises(NotImplementedError, match="register it on the hybridized block itself"):
        step()
    child.detach()
    assert step() == [[6, 6]]


def test_a_backward_hook_of_a_first_layer_sees_the_gradients_of_outputs():
    net, seen = made()[0], []
    net.register_backward_hook(lambda b, inputs, outputs: seen.append((inputs, outputs[0].item())))
    with autograd.record():
        y = net(np.ones((1, 1))) * 4
    y.backward()
    assert seen == [((None,), 4)] and net.weight.grad().item() == 4
    net(np.ones((1, 1)))
    assert len(seen) == 1


def test_log_normal():
    d = gluon.probability.LogNormal(np.array([0.0, 0.5]), 0.7)
    x = onp.array([0.5, 2.0])
    z = (onp.log(x) - onp.array([0, 0.5])) / 0.7
    expected = -0.5 * z**2 - onp.log(x * 0.7 * onp.sqrt(2 * onp.pi))
    onp.testing.assert_allclose(d.log_prob(np.array(x)).asnumpy(), expected, rtol=1e-5)
    samples = d.sample((20000, 2)).asnumpy()
    onp.testing.assert_allclose(samples.mean(0), d.mean.asnumpy(), rtol=0.05)
    onp.testing.assert_allclose(samples.var(0), d.variance.asnumpy(), rtol=0.25)
    onp.testing.assert_allclose(
        -d.log_prob(np.array(samples)).asnumpy().mean(0), d.entropy().asnumpy(), rtol=0.03
    )
    other = gluon.probability.LogNormal(1.0, 1.0)
    normals = [gluon.probability.Normal(a.loc, a.scale) for a in (d, other)]
    kl = gluon.probability.kl_divergence
    assert kl(d, other).tolist() == kl(*normals).tolist()
    assert float(d.cdf(d.icdf(0.25))[0]) == pytest.approx(0.25, rel=1e-5)
