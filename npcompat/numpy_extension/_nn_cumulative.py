"""Special functions of cumulative distributions, under SciPy's names; computed by XLA."""

from collections.abc import Callable
from typing import Any

from npcompat._internal.core.op import Op, operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_types import widened


def _special(name: str) -> Op:
    def unary(xp: Any, x: Any) -> Any:
        return getattr(xp, name)(x)

    declare: Callable[[Any], Op] = operator(
        f"_npx_{name}", rule=widened, pattern="elementwise", kernels={"jax": unary}
    )
    return declare(unary)


def _incomplete_gamma(name: str) -> Op:
    def binary(xp: Any, a: Any, x: Any) -> Any:
        return getattr(xp, name)(a, x)

    declare: Callable[[Any], Op] = operator(
        f"_npx_{name}", rule=widened, pattern="broadcast", kernels={"jax": binary}
    )
    return declare(binary)


_erfc = _special("erfc")
_ndtri = _special("ndtri")
_gammainc = _incomplete_gamma("gammainc")
_gammaincc = _incomplete_gamma("gammaincc")


def _betainc_on_xla(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """Regularized incomplete beta function."""
    return xp.betainc(a, b, x)


_betainc = operator(
    "_npx_betainc", rule=widened, pattern="broadcast", kernels={"jax": _betainc_on_xla}
)(_betainc_on_xla)


def erfc(data: ArrayLike) -> ndarray:
    """Complementary error function, 1 - erf(x), accurate for large x.

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.

    Examples
    --------
    >>> float(npx.erfc(0.0))
    1.0
    """
    return apply(_erfc, (data,))


def ndtri(data: ArrayLike) -> ndarray:
    """Inverse of the standard normal CDF (probit function).

    Parameters
    ----------
    data : array_like
        Probabilities.

    Examples
    --------
    >>> round(float(npx.ndtri(0.975)), 3)
    1.96
    """
    return apply(_ndtri, (data,))


def gammainc(a: ArrayLike, x: ArrayLike) -> ndarray:
    """Regularized lower incomplete gamma function; differentiable in both arguments.

    Parameters
    ----------
    a : array_like
        Shape, positive.
    x : array_like
        Upper limit of the integral, from 0 on.

    Examples
    --------
    >>> round(float(npx.gammainc(1.0, 1.0)), 4)
    0.6321
    """
    return apply(_gammainc, (a, x))


def gammaincc(a: ArrayLike, x: ArrayLike) -> ndarray:
    """Regularized upper incomplete gamma function, 1 - gammainc(a, x), accurate for large x.

    Parameters
    ----------
    a : array_like
        Shape, positive.
    x : array_like
        Lower limit of the integral, from 0 on.

    Examples
    --------
    >>> round(float(npx.gammaincc(1.0, 1.0)), 4)
    0.3679
    """
    return apply(_gammaincc, (a, x))


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> ndarray:
    """Regularized incomplete beta function; differentiable in `x` only.

    Differentiating in `a` or `b` raises ValueError.

    Parameters
    ----------
    a, b : array_like
        Shapes, positive.
    x : array_like
        Upper limit of the integral, from 0 to 1.

    Examples
    --------
    >>> round(float(npx.betainc(2.0, 2.0, 0.25)), 4)
    0.1563
    """
    return apply(_betainc, (a, b, x))


__all__ = ["betainc", "erfc", "gammainc", "gammaincc", "ndtri"]
