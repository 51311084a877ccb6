"""Large reductions, and the elementwise functions around them, are NumPy's on XLA's CPU compiler.

From 4,096 elements on XLA gives them to a library, for which the maximum of nan and a number is the
number, integers of 8 bits don't wrap around, and casts to a narrower float and back don't round.
"""

import random

import jax
import jax.export
import numpy as onp
import pytest
from internals import cpu_rewrites
from jax import lax

from npcompat import gluon, np, npx

N = 72
FLOATS = {
    "max": lambda np, a: np.max(a),
    "max of columns": lambda np, a: np.max(a * 2, axis=0),
    "min of rows": lambda np, a: np.min(a, axis=1),
    "amax with dimensions": lambda np, a: np.amax(a, axis=(0, 1), keepdims=True),
    "ptp": lambda np, a: np.ptp(a, axis=1),
    "sum of maximum": lambda np, a: np.maximum(a, 0).sum(),
    "mean of minimum": lambda np, a: np.minimum(a, a[::-1]).mean(axis=0),
    "sum of clip": lambda np, a: np.clip(a, -1, 1).sum(axis=1),
    "product": lambda np, a: (np.maximum(a @ a, 0) @ a).sum(axis=0),
    "short axis": lambda np, a: a.reshape(-1, 3).max(axis=1).reshape(N, -1).sum(axis=0),
    "norm": lambda np, a: np.linalg.norm(a, np.inf),
    "norms of columns": lambda np, a: np.linalg.norm(a, -np.inf, axis=0),
    "in a loop": lambda np, a: _largest(np, a),
}


def _largest(np, a):
    total = np.zeros(a.shape[0], a.dtype)
    for i in range(20):
        total = total + np.max(a * (i + 1), axis=1)
    return total


def _with_nan(dtype):
    a = onp.random.default_rng(0).normal(size=(N, N)).astype(dtype)
    a[3, 4], a[5, 5], a[6, 6], a[7, 7], a[7, 8] = onp.nan, onp.inf, -onp.inf, onp.inf, -onp.inf
    return a


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", FLOATS)
def test_nan_is_kept(name, dtype):
    if dtype == "float16" and "nor" in name:
        pytest.skip("NumPy has no linear algebra of float16")
    function, a = FLOATS[name], _with_nan(dtype)
    with onp.errstate(all="ignore"):
        expected = onp.asarray(function(onp, a))
    with npx.np_default_dtype():
        compiled = npx.jit(lambda a: function(np, a))(np.array(a))
        with npx.backend("jax"):
            eager = function(np, np.array(a))
    for got in (compiled, eager):
        tolerance = 1e-2 if dtype == "float16" else 1e-4
        assert got.dtype == expected.dtype
        onp.testing.assert_allclose(got.asnumpy(), expected, tolerance, tolerance)


def test_nan_is_kept_by_networks():
    a = _with_nan("float32")
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(64, activation="relu"), gluon.nn.Dense(3))
    net.initialize()
    net.hybridize()
    assert onp.isnan(net(np.array(a)).sum(axis=0).asnumpy()).all()
    pictures = np.array(a).reshape(1, 1, N, N)
    for size in (2, 24):  # by parts, and by windows
        pool = gluon.nn.MaxPool2D(size)
        pool.hybridize()
        assert onp.isnan(pool(pictures).asnumpy()[0, 0, 3 // size, 4 // size])
    assert onp.isnan(npx.jit(npx.softmax)(np.array(a)).asnumpy()[3]).all()


class Largest(gluon.HybridBlock):
    def forward(self, x):
        return np.maximum(x, 0).max(axis=1)


def test_nan_is_kept_by_exported_programs(tmp_path):
    net, a = Largest(), _with_nan("float32")
    net.hybridize()
    expected = net(np.array(a)).asnumpy()
    assert onp.isnan(expected).sum() == 1
    net.export(tmp_path / "net", dynamic_batch=True)
    program = jax.export.deserialize(bytearray((tmp_path / "net-0000.stablehlo").read_bytes()))
    (found,) = program.call({}, a)
    onp.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("combine", [lax.max, lax.min])
@pytest.mark.parametrize("start", ["neutral", "other"])
def test_reductions_of_any_kind(combine, dtype, start):
    a = (
        _with_nan("float32")
        if dtype == "float32"
        else onp.arange(N * N, dtype="uint8").reshape(N, N)
    )
    worst = {"float32": onp.inf, "uint8": 255}[dtype] if combine is lax.min else 0
    worst = -onp.inf if combine is lax.max and dtype == "float32" else worst
    first = onp.asarray(worst if start == "neutral" else 7, dtype)

    def reduced(a):
        return lax.reduce(a * 3, first, combine, (1,)), lax.reduce_window(
            a * 3, first, combine, (2, 24), (2, 24), "SAME"
        )

    got = jax.jit(cpu_rewrites.for_cpu(reduced))(a)
    of = {lax.max: onp.maximum, lax.min: onp.minimum}[combine]
    with onp.errstate(all="ignore"):
        tripled = (a * 3).astype(dtype)
    blocks = tripled.reshape(N // 2, 2, N // 24, 24)
    for mine, theirs in zip(got, (of.reduce(tripled, 1), of.reduce(blocks, (1, 3))), strict=True):
        onp.testing.assert_array_equal(mine, of(theirs, first))


INTEGERS = {
    "product": lambda np, a, b: (a * b).max(axis=0),
    "sum": lambda np, a, b: (a + b).min(axis=1),
    "negative": lambda np, a, b: (-a).max(),
    "power": lambda np, a, b: (a**2).max(axis=0),
    "mean": lambda np, a, b: (a * b).mean(axis=0),
    "variance": lambda np, a, b: (a + b).astype("float32").var(axis=1),
    "sum of floats": lambda np, a, b: np.sqrt(abs((a - b) / 2)).sum(axis=0),
    "another sign": lambda np, a, b: a.astype("uint8" if a.dtype == "int8" else "int8").max(axis=0),
}


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("name", INTEGERS)
def test_integers_of_8_bits_wrap_around(name, dtype):
    function, rng = INTEGERS[name], onp.random.default_rng(1)
    limits = onp.iinfo(dtype)
    a, b = rng.integers(limits.min, limits.max, (2, N, N), endpoint=True).astype(dtype)
    expected = function(onp, a, b)
    with npx.np_default_dtype():
        compiled = npx.jit(lambda a, b: function(np, a, b))(np.array(a), np.array(b))
        with npx.backend("jax"):
            eager = function(np, np.array(a), np.array(b))
    for got in (compiled, eager):
        assert got.dtype == expected.dtype
        onp.testing.assert_allclose(got.asnumpy(), expected, 1e-5)


@pytest.mark.parametrize(("wide", "narrow"), [("float64", "float32"), ("float32", "float16")])
@pytest.mark.parametrize("reduction", ["sum", "max"])
def test_casts_round(wide, narrow, reduction):
    def function(a):
        return getattr(abs(a - a.astype(narrow).astype(wide)), reduction)(axis=0)

    a = onp.random.default_rng(2).normal(size=(N, N)).astype(wide)
    with npx.np_default_dtype():
        got = npx.jit(function)(np.array(a)).asnumpy()
    onp.testing.assert_allclose(got, function(a), 1e-3)


ONE = [
    "abs({})", "(-{})", "np.sqrt(abs({}))", "np.floor({})", "np.rint({})", "np.sign({})",
    "np.tanh({})", "np.maximum({}, 0.5)", "np.minimum({}, 0.5)", "np.clip({}, -1, 1)",
    "np.where({} > 0, {}, 0)", "{}.astype('float32')", "{}.astype('float64')",
    "np.clip(np.nan_to_num({}), -99, 99).astype('int8')", "{}.T", "{}[::-1]", "({} * 3)",
    "{}[:, :1]", "np.exp(-abs({}))", "({} / 3)",
]  # fmt: skip
TWO = ["({} + {})", "({} - {})", "({} * {})", "np.maximum({}, {})", "np.minimum({}, {})"]
LAST = ["max", "min", "sum", "mean", "any", "std"]


def _expression(rng, depth):
    if depth == 0:
        return rng.choice("abu")
    if rng.random() < 0.3:
        return rng.choice(TWO).format(_expression(rng, depth - 1), _expression(rng, depth - 1))
    return rng.choice(ONE).replace("{}", _expression(rng, depth - 1))


@pytest.mark.parametrize("seed", range(40))
def test_random_reductions(seed):
    rng = random.Random(seed)
    lines = [
        f"{_expression(rng, rng.randrange(1, 5))}.{rng.choice(LAST)}({rng.choice(['', '0', '1'])})"
        for _ in range(4)
    ]
    function = eval(f"lambda np, a, b, u: ({', '.join(lines)})")
    numbers = onp.random.default_rng(seed)
    a = _with_nan("float32") if seed % 2 else numbers.normal(size=(N, N)).astype("float32")
    b = numbers.normal(size=(N, N)) * 9
    u = numbers.integers(0, 256, (N, N)).astype("uint8")
    with onp.errstate(all="ignore"):
        expected = function(onp, a, b, u)
    with npx.np_default_dtype():
        got = npx.jit(lambda *given: function(np, *given))(np.array(a), np.array(b), np.array(u))
    for line, mine, theirs in zip(lines, got, expected, strict=True):
        theirs = onp.asarray(theirs)
        assert mine.dtype == theirs.dtype, line
        if theirs.dtype == "float16":
            continue  # NumPy rounds its sums at each step
        scale = max([1.0, *abs(theirs[onp.isfinite(theirs)].astype("float64")).ravel()])
        onp.testing.assert_allclose(mine.asnumpy(), theirs, 2e-3, 1e-4 * scale, err_msg=line)


def test_other_platforms_compute_what_they_did():
    def function(a, u):
        return a.max(axis=1), jax.numpy.minimum(a, 0).sum(), u.astype("float32").sum()

    a, u = onp.ones((N, N), "float32"), onp.ones((N, N), "uint8")
    found = {}
    for platform in ("cpu", "cuda"):
        traced = jax.jit(cpu_rewrites.for_cpu(function)).trace(a, u)
        text = traced.lower(lowering_platforms=(platform,)).as_text()
        found[platform] = "stablehlo.minimum" in text, "is_finite" in text or "compare" in text
    assert found == {"cpu": (False, True), "cuda": (True, False)}
