"""Hooks of blocks: before and after their calls, and at every operator that they call."""

import pytest

from npcompat import autograd, gluon, np, npx
from npcompat.gluon import nn


def test_hooks_see_calls_and_can_be_taken_away():
    net = nn.Dense(2, in_units=2)
    net.initialize()
    seen = []
    before = net.register_forward_pre_hook(
        lambda block, inputs: seen.append(("before", inputs[0].shape))
    )
    after = net.register_forward_hook(lambda block, inputs, out: seen.append(("after", out.shape)))
    net(np.ones((3, 2)))
    before.detach()
    before.detach()
    net.hybridize()
    net(np.ones((4, 2)))
    with after:
        pass
    net(np.ones((5, 2)))
    assert seen == [("before", (3, 2)), ("after", (3, 2)), ("after", (4, 2))]


def compiled(net, how):
    if how == "hybridized":
        net.hybridize()
    return npx.jit(lambda x: net(x)) if how == "jit" else net


@pytest.mark.parametrize("how", ["eager", "hybridized", "jit"])
@pytest.mark.parametrize("of_child", [True, False])
def test_calls_see_hooks_that_come_and_go(of_child, how):
    net, x = nn.HybridSequential(), np.ones((1, 2))
    net.add(nn.Dense(2, in_units=2, use_bias=False, weight_initializer="ones"))
    net.initialize()
    run, block = compiled(net, how), net[0] if of_child else net
    assert run(x).tolist() == [[2, 2]]
    after = block.register_forward_hook(lambda block, inputs, out: out.__setitem__(..., 3))
    assert run(x).tolist() == [[3, 3]] == run(x).tolist()
    after.detach()
    assert run(x).tolist() == [[2, 2]]
    with block.register_forward_pre_hook(lambda block, inputs: inputs[0].__imul__(2)):
        assert run(x.copy()).tolist() == [[4, 4]]
    assert run(x).tolist() == [[2, 2]]
    seen = []
    with block.register_op_hook(lambda name, operator, array: seen.append(operator)):
        run(x)
    assert seen == ["_npx_fully_connected"]


@pytest.mark.parametrize("how", ["hybridized", "jit"])
def test_hooks_that_a_function_registers_itself_leave_its_program_alone(how):
    class Watched(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.inner = nn.Dense(2, in_units=2)

        def forward(self, x):
            traced.append(1)
            with self.inner.register_forward_hook(lambda block, inputs, out: out.__iadd__(1)):
                return self.inner(x)

    traced, net = [], Watched()
    net.initialize()
    run = compiled(net, how)
    first = run(np.ones((1, 2))).tolist()
    for _ in range(3):
        assert run(np.ones((1, 2))).tolist() == first
    assert len(traced) == 1


@pytest.mark.parametrize("placement", ["auto", "jax"])
def test_operators_are_hooked(placement):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.inner = nn.Dense(2, activation="relu", in_units=3)
            self.inner.initialize()

        def forward(self, x):
            y = self.inner(x)
            y += 1
            return np.split(y, 2, axis=1)[0] * 2

    with npx.backend(placement):
        net, x = Net(), np.ones((4, 3))
        expected = net(x)
        seen, inside = {}, []
        for hybridized in (False, True):
            net.hybridize(hybridized)
            seen.clear()
            with net.register_op_hook(
                lambda name, operator, array: seen.update({name: array})
            ) as handle:
                y = net(x)
            assert (
                "fully_connected0_output" in seen
                and "add0_output" in seen
                and "multiply0_output" in seen
            )
            assert (
                not any(name.endswith(("_x", "_x1")) for name in seen)
                and (seen["multiply0_output"] == y).all()
            )
            assert (y == expected).all()
            seen.clear()
            net(x)
            assert not seen
            handle.detach()
        outer = net.register_op_hook(
            lambda name, operator, array: seen.update({name: (operator, array)}), monitor_all=True
        )
        inner = net.inner.register_op_hook(lambda name, operator, array: inside.append(operator))
        net.inner.weight.data().attach_grad()
        with autograd.record():
            loss = net(x).sum()
        loss.backward()
        assert (
            seen["fully_connected0_x"][0] == "_npx_fully_connected"
            and (seen["fully_connected0_x"][1] == x).all()
        )
        assert (seen["fully_connected0_weight"][1] == net.inner.weight.data()).all()
        assert (
            inside == ["_npx_fully_connected", "_npx_relu"]
            and (
                net.inner.weight.data().grad == 8 * np.array([[1.0], [0.0]]) * (expected[0, 0] != 2)
            ).all()
        )
        inner.detach(), outer.detach()


def test_hooks_of_operators_in_a_block_that_is_computed_again_may_compute():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=3))
    net.initialize()
    expected = net(np.ones((1, 3)))
    net[0].hybridize(remat=True)
    net.hybridize()
    finite = []
    with net.register_op_hook(
        lambda name, operator, array: finite.append(bool(np.isfinite(array).all()))
    ):
        assert (net(np.ones((1, 3))) == expected).all()
    assert finite == [True]
