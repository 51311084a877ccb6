"""Equations in corners: nan, signed zeros, shifts past the width, positions out of bounds."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.equations.normalise import program_of
from npcompat._internal.backend.equations.program import UnsupportedError

FLOATS = onp.linspace(-2, 2, 12, dtype="float32").reshape(3, 4)
POSITIVE = abs(FLOATS) + onp.float32(0.3)
INTEGERS = onp.arange(12, dtype="int32").reshape(3, 4) - 5
UNSIGNED = onp.array([0, 1, 2**31, 2**32 - 1], "uint32")
WIDE = onp.array([0, 1, 2**63, 2**64 - 1], "uint64")
TRUTHS = FLOATS > 0
COMPLEX = (FLOATS + 1j * FLOATS[::-1]).astype("complex64")


_BINARY = (
    "add", "sub", "mul", "div", "max", "min", "atan2", "rem", "nextafter", "eq", "ne", "lt", "le",
    "gt", "ge",
)  # fmt: skip


def _unary(names: str, array: Any) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    return {n: (getattr(lax, n), (array,)) for n in names.split()}


EQUATIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **_unary(
        "neg sign floor ceil exp exp2 expm1 sin cos tan sinh cosh tanh asinh abs square logistic is_finite erf",
        FLOATS,
    ),
    **_unary("log log1p sqrt rsqrt cbrt lgamma digamma", POSITIVE),
    **_unary("asin acos atan atanh erf_inv", FLOATS / 3),
    **{n: (getattr(lax, n), (FLOATS, POSITIVE)) for n in _BINARY},
    "pow": (lax.pow, (POSITIVE, FLOATS)),
    "int div": (lax.div, (INTEGERS, INTEGERS[::-1] * 2 + 1)),
    "int rem": (lax.rem, (INTEGERS, INTEGERS[::-1] * 2 + 1)),
    "int max": (lax.max, (INTEGERS, INTEGERS[::-1])),
    "uint32 add": (lax.add, (UNSIGNED, UNSIGNED[::-1])),
    "uint32 mul": (lax.mul, (UNSIGNED, UNSIGNED)),
    "uint32 shr": (lax.shift_right_logical, (UNSIGNED, onp.full(4, 3, "uint32"))),
    "uint64 lt": (lax.lt, (WIDE, WIDE[::-1])),
    "uint64 div": (lax.div, (WIDE, onp.full(4, 3, "uint64"))),
    "uint64 to f": (lambda x: x.astype("float64"), (WIDE,)),
    "uint64 sum": (lambda x: x.sum(), (WIDE,)),
    "shift_left": (lax.shift_left, (INTEGERS, onp.full_like(INTEGERS, 2))),
    "sar": (lax.shift_right_arithmetic, (INTEGERS, onp.full_like(INTEGERS, 1))),
    "shr": (lax.shift_right_logical, (INTEGERS, onp.full_like(INTEGERS, 1))),
    "and": (lax.bitwise_and, (INTEGERS, INTEGERS[::-1])),
    "not": (lax.bitwise_not, (INTEGERS,)),
    "bool xor": (lax.bitwise_xor, (TRUTHS, TRUTHS[::-1])),
    "popcount": (lax.population_count, (INTEGERS,)),
    "f to i": (lambda x: x.astype("int32"), (FLOATS * 1e10,)),
    "nan to i": (lambda x: x.astype("int32"), (FLOATS * onp.nan,)),
    "i to b": (lambda x: x.astype(bool), (INTEGERS,)),
    "bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.int32), (FLOATS,)),
    "bitcast narrow": (lambda x: lax.bitcast_convert_type(x, jnp.int16), (FLOATS,)),
    "select": (lambda c, a, b: jnp.where(c, a, b), (TRUTHS, FLOATS, POSITIVE)),
    "clamp": (lambda x: lax.clamp(jnp.float32(-1), x, jnp.float32(1)), (FLOATS,)),
    "complex": (lambda a, b: lax.complex(a, b) * lax.complex(b, a), (FLOATS, POSITIVE)),
    "conj": (lambda c: lax.conj(c) * c, (COMPLEX,)),
    "abs complex": (lax.abs, (COMPLEX,)),
    "broadcast": (lambda x: jnp.broadcast_to(x[:, None], (3, 2, 4)), (FLOATS,)),
    "transpose": (lambda x: x.T, (FLOATS,)),
    "pad": (lambda x: lax.pad(x, jnp.float32(0), ((1, 2, 1), (-1, 0, 0))), (FLOATS,)),
    "slice": (lambda x: lax.slice(x, (0, 1), (3, 4), (2, 1)), (FLOATS,)),
    "rev": (lambda x: lax.rev(x, (0, 1)), (FLOATS,)),
    "concat": (lambda x: lax.concatenate([x, x], 1), (FLOATS,)),
    "iota": (lambda x: x + lax.broadcasted_iota("float32", (3, 4), 1), (FLOATS,)),
    "dynamic_slice": (
        lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (2, 2)),
        (FLOATS, onp.array([9, 1])),
    ),
    "dynamic_update": (
        lambda x, i: lax.dynamic_update_slice(x, x[:2, :2] * 0, (i[0], i[1])),
        (FLOATS, onp.array([1, 9])),
    ),
    "gather": (lambda x, i: x[i], (FLOATS, onp.array([2, 0, 2]))),
    "gather fill": (lambda x, i: jnp.take(x, i, 0, mode="fill"), (FLOATS, onp.array([2, 7]))),
    "gather clip": (lambda x, i: jnp.take(x, i, 1, mode="clip"), (FLOATS, onp.array([2, 7]))),
    "scatter": (lambda x, i: x.at[i].set(0), (FLOATS, onp.array([2, 0]))),
    "scatter add": (lambda x, i: x.at[:, i].add(1), (FLOATS, onp.array([2, 2, 0]))),
    "scatter drop": (lambda x, i: x.at[i].add(1, mode="drop"), (FLOATS, onp.array([2, 9]))),
    "scatter max": (lambda x, i: x.at[i].max(0.5), (FLOATS, onp.array([1]))),
    "sum": (lambda x: x.sum(1), (FLOATS,)),
    "prod": (lambda x: x.prod(), (POSITIVE,)),
    "max nan": (lambda x: x.max(), (onp.where(TRUTHS, onp.nan, FLOATS),)),
    "argmax": (lambda x: jnp.argmax(x, 1), (onp.round(FLOATS),)),
    "argmin nan": (lambda x: jnp.argmin(x, 0), (onp.where(TRUTHS, onp.nan, FLOATS),)),
    "any": (lambda x: x.any(0), (TRUTHS,)),
    "empty sum": (lambda x: x.sum(0), (FLOATS[:0],)),
    "cumsum": (lambda x: lax.cumsum(x, 1, reverse=True), (FLOATS,)),
    "cummax": (lambda x: lax.cummax(x, 0), (FLOATS,)),
    "sort": (lambda x: jnp.sort(x, 0), (onp.where(TRUTHS, onp.nan, FLOATS),)),
    "argsort stable": (lambda x: jnp.argsort(x, 1), (INTEGERS // 3,)),
    "top_k": (lambda x: lax.top_k(x, 2), (onp.round(POSITIVE),)),
    "dot": (
        lambda x, y: jnp.einsum("bij,bkj->bik", x, y),
        (onp.ones((2, 3, 4), "float32") * FLOATS, onp.ones((2, 5, 4), "float32")),
    ),
    "int dot": (lambda x: x @ x.T, (INTEGERS,)),
    "conv": (
        lambda x, w: lax.conv_general_dilated(
            x,
            w,
            (2, 1),
            ((1, 1), (0, 2)),
            lhs_dilation=(1, 2),
            rhs_dilation=(2, 1),
            feature_group_count=2,
        ),
        (onp.arange(200, dtype="float32").reshape(1, 4, 10, 5), onp.ones((6, 2, 2, 3), "float32")),
    ),
    "cond": (lambda x: lax.cond(x[0, 0] > 0, lambda a: a + 1, lambda a: a - 1, x), (FLOATS,)),
    "while": (
        lambda x: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 0.5), (0, x)),
        (FLOATS,),
    ),
    "scan": (lambda x: lax.scan(lambda c, a: (c + a, c), x[0], x), (FLOATS,)),
    "cholesky": (lambda x: jnp.linalg.cholesky(x @ x.T + 3 * jnp.eye(3)), (FLOATS,)),
    "solve": (lambda x: jnp.linalg.solve(x @ x.T + 3 * jnp.eye(3), x), (FLOATS,)),
    "svd": (lambda x: jnp.linalg.svd(x, compute_uv=False), (FLOATS,)),
    "eigh": (lambda x: jnp.linalg.eigh(x @ x.T)[0], (FLOATS,)),
    "fft": (jnp.fft.fft, (FLOATS,)),
    "rfft": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x)), (FLOATS,)),
    "threefry": (
        lambda k: jax.random.bits(jax.random.wrap_key_data(k), (5,), "uint32"),
        (onp.array([1, 2], "uint32"),),
    ),
    "normal": (
        lambda k: jax.random.normal(jax.random.wrap_key_data(k), (5,)),
        (onp.array([1, 2], "uint32"),),
    ),
    "denormal": (lambda x: x * 0.5, (onp.array([1e-40], "float32"),)),
    "signed zero": (lambda x: jnp.signbit(x * -1.0), (onp.zeros(2, "float32"),)),
}


def outcome(plugin: Any, name: str, device: Any = None) -> str:
    """Run one equation on a device of a plug-in, its first one by default; compare with XLA.

    Returns
    -------
    str
        "right", "missing: " and what is, "wrong: " and the numbers, or "raised: " and the error.
    """
    function, arrays = EQUATIONS[name]
    engine, device = plugin.engine, device or plugin.devices[0]
    with jax.enable_x64(True):
        expected = [onp.asarray(r) for r in jax.tree.leaves(function(*map(jnp.asarray, arrays)))]
    lacking = {a.dtype for a in (*arrays, *expected)} - set(engine.dtypes(device))
    if lacking:
        return f"missing: dtype {min(map(str, lacking))}"
    try:
        program, types = program_of(
            name,
            lambda *a: tuple(jax.tree.leaves(function(*a))),
            [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays],
            plugin.composites,
            device.kind,
        )
        run = engine.program(program, frozenset(), device)
        data = run(*[engine.from_host(a, device) for a in arrays])
        found = [engine.to_host(d, t.dtype) for d, t in zip(data, types, strict=True)]
    except UnsupportedError as error:
        return f"missing: {error}"
    except Exception as error:
        return f"raised: {type(error).__name__}: {error}"
    for mine, theirs in zip(found, expected, strict=True):
        if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
            return f"wrong: {mine.dtype}{mine.shape}, expected {theirs.dtype}{theirs.shape}"
        if theirs.dtype.kind in "biu":
            same = onp.array_equal(mine, theirs)
        else:
            largest = max([1.0, *onp.abs(theirs[onp.isfinite(theirs)])])
            same = onp.allclose(mine, theirs, rtol=2e-5, atol=1e-6 * largest, equal_nan=True)
        if not same:
            return f"wrong: {mine.ravel()[:4]}, expected {theirs.ravel()[:4]}"
    return "right"


__all__ = ["EQUATIONS", "outcome"]
