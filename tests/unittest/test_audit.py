"""`npx.audit`: what happens that a program does not say, with the user's line."""

import importlib
import threading
from pathlib import Path

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx, optimizer
from npcompat._internal.core import modes
from npcompat._internal.dispatch import writes
from npcompat._internal.observe import value_readers
from npcompat._internal.support.errors import AuditError
from npcompat._internal.support.text_table import amount, duration, table
from npcompat.gluon import nn


def found(backend, program, *kinds):
    """Kind, call and description of what is found in a program."""
    with npx.backend(backend), npx.audit(*kinds) as events:
        program()
    return [(e.kind, e.call, e.what) for e in events]


def test_operands_that_are_cast_because_of_others():
    def program():
        a, b = np.ones(3), np.arange(3)
        a + b
        a + a.astype("float64")
        np.sqrt(b), b / (b + 1), b.mean(), a + 1, a * np.ones(1, dtype="float64")[0]

    casts = [
        ("cast", "__add__", "add: int64[3] to float32"),
        ("cast", "__add__", "add: float32[3] to float64"),
    ]
    casts.append(("cast", "__mul__", "multiply: float32[3] to float64"))
    assert found("numpy", program, "cast") == casts
    assert found("jax", program, "cast") == casts
    with npx.np_default_dtype():
        assert found("numpy", program, "cast") == [("cast", "__add__", "add: int64[3] to float64")]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_assigned_values_that_are_cast(backend):
    def program():
        a, b = np.zeros((2, 3)), np.arange(3)
        a[0] = b
        a[1] += b
        np.add(b, b, out=a[0])
        a[:, 0] = 2
        a[a > 1] = b[0]
        a[[0, 1]] = b
        a[1] = np.ones(3)

    whats = [what for _, _, what in found(backend, program, "cast")]
    assert "assignment: int64[3] to float32" in whats and "add: int64[3] to float32" in whats
    assert all("int64" in what for what in whats) and len(whats) >= 3


def test_casts_in_compiled_functions_are_found_when_they_are_compiled():
    f = npx.jit(lambda x: (x + np.arange(3)).sum())

    def program():
        f(np.ones(3))
        f(np.ones(3))

    assert found("jax", program, "cast") == [("cast", "__add__", "add: int64[3] to float32")]


def test_reading_is_asked_for_or_not():
    with npx.backend("jax"):
        a = np.arange(4.0)
        total = a.sum()
        with npx.audit("sync") as events:
            (
                total.item(),
                float(total),
                int(total),
                a.tolist(),
                repr(a),
                f"{total:.1f}",
                a.asnumpy(),
                a.wait_to_read(),
                npx.waitall(),
            )
            asked = len(events)
            bool(total), onp.asarray(a), list(a), a[0] in a
    assert asked >= 9 and all(e.asked for e in events[:asked])
    assert {e.call for e in events[:asked]} >= {
        "item",
        "__float__",
        "__int__",
        "tolist",
        "__repr__",
        "asnumpy",
        "wait_to_read",
        "waitall",
    }
    assert not any(e.asked for e in events[asked:])
    exported = "export" if npx.build_info()["native"] else "__array__"
    assert [e.call for e in events[asked:]][:2] == ["__bool__", exported]
    assert events[0].bytes == 4 and events[0].seconds > 0


class Model:
    """A user's class whose methods are named as functions of npcompat that read values."""

    def __init__(self):
        with npx.backend("jax"):
            self.state = np.arange(4.0)

    def update(self):
        return self.state[self.state > 1]

    def save(self):
        return bool(self.state.sum() > 1)


def test_users_functions_are_not_known_by_their_names():
    model = Model()
    with npx.audit("sync", "fallback") as events:
        model.update()
        model.save()
    assert {(e.kind, e.call, e.asked) for e in events} == {
        ("fallback", "__getitem__", False),
        ("sync", "__bool__", False),
    }
    assert all(e.location.startswith(__file__) for e in events)


def test_functions_of_npcompat_are_not_known_by_their_names():
    codes = [f.update.__code__ for f in (gluon.metric.MAE, gluon.metric.F1)]
    assert all(code in value_readers.EXPLICIT for code in codes)
    codes = [f.update.__code__ for f in (gluon.Trainer, optimizer.Optimizer, writes, Model)]
    assert not any(code in value_readers.EXPLICIT for code in codes)


def test_metrics_and_saving_read_on_purpose(tmp_path):
    with npx.backend("jax"):
        a, metric = np.arange(4.0), gluon.metric.MAE()
        with npx.audit("sync", "fallback") as events:
            metric.update([a], [a])
            np.save(tmp_path / "a.npy", a)
            npx.save(tmp_path / "b.npz", {"a": a})
    assert {e.call for e in events if e.kind == "sync" and e.asked} >= {"update", "save"}


@pytest.mark.parametrize("functions", [value_readers.EXPLICIT, value_readers.IMPLICIT])
def test_functions_that_read_values_exist(functions):
    for module in functions._functions:
        importlib.import_module(module)
    assert functions.missing() == []
    assert functions._look_up() is None and not functions._waiting


def test_what_is_on_the_host_needs_not_be_waited_for():
    def program():
        a = np.arange(4.0)
        bool(a.sum()), a.tolist(), a[a > 1], np.unique(a), np.nonzero(a)

    assert found("numpy", program) == []


def test_functions_that_compute_on_the_host_are_fallbacks():
    def program():
        a = np.arange(4.0)
        mask = a > 1
        a[mask]
        np.unique(a)

    assert {(kind, call) for kind, call, _ in found("jax", program, "fallback")} == {
        ("fallback", "__getitem__"),
        ("fallback", "unique"),
    }


def test_an_operator_that_the_host_lacks_is_a_fallback():
    def program():
        npx.betainc(np.ones(3), np.ones(3), np.zeros(3))
        np.ones(3) + np.ones(3)

    assert found("numpy", program, "fallback") == [
        ("fallback", "betainc", "betainc is computed by XLA: float32[3]")
    ]


def test_copies_of_what_is_held_elsewhere():
    def shared():
        a = np.zeros(100)
        held = a.detach()
        a[3] = 1
        a[4] = 1
        return held

    for backend in ("numpy", "jax"):
        with npx.backend(backend), npx.audit("copy") as events:
            held = shared()
        assert [(e.call, e.bytes) for e in events] == [("__setitem__", 400)], backend
        assert held[3] == 0


def test_copies_in_front_of_compiled_functions():
    with npx.backend("jax"):
        state = np.zeros(100)

        @npx.jit
        def step():
            state[...] += 1

        step()
        with npx.audit("copy") as events:
            step()
            held = state._value.payload
            step()
    assert [(e.call, e.what) for e in events] == [
        ("__call__", "held elsewhere, when a compiled function overwrites it: float32[100]")
    ]
    assert float(held[0]) == 2 and state[0] == 3


def test_transfers_of_operands():
    f = npx.jit(lambda x: x + 1)
    a = np.ones(3)

    def program():
        f(a)

    with npx.backend("auto"), npx.audit("transfer") as events:
        host = np.ones(3) if npx.current_backend() == "auto" else a
        f(host)
    assert {(e.what, e.asked) for e in events} == {("operand of <lambda>: float32[3]", True)}
    with npx.backend("jax"):
        x = np.ones(3)
        with npx.audit("transfer") as events:
            x + onp.ones(3, "float32")
    assert [(e.what, e.asked) for e in events] == [
        ("operand that is no array of npcompat: float32[3]", False)
    ]


def test_compilations_have_reasons_and_times():
    f = npx.jit(lambda x: x * 3)
    f.name = "f"
    with npx.backend("jax"), npx.audit("compilation") as events:
        f(np.ones(3))
        f(np.ones(3))
        f(np.ones(4))
    named = [e for e in events if e.what.startswith("f(")]
    assert [e.what for e in named] == [
        "f(float32[3]): first call",
        "f(float32[4]): argument 0: shape (3,) became (4,)",
    ]
    assert all(0 < e.seconds < 60 and e.location.startswith(__file__) for e in named)


def test_gradients_are_compiled_too():
    with npx.backend("jax"):
        x = np.ones(5)
        x.attach_grad()
        with npx.audit("compilation") as events:
            with autograd.record():
                y = npx.gelu(x * 1.25).sum()
            y.backward()
    assert "multiply_pullback, no operator" in [e.what for e in events if e.call == "backward"]


def test_lines_are_the_users():
    with npx.backend("jax"), npx.audit("cast") as events:
        np.ones(3) + np.arange(3)
        np.ones(3) - np.arange(3)
    first, second = [e.location.rpartition(":") for e in events]
    assert first[0] == second[0] == __file__ and int(second[2]) == int(first[2]) + 1
    assert "np.ones(3) + np.arange(3)" in Path(__file__).read_text().splitlines()[int(first[2]) - 1]


def test_strict_raises_before_it_happens():
    with npx.backend("jax"):
        a, b = np.arange(4.0), np.arange(4)
        with (
            pytest.raises(
                AuditError, match=r"test_audit.py:\d+: cast in __add__: add: int64\[4\] to float32"
            ),
            npx.audit(strict=True),
        ):
            a + b
        f, total = npx.jit(lambda x: x * 1.5), a.sum()
        with (
            pytest.raises(
                AuditError, match=r"compilation in __call__: <lambda>\(float32\[4\]\): first call"
            ),
            npx.audit(strict=True),
        ):
            f(a)
        assert f(a).tolist() == f(a).tolist() == [0, 1.5, 3, 4.5]
        with npx.audit(strict=True) as events:
            assert f(a).tolist()[-1] == 4.5
        assert [e.kind for e in events] == ["sync"]
        with (
            pytest.raises(AuditError, match="sync in __bool__: values are read"),
            npx.audit("sync", strict=True),
        ):
            bool(total)
        held = a._value
        with pytest.raises(AuditError, match="copy in __setitem__"), npx.audit("copy", strict=True):
            a[0] = 5
        assert a.tolist() == [0, 1, 2, 3] and held is a._value


def test_a_refused_compilation_leaves_states_as_they_were():
    with npx.backend("jax"):
        state = np.zeros(2)

        @npx.jit
        def add(x):
            state[...] += x
            return state * 2

        with pytest.raises(AuditError), npx.audit(strict=True):
            add(np.ones(2))
        assert state.tolist() == [0, 0] and modes.current().trace is None
        assert add(np.ones(2)).tolist() == [2, 2] and state.tolist() == [1, 1]


def test_kinds_are_checked():
    with (
        pytest.raises(
            ValueError, match="audit: unknown kind 'copies'; expected some of fallback, sync"
        ),
        npx.audit("copy", "copies"),
    ):
        pass


def test_audits_within_each_other():
    with npx.backend("jax"), npx.audit() as outer, npx.audit("cast", "sync") as inner:
        bool((np.ones(3) + np.arange(3)).sum())
    assert [e.kind for e in inner] == ["cast", "sync"]
    assert [e.kind for e in outer if e.kind != "compilation"] == ["cast", "sync"]
    before = len(inner)
    with npx.backend("jax"):
        bool(np.ones(3).sum())
    assert len(inner) == before and modes.current().audit is None and modes.current().is_default


def test_hooks_and_audits_see_the_same_operators():
    net = nn.Dense(2, in_units=3)
    net.initialize()
    seen = []
    net.register_op_hook(lambda name, operator, array: seen.append(operator))
    x = np.arange(6).reshape(2, 3)
    with npx.audit("cast") as events:
        net(x)
    assert seen and [e.what for e in events] == ["fully_connected: int64[2,3] to float32"]


def test_what_other_threads_do_is_theirs():
    def program():
        with npx.backend("jax"):
            bool(np.ones(3).sum())

    with npx.audit() as events:
        thread = threading.Thread(target=program)
        thread.start()
        thread.join()
    assert events == []


def test_results_are_the_same():
    def program(rounds=3):
        np.random.seed(3)
        net = nn.HybridSequential()
        net.add(
            nn.Dense(4, activation="tanh", in_units=2),
            nn.BatchNorm(in_channels=4),
            nn.Dropout(0.5),
            nn.Dense(1, in_units=4),
        )
        net.initialize()
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "adam")
        x = np.random.normal(size=(8, 2))
        state = np.zeros((8, 1))
        for _ in range(rounds):
            with autograd.record():
                y = net(x)
                loss = (y**2).sum()
            loss.backward()
            trainer.step(8)
            state[2:5] += y[2:5]
            state[state > 1] = 0
            state[0] = y.mean()
        return state.asnumpy()

    for backend in ("auto", "jax", "numpy"):
        with npx.backend(backend):
            expected = program()
            with npx.audit():
                got = program()
        onp.testing.assert_array_equal(got, expected)


def test_the_table():
    with npx.backend("jax"), npx.audit("cast", "sync") as events:
        assert str(events) == "nothing was found"
        for _ in range(3):
            np.ones(300) + np.arange(300)
        np.ones(3).tolist()
    lines = str(events).splitlines()
    assert (
        lines[0].split() == ["kind", "times", "bytes", "time", "line", "call", "what"]
        and len(lines) == 4
    )
    assert lines[2].startswith("sync (asked for)") and lines[3].split()[:4] == [
        "cast",
        "3",
        "7.2",
        "kB",
    ]
    assert str(events[0]).endswith("cast in __add__: add: int64[300] to float32 (2.4 kB, 0.0 us)")


def test_amounts_and_durations():
    assert [amount(n) for n in (0, 999, 1500, 2.5e6, 3e9, 4e13)] == [
        "0 B",
        "999 B",
        "1.5 kB",
        "2.5 MB",
        "3.0 GB",
        "40.0 TB",
    ]
    assert [duration(s) for s in (0.0000025, 0.0025, 2.5)] == ["2.5 us", "2.50 ms", "2.50 s"]
    assert (
        table(("a", "bb"), [("x", "1"), ("yy", "100")], right=[1])
        == "a    bb\n--  ---\nx     1\nyy  100"
    )


@pytest.mark.parametrize("watched", [npx.audit, npx.profile])
def test_what_nothing_records_is_read_and_written_as_ever(watched):
    records = np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])
    texts = np.array(["x", "y"])
    with watched():
        records["a"] = 5
        texts[0] = "z"
        assert records["b"].tolist() == [2, 4] and records[["a"]].tolist() == [(5,), (5,)]
        assert records[0]["a"] == 5 and texts[:1].tolist() == ["z"] and texts[1] == "y"
