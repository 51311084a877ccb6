"""Vandermonde matrices, and polynomials that are fitted to points."""


# mypy: disable-error-code="overload-overlap"
# A poly1d is an array-like, too: the first overload that matches counts.

import warnings
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as onp
from numpy.exceptions import RankWarning

from npcompat._internal.core import dtypes, modes
from npcompat.numpy import linalg
from npcompat.numpy._checks import check_numbers
from npcompat.numpy._creation import asarray
from npcompat.numpy._filled import ones
from npcompat.numpy._floats import sqrt
from npcompat.numpy._joining import concatenate
from npcompat.numpy._manipulation import broadcast_to
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._polynomials import _float64
from npcompat.numpy._products import dot, outer
from npcompat.numpy._reductions import sum
from npcompat.numpy._running import cumprod
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

# --- from points and roots ------------------------------------------------------------------------


@defers_to_classes
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> "ndarray":
    """Build the Vandermonde matrix: the powers of each element in a row.

    Parameters
    ----------
    x : array_like
        The elements, along one axis.
    N : int, optional
        Number of powers; the number of elements if not given.
    increasing : bool
        If True, the row begins with the power 0, instead of the highest.

    Examples
    --------
    >>> np.vander([2, 3], 3)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = x.shape[0] if N is None else N
    x = x.astype(dtypes.narrow(onp.promote_types(x.dtype, onp.int64), [x.dtype]))
    factors = [
        ones((x.shape[0], min(count, 1)), x.dtype),
        broadcast_to(x[:, None], (x.shape[0], max(count - 1, 0))),
    ]
    powers = cumprod(concatenate(factors, 1), 1, x.dtype)
    return powers if increasing else powers[:, ::-1].copy()


@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: ArrayLike | None = None,
    cov: Literal[False] = False,
) -> "ndarray": ...


@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    *,
    full: Literal[True],
    w: ArrayLike | None = None,
    cov: Any = False,
) -> "tuple[ndarray, ndarray, ndarray, ndarray, float | None]": ...


@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: ArrayLike | None = None,
    *,
    cov: Literal[True, "unscaled"],
) -> "tuple[ndarray, ndarray]": ...


def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: Any = False,
) -> Any:
    """Fit a polynomial to points by least squares.

    Parameters
    ----------
    x : array_like
        Coordinates of the points, along one axis.
    y : array_like
        Their values; in the columns of a matrix, those of several functions.
    deg : int
        Degree of the polynomial.
    rcond : float, optional
        Singular values below this fraction of the largest count as zero; the number of points times
        the machine epsilon if not given.
    full : bool
        If True, also return residuals, rank, singular values and `rcond`.
    w : array_like, optional
        Weight of the error of each point, before it is squared.
    cov : bool or 'unscaled'
        If true, also return the covariance matrix of the coefficients; scaled by the
        residuals, or as it is.

    Examples
    --------
    >>> np.round(np.polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1), 3)
    array([2., 1.])
    """
    order = int(deg) + 1
    x, y = asarray(x) + 0.0, asarray(y) + 0.0
    if deg < 0:
        raise ValueError(f"expected deg >= 0, got {deg}")
    if x.ndim != 1:
        raise TypeError(f"expected 1D vector for x, got shape {x.shape}")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim not in (1, 2):
        raise TypeError(f"expected 1D or 2D array for y, got shape {y.shape}")
    count = x.shape[0]
    if count != y.shape[0]:
        raise TypeError(f"expected x and y to have same length, got {count} and {y.shape[0]}")
    if rcond is None:
        rcond = count * float(onp.finfo(x.dtype).eps)
    carried = [x.dtype, y.dtype]
    weights: Any = None
    if w is not None:
        weights = asarray(w) + 0.0
        if weights.ndim != 1:
            raise TypeError(f"expected a 1-d array for weights, got shape {weights.shape}")
        if weights.shape[0] != count:
            raise TypeError(
                f"expected w and y to have the same length, got {weights.shape[0]} and {count}"
            )
        carried.append(weights.dtype)

    def shown(found: Any) -> Any:
        return found.astype(dtypes.narrow(found.dtype, carried))

    # NumPy fits in float64 for any input dtype.
    powers, values = vander(_wide(x), order), y
    if weights is not None:
        powers = powers * weights[:, None]
        values = values * (weights if y.ndim == 1 else weights[:, None])
    check_numbers((powers.dtype, values.dtype), onp.linalg.lstsq)
    scale = sqrt(sum(powers * powers, 0))
    powers = powers / scale
    c, residuals, rank, s = linalg.lstsq(powers, _wide(values), rcond)
    c = shown((c.T / scale).T)
    if full:
        return c, shown(residuals), rank, shown(s), rcond
    if modes.current().trace is None and int(rank) != order:
        warnings.warn("Polyfit may be poorly conditioned", RankWarning, stacklevel=2)
    if not cov:
        return c
    base = linalg.inv(dot(powers.T, powers)) / outer(scale, scale)
    if cov == "unscaled":
        return c, shown(base if y.ndim == 1 else base[:, :, None])
    if count <= order:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    return c, shown((base if y.ndim == 1 else base[:, :, None]) * (residuals / (count - order)))


def _wide(x: Any) -> Any:
    return x.astype(onp.promote_types(x.dtype, _float64))


__all__ = ["polyfit", "vander"]
