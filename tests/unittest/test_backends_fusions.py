"""Fewer equations with the same results: merged, joined, known beforehand, and written in place.

Each fusion is compared with the same program executed equation by equation.
"""

import jax
import jax.numpy as jnp
import numpy as onp
import pytest
from internals import normalise, registry, simplification
from jax import lax

from npcompat import autograd, gluon, np, npx

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
TorchEngine = type(registry.get("torch").engine)
ENGINES = {fuses: TorchEngine(fuses=fuses) for fuses in (True, False)}
(CPU,) = [d for d in ENGINES[True].devices() if d.kind == "cpu"]
CORNERS = onp.array([0.0, -0.0, 1.5, -2.0, onp.nan, onp.inf, -onp.inf, 3e38, -3e38, 1e-40])
X = CORNERS.astype("float32")
PAIRS = [a.ravel() for a in onp.meshgrid(X, X)]
M = onp.linspace(-2, 2, 12, dtype="float32").reshape(3, 4)
W = onp.linspace(-1, 3, 20, dtype="float32").reshape(5, 4)
B = onp.arange(5, dtype="float32")
N = onp.array([2**31 - 1, -(2**31), 7, -1], "int32")


def program_of(function, *arrays):
    avals = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
    made, _ = normalise.program_of("f", function, avals, TorchEngine.composites)
    return made


def names(function, *arrays):
    """Primitives of a program as torch's engine executes it."""
    fused = simplification.simplified(program_of(function, *arrays), ENGINES[True].fusions)
    return sorted(fused.primitives())


def runs(function, *arrays, donate=()):
    """Results of a program with fusions, and without."""
    found = []
    for engine in ENGINES.values():
        run = engine.program(program_of(function, *arrays), frozenset(donate), CPU)
        made = [engine.to_host(d, None) for d in run(*[engine.from_host(a, CPU) for a in arrays])]
        again = [engine.to_host(d, None) for d in run(*[engine.from_host(a, CPU) for a in arrays])]
        for one, other in zip(made, again, strict=True):
            onp.testing.assert_array_equal(one, other)
        found.append(made)
    return found


FUSIONS = {
    "a scaled sum": (lambda a, b: (a + b * 0.25,), PAIRS, "scaled_sum"),
    "a scaled difference": (lambda a, b: (a - b * 0.25,), PAIRS, "scaled_sum"),
    "two products": (lambda a, b: (a * 0.9 + b * 0.1,), PAIRS, "mul scaled_sum"),
    "a product that may overflow": (lambda a, b: (a + b * 2.0 + b * a,), PAIRS, "add add mul mul"),
    "a rectifier's derivative": (
        lambda a, b: (jnp.where(a > 1.5, b, 0.0),),
        PAIRS,
        "part_above",
    ),
    "a dense layer": (lambda x, w, b: (x @ w.T + b,), (M, W, B), "linear"),
    "a product with a transpose": (lambda x, w: (x @ w.T,), (M, W), "linear"),
    "nothing added": (lambda a: (a - 0.0, a * 1.0, a / 1.0), (X,), ""),
    "zero added before a number": (lambda a: (jnp.sqrt(a + 0.0) + 1.0,), (X,), "add sqrt"),
    "zero added before a comparison": (lambda a: (a + 0.0 < 1.0,), (X,), "lt"),
    "one operator twice": (lambda a: (jnp.exp(a) + 1, jnp.exp(a) * 2), (X,), "add exp mul"),
}


@pytest.mark.parametrize("name", FUSIONS)
def test_a_fusion_computes_what_its_equations_do(name):
    function, arrays, expected = FUSIONS[name]
    executed = [n for n in names(function, *arrays) if n not in ("broadcast", "reshape", "slice")]
    assert " ".join(executed) == expected
    fused, plain = runs(function, *arrays)
    for mine, theirs in zip(fused, plain, strict=True):
        assert mine.dtype == theirs.dtype
        if mine.dtype.kind == "b":
            onp.testing.assert_array_equal(mine, theirs)
            continue
        onp.testing.assert_array_equal(onp.isnan(mine), onp.isnan(theirs))
        onp.testing.assert_array_equal(onp.signbit(mine[mine == 0]), onp.signbit(theirs[mine == 0]))
        known = ~onp.isnan(mine)
        onp.testing.assert_allclose(mine[known], theirs[known], rtol=1e-6, atol=1e-44)


def test_the_sign_of_zero_is_kept_where_a_result_shows_it():
    assert names(lambda a: (a + 0.0,), X) == ["add"]
    assert names(lambda a: (1 / jnp.sqrt(a + 0.0),), X).count("add") == 1
    (found,), _ = runs(lambda a: (1 / (a + 0.0),), X)
    assert found[1] == onp.inf


def test_integers_and_halves_are_executed_one_by_one():
    assert names(lambda a: (a + a * 3,), N) == ["add", "mul"]
    assert names(lambda a: (a + a * 0.5,), M.astype("float16")) == ["add", "mul"]
    fused, plain = runs(lambda a: (a + a * 3, a * 1 - 0), N)
    for mine, theirs in zip(fused, plain, strict=True):
        onp.testing.assert_array_equal(mine, theirs)


def test_what_is_known_is_computed_once_and_never_written():
    def one_hot(labels):
        rows = lax.broadcasted_iota("int32", (4, 5), 1)
        zeros = jnp.zeros((4, 5), "float32") + 1.0
        return (zeros * (rows == labels[:, None]), zeros)

    labels = onp.array([0, 3, 1, 4], "int32")
    fused, _ = runs(one_hot, labels)
    onp.testing.assert_array_equal(fused[0], onp.eye(5, dtype="float32")[labels])
    engine = ENGINES[True]
    run = engine.program(program_of(one_hot, labels), frozenset(), CPU)
    first = run(engine.from_host(labels, CPU))
    first[1].fill_(9.0)  # a result is the caller's own
    assert run(engine.from_host(labels, CPU))[1].tolist() == onp.ones((4, 5)).tolist()


# --- writes in place ------------------------------------------------------------------------------


def step(weight, slope):
    return (weight * 0.5 - slope * 0.25 + 1.0,)


def test_only_what_may_be_written_is_written():
    engine = ENGINES[True]
    weight, slope = (engine.from_host(a, CPU) for a in (M, M[::-1]))
    kept = weight.data_ptr()
    (made,) = engine.program(program_of(step, M, M), frozenset(), CPU)(weight, slope)
    onp.testing.assert_array_equal(weight.numpy(), M)
    (again,) = engine.program(program_of(step, M, M), frozenset((0,)), CPU)(weight, slope)
    assert again.data_ptr() == kept
    onp.testing.assert_array_equal(again.numpy(), made.numpy())
    onp.testing.assert_array_equal(slope.numpy(), M[::-1])


STILL_READ = {
    "a part of it": lambda x: (lax.slice(x, (0, 0), (2, 4)), x * 2.0),
    "its transpose": lambda x: (x.T, x * 2.0 + 1.0),
    "a turned sum with itself": lambda x: (x[:, :3] * 1.5 + (x[:, :3] * 1.5).T,),
    "a part that is used later": lambda x: ((x * 2.0) * 3.0 + x[1],),
    "itself": lambda x: (x * 2.0, x),
    "what was made": lambda x: (
        (e := jnp.exp(x)),
        jnp.sin(jnp.cos(jnp.sin(jnp.abs(x)))) * 1.0,
        e * x,
    ),
    "a part of what was made": lambda x: ((y := x * 2.0) * 3.0, y[0] + 1.0),
    "a broadcast of a number": lambda x: ((s := x[0, 0] * 2.0) + 1.0, x * s),
    "an update of a part": lambda x: (x[:2], lax.dynamic_update_slice(x, x[:1] * 0, (0, 0))),
}


@pytest.mark.parametrize("name", STILL_READ)
def test_what_is_read_later_is_not_written(name):
    fused, plain = runs(STILL_READ[name], M, donate=(0,))
    for mine, theirs in zip(fused, plain, strict=True):
        onp.testing.assert_allclose(mine, theirs, rtol=1e-6)
    expected = STILL_READ[name](jnp.asarray(M))
    for mine, theirs in zip(fused, expected, strict=True):
        onp.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_what_is_donated_is_kept_if_the_program_raises():
    def refuses(x):
        raise ValueError("refused")

    def function(x, y):
        like = jax.ShapeDtypeStruct(M.shape, M.dtype)
        return x * 2.0, jax.pure_callback(refuses, like, y) + 1.0

    engine = ENGINES[True]
    run = engine.program(program_of(function, M, M), frozenset((0,)), CPU)
    x, y = engine.from_host(M, CPU), engine.from_host(M, CPU)
    with pytest.raises(Exception, match="refused"):
        run(x, y)
    onp.testing.assert_array_equal(x.numpy(), M)


@pytest.mark.parametrize("name", ["numpy", "torch", "array_api_strict"])
def test_a_part_of_a_state_that_is_returned_is_of_before_the_write(name):
    if name != "numpy":
        pytest.importorskip(name)
    with npx.backend(name):
        state = np.arange(6.0)

        @npx.jit
        def shift(x):
            old = state[1:4]
            kept = old + 0
            state[2] = x
            return kept, state[:3]

        for i in range(3):
            before = state.asnumpy()
            kept, after = shift(np.array(10.0 + i))
            assert kept.tolist() == before[1:4].tolist()
            assert after.tolist() == [*before[:2].tolist(), 10.0 + i]


@pytest.mark.parametrize("optimizer", ["adam", "sgd", "rmsprop"])
def test_a_training_step_with_fusions_is_that_without(optimizer, monkeypatch):
    losses = {}
    plugin = registry.get("torch")
    for fuses in ENGINES:
        monkeypatch.setattr(plugin, "engine", TorchEngine(fuses=fuses))
        with npx.backend("torch"):
            np.random.seed(1)
            net = gluon.nn.HybridSequential()
            net.add(gluon.nn.Dense(7, activation="relu"), gluon.nn.Dense(3))
            net.initialize()
            settings = {"learning_rate": 0.05, "wd": 0.01}
            settings |= {"momentum": 0.9} if optimizer == "sgd" else {}
            trainer = gluon.Trainer(net.collect_params(), optimizer, settings)
            loss = gluon.loss.SoftmaxCrossEntropyLoss()
            x, t = np.random.normal(size=(8, 5)), np.array([0, 1, 2, 0, 1, 2, 0, 1])

            @npx.jit
            def step(x, t, net=net, loss=loss, trainer=trainer):
                with autograd.record():
                    found = loss(net(x), t).mean()
                found.backward()
                trainer.step(1)
                return found

            losses[fuses] = [float(step(x, t)) for _ in range(10)]
    assert losses[True][-1] < losses[True][0]
    onp.testing.assert_allclose(losses[True], losses[False], rtol=1e-4)
