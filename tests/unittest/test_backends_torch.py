"""The torch backend, the strict namespace, and torch's functions in programs; skipped without them."""

from pathlib import Path

import numpy as onp
import pytest
from internals import equations, registry

from npcompat import autograd, gluon, np, npx
from npcompat.testing import _levels
from npcompat.testing import backend as kit

PAGES = Path(__file__).parents[2] / "docs" / "backends"


@pytest.fixture(params=["torch", "array_api_strict"])
def name(request):
    pytest.importorskip(request.param)
    return request.param


@pytest.fixture
def torch():
    found = pytest.importorskip("torch")
    found.set_num_threads(1)
    return found


def test_equations_in_corners(name):
    plugin = registry.get(name)
    found = {n: equations.outcome(plugin, n) for n in equations.EQUATIONS}
    assert {n: text for n, text in found.items() if text != "right"} == {}


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_of_views_and_writes(name, seed):
    with npx.backend(name):
        assert _levels.random_program(seed) == "right"


def test_the_page_says_what_the_engine_has(name):
    written = (PAGES / f"{name}.md").read_text()
    header = kit.page(name, {}).partition("| checks |")[0]
    assert written.startswith(header), "write it again: python -m npcompat.testing.backend --page"


def test_the_kit_tells_that_a_backend_can_not_be_used(capsys):
    assert kit.main(["no_such"]) == 2
    assert "expected one of" in capsys.readouterr().err


def test_a_part_is_written_in_place_where_nobody_else_holds_the_whole(torch):
    with npx.backend("torch"):
        x = np.zeros((500, 500))
        where = x._value.payload.data.data_ptr()
        x[2:5, 3:9] = 1.0
        assert x._value.payload.data.data_ptr() == where
        held = x.copy()
        view = x[100:400]
        seen = view + 0
        x[2:5, 3:9] = 2.0
        assert held[2, 3] == 1 and x[2, 3] == 2 and seen.shape == (300, 500)
        kept = x._value
        x[0, 0] = 5.0
        assert kept.payload.data[0, 0] == 0 and x[0, 0] == 5


def test_unsigned_integers_wrap_and_compare_as_numpys(torch):
    a = onp.array([0, 1, 2**63, 2**64 - 1], "uint64")
    b = onp.array([3, 2**64 - 2, 7, 2**63], "uint64")
    with npx.backend("torch"):
        x, y = np.array(a), np.array(b)
        for f in (np.add, np.multiply, np.maximum, np.less, np.floor_divide, np.remainder):
            theirs = getattr(onp, f.__name__)(a, b)
            assert f(x, y).tolist() == theirs.tolist(), f.__name__
        assert x.astype("float64").tolist() == a.astype("float64").tolist()
        small = np.array(onp.array([65535, 1], "uint16"))
        assert (small + small).tolist() == [65534, 2]


def test_memory_is_shared_by_dlpack(torch):
    with npx.backend("torch"):
        x = np.array([1.0, 2.0])
    tensor = torch.from_dlpack(x)
    assert tensor.tolist() == [1.0, 2.0]
    assert tensor.data_ptr() == x._value.payload.data.data_ptr()


@pytest.mark.parametrize("placement", ["numpy", "jax", "torch"])
def test_a_function_of_tensors_with_torchs_own_derivative(torch, placement):
    swish = npx.Custom(
        lambda x, y: torch.nn.functional.silu(x) * y, lambda x, y: x, lambda x, y: x, "torch"
    )
    a, b = onp.array([0.5, -1.0], "float32"), onp.array([2.0, 3.0], "float32")
    s = 1 / (1 + onp.exp(-a))
    with npx.backend(placement):
        x, y = np.array(a), np.array(b)
        x.attach_grad()
        y.attach_grad()
        for f in (swish, npx.jit(lambda x, y: swish(x, y) * 1)):
            with autograd.record():
                z = f(x, y)
            z.backward()
            onp.testing.assert_allclose(z.asnumpy(), a * s * b, rtol=1e-5)
            onp.testing.assert_allclose(x.grad.asnumpy(), b * (s + a * s * (1 - s)), rtol=1e-5)
            onp.testing.assert_allclose(y.grad.asnumpy(), a * s, rtol=1e-5)


def test_a_function_of_tensors_that_returns_none(torch):
    wrong = npx.Custom(lambda x: None, lambda x: x, lambda x: x, "torch")
    with pytest.raises(TypeError, match="expected a tensor, got NoneType"):
        wrong(np.ones(2))


@pytest.mark.usefixtures("torch")
def test_the_environment_says_whether_torch_compiles(monkeypatch):
    TorchEngine = type(registry.get("torch").engine)
    assert not TorchEngine().compiles
    monkeypatch.setenv("NPCOMPAT_TORCH_COMPILE", "1")
    assert TorchEngine().compiles
    assert not TorchEngine(compiled=False).compiles
    monkeypatch.setenv("NPCOMPAT_TORCH_COMPILE", "yes")
    with pytest.raises(ValueError, match="NPCOMPAT_TORCH_COMPILE: expected 0 or 1, got 'yes'"):
        TorchEngine()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in torch itself, as it is imported
def test_a_training_step_compiled_by_torch_is_that_which_is_interpreted(torch):
    def losses(compiled):
        engine = registry.get("torch").engine
        compiled, engine.compiles = engine.compiles, compiled
        try:
            with npx.backend("torch", fallback="error"):
                np.random.seed(1)
                net = gluon.nn.Dense(4, in_units=8)
                net.initialize()
                trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
                x, y = np.random.normal(size=(16, 8)), np.random.normal(size=(16, 4))

                @npx.jit
                def step(x, y):
                    with autograd.record():
                        loss = ((net(x) - y) ** 2).mean()
                    loss.backward()
                    trainer.step(1)
                    return loss

                return [float(step(x, y)) for _ in range(4)]
        finally:
            engine.compiles = compiled

    expected = losses(False)
    assert expected[-1] < expected[0]
    onp.testing.assert_allclose(losses(True), expected, rtol=1e-5)
