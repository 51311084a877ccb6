"""Functions of complex numbers on XLA, with C99's results for signed zeros, infinities and nan.

NumPy has the same results (C99, annex G). All functions are symmetric: `f(conj(z)) = conj(f(z))`;
most are also odd or even. So they are computed for imaginary parts without a sign (for odd and even
ones, real parts, too), and the signs are put back. That makes the zeros on both sides of a branch
cut differ.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jax.kernels.array_functions import in_singles
from npcompat._internal.backend.jax.kernels.kinks import extreme, magnitude, of_numbers
from npcompat._internal.support.kernel_table import register_kernel, register_kernels

Function = Callable[[Any], Any]
Parts = tuple[Any, Any]
Rule = Callable[[Any, Any, Any, Any], Parts]
"""Function of the parts of an argument and of its result, which returns the parts to return."""


def _flipped(negative: Any, x: Any) -> Any:
    return jnp.where(negative, -x, x)  # unlike the absolute value, differentiable at zero


def _symmetric(f: Function, rule: Rule, odd: bool = False, even: bool = False) -> Function:
    """Return a function with its symmetries, and with the results of a rule."""

    def function(z: Any) -> Any:
        if not jnp.iscomplexobj(z):
            return f(z)
        below = jnp.signbit(z.imag)
        left = jnp.signbit(z.real) if odd or even else jnp.zeros_like(below)
        x, y = _flipped(left, z.real), _flipped(below, z.imag)
        w = f(lax.complex(x, y))
        re, im = rule(x, y, w.real, w.imag)
        return lax.complex(
            _flipped(left, re) if odd else re, _flipped(left ^ below if even else below, im)
        )

    return function


def _turned(f: Function, real: Function) -> Function:
    """Return `-i f(i z)` of an odd function: the trigonometric function of a hyperbolic one."""

    def function(z: Any) -> Any:
        if not jnp.iscomplexobj(z):
            return real(z)
        w = f(lax.complex(z.imag, z.real))
        return lax.complex(w.imag, w.real)

    return function


# --- directions -----------------------------------------------------------------------------------


@register_kernel("arctan2", backend="jax")
def arctan2(y: Any, x: Any) -> Any:
    """Angle of the point (x, y).

    XLA's code generator has nan for constants at the origin; NumPy has zero or pi, with `y`'s sign.
    """
    angle = jnp.arctan2(y, x)
    x, y = [jnp.asarray(v, angle.dtype) for v in (x, y)]
    at_origin = jnp.where(jnp.signbit(x), jnp.copysign(jnp.asarray(math.pi, angle.dtype), y), y)
    return jnp.where((x == 0) & (y == 0), at_origin, angle)


@register_kernel("angle", backend="jax")
def angle(z: Any, deg: bool = False) -> Any:
    """Angle of complex numbers; of real ones zero or pi."""
    if not jnp.iscomplexobj(z):
        return lax.stop_gradient(jnp.angle(z, deg))
    found = arctan2(z.imag, z.real)
    return jnp.degrees(found) if deg else found


# --- exponentials ---------------------------------------------------------------------------------


def _of_exp(x: Any, y: Any, re: Any, im: Any) -> Parts:
    unknown = ~jnp.isfinite(y)
    gone = unknown & (x == -jnp.inf)
    re = jnp.where(unknown & (x == jnp.inf), jnp.inf, re)
    return jnp.where(gone, 0, re), jnp.where(gone, 0, im)


def _of_sinh(x: Any, y: Any, re: Any, im: Any) -> Parts:
    unknown = ~jnp.isfinite(y)
    re = jnp.where(x == 0, x * jnp.cos(y), re)  # XLA's zero has the sign of x
    return jnp.where(unknown & (x == 0), 0, jnp.where(unknown & jnp.isinf(x), jnp.inf, re)), im


def _of_cosh(x: Any, y: Any, re: Any, im: Any) -> Parts:
    unknown = ~jnp.isfinite(y)
    im = jnp.where(x == 0, x * jnp.sin(y), im)
    return jnp.where(unknown & jnp.isinf(x), jnp.inf, re), jnp.where(unknown & (x == 0), 0, im)


def _of_tanh(x: Any, y: Any, re: Any, im: Any) -> Parts:
    return jnp.where(~jnp.isfinite(y) & (x == 0), 0, re), im


def _of_expm1(x: Any, y: Any, re: Any, im: Any) -> Parts:
    return jnp.where((x == 0) & (y == 0), x, re), im


def _as_found(x: Any, y: Any, re: Any, im: Any) -> Parts:
    return re, im


exp = _symmetric(jnp.exp, _of_exp)
exp2 = _symmetric(in_singles(jnp.exp2), _as_found)
expm1 = _symmetric(in_singles(jnp.expm1), _of_expm1)
sinh = _symmetric(jnp.sinh, _of_sinh, odd=True)
cosh = _symmetric(jnp.cosh, _of_cosh, even=True)
tanh = _symmetric(jnp.tanh, _of_tanh, odd=True)
sin = _turned(sinh, jnp.sin)
tan = _turned(tanh, jnp.tan)


@register_kernel("cos", backend="jax")
def cos(z: Any) -> Any:
    """Cosine."""
    return cosh(lax.complex(-z.imag, z.real)) if jnp.iscomplexobj(z) else jnp.cos(z)


# --- roots and logarithms -------------------------------------------------------------------------


def _of_sqrt(x: Any, y: Any, re: Any, im: Any) -> Parts:
    both = jnp.isnan(x) & jnp.isinf(y)
    re = jnp.where(both | ((x == jnp.inf) & jnp.isnan(y)), jnp.inf, re)
    return re, jnp.where(both | ((x == -jnp.inf) & jnp.isnan(y)), jnp.inf, im)


def _of_log(base: float, shift: int = 0) -> Rule:
    """Return the rule of a logarithm with a base, of numbers with something added."""

    def rule(x: Any, y: Any, re: Any, im: Any) -> Parts:
        far = (jnp.isinf(x) & jnp.isnan(y)) | (jnp.isnan(x) & jnp.isinf(y))
        x = x + shift
        at_origin = jnp.where(jnp.signbit(x), math.pi / math.log(base), 0)  # see `arctan2`
        return jnp.where(far, jnp.inf, re), jnp.where((x == 0) & (y == 0), at_origin, im)

    return rule


sqrt = _symmetric(jnp.sqrt, _of_sqrt)
log = _symmetric(jnp.log, _of_log(math.e))
log1p = _symmetric(jnp.log1p, _of_log(math.e, shift=1))
log2 = _symmetric(jnp.log2, _of_log(2))
log10 = _symmetric(jnp.log10, _of_log(10))


# --- inverse functions ----------------------------------------------------------------------------


def _lost(x: Any, y: Any) -> Any:
    """Mask of numbers with nan in one part, and a finite number in the other.

    XLA takes the finite part for the larger one if it is large enough.
    """
    return (jnp.isnan(x) & jnp.isfinite(y)) | (jnp.isnan(y) & jnp.isfinite(x))


def _of_arccos(x: Any, y: Any, re: Any, im: Any) -> Parts:
    lost = _lost(x, y)
    re, im = jnp.where(lost, jnp.nan, re), jnp.where(lost, jnp.nan, im)
    return jnp.where((x == 0) & jnp.isnan(y), math.pi / 2, re), im


def _of_arccosh(x: Any, y: Any, re: Any, im: Any) -> Parts:
    lost = _lost(x, y)
    re, im = jnp.where(lost, jnp.nan, re), jnp.where(lost, jnp.nan, im)
    return re, jnp.where((x == 0) & jnp.isnan(y), math.pi / 2, im)


def _of_arcsinh(x: Any, y: Any, re: Any, im: Any) -> Parts:
    lost = _lost(x, y)
    re, im = jnp.where(lost, jnp.nan, re), jnp.where(lost, jnp.nan, im)
    return re, jnp.where(jnp.isnan(x) & (y == 0), 0, im)


def _of_arctanh(x: Any, y: Any, re: Any, im: Any) -> Parts:
    unknown, far = jnp.isnan(x) | jnp.isnan(y), jnp.isnan(x) & jnp.isinf(y)
    vanishes = far | (jnp.isnan(y) & ((x == 0) | jnp.isinf(x)))
    re, im = jnp.where(unknown, jnp.nan, re), jnp.where(unknown, jnp.nan, im)
    im = jnp.where((x == 1) & (y == 0), 0, im)  # see `arctan2`
    return jnp.where(vanishes, 0, re), jnp.where(far, math.pi / 2, im)


arccos = _symmetric(jnp.arccos, _of_arccos)
arccosh = _symmetric(jnp.arccosh, _of_arccosh)
arcsinh = _symmetric(jnp.arcsinh, _of_arcsinh, odd=True)
arctanh = _symmetric(jnp.arctanh, _of_arctanh, odd=True)
arcsin = _turned(arcsinh, jnp.arcsin)
arctan = _turned(arctanh, jnp.arctan)
register_kernels(
    "jax",
    exp=exp,
    exp2=exp2,
    expm1=expm1,
    sinh=sinh,
    cosh=cosh,
    tanh=tanh,
    sin=sin,
    tan=tan,
    sqrt=sqrt,
    log=log,
    log1p=log1p,
    log2=log2,
    log10=log10,
    arccos=arccos,
    arccosh=arccosh,
    arcsinh=arcsinh,
    arctanh=arctanh,
    arcsin=arcsin,
    arctan=arctan,
)


# --- magnitude and direction ----------------------------------------------------------------------


@register_kernel("absolute", backend="jax")
def absolute(z: Any) -> Any:
    """Magnitude; of complex numbers with an infinite part inf, also if the other part is nan."""
    if not jnp.iscomplexobj(z):
        return magnitude(z)
    return jnp.where(jnp.isinf(z.real) | jnp.isinf(z.imag), jnp.inf, jnp.absolute(z))


@register_kernel("sign", backend="jax")
def sign(z: Any) -> Any:
    """Sign, which is zero for both zeros; of complex numbers the direction.

    An infinite part beside a finite one has a direction, too.
    """
    if not jnp.issubdtype(z.dtype, jnp.inexact):
        return jnp.sign(z)
    if not jnp.iscomplexobj(z):
        return jnp.where(z == 0, 0, jnp.sign(z)).astype(z.dtype)
    far, high = jnp.isinf(z.real), jnp.isinf(z.imag)
    along = lax.complex(jnp.where(far, jnp.sign(z.real), 0), jnp.where(high, jnp.sign(z.imag), 0))
    return jnp.where(far ^ high, along, jnp.where(z == 0, 0, jnp.sign(z)))


# --- the larger and the smaller -------------------------------------------------------------------


def _chosen(plain: Any, x: Any, y: Any, largest: bool, keeps_nan: bool) -> Any:
    """Compute `plain` of real numbers; of complex ones choose the larger or smaller.

    They are compared by real part, then by imaginary part; of equal ones it is the first.
    """
    if not jnp.iscomplexobj(x):
        return plain(x, y)
    beyond, at_least = (jnp.greater, jnp.greater_equal) if largest else (jnp.less, jnp.less_equal)
    first = (beyond(x.real, y.real) & ~jnp.isnan(x.imag) & ~jnp.isnan(y.imag)) | (
        (x.real == y.real) & at_least(x.imag, y.imag)
    )
    return jnp.where(first | jnp.isnan(x if keeps_nan else y), x, y)


@register_kernel("maximum", backend="jax")
def maximum(x: Any, y: Any) -> Any:
    """Larger operand; the first one that is nan."""
    return _chosen(jnp.maximum, x, y, True, True)


@register_kernel("minimum", backend="jax")
def minimum(x: Any, y: Any) -> Any:
    """Smaller operand; the first one that is nan."""
    return _chosen(jnp.minimum, x, y, False, True)


def _extreme(largest: bool, a: Any, axis: Any, keepdims: bool, options: dict[str, Any]) -> Any:
    """Compute an extreme over axes; of complex numbers return the first that is nan, if any."""
    initial: Any = options.get("initial")
    refused = a.size == 0 or ("where" in options and initial is None)  # by JAX, as by NumPy
    if jnp.issubdtype(a.dtype, jnp.floating) and not refused:
        if "where" in options:
            a = jnp.where(options["where"], a, -jnp.inf if largest else jnp.inf)
        found = extreme(a, axis, keepdims, largest)
        if initial is None:
            return found
        chosen = (jnp.maximum if largest else jnp.minimum)(found, initial)
        return jnp.where(jnp.isnan(found), found, chosen)
    plain = jnp.max if largest else jnp.min
    found = plain(a, axis=axis, keepdims=keepdims, **options)
    if not jnp.iscomplexobj(a) or not a.size:
        return found
    wrong = jnp.isnan(a) & options.get("where", True)
    over = (
        range(a.ndim)
        if axis is None
        else [i % a.ndim for i in (axis if isinstance(axis, tuple) else (axis,))]
    )
    order = [*[i for i in range(a.ndim) if i not in over], *over]
    shape = (*[a.shape[i] for i in order if i not in over], -1)
    wrong, values = [jnp.reshape(jnp.transpose(x, order), shape) for x in (wrong, a)]
    first = jnp.take_along_axis(values, jnp.argmax(wrong, -1, keepdims=True), -1)
    return jnp.where(
        jnp.reshape(jnp.any(wrong, -1), found.shape), jnp.reshape(first, found.shape), found
    )


@register_kernel("max", backend="jax")
def max(a: Any, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
    """Maximum over axes."""
    return _extreme(True, a, axis, keepdims, options)


@register_kernel("min", backend="jax")
def min(a: Any, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
    """Minimum over axes."""
    return _extreme(False, a, axis, keepdims, options)


@register_kernel("fmax", backend="jax")
def fmax(x: Any, y: Any) -> Any:
    """Larger operand that is not nan."""
    x, y = jnp.broadcast_arrays(x, y)
    return _chosen(partial(of_numbers, lax.gt), x, y, True, False)


@register_kernel("fmin", backend="jax")
def fmin(x: Any, y: Any) -> Any:
    """Smaller operand that is not nan."""
    x, y = jnp.broadcast_arrays(x, y)
    return _chosen(partial(of_numbers, lax.lt), x, y, False, False)


__all__ = [
    "absolute",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "fmax",
    "fmin",
    "log",
    "log1p",
    "log2",
    "log10",
    "max",
    "maximum",
    "min",
    "minimum",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
