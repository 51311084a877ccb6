"""Special functions, computed by XLA on every backend."""

from collections.abc import Callable
from typing import Any

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import Op, operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


def _special(name: str) -> Op:
    def compute(xp: Any, x: Any) -> Any:
        return getattr(xp, name)(x)

    declare: Callable[[Any], Op] = operator(
        f"_npx_{name}", rule=dtypes.floating, pattern="elementwise"
    )
    return declare(compute)


_erf = _special("erf")
_erfinv = _special("erfinv")
_gamma = _special("gamma")
_gammaln = _special("gammaln")
_digamma = _special("digamma")


def erf(data: ArrayLike) -> ndarray:
    """Error function.

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.

    Examples
    --------
    >>> [round(v, 3) for v in npx.erf([0.0, 0.5]).tolist()]
    [0.0, 0.52]
    """
    return apply(_erf, (data,))


def erfinv(data: ArrayLike) -> ndarray:
    """Inverse of the error function.

    Parameters
    ----------
    data : array_like
        Operand, between -1 and 1; integers become the default float.

    Examples
    --------
    >>> [round(v, 3) for v in npx.erfinv([0.0, -1.0]).tolist()]
    [0.0, -inf]
    """
    return apply(_erfinv, (data,))


def gamma(data: ArrayLike) -> ndarray:
    """Gamma function.

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.

    Examples
    --------
    >>> [round(v, 3) for v in npx.gamma([1.0, 3.0]).tolist()]
    [1.0, 2.0]
    """
    return apply(_gamma, (data,))


def gammaln(data: ArrayLike) -> ndarray:
    """Logarithm of the absolute value of the gamma function.

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.

    Examples
    --------
    >>> [round(v, 3) for v in npx.gammaln([1.0, 5.0]).tolist()]
    [0.0, 3.178]
    """
    return apply(_gammaln, (data,))


def digamma(data: ArrayLike) -> ndarray:
    """Digamma function, the derivative of the logarithm of the gamma function.

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.

    Examples
    --------
    >>> [round(v, 3) for v in npx.digamma([1.0]).tolist()]
    [-0.577]
    """
    return apply(_digamma, (data,))


__all__ = ["digamma", "erf", "erfinv", "gamma", "gammaln"]
