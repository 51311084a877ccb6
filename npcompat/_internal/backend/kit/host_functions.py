"""NumPy's and the C library's functions in place of those that the array-API standard lacks."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as onp


def _by_math(function: Callable[..., float]) -> Callable[..., Any]:
    """A function of Python's floats, element by element."""
    vectorized = onp.vectorize(function, otypes=[float])

    def compute(*arrays: Any) -> Any:
        return onp.asarray(vectorized(*[a.astype(float) for a in arrays])).astype(arrays[0].dtype)

    return compute


def _lgamma(x: float) -> float:
    if math.isnan(x):
        return x
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _digamma(x: float) -> float:
    """The derivative of `lgamma`: reflected, moved up by its recurrence, then its series."""
    if math.isnan(x) or x == -math.inf or (x <= 0 and x == math.floor(x)):
        return math.nan
    if x == math.inf:
        return x
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * (x - math.floor(x)))
    total = 0.0
    while x < 10:
        total -= 1 / x
        x += 1
    y = 1 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132)))))
    return total + math.log(x) - 0.5 / x - series


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def _zeta(s: float, q: float) -> float:
    """Hurwitz's zeta function, by the sum of Euler and Maclaurin."""
    if math.isnan(s) or math.isnan(q) or s < 1:
        return math.nan
    if s == 1 or (q <= 0 and q == math.floor(q)):
        return math.inf
    if q <= 0:
        return (
            math.nan
            if s != math.floor(s)
            else math.fsum([_power(q + k, -s) for k in range(int(-q) + 1)])
            + _zeta(s, q + int(-q) + 1)
        )
    terms = 12
    total = math.fsum([_power(q + k, -s) for k in range(terms)])
    end = q + terms
    total += _power(end, 1 - s) / (s - 1) + 0.5 * _power(end, -s)
    factor, power = s, _power(end, -s - 1)
    for k, number in enumerate(_BERNOULLI, 1):
        total += number / math.factorial(2 * k) * factor * power
        factor *= (s + 2 * k - 1) * (s + 2 * k)
        power /= end * end
    return total


def _power(base: float, exponent: float) -> float:
    try:
        return float(math.copysign(1, base) ** exponent * abs(base) ** exponent)
    except OverflowError:
        return math.inf


def _erf_inverse(y: float) -> float:
    """The inverse of `erf`: a first guess by Winitzki, then Newton's steps."""
    if math.isnan(y) or abs(y) > 1:
        return math.nan
    if abs(y) == 1:
        return math.copysign(math.inf, y)
    if y == 0:
        return y
    a, rest = 0.147, math.log1p(-y * y)
    half = 2 / (math.pi * a) + rest / 2
    x = math.copysign(math.sqrt(math.sqrt(half * half - rest / a) - half), y)
    for _ in range(60):
        error = math.erfc(-x) - (1 + y) if y < -0.5 else (1 - y) - math.erfc(x)
        step = error / (2 / math.sqrt(math.pi) * math.exp(-x * x))
        step /= 1 + x * step  # Halley's
        x -= step
        if abs(step) <= 1e-16 * abs(x):
            break
    return x


_ANGLES = onp.arange(2048) * (math.pi / 1024)


def _scaled_bessel(x: float) -> float:
    """The modified Bessel function of order one over exp(|x|), by its integral over a period."""
    cosines = onp.cos(_ANGLES)
    return float((onp.exp(x * cosines - abs(x)) * cosines).mean())


def _complex(real: Any, imag: Any) -> Any:
    kind = "complex64" if real.dtype == onp.float32 else "complex128"
    made = onp.empty(onp.broadcast_shapes(real.shape, imag.shape), kind)
    made.real, made.imag = real, imag
    return made


def _cholesky(a: Any) -> Any:
    made = onp.full(a.shape, onp.nan, a.dtype)
    for i in onp.ndindex(a.shape[:-2]):
        try:
            made[i] = onp.linalg.cholesky(a[i])
        except onp.linalg.LinAlgError:
            continue
    return made


def _lu(a: Any) -> Any:
    """Gaussian elimination with row pivots: both factors in one matrix, pivots, permutation."""
    made, (rows, columns) = a.copy(), a.shape[-2:]
    count = min(rows, columns)
    pivots = onp.zeros((*a.shape[:-2], count), onp.int32)
    order = onp.zeros((*a.shape[:-2], rows), onp.int32)
    for i in onp.ndindex(a.shape[:-2]):
        whole, place = made[i], list(range(rows))
        for k in range(count):
            best = k + int(onp.argmax(abs(whole[k:, k])))
            pivots[(*i, k)] = best
            whole[[k, best]] = whole[[best, k]]
            place[k], place[best] = place[best], place[k]
            if whole[k, k] != 0:
                whole[k + 1 :, k] /= whole[k, k]
            whole[k + 1 :, k + 1 :] -= onp.outer(whole[k + 1 :, k], whole[k, k + 1 :])
        order[i] = place
    return made, pivots, order


def solved(a: Any, b: Any, attrs: Mapping[str, Any]) -> Any:
    """Solution of equations with a triangular matrix, row after row."""
    if attrs["conjugate_a"]:
        a = a.conj()
    lower = attrs["lower"]
    if attrs["transpose_a"]:
        a, lower = a.swapaxes(-1, -2), not lower
    if not attrs["left_side"]:
        turned = {**attrs, "left_side": True, "lower": not lower, "conjugate_a": False}
        turned["transpose_a"] = False
        return solved(a.swapaxes(-1, -2), b.swapaxes(-1, -2), turned).swapaxes(-1, -2)
    x, n = onp.zeros(b.shape, b.dtype), a.shape[-1]
    for row in range(n) if lower else range(n - 1, -1, -1):
        done = slice(0, row) if lower else slice(row + 1, n)
        rest = b[..., row, :] - onp.einsum("...k,...kj->...j", a[..., row, done], x[..., done, :])
        x[..., row, :] = rest if attrs["unit_diagonal"] else rest / a[..., row, row, None]
    return x


_COMBINE = {"add": onp.add, "mul": onp.multiply, "min": onp.minimum, "max": onp.maximum}


def scattered(x: Any, at: Any, new: Any, kind: str, axis: int) -> Any:
    """The array with parts along an axis put at positions."""
    made = x.copy()
    key = (*(slice(None),) * axis, at)
    if kind == "set":
        made[key] = new
    else:
        _COMBINE[kind].at(made, key, new)
    return made


HOST_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "erf": _by_math(math.erf),
    "erfinv": _by_math(_erf_inverse),
    "lgamma": _by_math(_lgamma),
    "digamma": _by_math(_digamma),
    "zeta": _by_math(_zeta),
    "i1e": _by_math(_scaled_bessel),
    "complex": _complex,
    "nextafter": onp.nextafter,
    "fmod": onp.fmod,
    "cholesky": _cholesky,
    "lu": _lu,
}
"""Functions by the names that namespaces beyond the standard give them."""

__all__ = ["HOST_FUNCTIONS", "scattered", "solved"]
