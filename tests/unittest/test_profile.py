"""`npx.profile`: the time and the memory of operators."""

import json
import os

import numpy as onp
import pytest
from internals import modes

from npcompat import autograd, gluon, np, npx
from npcompat.gluon import nn

BACKENDS = ("numpy", "jax")


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_operator_is_measured(backend):
    with npx.backend(backend):
        a = np.ones((100, 100))
        with npx.profile() as found:
            b = a @ a
            c = b + 1
            d = c.sum(axis=0)
    names = [c.name for c in found.calls]
    assert names == ["matmul", "add", "sum"]
    assert [c.bytes for c in found.calls] == [40000, 40000, 400] and [
        c.live for c in found.calls
    ] == [40000, 80000, 80400]
    assert found.calls[0].types == ("float32[100,100]",) * 2 and found.calls[2].types == (
        "float32[100,100]",
    )
    assert {c.where for c in found.calls} == {"host" if backend == "numpy" else "xla"}
    assert all(c.seconds > 0 and c.location.startswith(__file__) for c in found.calls)
    assert [c.call for c in found.calls] == ["__matmul__", "__add__", "sum"]
    starts = [c.start for c in found.calls]
    assert starts == sorted(starts) and all(
        s + c.seconds <= e for s, c, e in zip(starts, found.calls, starts[1:], strict=False)
    )
    assert d[0] == 10100


@pytest.mark.parametrize("backend", BACKENDS)
def test_memory_is_followed_until_it_is_free(backend):
    with npx.backend(backend):
        a = np.ones(1000)
        with npx.profile() as found:
            for _ in range(4):
                a = a + 1
            b = a * 2
            del a
            c = b * 2
    assert [c.live for c in found.calls] == [
        4000,
        8000,
        8000,
        8000,
        8000,
        8000,
    ] and found.peak == 8000
    assert c[0] == 20


def test_writing_into_arrays_takes_no_memory():
    def program(a):
        a += 1
        a[2] = 5
        a[10:] = a[:-10]
        np.multiply(a, 2, out=a)
        a[a > 3] = 0
        return a

    expected = program(np.ones(1000)).asnumpy()
    for backend in BACKENDS:
        with npx.backend(backend):
            a = np.ones(1000)
            program(np.ones(1000))
            with npx.profile() as found:
                program(a)
        onp.testing.assert_array_equal(a.asnumpy(), expected)
        assert found.peak <= 4000 + 1000 + 4000, backend  # the mask, and on XLA what is written
    with npx.backend("numpy"):
        a = np.ones(1000)
        payload = id(a._value.payload)
        with npx.profile() as found:
            program(a)
        assert id(a._value.payload) == payload
        assert [c.name for c in found.calls if c.name.endswith(("in place", "assignment"))] == [
            "add in place", "assignment", "assignment", "multiply in place", "assignment",
        ]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "jax"])
def test_what_is_compiled_runs_as_one_program(backend):
    state = np.zeros(1000)

    @npx.jit
    def f(x):
        state[...] += x
        return (x * 2).sum()

    with npx.backend(backend):
        x = np.ones(1000)
        with npx.profile() as found:
            f(x)
            f(x)
    assert [c.name for c in found.calls] == ["f", "f"] and state[0] == 2
    assert found.calls[0].compiling > 0 and found.calls[1].compiling == 0
    assert found.calls[1].bytes == 4  # the state is overwritten
    assert "f" in [name for name, _, _ in found.compilations]


def test_what_is_compiled_can_be_taken_apart():
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu", in_units=3), nn.Dense(2, in_units=4))
    net.initialize()
    net.hybridize()
    x = np.ones((5, 3))
    expected = net(x)
    with npx.profile(compiled=False) as found:
        y = net(x)
    assert [c.name for c in found.calls] == ["fully_connected", "relu", "fully_connected"]
    onp.testing.assert_allclose(y, expected, rtol=1e-6)
    with npx.profile() as found:
        net(x)
    assert [c.name for c in found.calls] == ["HybridSequential"]


def test_backward_is_measured():
    with npx.backend("jax"):
        a = np.ones((20, 20))
        a.attach_grad()
        with npx.profile() as found:
            with autograd.record():
                b = np.tanh(a @ a).sum()
            b.backward()
    assert [c.name for c in found.calls[:3]] == ["matmul", "tanh", "sum"]
    assert [c.name for c in found.calls if c.name.endswith("pullback")] == [
        "sum_pullback",
        "tanh_pullback",
        "matmul_pullback",
    ]
    assert {c.call for c in found.calls[3:]} == {"backward"}
    with npx.backend("numpy"):
        a = np.ones((20, 20))
        a.attach_grad()
        for _ in range(
            2
        ):  # a graph of a new kind may be walked node by node, after many that did not come again
            with npx.profile() as found:
                with autograd.record():
                    b = np.tanh(a @ a).sum()
                b.backward()
    assert "backward" in [c.name for c in found.calls]


def test_a_training_step_is_measured_in_all_modes():
    def trained(compiled):
        np.random.seed(1)
        net = nn.Dense(2, in_units=3)
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})

        def step(x):
            with autograd.record():
                loss = (net(x) ** 2).sum()
            loss.backward()
            trainer.step(4)
            return loss

        run = npx.jit(step) if compiled else step
        x = np.random.normal(size=(4, 3))
        with npx.profile() as found:
            losses = [run(x).item() for _ in range(3)]
        return losses, [c.name for c in found.calls]

    eager, compiled = trained(False), trained(True)
    assert eager[0] == pytest.approx(compiled[0], rel=1e-5)
    assert eager[1].count("optimizer_step") == 3 and "step" not in eager[1]
    assert compiled[1] == ["step"] * 3


def test_the_table():
    with npx.backend("numpy"):
        a = np.ones(1000)
        with npx.profile() as found:
            for _ in range(5):
                a = np.sqrt(a)
            a.sum()
    lines = str(found).splitlines()
    assert lines[0].split() == ["operator", "calls", "time", "share", "each", "compiling", "memory"]
    assert {line.split()[0] for line in lines[2:4]} == {"sqrt", "sum"}
    sqrt = next(line for line in lines if line.startswith("sqrt")).split()
    assert sqrt[1] == "5" and sqrt[-2:] == ["20.0", "kB"]
    assert " in 6 calls, " in lines[-1] and lines[-1].endswith("at most 8.0 kB at a time")
    with npx.profile() as found:
        pass
    assert str(found) == "nothing was called" and found.peak == 0


def test_the_trace_is_of_chromes_format(tmp_path):
    with npx.backend("jax"):
        with npx.profile() as found:
            a = np.ones(37)
            b = a * 2 + 1
        path = tmp_path / "trace.json"
        found.save(path)
        b.tolist()
    with open(path) as file:
        trace = json.load(file)
    assert set(trace) == {"traceEvents", "displayTimeUnit"}
    events = trace["traceEvents"]
    assert events[0]["ph"] == "M" and events[0]["args"] == {"name": "npcompat"}
    assert all(
        isinstance(e["pid"], int) and isinstance(e["tid"], int) and isinstance(e["name"], str)
        for e in events
    )
    assert {e["pid"] for e in events} == {os.getpid()}
    slices = [e for e in events if e["ph"] == "X"]
    assert all(e["ts"] >= 0 and e["dur"] >= 0 for e in slices)
    calls = [e for e in slices if e["cat"] == "xla"]
    assert [e["name"] for e in calls][-2:] == ["multiply", "add"]
    assert calls[-1]["args"]["types"][0] == "float32[37]" and calls[-1]["args"]["bytes"] == 148
    assert calls[-1]["args"]["line"].startswith(__file__) and calls[-1]["args"]["call"] == "__add__"
    compilations = [e for e in slices if e["cat"] == "compilation"]
    assert {"compiling multiply", "compiling add"} <= {e["name"] for e in compilations}
    added = next(e for e in compilations if e["name"] == "compiling add")
    assert (
        calls[-1]["ts"] <= added["ts"] + 1
        and added["ts"] + added["dur"] <= calls[-1]["ts"] + calls[-1]["dur"] + 1
    )
    assert [e["args"]["bytes"] for e in events if e["ph"] == "C"][-1] == found.calls[-1].live
    times = [e["ts"] for e in events if "ts" in e]
    assert times == sorted(times)


def test_hooks_audits_and_profiles_within_each_other():
    net = nn.Dense(2, in_units=3)
    net.initialize()
    seen = []
    net.register_op_hook(lambda name, operator, array: seen.append(operator))
    x = np.arange(6).reshape(2, 3)
    with npx.profile() as outer, npx.audit("cast") as events, npx.profile() as inner:
        net(x)
        a = np.ones(3)
        a += 1
    assert seen == ["_npi_reshape", "_npx_fully_connected"] and len(events) == 1
    names = [c.name for c in inner.calls]
    assert (
        names == [c.name for c in outer.calls]
        and names[:2] == ["reshape", "fully_connected"]
        and len(names) >= 3
    )
    assert modes.current().is_default and modes.current().observer is None


def test_an_error_passes():
    with (
        npx.backend("jax"),
        npx.profile() as found,
        pytest.raises(ValueError, match="could not be broadcast"),
    ):
        np.ones(3) + np.ones(4)
    assert [c.name for c in found.calls if c.name == "add"] == []
    assert modes.current().observer is None
