"""Arrays on several devices, in a process with two that XLA simulates on the CPU."""

import os
import subprocess
import sys
import textwrap

import pytest

PROGRAMS = {
    "arrays move": """
        for backend in ("auto", "jax", "numpy"):
            with npx.backend(backend):
                a = np.arange(4.0)
                b = a.to_device(npx.cpu(1))
                assert b.device == npx.cpu(1) and a.device == npx.cpu(0), (backend, b.device)
                assert b.tolist() == [0, 1, 2, 3] and (b * 2).device == npx.cpu(1)
                b[0] = 5
                assert b.device == npx.cpu(1) and a[0] == 0
                back = b.to_device(npx.cpu(0))
                assert back.device == npx.cpu(0) and back.tolist() == [5, 1, 2, 3]
                assert b.as_in_ctx(npx.cpu(1)) is b
    """,
    "new arrays go where the context says": """
        with npx.cpu(1):
            assert np.ones(3).device == npx.cpu(1)
            assert np.array([1, 2]).device == npx.cpu(1)
        assert np.ones(3, ctx=npx.cpu(1)).device == npx.cpu(1)
        assert np.ones(3).device == npx.cpu(0)
    """,
    "a write of the whole keeps the device": """
        for backend in ("auto", "jax"):
            with npx.backend(backend):
                a = np.ones(3, ctx=npx.cpu(1))
                a.attach_grad()
                for new in (2, [1, 2, 3], np.ones(3), np.ones(3, ctx=npx.cpu(0))):
                    a[...] = new
                    assert a.device == npx.cpu(1), (backend, new, a.device)
                a.fill(4)
                assert a.device == a.grad.device == npx.cpu(1) and a.tolist() == [4] * 3
    """,
    "random numbers are drawn where they are needed": """
        from npcompat.gluon import nn
        mesh = npx.Mesh(data=2)
        places = [npx.cpu(1), mesh(), npx.cpu(0), None]

        def trained(place, way):
            np.random.seed(0)
            net = nn.HybridSequential()
            net.add(nn.Dense(8, in_units=4), nn.Dropout(0.5), nn.Dense(2, in_units=8))
            net.initialize(device=place)
            trainer = gluon.Trainer(net.collect_params(), "sgd")
            def step(x):
                with autograd.record():
                    loss = (net(x) ** 2).mean()
                loss.backward()
                trainer.step(1)
                return loss
            if way == "hybrid":
                net.hybridize()
            x = np.ones((4, 4), ctx=place)
            return net, x, npx.jit(step) if way == "step" else step

        for way in ("eager", "hybrid", "step"):
            found = [trained(place, way) for place in places]
            losses = []
            for seed in range(3):
                for place, (net, x, step) in zip(places, found):
                    np.random.seed(seed)
                    loss, here = step(x), place or npx.cpu(0)
                    losses.append(loss.item())
                    assert loss.device == here, (way, place, loss.device)
                    assert net[0].weight.list_data()[0].device == here, (way, place)
                    assert net[0].weight.grad().device == here, (way, place)
                assert max(losses[-4:]) - min(losses[-4:]) < 1e-6, losses
                assert np.random.normal(size=2).device == npx.cpu(0)
        rng = np.random.default_rng(0)
        add = npx.jit(lambda x: x + rng.normal(size=4))
        for place in (npx.cpu(1), mesh("data"), npx.cpu(1), npx.cpu(0), npx.cpu(1), mesh("data")):
            assert add(np.zeros(4, ctx=place)).device == place
        draw = npx.jit(lambda: np.random.normal(size=16))
        for place in (npx.cpu(1), mesh("data"), npx.cpu(0), npx.cpu(1), mesh("data"), npx.cpu(1)):
            np.random.seed(1)
            with place:
                compiled = draw()
                np.random.seed(1)
                eager = np.random.normal(size=16)
            assert compiled.device == eager.device == place, (place, compiled.device)
            assert abs(compiled.asnumpy() - eager.asnumpy()).max() < 1e-6
        assert draw().device == npx.cpu(0)
    """,
    "batches are split over devices": """
        parts = gluon.utils.split_and_load(np.arange(4.0), [npx.cpu(0), npx.cpu(1)])
        assert [p.device for p in parts] == [npx.cpu(0), npx.cpu(1)]
        assert [p.tolist() for p in parts] == [[0, 1], [2, 3]]
    """,
    "networks of the zoo are placed": """
        net = gluon.model_zoo.vision.squeezenet1_1(ctx=npx.cpu(1))
        net.initialize()
        assert {p.list_ctx()[0] for p in net.collect_params().values()} == {npx.cpu(1)}
    """,
    "gradients move with what a compiled function moves to a mesh": """
        mesh = npx.Mesh(data=2)
        for backend in ("auto", "jax"):
            with npx.backend(backend):
                used, other = np.arange(4.0), np.ones(4)
                used.attach_grad()
                other.attach_grad("add")
                with autograd.record():
                    loss = (other * 3).sum()
                loss.backward()
                assert other.grad.device == npx.cpu(0)

                @npx.jit
                def step(x):
                    with autograd.record():
                        loss = (used * x).sum()
                    loss.backward()
                    return loss + other.sum()

                for _ in range(2):
                    assert step(npx.shard(np.ones(4), mesh, "data")).item() == 10
                    for array in (used, used.grad, other, other.grad):
                        assert array.device == mesh(), (backend, array.device)
                    assert used.grad.tolist() == [1] * 4 and other.grad.tolist() == [3] * 4
                other += other.grad
                assert other.device == mesh() and other.tolist() == [4] * 4
    """,
    "gradients come back": """
        for backend in ("auto", "jax"):
            with npx.backend(backend):
                x = np.arange(3.0)
                x.attach_grad()
                with autograd.record():
                    y = (x * 2).to_device(npx.cpu(1))
                    loss = (y * y).sum().to_device(npx.cpu(0)) + x.sum()
                loss.backward()
                assert x.grad.tolist() == [1, 9, 17] and x.grad.device == npx.cpu(0)
                with autograd.record():
                    y = (x * x * x).to_device(npx.cpu(1))
                    (first,) = autograd.grad(y, [x], create_graph=True)
                    total = first.sum()
                total.backward()
                assert x.grad.tolist() == [0, 6, 12]
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_two_devices(name):
    code = "from npcompat import autograd, gluon, np, npx\n" + textwrap.dedent(PROGRAMS[name])
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-3000:]
