"""Arithmetic on XLA that rounds as NumPy's: quotients, remainders, powers, means and rounding.

Division by zero has NumPy's results, too, with signed zeros. XLA turns a quotient with a constant
or repeated divisor into a product, which rounds differently: `ones(41).mean()` would not be 1, nor
3 / 10 the number that prints as 0.3.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jax.kernels import kinks
from npcompat._internal.backend.jax.kernels.array_functions import astype, in_singles
from npcompat._internal.backend.jaxpr import rounding
from npcompat._internal.core.dtypes import is_inexact
from npcompat._internal.support.kernel_table import register_kernel, register_kernels


@register_kernel("opaque", backend="jax")
def opaque(constant: Any, dtype: Any) -> Any:
    """Return a constant behind a barrier, so that XLA does not simplify computations with it."""
    return lax.optimization_barrier(jnp.asarray(constant, dtype))


# --- quotient and remainder -----------------------------------------------------------------------


@register_kernel("divide", backend="jax")
def divide(x: Any, y: Any) -> Any:
    """Quotient, rounded once."""
    x, y = jnp.asarray(x), jnp.asarray(y)
    return jnp.divide(x, y) if x.shape == y.shape != () else _by_repeated(x, y)


def _by_repeated(x: Any, y: Any) -> Any:
    """Quotient whose divisor is one number for many elements, which XLA may detect."""
    return rounding.quotient(x, y) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.divide(x, y)


hypot = in_singles(kinks.hypot)
logaddexp, logaddexp2 = in_singles(jnp.logaddexp), in_singles(jnp.logaddexp2)


@register_kernel("divmod", backend="jax")
def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Quotient rounded down, and remainder with the sign of the divisor.

    An integer divided by zero is zero.
    """
    x, y = jnp.broadcast_arrays(x, y)
    if not is_inexact(x.dtype):
        zero = y == 0
        divisor = jnp.where(zero, jnp.ones_like(y), y)
        quotient, rest = lax.div(x, divisor), lax.rem(x, divisor)
        down = (rest != 0) & ((rest < 0) != (divisor < 0))
        quotient, rest = quotient - down.astype(x.dtype), jnp.where(down, rest + divisor, rest)
        nothing = jnp.zeros_like(x)
        return jnp.where(zero, nothing, quotient), jnp.where(zero, nothing, rest)
    rest = lax.rem(x, y)
    exact = (x - rest) / y
    below = (rest != 0) & ((rest < 0) != (y < 0))
    exact = exact - below.astype(x.dtype)
    rest = kinks.signed(jnp.where(below, rest + y, rest), y)
    down = jnp.floor(exact)
    down = jnp.where(exact - down > 0.5, down + 1, down)
    quotient = jnp.where(exact == 0, jnp.copysign(jnp.zeros_like(x), x / y), down)
    quotient = lax.stop_gradient(jnp.where(y == 0, x / y, quotient))
    return quotient, jnp.where(y == 0, jnp.full_like(x, jnp.nan), rest)


@register_kernel("gcd", backend="jax")
def gcd(x: Any, y: Any) -> Any:
    """Greatest common divisor, by Euclid's algorithm on magnitudes.

    Magnitudes are unsigned, so that the smallest of signed integers has one.
    """
    x, y = jnp.broadcast_arrays(x, y)
    return _common_divisor(_magnitude(x), _magnitude(y)).astype(x.dtype)


@register_kernel("lcm", backend="jax")
def lcm(x: Any, y: Any) -> Any:
    """Least common multiple of magnitudes."""
    x, y = jnp.broadcast_arrays(x, y)
    a, b = _magnitude(x), _magnitude(y)
    common = _common_divisor(a, b)
    return (lax.div(a, jnp.where(common == 0, jnp.ones_like(a), common)) * b).astype(x.dtype)


def _common_divisor(a: Any, b: Any) -> Any:
    def step(pair: tuple[Any, Any]) -> tuple[Any, Any]:
        a, b = pair
        done = b == 0
        rest = lax.rem(a, jnp.where(done, jnp.ones_like(b), b))
        return jnp.where(done, a, b), jnp.where(done, b, rest)

    return lax.while_loop(lambda pair: jnp.any(pair[1] != 0), step, (a, b))[0]


def _magnitude(x: Any) -> Any:
    """Absolute values, in the unsigned dtype of the same width."""
    return (
        jnp.abs(x).astype(f"u{x.dtype.name}") if jnp.issubdtype(x.dtype, jnp.signedinteger) else x
    )


@register_kernel("modf", backend="jax")
def modf(x: Any) -> tuple[Any, Any]:
    """Fractional and integral part, with the sign of the number; an infinity has no fraction."""
    whole = jnp.trunc(x)
    return kinks.signed(jnp.where(jnp.isinf(x), 0, x - whole), x), whole


@register_kernel("spacing", backend="jax")
def spacing(x: Any) -> Any:
    """Distance to the next number of larger magnitude; nan for infinities, positive for zeros."""
    return jnp.where(jnp.isinf(x), jnp.nan, jnp.spacing(jnp.where(x == 0, 0, x)))


@register_kernel("floor_divide", backend="jax")
def floor_divide(x: Any, y: Any) -> Any:
    """Quotient of `divmod`."""
    return divmod(x, y)[0]


@register_kernel("remainder", backend="jax")
def remainder(x: Any, y: Any) -> Any:
    """Remainder of `divmod`."""
    return divmod(x, y)[1]


@register_kernel("fmod", backend="jax")
def fmod(x: Any, y: Any) -> Any:
    """Remainder with the sign of the dividend; that of an integer divided by zero is zero."""
    x, y = jnp.broadcast_arrays(x, y)
    if is_inexact(x.dtype):
        return lax.rem(x, y)
    return jnp.where(y == 0, jnp.zeros_like(x), lax.rem(x, jnp.where(y == 0, jnp.ones_like(y), y)))


def _by_logarithms(x: Any, y: Any) -> Any:
    return jnp.where((x == 0) & (y.real > 0), jnp.zeros_like(x), jnp.power(x, y))


_LARGEST = 100
"""Complex powers with integer exponents below this are products, as NumPy's are."""


@jax.custom_jvp
def _complex_power(x: Any, y: Any) -> Any:
    whole = (y.imag == 0) & (y.real == jnp.round(y.real)) & (abs(y.real) < _LARGEST) & (x != 0)
    exponent = jnp.where(whole, y.real, 0).astype(jnp.int32)
    total, factor, rest = jnp.ones_like(x), x, abs(exponent)
    for _ in range(_LARGEST.bit_length()):
        total = jnp.where(rest & 1, jnp.where(total == 1, factor, total * factor), total)
        factor, rest = factor * factor, rest >> 1
    return jnp.where(whole, jnp.where(exponent < 0, 1 / total, total), _by_logarithms(x, y))


@_complex_power.defjvp
def _derivative_of_complex_power(
    operands: tuple[Any, Any], tangents: tuple[Any, Any]
) -> tuple[Any, Any]:
    return _complex_power(*operands), jax.jvp(_by_logarithms, operands, tangents)[1]


def float_power(x: Any, y: Any) -> Any:
    """Power of floats and complex numbers.

    Zero to a complex power with a positive real part is zero.
    """
    x, y = jnp.broadcast_arrays(x, y)
    return _complex_power(x, y) if jnp.iscomplexobj(x) else kinks.real_power(x, y)


@register_kernel("power", backend="jax")
def power(x: Any, y: Any) -> Any:
    """Power as `float_power`, but NumPy takes roots where 0.5 is the one exponent of many bases.

    An integer exponent may be any that is not negative.
    """
    x, y = jnp.asarray(x), jnp.asarray(y)
    if not (jnp.issubdtype(x.dtype, jnp.integer) and jnp.issubdtype(y.dtype, jnp.integer)):
        if x.dtype in (jnp.float32, jnp.float64) and (y.ndim == 0 or y.size == 1 != x.size):
            return kinks.real_power(x, y, True)
        return float_power(x, y)
    x, y = jnp.broadcast_arrays(x, y)
    # JAX's power of integers reads six bits of the exponent.

    def square(_: Any, state: Any) -> Any:
        total, factor, rest = state
        return jnp.where(rest & 1, total * factor, total), factor * factor, rest >> 1

    return lax.fori_loop(0, y.dtype.itemsize * 8, square, (jnp.ones_like(x), x, y))[0]


register_kernels(
    "jax",
    hypot=hypot,
    logaddexp=logaddexp,
    logaddexp2=logaddexp2,
    float_power=float_power,
)


# --- means ----------------------------------------------------------------------------------------


def _count(a: Any, axis: Any, keepdims: bool, where: Any, dtype: Any) -> Any:
    if where is None:
        axes = range(a.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        return opaque(math.prod(a.shape[i] for i in axes), dtype)
    return jnp.sum(jnp.broadcast_to(where, a.shape), axis, keepdims=keepdims, dtype=dtype)


def _real(dtype: Any) -> Any:
    return jnp.zeros((), dtype).real.dtype


@register_kernel("mean", backend="jax")
def mean(
    a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None
) -> Any:
    """Arithmetic mean."""
    total = jnp.sum(a, axis, dtype, keepdims=keepdims, where=where)
    return _by_repeated(total, _count(a, axis, keepdims, where, _real(total.dtype)))


@register_kernel("var", backend="jax")
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Any:
    """Variance: the mean squared distance from the mean, which may be given with its axes kept."""
    if where is not None and is_inexact(a.dtype):
        a = jnp.where(where, a, 0)  # nan that is left out would make the derivative nan
    center = _mean(a, axis, dtype, keepdims=True, where=where) if mean is None else mean
    distance = a - center
    squares = (
        (distance * distance.conj()).real if jnp.iscomplexobj(distance) else distance * distance
    )
    count = _count(a, axis, keepdims, where, squares.dtype)
    return _by_repeated(
        jnp.sum(squares, axis, keepdims=keepdims, where=where),
        jnp.maximum(count - opaque(ddof, count.dtype), 0),
    )


_mean = mean


@register_kernel("std", backend="jax")
def std(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
    """Standard deviation: the square root of `var`."""
    return kinks.root(var(a, axis, dtype, **options))


def _round_integers(a: Any, digits: int) -> Any:
    """Round integers to tens, hundreds and so on, by way of doubles as NumPy does."""
    unit = opaque(10.0**digits, jnp.float64)
    return astype(jnp.rint(a.astype(jnp.float64) / unit) * unit, a.dtype)


@register_kernel("round", backend="jax")
def round(a: Any, decimals: int = 0) -> Any:
    """Round to a number of decimals, halves to even."""
    if not is_inexact(a.dtype):
        return a if decimals >= 0 else _round_integers(a, -decimals)
    if decimals == 0:
        return jnp.round(a)
    if jnp.iscomplexobj(a):
        return lax.complex(round(a.real, decimals), round(a.imag, decimals))
    power = opaque(10.0 ** abs(decimals), a.dtype)
    return jnp.rint(a * power) / power if decimals > 0 else jnp.rint(a / power) * power


__all__ = [
    "divide", "divmod", "float_power", "floor_divide", "fmod", "hypot",
    "logaddexp", "logaddexp2", "mean", "modf", "power", "remainder", "round", "spacing", "std", "var",
]  # fmt: skip
