"""Functions with a kink, or an infinite slope, and the derivative that is chosen there.

docs/autograd.md has the table of conventions, with the reason for each and who shares it.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero

from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("magnitude", backend="jax")
@jax.custom_jvp
def magnitude(x: Any) -> Any:
    """Absolute value of real numbers; the derivative at zero is zero."""
    return jnp.absolute(x)


@magnitude.defjvp
def _derivative_of_magnitude(operands: Any, tangents: Any) -> tuple[Any, Any]:
    (x,), (dx,) = operands, tangents
    return magnitude(x), dx * jnp.sign(x) if jnp.issubdtype(x.dtype, jnp.inexact) else dx


@register_kernel("fabs", backend="jax")
def fabs(x: Any) -> Any:
    """Absolute value as a float; the derivative at zero is zero."""
    return magnitude(x if jnp.issubdtype(x.dtype, jnp.inexact) else jnp.fabs(x))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def of_numbers(beyond: Any, x: Any, y: Any) -> Any:
    """The larger or smaller operand, or the one that is not nan; equal ones share the derivative.

    Of equal ones it is the second, of half precision the first, which matters for zeros.
    """
    first = beyond(x, y) | jnp.isnan(y)
    return jnp.where(first | (x == y) if x.dtype == jnp.float16 else first, x, y)


@of_numbers.defjvp
def _derivative_of_numbers(beyond: Any, operands: Any, tangents: Any) -> tuple[Any, Any]:
    (x, y), (dx, dy) = operands, tangents
    out = of_numbers(beyond, x, y)
    if not jnp.issubdtype(out.dtype, jnp.inexact):
        return out, dx
    first = jnp.where(x == y, 0.5, beyond(x, y) | jnp.isnan(y))
    first = first.astype(out.dtype)
    return out, first * dx + (1 - first) * dy


@jax.custom_jvp
def signed(x: Any, sign: Any) -> Any:
    """Numbers that have a sign already, or are zero, with that sign, also zeros; the slope is 1."""
    return jnp.copysign(x, sign)


@signed.defjvp
def _derivative_of_signed(operands: Any, tangents: Any) -> tuple[Any, Any]:
    return signed(*operands), tangents[0]


@register_kernel("ldexp", backend="jax")
@jax.custom_jvp
def ldexp(x: Any, exponent: Any) -> Any:
    """Number times a power of two, of which zero is no kink."""
    return jnp.ldexp(x, exponent)


@ldexp.defjvp
def _derivative_of_ldexp(operands: Any, tangents: Any) -> tuple[Any, Any]:
    x, exponent = operands
    out = ldexp(x, exponent)
    return out, tangents[0] * jnp.ldexp(jnp.ones_like(x), exponent)


@register_kernel("real_power", backend="jax")
@partial(jax.custom_jvp, nondiff_argnums=(2,))
def real_power(x: Any, y: Any, rooted: bool = False) -> Any:
    """Power of real numbers.

    The derivative by the base is zero where the exponent is zero, as the power is 1 there. The
    derivative by the exponent is zero where the base is zero and the exponent is not negative.
    A `rooted` power, which has one exponent, is a root if that is 0.5: -0.0 of -0.0, and nan of
    -inf.
    """
    out = jnp.power(x, y)
    if rooted:
        roots = jnp.broadcast_to(jnp.sqrt(x), out.shape)
        return lax.select_n(jnp.reshape(y, ()) == 0.5, out, roots)
    return out


def _derivative_of_real_power(rooted: bool, operands: Any, tangents: Any) -> tuple[Any, Any]:
    (x, y), (dx, dy) = operands, tangents
    out = real_power(x, y, rooted)
    total = jnp.zeros_like(out)
    if type(dx) is not SymbolicZero and jnp.issubdtype(x.dtype, jnp.inexact):
        # The base is harmless where the exponent is zero, so that further derivatives are, too.
        slope = y * real_power(jnp.where(y == 0, 1, x), jnp.where(y == 0, 1, y - 1))
        total = total + dx * slope.astype(out.dtype)
    if type(dy) is not SymbolicZero and jnp.issubdtype(y.dtype, jnp.inexact):
        flat = (x == 0) & (y >= 0)
        total = total + dy * jnp.where(flat, 0, out * jnp.log(jnp.where(flat, 1, x)))
    return out, total


real_power.defjvp(_derivative_of_real_power, symbolic_zeros=True)


@register_kernel("clipped", backend="jax")
@jax.custom_jvp
def clipped(a: Any, low: Any, high: Any) -> Any:
    """Values clipped from below and above; the derivative at the bounds is that of the values."""
    out = jnp.minimum(jnp.maximum(a, low), high)
    if jnp.iscomplexobj(out):  # comparisons of complex numbers lose nan
        for operand in (high, low, a):
            out = jnp.where(jnp.isnan(operand), operand, out)
    return out


@clipped.defjvp
def _derivative_of_clipped(operands: Any, tangents: Any) -> tuple[Any, Any]:
    a, low, high = operands
    da, dlow, dhigh = tangents
    out = clipped(a, low, high)
    inner = jnp.where(a < low, dlow, da)
    return out, jnp.where(jnp.maximum(a, low) > high, dhigh, inner).astype(out.dtype)


@partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3))
def extreme(a: Any, axis: Any, keepdims: bool, largest: bool) -> Any:
    """Maximum or minimum over axes; the elements that are it share the derivative, nan included."""
    return (jnp.max if largest else jnp.min)(a, axis=axis, keepdims=keepdims)


@extreme.defjvp
def _derivative_of_extreme(
    axis: Any, keepdims: bool, largest: bool, operands: Any, tangents: Any
) -> tuple[Any, Any]:
    (a,), (da,) = operands, tangents
    out = extreme(a, axis, True, largest)
    chosen = jnp.where(jnp.isnan(out), jnp.isnan(a), a == out).astype(a.dtype)
    count = jnp.sum(chosen, axis=axis, keepdims=True)
    slope = jnp.sum(da * chosen, axis=axis, keepdims=keepdims)
    return (
        (out, slope / count)
        if keepdims
        else (out.reshape(slope.shape), slope / count.reshape(slope.shape))
    )


@register_kernel("root", backend="jax")
def root(s: Any, power: float = 0.5) -> Any:
    """Root of sums that are not negative; the derivative of a sum of zeros is zero."""
    zero = s == 0
    safe = jnp.where(zero, 1, s)
    return jnp.where(zero, 0, jnp.sqrt(safe) if power == 0.5 else safe**power).astype(s.dtype)


@jax.custom_jvp
def hypot(x: Any, y: Any) -> Any:
    """Length of the hypotenuse; the derivative of one without a length is zero."""
    return jnp.hypot(x, y)


@hypot.defjvp
def _derivative_of_hypot(operands: Any, tangents: Any) -> tuple[Any, Any]:
    (x, y), (dx, dy) = operands, tangents
    out = hypot(x, y)
    length = jnp.where(out == 0, 1, out)
    return out, ((x / length) * dx + (y / length) * dy).astype(out.dtype)


@register_kernel("norm", backend="jax")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Norm of vectors or matrices; the derivative at zero is zero."""
    count = x.ndim if axis is None else 1 if isinstance(axis, int) else len(axis)
    if ord is None or ord == "fro" or (count == 1 and ord == 2):
        if not (ord == "fro" and count != 2):
            return _two_norm(x, axis, keepdims)
    if count == 1 and isinstance(ord, int | float) and 1 < ord < float("inf"):
        return _p_norm(x, ord, axis, keepdims)
    if count == 1 and ord == 1:
        return jnp.sum(_sizes(x), axis, keepdims=keepdims)
    if x.size and ord in (1, -1, float("inf"), float("-inf")):
        axes = axis if isinstance(axis, tuple) else (0, 1) if axis is None else (axis,)
        sizes = _sizes(x)
        if count == 1 and abs(ord) != 1:
            return extreme(sizes, axis, keepdims, ord > 0)
        if count == 2:  # of the sums of columns, or of rows
            summed = axes[0] if abs(ord) == 1 else axes[1]
            return extreme(jnp.sum(sizes, summed, keepdims=True), axes, keepdims, ord > 0)
    return jnp.linalg.norm(x, ord, axis, keepdims)


@register_kernel("vector_norm", backend="jax")
def vector_norm(x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norm of vectors, which may lie along several axes; the derivative at zero is zero."""
    if ord == 2:
        return _two_norm(x, axis, keepdims)
    if isinstance(ord, int | float) and 1 < ord < float("inf"):
        return _p_norm(x, ord, axis, keepdims)
    if ord == 1:
        return jnp.sum(_sizes(x), axis, keepdims=keepdims)
    if x.size and ord in (float("inf"), float("-inf")):
        return extreme(_sizes(x), axis, keepdims, ord > 0)
    return jnp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


def _sizes(x: Any) -> Any:
    if not jnp.iscomplexobj(x):
        return magnitude(x)
    return root(jnp.real(x * jnp.conj(x)))


def _two_norm(x: Any, axis: Any, keepdims: bool) -> Any:
    squares = jnp.real(x * jnp.conj(x)) if jnp.iscomplexobj(x) else lax.square(x)
    return root(jnp.sum(squares, axis, keepdims=keepdims))


def _p_norm(x: Any, ord: float, axis: Any, keepdims: bool) -> Any:
    return root(jnp.sum(_sizes(x) ** ord, axis, keepdims=keepdims), 1 / ord)


__all__ = [
    "clipped",
    "extreme",
    "fabs",
    "magnitude",
    "norm",
    "real_power",
    "root",
    "vector_norm",
]
