"""Straight-through estimators: step functions with the derivative of the identity.

They are used to train quantized networks (Bengio et al., 2013).
"""

from collections.abc import Callable
from typing import Any

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import Op, operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


def _straight(name: str, step: Callable[[Any, Any], Any]) -> Op:
    def compute(xp: Any, x: Any) -> Any:
        return xp.straight_through(x, step(xp, x)) if dtypes.is_inexact(x.dtype) else step(xp, x)

    declare: Callable[[Any], Op] = operator(
        name, rule=dtypes.promote, pattern="elementwise", kernels={"numpy": step}
    )
    return declare(compute)


def _rounded(xp: Any, x: Any) -> Any:
    """Round to the nearest integers, halves away from zero."""
    if not dtypes.is_inexact(x.dtype):
        return x
    finite = xp.isfinite(x)
    known = xp.where(finite, x, xp.zeros_like(x))
    whole = xp.trunc(known)  # (adding 0.5 and truncating is not exact)
    return xp.where(
        finite,
        xp.where(xp.abs(known - whole) >= xp.asarray(0.5, x.dtype), whole + xp.sign(known), whole),
        x,
    )


def _sign(xp: Any, x: Any) -> Any:
    return xp.sign(x) if x.dtype.kind != "b" else x


_round_ste = _straight("_npx_round_ste", _rounded)
_sign_ste = _straight("_npx_sign_ste", _sign)


def round_ste(data: ArrayLike) -> ndarray:
    """Round to the nearest integer, halves away from zero, with straight-through gradient 1.

    Parameters
    ----------
    data : array_like
        Operand.

    Examples
    --------
    >>> x = np.array([0.4, 0.5, -2.5])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = npx.round_ste(x)
    >>> y.backward()
    >>> y, x.grad
    (array([ 0.,  1., -3.]), array([1., 1., 1.]))
    """
    return apply(_round_ste, (data,))


def sign_ste(data: ArrayLike) -> ndarray:
    """Sign, -1, 0 or 1, with straight-through gradient 1.

    Parameters
    ----------
    data : array_like
        Operand.

    Examples
    --------
    >>> npx.sign_ste([0.4, 0.0, -2.5])
    array([ 1.,  0., -1.])
    """
    return apply(_sign_ste, (data,))


__all__ = ["round_ste", "sign_ste"]
