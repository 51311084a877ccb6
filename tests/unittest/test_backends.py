"""Backends that plug in: names, engines, what is refused, and what moves between backends."""

import contextlib
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import ClassVar

import array_api_compat.numpy as xp
import jax
import numpy as onp
import pytest
from internals import (
    BackendError,
    EngineArray,
    TracedValueError,
    UnsupportedDtypeError,
    registry,
)

from npcompat import autograd, backends, gluon, np, npx
from npcompat.testing import _levels

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "backends.md").read_text()


class Plain(backends.ArrayAPIEngine):
    """An engine over NumPy's arrays, with the standard's functions."""

    def __init__(self):
        super().__init__(xp, "plain")


class Small(Plain):
    """The same without some primitives."""

    rules: ClassVar = {k: v for k, v in Plain.rules.items() if k not in ("svd", "tanh", "take")}


class Placed(onp.ndarray):
    """Array that knows on which device of an engine it lies."""

    where = 0

    def __array_finalize__(self, made_of):
        self.where = getattr(made_of, "where", 0)


class Two(Plain):
    """An engine with two devices, which keeps programs with the device they were built for."""

    def __init__(self):
        super().__init__()
        self.built = []

    def devices(self):
        return tuple([backends.EngineDevice("gpu", i) for i in (0, 1)])

    def from_host(self, array, device):
        made = onp.array(array).view(Placed)
        made.where = 0 if device is None else device.index
        return made

    def to_host(self, data, dtype):
        return onp.array(data)

    def device_of(self, data):
        return self.devices()[data.where]

    def move(self, data, device):
        return self.from_host(data, device)

    def program(self, program, donate, device):
        self.built.append((program.name, device.index))
        run = super().program(program, donate, device)

        def call(*arrays):
            assert {a.where for a in arrays} <= {device.index}
            return [self.from_host(a, device) for a in run(*arrays)]

        return call


backends.register("two", Two)
backends.register("plain", Plain)
backends.register("other", Plain)
backends.register("small", Small)


def arrays(name, *values):
    with npx.backend(name):
        return [np.array(v) for v in values]


# --- names ----------------------------------------------------------------------------------------


def test_names_list_what_there_is_and_import_nothing():
    assert {"auto", "jax", "numpy", "torch", "cupy", "array_api_strict", "plain"} <= set(
        backends.names()
    )
    assert "cupy" not in sys.modules


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"backend: expected one of .*numpy.*plain.*got 'no_such'"):
        npx.backend("no_such")
    with pytest.raises(ValueError, match="got 'auto:no_such'"):
        npx.backend("auto:no_such")


def test_an_unknown_name_in_the_environment_is_refused_at_import():
    run = subprocess.run(
        [sys.executable, "-c", "import npcompat"],
        env={**os.environ, "NPCOMPAT_BACKEND": "no_such"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "NPCOMPAT_BACKEND='no_such': expected one of auto, jax, numpy" in run.stderr


@pytest.mark.parametrize("name", ["jax", "auto", "torch"])
def test_own_names_can_not_be_registered(name):
    with pytest.raises(ValueError, match="a backend of npcompat's own"):
        backends.register(name, Plain)


def test_a_name_is_an_identifier_and_a_factory_is_called():
    with pytest.raises(ValueError, match="an identifier, got 'a b'"):
        backends.register("a b", Plain)
    npx.backend("plain")
    with pytest.raises(ValueError, match="'plain' is in use"):
        backends.register("plain", Small)
    with pytest.raises(TypeError, match="a factory that can be called"):
        backends.register("fine", 3)


def test_each_device_of_an_engine_has_programs_of_its_own():
    found = []
    for i in (0, 1, 0):
        with npx.backend("two", device=f"gpu:{i}"):
            x = np.array([1.0, 2.0])
            y = np.exp(x) * x
            found.append((x.device.index, y.device.index))
    assert found == [(0, 0), (1, 1), (0, 0)]
    built = registry.get("two").engine.built
    assert len(built) == len(set(built)) and {i for _, i in built} == {0, 1}


def test_operands_on_two_devices_of_an_engine_are_refused():
    with npx.backend("two", device="gpu:0"):
        x = np.array([1.0, 2.0])
    with npx.backend("two", device="gpu:1"):
        y = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match=r"devices of the two backend, gpu\(0\) and gpu\(1\)"):
        x * y
    assert (x.to_device(y.device) * y).device.index == 1


class Entered(Plain):
    """An engine with a context, which says where it is entered."""

    def __init__(self):
        super().__init__()
        self.inside, self.asked = False, []

    @contextlib.contextmanager
    def context(self, device):
        self.inside = True
        yield
        self.inside = False

    def program(self, program, donate, device):
        self.asked.append(("built", self.inside))
        run = super().program(program, donate, device)

        def call(*arrays):
            self.asked.append(("run", self.inside))
            return run(*arrays)

        return call


backends.register("entered", Entered)


def test_the_context_of_an_engine_is_entered_where_programs_are_built_and_run():
    (x,) = arrays("entered", [1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = np.exp(x).sum()
    y.backward()
    asked = registry.get("entered").engine.asked
    assert {("built", True), ("run", True)} == set(asked)


@pytest.mark.parametrize("name", ["plain", "array_api_strict"])
def test_an_engine_over_numpy_warns_of_nothing(name):
    with npx.backend(name), warnings.catch_warnings():
        warnings.simplefilter("error")
        x = np.array([0.0, 1.0])
        assert np.log(x).tolist() == [-onp.inf, 0.0]
        x.attach_grad()
        with autograd.record():
            y = np.sqrt(x).sum()
        y.backward()
        assert x.grad.tolist() == [onp.inf, 0.5]
        known = npx.jit(lambda v: v + 1 / np.zeros(2))  # computed while the program is built
        assert known(x).tolist() == [onp.inf, onp.inf]


# --- engines that can't be used -------------------------------------------------------------------


def test_an_engine_with_another_vocabulary_is_refused():
    class Old(Plain):
        vocabulary = 0

    class New(Plain):
        vocabulary = 99

    backends.register("old", Old)
    with pytest.raises(BackendError, match="version 0 of the equations.*upgrade the package"):
        npx.backend("old")
    backends.register("new", New)
    with pytest.raises(BackendError, match="upgrade npcompat"):
        npx.backend("new")


def test_an_error_of_a_factory_is_reported():
    def broken():
        raise OSError("no driver")

    backends.register("broken", broken)
    with pytest.raises(BackendError, match="'broken' can't be used: .* OSError: no driver"):
        npx.backend("broken")


def test_the_missing_method_of_an_engine_is_named():
    backends.register("empty", dict)
    with pytest.raises(BackendError, match="lacks devices, dtypes, from_host"):
        npx.backend("empty")


def test_a_device_that_it_has_not():
    with pytest.raises(ValueError, match=r"device plain.gpu\(0\) does not exist"):
        npx.backend("plain", device="gpu:0")


def test_a_fallback_that_is_none():
    with pytest.raises(ValueError, match="fallback: expected error or xla, got 'host'"):
        npx.backend("plain", fallback="host")


# --- arrays ---------------------------------------------------------------------------------------


def test_arrays_are_the_engines_and_know_their_device():
    (x,) = arrays("plain", [1.0, 2.0])
    assert type(x._value.payload) is EngineArray
    assert repr(x.device) == "plain.cpu(0)"
    assert x.device == npx.cpu()
    assert (x + x)._value.payload.backend.name == "plain"


def test_a_dtype_that_it_has_not():
    with (
        npx.backend("plain"),
        pytest.raises(TypeError, match="plain backend has no dtype bfloat16"),
    ):
        np.ones(2, "bfloat16")
    (x,) = arrays("plain", [1.0, 2.0])
    with pytest.raises(TypeError, match="no dtype bfloat16"):
        x.astype("bfloat16")


def test_objects_and_dates_stay_on_the_host():
    with npx.backend("plain"):
        x = np.array(["a", "b"])
    assert type(x._value.payload) is onp.ndarray


def test_operands_of_two_plugins_are_refused():
    (x,), (y,) = arrays("plain", [1.0]), arrays("other", [2.0])
    with pytest.raises(TypeError, match="operands are on two backends, plain and other"):
        x + y


@pytest.mark.parametrize("name", ["numpy", "jax"])
def test_operands_of_the_host_and_of_xla_move(name):
    (x,), (y,) = arrays("plain", [1.0, 2.0]), arrays(name, [3.0, 4.0])
    for found in (x + y, y + x):
        assert found._value.payload.backend.name == "plain"
        onp.testing.assert_array_equal(found.asnumpy(), [4.0, 6.0])
    with npx.audit("transfer") as events:
        x + y
    assert [e.kind for e in events] == ["transfer"] * (1 + (name == "jax"))


def test_arrays_move_between_backends_and_gradients_move_back():
    (x,) = arrays("numpy", [1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x.to_device("plain.cpu(0)")
        z = (y * y).sum()
    z.backward()
    assert y._value.payload.backend.name == "plain"
    onp.testing.assert_array_equal(x.grad.asnumpy(), [2.0, 4.0])


def test_auto_places_small_things_on_the_host_and_compiled_ones_on_the_engine():
    with npx.backend("auto:plain"):
        x = np.array([1.0, 2.0])
        assert type(x._value.payload) is onp.ndarray
        assert type((x + 1)._value.payload) is onp.ndarray
        y = npx.jit(lambda v: v * 2)(x)
    assert y._value.payload.backend.name == "plain"


def test_views_and_writes_are_numpys():
    (x,) = arrays("plain", onp.arange(12.0).reshape(3, 4))
    expected = onp.arange(12.0).reshape(3, 4)
    view, theirs = x.T[1:, ::-1], expected.T[1:, ::-1]
    x[1] = 7
    expected[1] = 7
    view[0] = -1
    theirs[0] = -1
    x[x > 8] = 0
    expected[expected > 8] = 0
    onp.testing.assert_array_equal(x.asnumpy(), expected)
    onp.testing.assert_array_equal(view.asnumpy(), theirs)


def test_random_numbers_are_those_of_other_backends():
    drawn = []
    for name in ("numpy", "plain"):
        with npx.backend(name):
            np.random.seed(3)
            drawn.append(np.random.normal(size=5).asnumpy())
    onp.testing.assert_allclose(*drawn, rtol=1e-6)


# --- programs that can't be built -----------------------------------------------------------------

REFUSED = "tanh: the small backend has no primitive 'tanh'; call it on arrays of another backend"


def test_what_can_not_be_built_is_refused_eagerly_recorded_and_compiled():
    (x,) = arrays("small", [0.5, 1.0])
    with pytest.raises(NotImplementedError, match=REFUSED):
        np.tanh(x)
    x.attach_grad()
    with autograd.record(), pytest.raises(NotImplementedError, match=REFUSED):
        np.tanh(x)
    ran = []

    def whole(v):
        ran.append(1)
        return np.tanh(v * 2)

    with pytest.raises(NotImplementedError, match="the small backend has no primitive 'tanh'"):
        npx.jit(whole)(x)
    assert x.asnumpy().tolist() == [0.5, 1.0]
    with pytest.raises(NotImplementedError, match=REFUSED):  # cached, and still refused
        np.tanh(x)


def test_fallback_computes_and_differentiates_on_xla():
    fell = registry.get("small").fell_back
    fell.clear()
    with npx.backend("small", fallback="xla"):
        x = np.array([0.5, 1.0])
        x.attach_grad()
        with npx.audit("fallback") as events, autograd.record():
            y = np.tanh(x).sum()
        y.backward()
    assert ["tanh is computed by XLA" in e.what for e in events] == [True]
    assert events[0].location.startswith(__file__)
    onp.testing.assert_allclose(x.grad.asnumpy(), 1 - onp.tanh([0.5, 1.0]) ** 2, rtol=1e-6)
    assert fell["_npi_tanh"] == 1 and fell["_npi_tanh_pullback"] == 1


def test_a_strict_audit_refuses_a_fallback():
    with npx.backend("small", fallback="xla"):
        x = np.array([0.5])
        refused = pytest.raises(Exception, match=r"fallback in (tanh|__call__)")
        with refused, npx.audit("fallback", strict=True):
            np.tanh(x)


# --- compiled functions, blocks, files ------------------------------------------------------------


def test_a_compiled_step_trains_as_on_xla():
    losses = {}
    for name in ("jax", "plain"):
        with npx.backend(name):
            np.random.seed(1)
            net = gluon.nn.HybridSequential()
            net.add(gluon.nn.Dense(5, activation="relu"), gluon.nn.Dense(2))
            net.initialize()
            trainer = gluon.Trainer(net.collect_params(), "adam")
            loss = gluon.loss.SoftmaxCrossEntropyLoss()
            x, t = np.array(onp.eye(4, dtype="float32")), np.array([0, 1, 0, 1])

            @npx.jit
            def step(x, t, net=net, loss=loss, trainer=trainer):
                with autograd.record():
                    found = loss(net(x), t).mean()
                found.backward()
                trainer.step(1)
                return found

            losses[name] = [float(step(x, t)) for _ in range(4)]
            weight = next(iter(net.collect_params().values())).data()
    assert weight._value.payload.backend.name == "plain"
    onp.testing.assert_allclose(losses["plain"], losses["jax"], rtol=1e-5)


def test_parameters_saved_on_one_backend_are_loaded_on_another(tmp_path):
    file = str(tmp_path / "net.params")
    with npx.backend("jax"):
        net = gluon.nn.Dense(3, in_units=2)
        net.initialize()
        net.save_parameters(file)
        expected = net.weight.data().asnumpy()
    with npx.backend("plain"):
        again = gluon.nn.Dense(3, in_units=2)
        again.load_parameters(file)
        found = again.weight.data()
        again.save_parameters(file)
    assert found._value.payload.backend.name == "plain"
    onp.testing.assert_array_equal(found.asnumpy(), expected)
    net.load_parameters(file)
    onp.testing.assert_array_equal(net.weight.data().asnumpy(), expected)


def test_one_compiled_function_runs_on_two_backends():
    double = npx.jit(lambda v: v * 2)
    for name in ("plain", "jax", "other", "plain"):
        (x,) = arrays(name, [1.0, 2.0])
        assert double(x).asnumpy().tolist() == [2.0, 4.0]
        assert double(x).asnumpy().tolist() == [2.0, 4.0]


def test_a_captured_array_has_no_values_while_a_function_is_compiled():
    (state, x) = arrays("plain", [1.0, 2.0], [10.0, 20.0])

    def at_once(v):
        with jax.ensure_compile_time_eval():
            double = state * 2
        return v + double

    for function in (at_once, lambda v: v * np.array(onp.from_dlpack(state))):
        with pytest.raises(TracedValueError, match=f"{Path(__file__).name}.* compiled"):
            npx.jit(function)(x)
    add = npx.jit(lambda v: v + state)
    assert add(x).tolist() == [11.0, 22.0]
    state[0] = 5.0
    assert add(x).tolist() == [15.0, 22.0] and state.tolist() == [5.0, 2.0]


def test_jax_plugins_below_xla_are_named_by_jax():
    run = subprocess.run(
        [sys.executable, "-c", "from npcompat import np, npx; print(np.ones(2).device)"],
        env={**os.environ, "JAX_PLATFORMS": "cpu", "NPCOMPAT_BACKEND": "jax"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "cpu(0)"


# --- the kit --------------------------------------------------------------------------------------


def test_the_kit_tells_what_an_engine_lacks_from_what_it_raises():
    def failing(error):
        def check():
            raise error

        return _levels.checked("check", check)[1]

    assert failing(backends.UnsupportedError("svd")) == "missing: no primitive 'svd'"
    assert failing(UnsupportedDtypeError("no dtype int4")) == "missing: no dtype int4"
    assert failing(TypeError("must be a tensor")) == "raised: TypeError: must be a tensor"
    assert failing(NotImplementedError("for 'Half'")) == "raised: NotImplementedError: for 'Half'"


# --- an engine written by the page ----------------------------------------------------------------


def example():
    """The engine of docs/backends.md."""
    return re.search(r"```python\n(import array_api_compat.*?)```", PAGE, re.DOTALL).group(1)


def test_the_example_engine_is_short_and_runs():
    source = example()
    assert len(source.splitlines()) <= 65
    scope = {}
    exec(source, scope)
    backends.register("crate", scope["CrateEngine"])
    with npx.backend("crate"):
        x = np.array([[0.5, -0.2], [0.1, 0.3]])
        x.attach_grad()
        with autograd.record():
            y = np.tanh(x @ x).sum()
        y.backward()
    with npx.backend("numpy"):
        a = np.array([[0.5, -0.2], [0.1, 0.3]])
        a.attach_grad()
        with autograd.record():
            b = np.tanh(a @ a).sum()
        b.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), a.grad.asnumpy(), rtol=1e-5, atol=1e-7)


def test_a_package_outside_the_tree_passes_the_kit(tmp_path):
    (tmp_path / "crate_backend.py").write_text(example())
    (tmp_path / "crate_facts.py").write_text("FACTS = {'memory': 'numpy'}\n")
    info = tmp_path / "crate_backend-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: crate-backend\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(
        "[npcompat.backends]\ncrate = crate_backend:CrateEngine\n"
        "[npcompat.backend_facts]\ncrate = crate_facts:FACTS\n"
    )
    path = os.pathsep.join([str(ROOT), str(tmp_path), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path}
    listing = (
        "from npcompat import backends; import sys; assert 'crate' in backends.names();"
        "assert backends.facts('crate') == {'memory': 'numpy'}; assert 'crate_backend' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", listing], env=env, check=True)
    run = subprocess.run(
        [
            sys.executable, "-m", "npcompat.testing.backend", "crate", "--quick", "--json",
            "--programs", "5",
        ],
        env=env,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(run.stdout)
    assert found["counts"]["equations"] == {"right": 118, "missing": 0, "wrong": 0, "raised": 0}
    assert found["counts"]["memory"]["right"] == 5
