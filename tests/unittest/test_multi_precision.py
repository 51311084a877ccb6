"""Master copies in float32 of 16-bit parameters, when the parameters change between steps."""

import optax
import pytest

from npcompat import autograd, gluon, init, np, npx
from npcompat.gluon import nn
from tests.programs.state import Heavy

MODES = ["eager", "hybridized", "jit"]


def dense(dtype="float32", value=1):
    net = nn.Dense(1, in_units=1, use_bias=False, dtype=dtype)
    net.initialize(init.Constant(value))
    return net


def stepping(net, optimizer, mode, **arguments):
    """Return a step of a trainer in 16 bits, whose gradient is one."""
    if isinstance(optimizer, type):
        optimizer, arguments = optimizer(multi_precision=True, **arguments), {}
    else:
        arguments["multi_precision"] = True
    trainer = gluon.Trainer(net.collect_params(), optimizer, arguments)
    if mode == "hybridized":
        net.hybridize()

    def step():
        with autograd.record():
            loss = net(np.ones((1, 1), dtype=net.weight.dtype)).sum()
        loss.backward()
        trainer.step(1)

    return (npx.jit(step) if mode == "jit" else step), trainer


def set_data(net, folder):
    net.weight.set_data(np.full((1, 1), 10.0, dtype="float16"))


def written(net, folder):
    net.weight.data()[:] = 10


def initialized(net, folder):
    net.initialize(init.Constant(10), force_reinit=True)


def loaded(net, folder):
    dense(net.weight.dtype, 10).save_parameters(folder / "net")
    net.load_parameters(folder / "net")


@pytest.mark.parametrize("optimizer", ["sgd", "adam", optax.sgd(1.0), Heavy])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("change", [set_data, written, initialized, loaded])
def test_a_step_begins_with_the_weights_that_were_set(change, mode, optimizer, tmp_path):
    net, same = dense("float16"), dense("float16", 10)
    step, _ = stepping(net, optimizer, mode, learning_rate=0.5)
    step()
    before = net.weight.data().item()
    change(net, tmp_path)
    step()
    assert before < 1
    if optimizer is not Heavy:  # which goes on with what the first step has left
        stepping(same, optimizer, mode, learning_rate=0.5)[0]()
        assert net.weight.data().item() == same.weight.data().item() == 9.5
    else:
        assert 9 < net.weight.data().item() < 10


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_many_steps_in_one_program_keep_the_master_copy(dtype):
    net = dense(dtype)
    step, trainer = stepping(net, "sgd", "eager", learning_rate=1e-4)

    @npx.jit
    def steps():
        for _ in range(20):
            step()

    step()
    steps()
    (master,) = trainer._updater.states[0]
    assert abs(master.item() - (1 - 21e-4)) < 1e-6
    assert net.weight.data().item() == master.astype(dtype).item()


@pytest.mark.parametrize("optimizer", ["sgd", "adam", optax.adam(1.0), Heavy])
@pytest.mark.parametrize("mode", MODES)
def test_training_goes_on_after_a_cast(mode, optimizer):
    arguments = {"momentum": 0.9} if optimizer == "sgd" else {}
    net, same = dense(), dense()
    step, trainer = stepping(net, optimizer, mode, learning_rate=0.125, **arguments)
    steps, _ = stepping(same, optimizer, "eager", learning_rate=0.125, **arguments)
    for dtype in ("float32", "float16", "bfloat16", "float32", "float16"):
        net.cast(dtype)
        for _ in range(2):
            step()
            steps()
        assert abs(net.weight.data().item() - same.weight.data().item()) < 0.02
        copies = trainer._updater.states[0]
        if optimizer != Heavy:
            has_copy = dtype != "float32"
            assert len(copies) == {"sgd": 1, "adam": 2}.get(optimizer, int(has_copy)) + has_copy


def test_loaded_states_get_the_copies_that_they_lack():
    net, same = dense(), dense("float16")
    step, trainer = stepping(net, "adam", "eager")
    again, other = stepping(same, "adam", "jit")
    step()
    again()
    other._updater.set_states(trainer._updater.get_states())
    again()
    master, mean, _ = other._updater.states[0]
    assert (master.astype("float16") == same.weight.data()).all() and mean.item() > 0.1
