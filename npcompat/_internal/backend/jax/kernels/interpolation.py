"""Linear interpolation on XLA as in NumPy, also of complex numbers and next to infinities.

Values in equal steps (`linspace`) are rounded as NumPy's.
"""

from typing import Any

import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jax.kernels.arithmetic import divide
from npcompat._internal.backend.jax.kernels.straight_through import straight_through
from npcompat._internal.backend.jaxpr.rounding import rounded
from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("interp", backend="jax")
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Evaluate at `x` the piecewise linear function through the points (xp, fp).

    If an infinity in one point leads to nan, the other point is used. At the points themselves
    their values are returned, and the derivative is the slope on the right, at the last one on the
    left.
    """
    if jnp.iscomplexobj(fp):
        (low, low_imag), (high, high_imag) = [
            (None, None) if v is None else (v.real, v.imag) for v in (left, right)
        ]
        real = interp(x, xp, fp.real, low, high, period)
        imag = interp(x, xp, fp.imag, low_imag, high_imag, period)
        if xp.shape[0] > 1 or period is not None:
            imag = jnp.where(jnp.isnan(x), 0, imag)
        return lax.complex(real, imag)
    if period is not None:
        period = abs(period)
        x, xp = jnp.remainder(x, period), jnp.remainder(xp, period)
        order = jnp.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = jnp.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = jnp.concatenate([fp[-1:], fp, fp[:1]])
        left = right = None
    last = xp.shape[0] - 1
    at = jnp.clip(jnp.searchsorted(xp, x, side="right") - 1, 0, max(last - 1, 0))
    after = jnp.minimum(at + 1, last)
    begin, end, low, high = xp[at], xp[after], fp[at], fp[after]
    width = end - begin
    slope = (high - low) / jnp.where(width == 0, 1, width)
    found = slope * (x - begin) + low
    found = jnp.where(jnp.isnan(found), slope * (x - end) + high, found)
    found = jnp.where(jnp.isnan(found) & (low == high), low, found)
    exact = jnp.where(x == xp[last], fp[last], jnp.where(x == begin, low, found))
    found = jnp.where(jnp.isfinite(slope), straight_through(found, exact), exact)
    found = jnp.where(x < xp[0], fp[0] if left is None else left, found)
    found = jnp.where(x > xp[last], fp[last] if right is None else right, found)
    return jnp.where(jnp.isnan(x), x if last else fp[0], found)


@register_kernel("linspace", backend="jax")
def linspace(start: Any, stop: Any, num: int, endpoint: bool = True, *, axis: int = 0) -> Any:
    """Values in equal steps, as multiples of one step.

    NumPy does the same: so values that are whole numbers are not rounded off them.
    """
    start, stop = jnp.broadcast_arrays(start, stop)
    steps, width = max(num - endpoint, 1), stop - start
    step = divide(width, jnp.asarray(steps, width.dtype))
    number = lax.broadcasted_iota(width.real.dtype, (num, *width.shape), 0)
    way = jnp.where(
        (step == 0).any(),
        divide(number, jnp.asarray(steps, width.dtype)) * width,
        number * step,
    )
    found = rounded(way) + start
    if endpoint and num > 1:
        found = jnp.where(number == steps, stop, found)
    return jnp.moveaxis(found, 0, axis)


__all__ = ["interp", "linspace"]
