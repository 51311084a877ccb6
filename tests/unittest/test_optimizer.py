"""Optimizers against torch and against formulas; one program for all parameters, whatever changes
between steps.
"""

import numpy as onp
import pytest
from internals import sharding

from npcompat import autograd, gluon, lr_scheduler, np, npx, optimizer

RANDOM = onp.random.RandomState(0)
SHAPES = [(3, 4), (4,), ()]
START = [RANDOM.normal(size=s).astype("float32") for s in SHAPES]
GRADS = [[RANDOM.normal(size=s).astype("float32") for s in SHAPES] for _ in range(6)]


def run(opt, grads=GRADS, dtype="float32"):
    weights = [np.array(w, dtype=dtype) for w in START]
    indices = list(range(len(weights)))
    states = [opt.create_state_multi_precision(i, w) for i, w in enumerate(weights)]
    for step in grads:
        opt.update_multi_precision(
            indices, weights, [np.array(g, dtype=dtype) for g in step], states
        )
    return [w.asnumpy() for w in weights]


def torch_run(make):
    torch = pytest.importorskip(
        "torch", reason="torch is not installed; it is the oracle of the optimizers"
    )
    weights = [torch.tensor(w, requires_grad=True) for w in START]
    theirs = make(torch.optim, weights)
    for step in GRADS:
        for w, g in zip(weights, step, strict=True):
            w.grad = torch.tensor(g)
        theirs.step()
    return [w.detach().numpy() for w in weights]


PAIRS = {
    "SGD": (lambda: optimizer.SGD(0.1), lambda o, w: o.SGD(w, 0.1)),
    "SGD momentum": (
        lambda: optimizer.SGD(0.1, momentum=0.9, wd=0.01),
        lambda o, w: o.SGD(w, 0.1, 0.9, weight_decay=0.01),
    ),
    "NAG": (
        lambda: optimizer.NAG(0.1, momentum=0.9),
        lambda o, w: o.SGD(w, 0.1, 0.9, nesterov=True),
    ),
    "Adam": (lambda: optimizer.Adam(0.01, wd=0.1), lambda o, w: o.Adam(w, 0.01, weight_decay=0.1)),
    "AdamW": (
        lambda: optimizer.AdamW(0.01, epsilon=1e-8, wd=0.1),
        lambda o, w: o.AdamW(w, 0.01, weight_decay=0.1),
    ),
    "RMSProp": (lambda: optimizer.RMSProp(0.01, rho=0.9), lambda o, w: o.RMSprop(w, 0.01, 0.9)),
    "AdaGrad": (lambda: optimizer.AdaGrad(0.1), lambda o, w: o.Adagrad(w, 0.1)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_optimizers_agree_with_torch(name, backend):
    ours, theirs = PAIRS[name]
    for mine, other in zip(run(ours()), torch_run(theirs), strict=True):
        onp.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-6)


def by_formula(step):
    """Weights after all gradients, each updated by a function of weight, gradient, memory and
    number of the step.
    """
    weights = [w.astype("float64") for w in START]
    memory = [{} for _ in weights]
    for t, grads in enumerate(GRADS, 1):
        for i, g in enumerate(grads):
            weights[i] = step(weights[i], g.astype("float64"), memory[i], t)
    return weights


def test_centered_rmsprop_and_uncorrected_adamw_follow_their_formulas():
    def rmsprop(w, g, m, t):
        m["n"] = 0.9 * m.get("n", 0) + 0.1 * g * g
        m["g"] = 0.9 * m.get("g", 0) + 0.1 * g
        m["d"] = 0.8 * m.get("d", 0) - 0.01 * g / onp.sqrt(m["n"] - m["g"] ** 2 + 1e-3)
        return w + m["d"]

    def adamw(w, g, m, t):
        m["m"] = 0.9 * m.get("m", 0) + 0.1 * g
        m["v"] = 0.999 * m.get("v", 0) + 0.001 * g * g
        return w - 0.01 * (m["m"] / (onp.sqrt(m["v"]) + 1e-6) + 0.1 * w)

    for opt, formula in (
        (optimizer.RMSProp(0.01, momentum=0.8, epsilon=1e-3, centered=True), rmsprop),
        (optimizer.AdamW(0.01, wd=0.1, correct_bias=False), adamw),
    ):
        for mine, expected in zip(run(opt), by_formula(formula), strict=True):
            onp.testing.assert_allclose(mine, expected, rtol=1e-4, atol=1e-6)


def test_gradients_are_rescaled_then_clipped_then_decayed():
    def formula(w, g, m, t):
        return w - 0.1 * (onp.clip(0.5 * g, -0.3, 0.3) + 0.01 * w)

    for mine, expected in zip(
        run(optimizer.SGD(0.1, rescale_grad=0.5, clip_gradient=0.3, wd=0.01)),
        by_formula(formula),
        strict=True,
    ):
        onp.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-7)


def test_momentum_keeps_the_learning_rate_that_it_was_made_with():
    sgd, weight = optimizer.SGD(1.0, momentum=0.5), np.zeros(1)
    state = sgd.create_state(0, weight)
    sgd.update(0, weight, np.ones(1), state)
    sgd.set_learning_rate(0.0)
    sgd.update(0, weight, np.ones(1), state)
    assert weight.tolist() == [-1.5]


def test_double_precision_is_exact():
    sgd, weight = optimizer.SGD(0.1), np.ones(1, dtype="float64")
    sgd.update(0, weight, np.ones(1, dtype="float64"), sgd.create_state(0, weight))
    assert weight.dtype == "float64" and weight.item() == 0.9


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_multi_precision_keeps_a_float32_copy(dtype):
    steps, grad = 50, np.full((3,), 1e-4, dtype=dtype)
    for multi in (False, True):
        sgd, weight = optimizer.SGD(0.1, multi_precision=multi), np.ones(3, dtype=dtype)
        state = sgd.create_state_multi_precision(0, weight)
        for _ in range(steps):
            sgd.update_multi_precision(0, weight, grad, state)
        assert weight.dtype == grad.dtype
        if multi:
            onp.testing.assert_allclose(state[0].asnumpy(), 1 - steps * 1e-5, rtol=1e-6)
            assert (weight == state[0].astype(dtype)).all()
        else:
            assert weight.tolist() == [1, 1, 1], "each step alone is too small for 16 bits"


# --- rates ----------------------------------------------------------------------------------------


def test_factors_by_index_and_by_name():
    sgd = optimizer.SGD(0.1, param_idx2name={0: "a", 1: "b"}, wd=0.5)
    weights = [np.ones(1), np.ones(1)]
    sgd.set_lr_mult({"a": 0.0})
    sgd.set_wd_mult({1: 0.0})
    sgd.update([0, 1], weights, [np.ones(1), np.ones(1)], [None, None])
    assert weights[0].tolist() == [1]
    onp.testing.assert_allclose(weights[1].asnumpy(), 0.9)
    sgd.set_lr_mult({})
    sgd.wd = 0.0
    sgd.update([0, 1], weights, [np.zeros(1), np.zeros(1)], [None, None])
    onp.testing.assert_allclose(weights[1].asnumpy(), 0.9)


def test_a_scheduler_gives_the_rate_of_each_update():
    schedule = lr_scheduler.MultiFactorScheduler([1, 2], 0.1, base_lr=1.0)
    sgd, weight = optimizer.SGD(lr_scheduler=schedule), np.zeros(1)
    changes = []
    for _ in range(3):
        before = weight.item()
        sgd.update(0, weight, np.ones(1), None)
        changes.append(round(before - weight.item(), 4))
    assert changes == [1, 0.1, 0.01] and sgd.num_update == 3
    assert sgd.learning_rate == pytest.approx(0.01)
    with pytest.raises(UserWarning, match="there is an lr_scheduler"):
        sgd.set_learning_rate(1)
    assert (
        optimizer.SGD().learning_rate == 0.1
        and optimizer.Adam(None).learning_rate == 0.01
        and schedule.base_lr != 0.1
    )
    assert (
        optimizer.SGD(0.5, lr_scheduler=schedule).learning_rate == pytest.approx(0.5)
        and schedule.base_lr == 0.5
    )
    assert optimizer.SGD().learning_rate == 0.1 and optimizer.Adam().learning_rate == 0.001
    assert optimizer.SGD(lr_scheduler=lambda update: 2.0**-update).learning_rate == 1
    assert optimizer.SGD(begin_num_update=7).num_update == 7


def test_parameters_are_counted_each_for_itself():
    """Adam corrects the bias of a parameter that was updated seldom by its own count."""
    adam, often, seldom = optimizer.Adam(0.1), np.zeros(1), np.zeros(1)
    first, second = adam.create_state(0, often), adam.create_state(1, seldom)
    for _ in range(5):
        adam.update(0, often, np.ones(1), first)
    adam.update([0, 1], [often, seldom], [np.ones(1), np.ones(1)], [first, second])
    onp.testing.assert_allclose(seldom.asnumpy(), -0.1, rtol=1e-5)
    assert adam.num_update == 6


# --- programs -------------------------------------------------------------------------------------


def test_parameters_are_counted_apart_in_a_compiled_step_too():
    """Half of the parameters are updated by one compiled function, all of them by another."""

    def train(wrap):
        adam = optimizer.Adam(0.1)
        weights = [np.array(w) for w in START]
        states = [adam.create_state(i, w) for i, w in enumerate(weights)]
        adam._known(range(3))

        def update(chosen, grads):
            adam.update(
                list(chosen), [weights[i] for i in chosen], grads, [states[i] for i in chosen]
            )

        step = wrap(update)
        for i, given in enumerate(GRADS):
            chosen = (0, 1, 2) if i % 2 else (0, 2)
            step(chosen, [np.array(given[j]) for j in chosen])
        return [w.asnumpy() for w in weights], adam.num_update

    (eager, count), (compiled, again) = train(lambda f: f), train(npx.jit)
    assert count == again == 6
    for a, b in zip(eager, compiled, strict=True):
        onp.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_step_is_one_program_whatever_changes():
    adam = optimizer.Adam(0.1, wd=0.1)
    weights = [np.array(w) for w in START]
    states = [adam.create_state(i, w) for i, w in enumerate(weights)]
    for i, step in enumerate(GRADS):
        grads = [np.array(g) for g in step]
        with npx.compile_log() as log:
            adam.set_learning_rate(0.1 / (i + 1))
            adam.rescale_grad = 1.0 / (i + 1)
            adam.set_lr_mult({0: i + 2})
            adam.update(list(range(3)), weights, grads, states)
        assert i < 2 or not log, [str(e) for e in log]


@pytest.mark.parametrize("meshes", [False, True])
def test_weights_that_somebody_else_holds_are_not_overwritten(meshes, monkeypatch):
    monkeypatch.setattr(sharding, "several", [meshes])
    weight = np.ones(3)
    copy, exported = weight.copy(), weight.asnumpy()
    sgd = optimizer.SGD(0.1, momentum=0.9)
    state = sgd.create_state(0, weight)
    view = weight[1:]
    for _ in range(3):
        sgd.update(0, weight, np.ones(3), state)
        assert (copy == 1).all() and (exported == 1).all()
        onp.testing.assert_array_equal(view.asnumpy(), weight.asnumpy()[1:])
    part = np.zeros(4)
    sgd.update(1, part[:2], np.ones(2), sgd.create_state(1, part[:2]))
    onp.testing.assert_allclose(part.asnumpy(), [-0.1, -0.1, 0, 0])
    dcasgd = optimizer.DCASGD(learning_rate=0.1)
    dcasgd.update(2, part[2:], np.ones(2), dcasgd.create_state(2, part[2:]))
    onp.testing.assert_allclose(part.asnumpy(), [-0.1, -0.1, -0.1, -0.1])


@pytest.mark.parametrize("schedule", [None, lr_scheduler.FactorScheduler(2)])
def test_an_update_without_parameters_does_nothing(schedule):
    opt = optimizer.SGD(learning_rate=0.5, lr_scheduler=schedule)
    opt.update([], [], [], [])
    assert opt.num_update == 0


def test_an_optimizer_of_ones_own():
    @optimizer.register
    class SignDescent(optimizer.Optimizer):
        def create_state(self, index, weight):
            return np.zeros(weight.shape)

        def step(self, indices, weights, grads, states):
            for index, weight, grad, state in zip(indices, weights, grads, states, strict=True):
                self._update_count(index)
                state[...] += 1
                weight[...] -= self._get_lr(index) * (np.sign(grad) + self._get_wd(index) * weight)

    own, weight = optimizer.create("signdescent", learning_rate=0.5), np.array([1.0, -1.0])
    update = optimizer.get_updater(own)
    for _ in range(2):
        update(0, np.array([3.0, -0.1]), weight)
    assert weight.tolist() == [0, 0] and own.num_update == 2 and update.states[0].tolist() == [2, 2]


def test_states_of_an_updater_are_bytes_from_which_updates_go_on():
    update, weight = optimizer.get_updater(optimizer.Adam(0.1)), np.ones(2)
    for k in range(3):
        update(0, np.array([1.0, k]), weight)
    resumed, only_states = (
        optimizer.get_updater(optimizer.SGD()),
        optimizer.get_updater(optimizer.Adam(0.1)),
    )
    resumed.set_states(update.get_states(dump_optimizer=True))
    only_states.set_states(update.get_states())
    assert resumed.optimizer.num_update == 3 and only_states.optimizer.num_update == 0
    assert [s.tolist() for s in only_states.states[0]] == [s.tolist() for s in update.states[0]]
    other = weight.copy()
    update(0, np.ones(2), weight)
    resumed(0, np.ones(2), other)
    assert weight.tolist() == other.tolist()


def test_what_is_wrong_or_not_supported_says_so():
    with pytest.raises(ValueError, match="optimizer 'nope': expected an Optimizer, or one of"):
        optimizer.create("nope")
    for make, text in (
        (lambda: optimizer.SGD(lazy_update=True), "gradients are dense"),
        (lambda: optimizer.RMSProp(clip_weights=1.0), "clip_weights"),
        (lambda: optimizer.SGD(sym=1), "param_dict"),
        (lambda: optimizer.Optimizer().step([], [], [], []), "must define step"),
    ):
        with pytest.raises(NotImplementedError, match=text):
            make()


@pytest.mark.parametrize("compiles", [False, True])
@pytest.mark.parametrize("users", [False, True])
def test_a_scheduled_rate_is_that_of_the_number_of_updates(compiles, users):
    class Plain(optimizer.Optimizer):
        def step(self, indices, weights, grads, states):
            for index, weight, grad in zip(indices, weights, grads, strict=True):
                self._update_count(index)
                weight -= self._get_lr(index) * grad

    parameters = {k: gluon.Parameter(k, shape=(1,), init="zeros") for k in "ab"}
    for p in parameters.values():
        p.initialize()
    rates = lr_scheduler.FactorScheduler(1, 0.5, base_lr=1.0)
    rule = Plain(learning_rate=1.0, lr_scheduler=rates) if users else "sgd"
    options = None if users else {"lr_scheduler": rates}
    trainer = gluon.Trainer(parameters, rule, options)

    def step(used):
        with autograd.record():
            loss = sum(parameters[k].data().sum() for k in used)
        loss.backward()
        trainer.step(1, ignore_stale_grad=True)

    run = npx.jit(step) if compiles else step
    found = []
    for used in ("ab", "a", "b", "b", "a", "b"):
        before = parameters[used[-1]].data().item()
        run(used)
        found.append(before - parameters[used[-1]].data().item())
        assert trainer.learning_rate == found[-1]
    assert found == [1, 0.5, 0.5, 0.25, 0.25, 0.125]
