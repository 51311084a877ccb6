"""Further optimizers over 20 steps, against torch or their formulas in float64; optax
transformations.
"""

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx, optimizer
from npcompat.gluon import nn

RANDOM = onp.random.RandomState(3)
SHAPES = [(3, 4), (5,)]
START = [RANDOM.normal(size=s) for s in SHAPES]
GRADS = [[RANDOM.normal(size=s) for s in SHAPES] for _ in range(20)]
COMMON = {"wd": 0.05, "clip_gradient": 1.2, "rescale_grad": 0.9}


def run(opt, dtype="float32"):
    weights = [np.array(w, dtype=dtype) for w in START]
    indices = list(range(len(weights)))
    states = [opt.create_state_multi_precision(i, w) for i, w in enumerate(weights)]
    for step in GRADS:
        opt.update_multi_precision(
            indices, weights, [np.array(g, dtype=dtype) for g in step], states
        )
    return [w.asnumpy().astype("float64") for w in weights]


def by_formula(step, prepare=True):
    weights = [w.copy() for w in START]
    memory = [{} for _ in weights]
    for t, grads in enumerate(GRADS, 1):
        for i, g in enumerate(grads):
            g = COMMON["rescale_grad"] * g
            if prepare:
                g = (
                    onp.clip(g, -COMMON["clip_gradient"], COMMON["clip_gradient"])
                    + COMMON["wd"] * weights[i]
                )
            weights[i] = step(weights[i], g, memory[i], t)
    return weights


def norm(a):
    return onp.sqrt((a * a).sum())


def adabelief(w, g, m, t, correct=True):
    m["m"] = 0.9 * m.get("m", 0) + 0.1 * g
    m["s"] = 0.99 * m.get("s", 0) + 0.01 * (g - m["m"]) ** 2 + 1e-6
    lr = 0.02 * onp.sqrt(1 - 0.99**t) / (1 - 0.9**t) if correct else 0.02
    return w - lr * m["m"] / (onp.sqrt(m["s"]) + 1e-6)


def adam(w, g, m, t, eps=0.1, decay=0.0):
    m["m"] = 0.9 * m.get("m", 0) + 0.1 * g
    m["v"] = 0.99 * m.get("v", 0) + 0.01 * g * g
    lr = 0.02 * onp.sqrt(1 - 0.99**t) / (1 - 0.9**t)
    return w - lr * m["m"] / (onp.sqrt(m["v"]) + eps) - 0.02 * decay * w


def adamw(w, g, m, t):
    return adam(w, onp.clip(g, -1.2, 1.2), m, t, decay=COMMON["wd"])


def adagrad(w, g, m, t):
    m["s"] = m.get("s", 0) + g * g
    return w - 0.02 * g / (onp.sqrt(m["s"]) + 0.1)


def adadelta(w, g, m, t):
    m["g"] = 0.9 * m.get("g", 0) + 0.1 * g * g
    delta = onp.sqrt(m.get("d", 0) + 1e-6) / onp.sqrt(m["g"] + 1e-6) * g
    m["d"] = 0.9 * m.get("d", 0) + 0.1 * delta * delta
    return w - 0.7 * delta


def adamax(w, g, m, t):
    m["m"] = 0.9 * m.get("m", 0) + 0.1 * g
    m["u"] = onp.maximum(0.99 * m.get("u", 0), abs(g) + 1e-8)
    return w - 0.02 / (1 - 0.9**t) * m["m"] / m["u"]


def nadam(w, g, m, t):
    def momentum(t):
        return 0.9 * (1 - 0.5 * 0.96 ** (t * 0.1))

    m["m"] = 0.9 * m.get("m", 0) + 0.1 * g
    m["v"] = 0.99 * m.get("v", 0) + 0.01 * g * g
    m["p"] = m.get("p", 1) * momentum(t)
    direction = momentum(t + 1) * m["m"] / (1 - m["p"] * momentum(t + 1)) + (
        1 - momentum(t)
    ) * g / (1 - m["p"])
    return w - 0.02 * direction / (onp.sqrt(m["v"] / (1 - 0.99**t)) + 1e-8)


def dcasgd(w, g, m, t):
    before, m["w"] = m.get("w", w), w
    m["m"] = 0.8 * m.get("m", 0) - 0.05 * (g + 0.3 * g * g * (w - before))
    return w + m["m"]


def dcasgd_plain(w, g, m, t):
    before, m["w"] = m.get("w", w), w
    return w - 0.05 * (g + 0.3 * g * g * (w - before))


def ftml(w, g, m, t):
    m["v"] = 0.99 * m.get("v", 0) + 0.01 * g * g
    d = (1 - 0.6**t) / 0.02 * (onp.sqrt(m["v"] / (1 - 0.99**t)) + 1e-8)
    m["z"] = 0.6 * m.get("z", 0) + 0.4 * g - (d - 0.6 * m.get("d", 0)) * w
    m["d"] = d
    return -m["z"] / d


def ftrl(w, g, m, t):
    g = onp.clip(g, -1.2, 1.2)
    before = m.get("n", 0)
    m["n"] = before + g * g
    m["z"] = m.get("z", 0) + g - (onp.sqrt(m["n"]) - onp.sqrt(before)) * w / 0.1
    return (
        (onp.sign(m["z"]) * 0.5 - m["z"])
        / ((1 + onp.sqrt(m["n"])) / 0.1 + 0.05)
        * (abs(m["z"]) > 0.5)
    )


def signum(w, g, m, t):
    m["m"] = 0.8 * m.get("m", 0) + 0.2 * g
    return (1 - 0.01 * 0.2) * w - 0.01 * onp.sign(m["m"])


def signsgd(w, g, m, t):
    return (1 - 0.01 * (0.05 + 0.2)) * w - 0.01 * onp.sign(g)


def adam_moments(g, m, t):
    m["m"] = 0.9 * m.get("m", 0) + 0.1 * g
    m["v"] = 0.99 * m.get("v", 0) + 0.01 * g * g
    return m["m"] / (1 - 0.9**t), onp.sqrt(m["v"] / (1 - 0.99**t)) + 1e-6


def lamb(w, g, m, t):
    mean, root = adam_moments(onp.clip(g, -1.2, 1.2), m, t)
    direction = mean / root + 0.05 * w
    return w - 0.02 * norm(w) / norm(direction) * direction


def lamb_bounded(w, g, m, t):
    adam_moments(onp.clip(g, -1.2, 1.2), m, t)
    direction = m["m"] / (onp.sqrt(m["v"]) + 1e-6) + 0.05 * w
    return w - 0.02 * onp.clip(norm(w), 2.5, 3) / norm(direction) * direction


def lans(w, g, m, t):
    g = onp.clip(g / norm(g), -1.2, 1.2)
    mean, root = adam_moments(g, m, t)
    parts = [(share, d / root + 0.05 * w) for share, d in ((0.9, mean), (0.1, g))]
    return w - 0.02 * sum(share * norm(w) / norm(p) * p for share, p in parts)


def lars(w, g, m, t, eta=0.1):
    rate = 0.5 * (eta * norm(w) / (norm(g) + 0.05 * norm(w) + 1e-8))
    m["m"] = 0.8 * m.get("m", 0) - rate * (onp.clip(g, -1.2, 1.2) + 0.05 * w)
    return w + m["m"]


def descent(w, g, m, t):
    return w - 0.02 * g


FORMULAS = {
    "AdaBelief": (adabelief, {"learning_rate": 0.02, "beta2": 0.99}),
    "AdaBelief uncorrected": (
        lambda *a: adabelief(*a, correct=False),
        {"learning_rate": 0.02, "beta2": 0.99, "correct_bias": False},
    ),
    "AdaDelta": (adadelta, {"learning_rate": 0.7}),
    "AdaGrad": (adagrad, {"learning_rate": 0.02, "epsilon": 0.1}),
    "Adam": (adam, {"learning_rate": 0.02, "beta2": 0.99, "epsilon": 0.1}),
    "AdamW": (adamw, {"learning_rate": 0.02, "beta2": 0.99, "epsilon": 0.1}),
    "Adamax": (adamax, {"learning_rate": 0.02, "beta2": 0.99}),
    "Nadam": (nadam, {"learning_rate": 0.02, "beta2": 0.99, "schedule_decay": 0.1}),
    "DCASGD": (dcasgd, {"learning_rate": 0.05, "momentum": 0.8, "lamda": 0.3}),
    "DCASGD plain": (dcasgd_plain, {"learning_rate": 0.05, "lamda": 0.3}),
    "FTML": (ftml, {"learning_rate": 0.02, "beta2": 0.99}),
    "Ftrl": (ftrl, {"learning_rate": 0.1, "lamda1": 0.5}),
    "Signum": (signum, {"momentum": 0.8, "wd_lh": 0.2}),
    "Signum signs": (signsgd, {"momentum": 0.0, "wd_lh": 0.2}),
    "LAMB": (lamb, {"learning_rate": 0.02, "beta2": 0.99}),
    "LAMB bounded": (
        lamb_bounded,
        {
            "learning_rate": 0.02,
            "beta2": 0.99,
            "lower_bound": 2.5,
            "upper_bound": 3,
            "bias_correction": False,
        },
    ),
    "LANS": (lans, {"learning_rate": 0.02, "beta2": 0.99}),
    "LARS": (lars, {"learning_rate": 0.5, "momentum": 0.8, "eta": 0.1}),
    "Test": (descent, {"learning_rate": 0.02}),
}
UNPREPARED = (
    "AdamW",
    "Ftrl",
    "Signum signs",
    "LAMB",
    "LAMB bounded",
    "LANS",
    "LARS",
)  # these decay, or clip, in their own way


@pytest.mark.parametrize("name", FORMULAS)
def test_optimizers_follow_their_formulas(name):
    formula, params = FORMULAS[name]
    expected = by_formula(formula, prepare=name not in UNPREPARED)
    for mine, other in zip(
        run(optimizer.create(name.split()[0], **params, **COMMON)), expected, strict=True
    ):
        onp.testing.assert_allclose(mine, other, rtol=2e-4, atol=2e-6)


PAIRS = {
    "AdaDelta": (
        lambda: optimizer.AdaDelta(0.7, wd=0.05),
        lambda o, w: o.Adadelta(w, 0.7, weight_decay=0.05),
    ),
    "Adamax": (
        lambda: optimizer.Adamax(0.02, wd=0.05),
        lambda o, w: o.Adamax(w, 0.02, weight_decay=0.05),
    ),
    "Nadam": (
        lambda: optimizer.Nadam(0.02, wd=0.05),
        lambda o, w: o.NAdam(w, 0.02, weight_decay=0.05),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_optimizers_agree_with_torch(name):
    torch = pytest.importorskip("torch", reason="compares with torch")
    ours, theirs = PAIRS[name]
    weights = [torch.tensor(w, requires_grad=True) for w in START]
    eps = {"eps": 1e-6} if name == "AdaDelta" else {}
    other = theirs(torch.optim, weights)
    for group in other.param_groups:
        group.update(eps)
    for step in GRADS:
        for w, g in zip(weights, step, strict=True):
            w.grad = torch.tensor(g)
        other.step()
    for mine, w in zip(run(ours()), weights, strict=True):
        onp.testing.assert_allclose(mine, w.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_ftrl_makes_weights_exactly_zero():
    opt, weight = optimizer.Ftrl(0.1, lamda1=5.0), np.array([1.0, -3.0])
    opt.update(0, weight, np.array([0.1, 20.0]), opt.create_state(0, weight))
    assert weight[0] == 0 and weight[1] != 0


@pytest.mark.parametrize("name", ["LAMB", "LANS", "LARS"])
def test_layers_without_norm_take_plain_steps(name):
    """Weights that are zero move, and gradients that are zero give no nan."""
    opt = optimizer.create(name, learning_rate=0.1)
    weights, grads = [np.zeros(3), np.ones(3)], [np.ones(3), np.zeros(3)]
    opt.update([0, 1], weights, grads, [opt.create_state(i, w) for i, w in enumerate(weights)])
    assert (weights[0] < 0).all() and weights[1].tolist() == [1, 1, 1]


def test_adagrad_without_epsilon_leaves_what_has_no_gradient():
    opt, weight = optimizer.AdaGrad(0.1, epsilon=0.0), np.ones(2)
    opt.update(0, weight, np.array([0.0, 2.0]), opt.create_state(0, weight))
    onp.testing.assert_allclose(weight, [1, 0.9], rtol=1e-6)


def test_rows_have_one_rate_each():
    opt = optimizer.create("GroupAdaGrad", learning_rate=0.1, clip_gradient=2.0)
    weight, grads = np.ones((2, 3)), [RANDOM.normal(size=(2, 3)) * 2 for _ in range(3)]
    state = opt.create_state(0, weight)
    expected, history = onp.ones((2, 3)), onp.zeros((2, 1))
    for g in grads:
        opt.update(0, weight, np.array(g, dtype="float32"), state)
        g = onp.clip(g, -2, 2)
        history += (g * g).mean(axis=1, keepdims=True)
        expected -= 0.1 * g / (onp.sqrt(history) + 1e-6)
    onp.testing.assert_allclose(weight, expected, rtol=1e-5)
    assert optimizer.contrib.GroupAdaGrad is optimizer.GroupAdaGrad
    with pytest.raises(NotImplementedError, match="wd=0.1"):
        optimizer.GroupAdaGrad(wd=0.1)
    with pytest.raises(NotImplementedError, match="no weight decay"):
        opt.wd = 0.1
    opt.update(0, weight, np.zeros((2, 3)), state)
    onp.testing.assert_allclose(weight, expected, rtol=1e-5)
    plain, zero = optimizer.GroupAdaGrad(epsilon=0.0), np.ones((2, 3))
    plain.update(1, zero, np.zeros((2, 3)), plain.create_state(1, zero))
    assert zero.tolist() == [[1, 1, 1]] * 2
    with pytest.raises(ValueError, match=r"two axes, got shape \(3,\)"):
        opt.create_state(1, np.ones(3))


def test_adamax_of_a_gradient_that_is_always_zero():
    opt, weight = optimizer.Adamax(), np.ones(2)
    opt.update(0, weight, np.zeros(2), opt.create_state(0, weight))
    assert weight.tolist() == [1, 1]
    opt = optimizer.Adamax(1.0, epsilon=9.0)
    opt.update(0, weight, np.ones(2), opt.create_state(0, weight))
    onp.testing.assert_allclose(weight.asnumpy(), 0.9, rtol=1e-6)


def test_lars_leaves_the_rate_of_biases_alone():
    opt = optimizer.LARS(0.1, eta=1e-6, param_idx2name={0: "dense.weight", 1: "dense.bias"})
    weights, grads = [np.ones(2), np.ones(2)], [np.ones(2), np.ones(2)]
    opt.update([0, 1], weights, grads, [opt.create_state(i, w) for i, w in enumerate(weights)])
    assert weights[0].min() > 0.999
    onp.testing.assert_allclose(weights[1].asnumpy(), 0.9, rtol=1e-6)


def test_sgld_adds_noise_whose_variance_is_the_rate():
    opt, weight = optimizer.SGLD(0.04, wd=0.5, clip_gradient=0.5), np.ones(20000)
    opt.update(0, weight, np.full(20000, 3.0), opt.create_state(0, weight))
    assert weight.mean().item() == pytest.approx(1 - 0.02 * (0.5 + 0.5), abs=0.01)
    assert weight.std().item() == pytest.approx(0.2, rel=0.03)
    again = np.ones(20000)
    opt.update(1, again, np.full(20000, 3.0), None)
    assert (again != weight).any() and opt.num_update == 1
    half = optimizer.SGLD(0.01, multi_precision=True)
    narrow = np.ones(4, dtype="float16")
    state = half.create_state_multi_precision(0, narrow)
    half.update_multi_precision(0, narrow, narrow, state)
    assert narrow.dtype == "float16" and (narrow == state[0].astype("float16")).all()


@pytest.mark.parametrize("name", ["AdaBelief", "Nadam", "DCASGD", "LAMB", "Ftrl"])
def test_sixteen_bits_follow_their_float32_copy(name):
    exact = run(optimizer.create(name, learning_rate=0.02))
    for mine, expected in zip(
        run(optimizer.create(name, learning_rate=0.02, multi_precision=True), "bfloat16"),
        exact,
        strict=True,
    ):
        onp.testing.assert_allclose(mine, expected, rtol=0.05, atol=0.05)


# --- in training ----------------------------------------------------------------------------------

X = RANDOM.normal(size=(8, 3)).astype("float32")


def train(make, wrap=lambda f: f, steps=4, net=None):
    np.random.seed(1)
    if net is None:
        net = nn.Dense(2, in_units=3)
        net.initialize()
    trainer = make(net)

    def step(x):
        with autograd.record():
            loss = (net(x) ** 2).sum()
        loss.backward()
        trainer.step(1)
        return loss

    run_step = wrap(step)
    losses = [run_step(np.array(X)).item() for _ in range(steps)]
    return losses, net.weight.data().asnumpy(), trainer


@pytest.mark.parametrize("name", ["nadam", "lars", "sgld"])
def test_compiled_steps_are_the_same(name):
    def make(net):
        return gluon.Trainer(net.collect_params(), name, {"learning_rate": 0.01})

    eager, compiled = train(make), train(make, npx.jit)
    onp.testing.assert_allclose(compiled[0], eager[0], rtol=1e-4)
    onp.testing.assert_allclose(compiled[1], eager[1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "dtype"), [("dcasgd", "float32"), ("dcasgd", "float16"), ("sgd", "float16")]
)
def test_states_that_begin_as_the_weights_begin_in_a_compiled_step(name, dtype):
    """The first step makes them, while it is traced."""

    def trained(wrap):
        np.random.seed(1)
        net = nn.Dense(2, in_units=3)
        net.initialize()
        net.cast(dtype)
        trainer = gluon.Trainer(
            net.collect_params(),
            name,
            {"learning_rate": 0.01, "multi_precision": True, "momentum": 0.5},
        )

        def step(x):
            with autograd.record():
                loss = (net(x) ** 2).sum()
            loss.backward()
            trainer.step(1)

        run_step = wrap(step)
        for _ in range(3):
            run_step(np.array(X, dtype=dtype))
        return net.weight.data().astype("float64").asnumpy()

    onp.testing.assert_allclose(trained(npx.jit), trained(lambda f: f), rtol=1e-3)


def clipped_adam():
    optax = pytest.importorskip("optax", reason="a user's transformation is optax's")
    return optax.chain(
        optax.clip_by_global_norm(0.5), optax.adam(optax.cosine_decay_schedule(0.1, 10))
    )


@pytest.mark.parametrize("wrap", [lambda f: f, npx.jit], ids=["eager", "jit"])
def test_trainer_takes_an_optax_transformation(wrap):
    import jax
    import optax

    transformation = clipped_adam()
    losses, weight, trainer = train(
        lambda net: gluon.Trainer(net.collect_params(), transformation), wrap
    )
    np.random.seed(1)
    net = nn.Dense(2, in_units=3)
    net.initialize()
    params = {"weight": net.weight.data().asnumpy(), "bias": net.bias.data().asnumpy()}
    state = transformation.init(params)
    for expected in losses:
        loss, grads = jax.value_and_grad(lambda p: ((X @ p["weight"].T + p["bias"]) ** 2).sum())(
            params
        )
        assert float(loss) == pytest.approx(expected, rel=1e-4)
        updates, state = transformation.update(grads, state, params)
        params = optax.apply_updates(params, updates)
    onp.testing.assert_allclose(weight, params["weight"], rtol=1e-4, atol=1e-6)
    assert trainer.optimizer.num_update == 4
    with pytest.raises(NotImplementedError, match="inject_hyperparams"):
        _ = trainer.learning_rate
    assert "[1][0].mu['weight']" in trainer.optimizer.state


def test_an_optax_transformation_resumes_from_a_file(tmp_path):
    transformation = clipped_adam()

    def make(net):
        return gluon.Trainer(net.collect_params(), transformation, {"learning_rate": 0.5})

    net = nn.Dense(2, in_units=3)
    net.initialize()
    _, before, trainer = train(make, net=net)
    trainer.save_states(tmp_path / "states")
    twin = nn.Dense(2, in_units=3)
    twin.initialize()
    twin.load_dict(net.collect_params())
    other = make(twin)
    other.load_states(tmp_path / "states")
    _, expected, _ = train(lambda _: trainer, steps=2, net=net)
    _, got, _ = train(lambda _: other, steps=2, net=twin)
    onp.testing.assert_array_equal(got, expected)
    assert (got != before).any()
    with pytest.raises(
        ValueError,
        match=r"(?s)do not fit the trainer; nothing was loaded:.*not a state of this trainer",
    ):
        gluon.Trainer(twin.collect_params(), "sgd").load_states(tmp_path / "states")


def test_optax_factors_copies_and_keys():
    """Factors of single parameters, parameters of 16 bits, and a transformation that keeps a random
    key.
    """
    optax = pytest.importorskip("optax", reason="a user's transformation is optax's")
    net = nn.Dense(1, in_units=2, use_bias=True)
    net.initialize("ones")
    net.cast("float16")
    net.bias.lr_mult = 0.0
    trainer = gluon.Trainer(
        net.collect_params(),
        optax.chain(optax.add_noise(1e-6, 0.5, 0), optax.sgd(1e-4)),
        {"multi_precision": True},
    )
    for _ in range(3):
        with autograd.record():
            y = net(np.ones((1, 2), dtype="float16"))
        y.backward()
        trainer.step(1)
    master = trainer._updater.states[0][0]
    assert master.dtype == "float32" and net.bias.data().item() == 0
    onp.testing.assert_allclose(master.asnumpy(), 1 - 3e-4, atol=1e-6)


def test_optax_refuses_what_it_can_not_do():
    optax = pytest.importorskip("optax", reason="a user's transformation is optax's")
    net = nn.HybridSequential()
    net.add(nn.Dense(1, in_units=1), nn.Dense(1, in_units=1))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), optax.sgd(0.1))
    for part in (net, net[0]):
        with autograd.record():
            y = part(np.ones((1, 1)))
        y.backward()
        if part is net:
            trainer.step(1)
    with pytest.raises(
        ValueError,
        match=r"updates all its parameters together: expected \[0, 1, 2, 3\], got \[0, 1\]",
    ):
        trainer.step(1, ignore_stale_grad=True)
    with pytest.raises(TypeError, match="wd"):
        gluon.Trainer(net.collect_params(), optax.sgd(0.1), {"wd": 0.1})
    with pytest.raises(TypeError, match="expected an optax transformation"):
        optimizer.Optax("sgd")
