"""Numbers among the arguments of compiled functions: operands of one program for all values, where
nothing asks for the value.
"""

import math

import numpy as onp
import pytest
from oracle import assert_alike, on_host

from npcompat import autograd, gluon, np, npx
from npcompat.gluon import nn

X = onp.arange(12.0, dtype="float32").reshape(4, 3) + 1
FLOATS = 0.5, 1.25, -3.0, 0.0, -0.0, math.inf, 1e-3
INTS = 0, 1, 2, 3, -1
GENERAL = "static argument 1: {!r} became {!r}; an operand from now on"

COMPUTED = {
    "x * s": FLOATS + INTS,
    "x + s, s - x, x / (s + 10)": FLOATS + INTS,
    "-s * x, +s * x * (2 * s - 1) * s": FLOATS[:5] + INTS,
    "(x.astype('float64') * 3 + s) * (s + 0.1)": FLOATS,
    "x.astype('int64') * s, x.astype('int64') + s * 2": INTS + FLOATS[:3],
    "x.astype('float16') + s": FLOATS,
    "(x > s) | (x == s)": FLOATS + INTS,
    "np.where(x > 2, x, s), np.maximum(x, s), np.clip(x, 0, s)": FLOATS[:4] + INTS,
    "np.full((2,), s), np.full_like(x, s)": FLOATS + INTS,
    "np.sin(x[0] * s).sum() + s": FLOATS[:3] + INTS,
    "x * n['lr'][0]": FLOATS,
    "np.add(s, 1), np.multiply(s, s)": FLOATS[:3] + INTS,
    "isinstance(s, int), isinstance(s, float), x * s": FLOATS[:3] + INTS,
    "npx.leaky_relu(x) * s": FLOATS,
    "x[s], x[s, 1], x[s, 0:2]": None,
    "x[s - 1, s * 0], x[..., 0][s]": None,
    "x[:, None][s] * 2": None,
}
ASKED = {
    "x * 2 if s > 1 else x": FLOATS + INTS,
    "x * math.exp(s)": INTS,
    "x ** s, 2 ** s": INTS[:4],
    "x / (s / 2 + 5), x * (s // 2), x * (s % 2)": INTS,
    "np.arange(s), np.zeros(s + 1)": INTS[:4],
    "x[:s], x[s:], x.sum(axis=s % 2)": INTS,
    "np.array([s, 1.0]) * x[0, :2], np.array(s)": FLOATS[:4],
    "x, s": FLOATS + INTS,
    "x, {'rate': s + 1}": FLOATS + INTS,
    "x.astype('int8') + s, x.astype('uint8') > s": INTS[:4],
    "x + len(f'{s}'), x + len(str(s)), x + len(repr(s))": FLOATS[:3],
    "x * {0: 1, 1: 3, 2: 5}.get(s, 7)": INTS,
    "x * round(s), x * abs(s), x * int(s)": (0.25, 3.75, -2.5),
    "x * [1, 2, 3, 4][s]": INTS,
    "x * (1 if s in (1, 2) else 3)": INTS,
    "x.round(s)": INTS[:3],
    "[x * i for i in range(s)]": INTS[:4],
    "x * s.real, x + s.is_integer()": FLOATS[:3],
    "x * (~s)": INTS,
    "x * 2 if np.full(2, s).max() > 1 else x": FLOATS[:3] + INTS,
    "x * tried(s)": FLOATS[:3] + INTS,
}


def tried(number):
    """Convert a number to a float; a constant if that raises TypeError, as it does in a trace."""
    try:
        return float(number) + 1
    except TypeError:
        return -100.0


def function(source):
    names = {"np": np, "npx": npx, "math": math, "tried": tried}
    exec(f"def f(x, s, n=None):\n    return {source}", names)
    return names["f"]


def check(source, values):
    """The results are those of the function as it is; returns why it was compiled."""
    f = function(source)
    compiled = npx.jit(f)
    nested = "n[" in source
    with npx.compile_log() as log:
        for s in values:
            given = (np.array(X), None, {"lr": [s]}) if nested else (np.array(X), s)
            found, expected = compiled(*given), on_host(f(*given))
            assert_alike(found, expected, rtol=1e-6, what=f"{source}, {s!r}")
    return [entry.reason for entry in log if entry.name == "f"]


def compilations(log):
    """Count compilations of this file's lambdas, without those of eager operators."""
    return sum(entry.name == "<lambda>" for entry in log)


@pytest.mark.parametrize("source", COMPUTED)
def test_one_program_for_all_numbers_that_are_computed_with(backend, source):
    for kind in (float, int):
        values = [v for v in COMPUTED[source] or INTS if type(v) is kind]
        if values:
            reasons = check(source, values)
            assert len(reasons) == 2 and reasons[1].endswith(
                f"{values[0]!r} became {values[1]!r}; an operand from now on"
            )


@pytest.mark.parametrize("source", ASKED)
def test_a_program_for_each_number_whose_value_is_asked_for(source):
    for kind in (float, int):
        values = [v for v in ASKED[source] if type(v) is kind]
        reasons = check(source, values)
        assert not any("operand" in reason for reason in reasons)
        assert len(reasons) == len(values)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint8"])
def test_numbers_of_numpys_keep_their_dtypes(dtype):
    computed = [
        "x * s, s * x + s, x.astype('int16') - s",
        "np.where(x > s, x, s), np.full(2, s), isinstance(s, float)",
    ]
    asked = ["2 * s * x", "x * s.dtype.itemsize", "x if s > 2 else x * 2"]
    if "int" in dtype:
        computed.append("x[s], x[s, s], x.T[:, s] + np.zeros((1, 1))")
        asked.append("x[:s], x[s - 1]")
    values = [onp.dtype(dtype).type(k) for k in (1, 2, 0)]
    for source in computed:
        assert len(check(source, values)) == 2
    for source in asked:
        assert len(check(source, values[:2])) == 2 and not any(
            "operand" in reason for reason in check(source, values[:2])
        )
    if dtype == "int8":
        long = npx.jit(lambda x, i: x[i])
        assert [int(long(np.arange(300), onp.int8(i))) for i in (1, -1, -128, 127)] == [
            1,
            299,
            172,
            127,
        ]
        rows = np.arange(600).reshape(300, 2)
        assert [int(long(rows, onp.int8(i))[0]) for i in (1, -1, -128, 127)] == [2, 598, 344, 254]


def test_of_two_numbers_one_may_be_asked_for():
    f = npx.jit(lambda x, scale, n: x[:n] * scale)
    with npx.compile_log() as log:
        for k in range(1, 4):
            assert f(np.array(X), 0.5 * k, 2)[0, 0] == 0.5 * k
        for k in range(1, 4):
            assert f(np.array(X), 0.5 * k, k).shape == (k, 3)
    assert compilations(log) == 4  # of two the first time, and for 1 and 3 rows


def test_positions_are_checked_before_the_program_runs(backend):
    seen = np.zeros(())

    @npx.jit
    def f(x, i):
        seen[...] += 1
        x[i] += 1
        return x[i - 1, 0] * 2

    x = np.array(X)
    with npx.compile_log() as log:
        for i in (0, 1, 2, -1):
            f(x, i)
        for i in (4, -4, 7):
            with pytest.raises(
                IndexError,
                match=rf"index {i if abs(i) > 4 or i == 4 else i - 1} is out of bounds for axis 0 with size 4",
            ):
                f(x, i)
    assert seen == 4 and onp.array_equal(x.asnumpy(), X + 1)
    assert [entry.reason for entry in log][:2] == ["first call", GENERAL.format(0, 1)]
    assert float(f(x, 2)) == 2 * float(x[1, 0]) and seen == 5


def test_views_at_such_positions_are_views():
    @npx.jit
    def f(x, i):
        row = x[i]
        row *= 2
        row[0] = -1
        x[i, 1] += 0.5

    for backend in ("jax", "auto"):
        with npx.backend(backend):
            mine, theirs = np.array(X), X.copy()
            for i in (0, 2, -1, 2):
                f(mine, i)
                theirs[i] *= 2
                theirs[i, 0] = -1
                theirs[i, 1] += 0.5
            assert onp.array_equal(mine.asnumpy(), theirs)


def test_views_that_are_returned_look_where_the_numbers_say():
    x = np.array(X)
    f = npx.jit(lambda x, i: x[i])
    g = npx.jit(lambda x, i: ((x + 1)[i - 1, 1:], x.T[i]))
    with npx.compile_log() as log:
        for i in (0, 1, -1, 2):
            row = f(x, i)
            row[0] = 100 + i
            made, column = g(x, i)
            onp.testing.assert_array_equal(made.asnumpy(), x.asnumpy()[i - 1, 1:] + 1)
            column[-1] = -1
    assert x[:, 0].tolist() == [100, 101, 102, 99] and compilations(log) == 4
    assert x[3].tolist() == [99, -1, -1]


def test_only_numbers_of_a_kind_that_a_program_can_take():
    def reasons(*values, f=lambda x, s: x * s, **options):
        compiled = npx.jit(f, **options)
        with npx.compile_log() as log:
            for s in values:
                assert_alike(compiled(np.array(X), s), on_host(f(np.array(X), s)))
        return len(log)

    assert (
        reasons(1, 2.0) == 2 and reasons(1, 2, 2.5, 3.5) == 3
    )  # one for the first value, and one for each kind
    assert reasons(True, False) == 2
    assert reasons(2**31, 2**40, -(2**35)) == 3
    assert reasons(1.0, 2.0, 3.0, static_argnums=1) == 3
    assert reasons(1j, 2j) == 2


def test_ints_that_64_bits_do_not_hold_are_pythons():
    f = npx.jit(lambda x, n: x + n * n * n)
    for n in (2, 3, 2**30):
        assert f(np.array([1.0], dtype="float64"), n).tolist() == [1.0 + n**3]


def test_what_the_function_raises_is_not_because_of_numbers():
    ran = []

    @npx.jit
    def f(x, s):
        ran.append(s)
        if x.shape[0] > 4:
            raise RuntimeError("too long")
        if x.shape[0] > 3:
            raise TypeError("rather long")
        return x * s

    for s in (1.0, 2.0):
        with pytest.raises(RuntimeError, match="too long"):
            f(np.ones(5), s)
        with pytest.raises(TypeError, match="rather long"):
            f(np.ones(4), s)
    with npx.compile_log() as log:
        for s in (1.0, 2.0, 3.0):
            assert f(np.ones(2), s).tolist() == [s, s]
    assert len(log) == 2 and len(ran) == 6


def test_gradients_and_recorded_calls():
    f = npx.jit(lambda x, s: (x * s + s) ** 2)
    x = np.array(X)
    x.attach_grad()
    with npx.compile_log() as log:
        for s in (0.5, 2.0, 3.0):
            with autograd.record():
                y = f(x, s)
            y.backward()
            onp.testing.assert_allclose(x.grad.asnumpy(), 2 * (X * s + s) * s, rtol=1e-6)
    assert [entry.reason for entry in log if entry.name == "<lambda>"] == [
        "first call",
        GENERAL.format(0.5, 2.0),
    ]


def test_a_training_step_with_a_rate_and_a_place_in_the_data():
    def made():
        np.random.seed(0)
        net = nn.Dense(2)
        net.initialize()
        return net, gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})

    data = np.array(X[:, None, :])

    def trained(compile):
        net, trainer = made()

        def step(i, scale):
            x = data[i]
            with autograd.record():
                loss = (net(x) ** 2).mean() * scale
            loss.backward()
            trainer.step(1)
            return loss

        step = compile(step)
        return [float(step(k % 4, 0.01 / (k + 1))) for k in range(6)]

    with npx.compile_log() as log:
        found = trained(npx.jit)
    onp.testing.assert_allclose(found, trained(lambda f: f), rtol=1e-5)
    assert sum(entry.name == "step" for entry in log) == 2


def test_hybridized_blocks():
    class Scaled(nn.HybridSequential):
        def forward(self, x, scale, shift=0.0):
            return super().forward(x) * scale + shift

    net = Scaled()
    net.add(nn.Dense(2))
    net.initialize()
    x = np.array(X)
    expected = [net(x, k, shift=k / 2).asnumpy() for k in range(1, 5)]
    net.hybridize()
    with npx.compile_log() as log:
        for k, wanted in zip(range(1, 5), expected, strict=True):
            onp.testing.assert_allclose(
                net(x, k, shift=k / 2).asnumpy(), wanted, rtol=1e-5, atol=1e-6
            )
    assert sum("operand" in entry.reason for entry in log) == 1 and len(log) == 2


def test_loops_and_branches_of_programs_take_numbers():
    @npx.jit
    def f(x, s, n):
        total, _ = npx.foreach(lambda row, total: (row * s, total + row.sum() * s), x, np.zeros(()))
        chosen = npx.cond(x[n, 0] > 2, lambda: x * s, lambda: x + s)
        return total.sum(), chosen

    for k in range(3):
        total, chosen = f(np.array(X), k / 2, k)
        onp.testing.assert_allclose(float(total), (X * k / 2).sum(), rtol=1e-6)
        onp.testing.assert_allclose(
            chosen.asnumpy(), X * k / 2 if X[k, 0] > 2 else X + k / 2, rtol=1e-6
        )


def test_padded_functions():
    f = npx.jit(lambda x, s: (x * s).mean() + x.shape[0] * s, bucket=8)
    with npx.compile_log() as log:
        for n, s in ((2, 0.5), (3, 1.5), (5, 2.5)):
            onp.testing.assert_allclose(float(f(np.ones(n), s)), s + n * s, rtol=1e-6)
    assert len(log) == 2


def test_compiled_ahead_of_calls_with_other_numbers():
    f = npx.jit(lambda x, k: x * k)
    f(np.array(X), 2), f(np.array(X), 3)
    with npx.compile_log() as log:
        f.compile(np.ones((2, 2)), 5)
        assert f(np.ones((2, 2)), 7).tolist() == [[7, 7], [7, 7]]
    assert len(log) == 1


def test_kept_numbers_say_that_they_are_not_known():
    kept = []
    f = npx.jit(lambda x, s: (kept.append(s), x * s)[1])
    f(np.ones(2), 1.0), f(np.ones(2), 2.0)
    assert kept[0] == 1.0
    with pytest.raises(
        npx.TracedValueError if hasattr(npx, "TracedValueError") else TypeError,
        match="a number is asked for",
    ):
        float(kept[1])
