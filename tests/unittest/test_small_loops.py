"""Loops of short rounds are one function of the CPU, and compute the same."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as onp
import pytest
from internals import KNOWN, MOST_EQUATIONS, WIDE, rewritten
from jax import lax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jaxprs import names

from npcompat import np, npx

SMALL = "npcompat_small_loop"
ROUNDS, AT_ONCE = 6, 20
LACKING = {("clamp", "bool")} | {
    (name, dtype)
    for name in ("argmax", "argmin", "clamp", "max", "min", "reduce_max", "reduce_min")
    for dtype in ("complex64", "complex128")
}
"""Primitives and dtypes that XLA, or the rewriting, lacks; npcompat computes them by others."""
pytestmark = pytest.mark.skipif(
    jax.default_backend() != "cpu", reason="programs of another device are left as they are"
)


def _bits(x):
    sizes = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}
    return lax.bitcast_convert_type(x, sizes[x.dtype.itemsize])


OTHERS = {
    "argmax": lambda x: lax.argmax(x, 0, "int32"),
    "argmin": lambda x: lax.argmin(x.reshape(2, -1), 1, "int64"),
    "bitcast_convert_type": _bits,
    "broadcast_in_dim": lambda x: jnp.broadcast_to(x[:, None], (x.size, 3)),
    "clamp": lambda x: lax.clamp(x[0], x, x[-1]),
    "complex": lambda x: lax.complex(x, -x),
    "concatenate": lambda x: jnp.concatenate([x, x[:3]]),
    "convert_element_type": lambda x: tuple(
        lax.convert_element_type(x, d)
        for d in ("int8", "uint16", "int64", "float16", "bfloat16", "float64", "bool")
        if x.dtype.kind != "c"
    ),
    "dynamic_slice": lambda x: lax.dynamic_slice(x, ((x == x).sum() // 4,), (3,)),
    "dynamic_update_slice": lambda x: lax.dynamic_update_slice(x, x[:2] * 0, (3,)),
    "gather": lambda x: x[jnp.array([3, 0, -1])],
    "integer_pow": lambda x: x**3,
    "iota": lambda x: lax.iota(x.dtype, 5),
    "optimization_barrier": lambda x: lax.optimization_barrier(x * x),
    "pad": lambda x: lax.pad(x, x[0], [(1, 2, 1)]),
    "reduce_and": lambda x: (x > x[0]).all(),
    "reduce_max": jnp.max,
    "reduce_min": jnp.min,
    "reduce_or": lambda x: (x > x[0]).any(),
    "reduce_precision": lambda x: lax.reduce_precision(x, 5, 6),
    "reduce_prod": lambda x: lax.reduce_prod(x[:4], [0]),
    "reduce_sum": lambda x: lax.reduce_sum(x.reshape(4, -1), [1]),
    "reduce_xor": lambda x: lax.reduce_xor(x, [0]),
    "reshape": lambda x: x.reshape(2, -1),
    "rev": lambda x: x[::-1],
    "round": lambda x: jnp.round(x),
    "select_n": lambda x: jnp.where(x > x[0], x, x + x),
    "slice": lambda x: x[1:7:2],
    "squeeze": lambda x: lax.squeeze(x[None], [0]),
    "stack": lambda x: jnp.stack([x, x + x]),
    "transpose": lambda x: x.reshape(2, -1).T,
}
BINARY = [
    "add",
    "and",
    "atan2",
    "div",
    "eq",
    "ge",
    "gt",
    "le",
    "lt",
    "max",
    "min",
    "mul",
    "ne",
    "nextafter",
    "or",
    "pow",
    "rem",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sub",
    "xor",
]
PYTHONS = {"and": "bitwise_and", "not": "bitwise_not", "or": "bitwise_or", "xor": "bitwise_xor"}
UNNAMED = frozenset(
    ["copy", "copy_p", "expand_dims", "le_to", "log2", "lt_to", "one_minus_square", "stop_gradient"]
)
"""Primitives that no public function of this JAX binds, or that copy."""
DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int32",
    "int64",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def _function(name):
    if name in OTHERS:
        return OTHERS[name]
    found = getattr(lax, PYTHONS.get(name, name), None) or getattr(jnp, name)
    return (lambda x: found(x, x[::-1])) if name in BINARY else found


def _rows(dtype):
    made = onp.random.default_rng(0).uniform(0.1, 0.9, (ROUNDS, 12))
    if jnp.issubdtype(dtype, jnp.integer):
        made = 10 * made + 1
    if jnp.issubdtype(dtype, jnp.complexfloating):
        made = made - 0.3j * made
    return jnp.array(made > 0.5 if dtype == "bool" else made).astype(dtype)


def _taking(dtype):
    """Return functions of the primitives that take arrays of a dtype."""
    row, found = _rows(dtype)[0], {}
    for name in sorted(KNOWN - UNNAMED):
        try:
            bound = names(jax.make_jaxpr(_function(name))(row).jaxpr)
        except (KeyError, TypeError, ValueError):
            continue
        if name in bound and (name, dtype) not in LACKING:
            found[name] = _function(name)
    return found


def _loop(functions, rows, count):
    """Compute functions of each row in a loop."""
    outs = [f(rows[0]) for f in functions]
    stacked = jax.tree.map(lambda x: jnp.zeros((ROUNDS, *x.shape), x.dtype), outs)

    def body(state):
        i, stacked = state
        row = lax.dynamic_index_in_dim(rows, i, keepdims=False)
        put = partial(lax.dynamic_update_index_in_dim, index=i, axis=0)
        return i + 1, jax.tree.map(put, stacked, [f(row) for f in functions])

    return lax.while_loop(lambda state: state[0] < count, body, (0, stacked))[1]


def _both(function, *given):
    """Return results of a function as XLA compiles it, and after it was rewritten."""
    found = jax.make_jaxpr(function)(*given)
    changed = rewritten(found.jaxpr)
    ways = [ClosedJaxpr(jaxpr, found.consts) for jaxpr in (found.jaxpr, changed)]
    return [jax.jit(jaxpr_as_fun(way))(*given) for way in ways], names(changed)


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_primitives(dtype):
    with jax.enable_x64(True):
        functions = [*_taking(dtype).values()]
        assert len(functions) > 30
        for k in range(0, len(functions), AT_ONCE):
            some = functions[k : k + AT_ONCE]
            (expected, found), used = _both(partial(_loop, some), _rows(dtype), ROUNDS)
            assert used.count(SMALL) == used.count("while") == 1
            for one, other in zip(found, expected, strict=True):
                _compare(one, other)


def _compare(one, other):
    assert one.dtype == other.dtype
    is_inexact = jnp.issubdtype(one.dtype, jnp.inexact)
    close = 4 * float(jnp.finfo(one.dtype).eps) if is_inexact else 0
    one, other = (
        onp.asarray(x).astype("complex128" if is_inexact else x.dtype) for x in (one, other)
    )
    onp.testing.assert_allclose(one, other, rtol=close)


def test_the_cases_are_all_primitives():
    with jax.enable_x64(True):
        tested = set().union(*map(_taking, DTYPES))
    assert tested == KNOWN - UNNAMED


# --- which loops are small ------------------------------------------------------------------------


def _made(function, *given):
    return names(rewritten(jax.make_jaxpr(function)(*given).jaxpr))


def _rounds(body):
    return lambda x: lax.while_loop(lambda s: s.sum() < 5, body, x)


WRITTEN = jnp.zeros((3, WIDE + 1))
LARGE = [
    lambda s: jnp.cos(s) + WRITTEN[0].sum(),
    lambda s: s + lax.sort(s),
    lambda s: s.at[jnp.argmax(s)].add(1),
    lambda s: s @ jnp.outer(s, s) + 1,
    lambda s: s + jnp.linalg.norm(jnp.outer(s, jnp.arange(WIDE // 4.0))),
    lambda s: s + lax.lgamma(s + 2),
]


def test_short_rounds_are_small():
    def body(s):
        part = lax.dynamic_slice(WRITTEN, (s.astype("int32")[0] % 3, 0), (1, 6))
        return jnp.sin(s) + s @ s + part[0] + 1

    found = _made(_rounds(body), jnp.ones(6))
    assert SMALL in found and "dot_general" not in found


@pytest.mark.parametrize("body", LARGE)
def test_other_rounds_are_not(body):
    assert SMALL not in _made(_rounds(body), jnp.ones(6))


def test_loops_of_many_equations_are_not():
    def body(s):
        for _ in range(MOST_EQUATIONS):
            s = jnp.sin(s)
        return s + 1

    assert SMALL not in _made(_rounds(body), jnp.ones(6))


def test_an_inner_loop_is_small_where_the_outer_is_not():
    def body(s):
        return _rounds(lambda s: s + 1)(lax.sort(s)) + 1

    found = _made(_rounds(body), jnp.ones(6))
    assert found.count("while") == 2 and found.index("while") < found.index(SMALL)


def test_a_program_is_rewritten_once():
    first = rewritten(jax.make_jaxpr(_rounds(lambda s: s * 2))(jnp.ones(6)).jaxpr)
    assert rewritten(first) is first


# --- programs -------------------------------------------------------------------------------------


def _unused_start(np, a, n):
    """XLA finds that the first value of `last` is never read."""
    last = 0.5
    for i in range(n):
        last = float(i)
        a[i % 7] += last
    return a


def _constant_result(np, a, n):
    """XLA finds that a result is a constant."""
    seen = 3
    for i in range(n):
        a[i % 7, : i % 5] *= 2
        seen = 3
    return a, seen


def _nothing_but_numbers(np, a, n):
    i = j = 0
    while i < n:
        i, j = i + 2, j + i
    return a, i, j


def _swapped(np, a, n):
    b = a[::-1].copy()
    for i in range(n):
        a, b = b, a
        a[i % 7, 3] += b[(i + 1) % 7, 3]
        b[:, i % 9] = a[:, (i * 2) % 9]
    return a, b


def _in_a_branch(np, a, n):
    if a[0, 0] > 0.1:
        for i in range(1, n):
            a[i % 7] = np.cumsum(a[(i - 1) % 7])[::-1] / 9
    else:
        a[0] = 3
    return a


def _two_after_another(np, a, n):
    total = a[0] * 0
    for i in range(n):
        total = total + a[i % 7] * i
        total[0] = total.max()
    for i in range(n):
        a[i % 7] -= total / (i + 1)
    return a, total


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize(
    "function",
    [
        _unused_start,
        _constant_result,
        _nothing_but_numbers,
        _swapped,
        _in_a_branch,
        _two_after_another,
    ],
)
@pytest.mark.parametrize("length", [9, 40])
def test_programs(function, length, rewritten_jaxprs):
    a = onp.random.default_rng(0).uniform(0.2, 1, (7, length))
    mine = np.array(a)
    found = npx.jit(lambda a, n: function(np, a, n))(mine, 23)
    expected = function(onp, a, 23)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for one, other in [(mine, a), *pairs]:
        onp.testing.assert_allclose(onp.asarray(one), other, 1e-12)
    if function is not _in_a_branch:  # whose cumulative sums are no known primitive
        assert SMALL in names(rewritten_jaxprs[-1])
