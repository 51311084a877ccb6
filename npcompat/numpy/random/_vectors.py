"""Multivariate distributions; vectors lie along the last axis of a sample."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import modes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like
from npcompat.numpy import linalg
from npcompat.numpy._checks import flagged
from npcompat.numpy._creation import asarray
from npcompat.numpy._diagonals import diagonal
from npcompat.numpy._typing import ArrayLike, DTypeLike, Out, ShapeLike
from npcompat.numpy._ufunc import finish
from npcompat.numpy.random._parameters import check, parameter, whole
from npcompat.numpy.random._sampling import Sampler, count_op, float_dtype, float_op, int64, size_of

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_dirichlet = float_op("dirichlet", (1,))
_multinomial = count_op("multinomial", (0, 1))
_multivariate_hypergeometric = count_op("multivariate_hypergeometric", (1, 0))


def _normal_rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return [None, None, attrs["dtype"], attrs["dtype"]], (attrs["dtype"], int64)


def _normal_compute(
    xp: Any,
    key: Any,
    counter: Any,
    mean: Any,
    cov: Any,
    *,
    size: Any = (),
    method: str = "svd",
    dtype: Any = None,
) -> Any:
    """Draw multivariate normal vectors; also return the counter of the next draw.

    Parameters
    ----------
    mean : array
        Mean.
    cov : array
        Covariance.
    method : {'svd', 'eigh', 'cholesky'}
        Square root of the covariance.
    """
    return xp.random_multivariate_normal(
        key, counter, mean, cov, size, method, dtype
    ), xp.next_counter(counter)


_multivariate_normal = operator(
    "_npi_random_multivariate_normal",
    rule=_normal_rule,
    outputs=2,
    kernels={"jax": _normal_compute},
    element_axes=(1, 2),
)(_normal_compute)


_TOO_MUCH = "sum(pvals[:-1]) > 1.0"
_TOO_MUCH_ROUNDED = (
    "sum(pvals[:-1].astype(np.float64)) > 1.0. The pvals array is cast to 64-bit floating point "
    "prior to checking the sum. "
    "Precision changes when casting may cause problems even if the sum of the original pvals is "
    "valid."
)


class Vectors(Sampler):
    """Mixin of multivariate distributions; `size` is the shape without the last axis."""

    _legacy = False

    def dirichlet(
        self,
        alpha: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Dirichlet distribution: vectors that sum to 1; differentiable in `alpha`.

        Examples
        --------
        >>> np.random.dirichlet([1.0, 2.0, 3.0], size=4).shape
        (4, 3)
        """
        alpha = asarray(alpha)
        if alpha.ndim != 1:
            raise (TypeError if not alpha.ndim else ValueError)(
                f"alpha must be 1-dimensional, got {alpha.ndim} dimensions"
            )
        check("alpha", "positive" if self._legacy else "nonnegative", alpha)
        shape = (size_of(size) or (), float_dtype(dtype, "dirichlet"))
        return finish(
            self._draw(_dirichlet, (alpha,), shape, device if device is not None else ctx),
            out,
            "dirichlet",
        )

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: ShapeLike | None = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Multivariate normal distribution; differentiable in mean and covariance.

        Parameters
        ----------
        mean : (n,) array_like
            Mean.
        cov : (n, n) array_like
            Covariance, symmetric and positive semidefinite.
        size : int or tuple of int, optional
            Shape of the result without its last axis.
        check_valid : {'warn', 'raise', 'ignore'}
            Reaction to an invalid `cov`. A compiled function does not warn.
        tol : float
            Tolerance of the check.
        dtype, device, ctx, out
            As in `uniform`.

        Examples
        --------
        >>> np.random.multivariate_normal([0, 1], [[2, 1], [1, 2]], size=3).shape
        (3, 2)
        """
        placement = device if device is not None else ctx
        return self._normal_vectors(mean, cov, size, check_valid, tol, "svd", dtype, placement, out)

    def _normal_vectors(
        self,
        mean: Any,
        cov: Any,
        size: Any,
        check_valid: str,
        tol: float,
        method: str,
        dtype: Any,
        device: Any,
        out: Any,
    ) -> Any:
        if method not in ("eigh", "svd", "cholesky"):
            raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
        if check_valid not in ("warn", "raise", "ignore"):
            raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
        mean, cov = asarray(mean), asarray(cov)
        if "c" in (mean.dtype.kind, cov.dtype.kind):
            raise TypeError("mean and cov must not be complex")
        if mean.ndim != 1:
            raise ValueError("mean must be 1 dimensional")
        if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
            raise ValueError("cov must be 2 dimensional and square")
        if mean.shape[0] != cov.shape[0]:
            raise ValueError("mean and cov must have same length")
        wanted = float_dtype(dtype, "multivariate_normal")
        if check_valid != "ignore" and (method != "cholesky" or modes.current().trace is None):
            _check_covariance(cov, check_valid, tol, method)
        attrs = (size_of(size) or (), method, wanted)
        return finish(
            self._draw(_multivariate_normal, (mean, cov), attrs, device), out, "multivariate_normal"
        )

    def multinomial(
        self,
        n: ArrayLike,
        pvals: ArrayLike,
        size: ShapeLike | None = None,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Multinomial distribution: the count of each outcome in `n` trials.

        The last outcome has the remaining probability.

        Examples
        --------
        >>> int(np.random.multinomial(20, [0.5, 0.25, 0.25]).sum())
        20
        """
        n, chances = whole(n, truncated=not self._legacy), parameter(pvals)
        dimensions = getattr(chances, "ndim", 0)
        if self._legacy:
            if getattr(n, "shape", ()):
                raise TypeError("an integer is required")
            if dimensions != 1:
                raise (ValueError if dimensions else TypeError)("pvals must be a 1-d sequence")
        elif not dimensions or not chances.shape[-1]:
            raise ValueError(
                "pvals must have at least 1 dimension and the last dimension of pvals must be "
                "greater than 0."
            )
        check("n", "nonnegative", n)
        check("pvals", "probabilities", chances)
        check(
            _TOO_MUCH if chances.dtype.itemsize > 4 else _TOO_MUCH_ROUNDED,
            "a sum of at most one",
            chances,
        )
        shape, needed = (
            size_of(size),
            onp.broadcast_shapes(getattr(n, "shape", ()), chances.shape[:-1]),
        )
        if shape is not None and onp.broadcast_shapes(shape, needed) != shape:
            raise ValueError(
                f"Output size {shape} is not compatible with broadcast dimensions of inputs "
                f"{needed}."
            )
        if not chances.shape[-1]:
            return array_like.array_of(onp.zeros((*(shape or ()), 0), onp.int64))
        return finish(
            self._draw(_multinomial, (n, chances), (shape,), device if device is not None else ctx),
            out,
            "multinomial",
        )

    def _hypergeometric_vectors(
        self, colors: Any, nsample: Any, size: Any, method: str, device: Any, out: Any
    ) -> Any:
        if method not in ("count", "marginals"):
            raise ValueError('method must be "count" or "marginals".')
        try:
            sample = nsample.__index__()
        except (AttributeError, TypeError):
            raise ValueError("nsample must be an integer") from None
        if sample < 0:
            raise ValueError("nsample must be nonnegative.")
        colors = parameter(colors)
        wrong = (
            "colors must be a one-dimensional sequence of nonnegative integers not exceeding "
            "9223372036854775807."
        )
        if getattr(colors, "ndim", 0) != 1 or (colors.dtype.kind not in "iu" and colors.shape[0]):
            raise ValueError(wrong)
        colors = asarray(colors).astype(onp.int64)
        total = colors.sum()
        flagged((colors < 0).any(), ValueError, wrong)
        if method == "marginals":
            flagged(
                total >= 10**9,
                ValueError,
                'When method is "marginals", sum(colors) must be less than 1000000000.',
            )
        else:
            most = onp.iinfo(onp.int64).max // 8
            flagged(
                total > most,
                ValueError,
                f"When method is 'count', sum(colors) must not exceed {most}",
            )
        flagged(total < sample, ValueError, "nsample > sum(colors)")
        shape = size_of(size) or ()
        if not colors.shape[0]:
            return array_like.array_of(onp.zeros((*shape, 0), onp.int64))
        drawn = self._draw(_multivariate_hypergeometric, (colors, sample), (shape,), device)
        return finish(drawn, out, "multivariate_hypergeometric")


def _check_covariance(cov: Any, check_valid: str, tol: float, method: str) -> None:
    text = "covariance is not symmetric positive-semidefinite."
    if method == "cholesky":
        linalg.cholesky(cov)  # raises LinAlgError
        return
    wrong = ~(
        (abs(cov - cov.T) <= tol + tol * abs(cov)).all()
        & (linalg.eigvalsh(cov) >= -tol * abs(diagonal(cov)).max()).all()
    )
    if check_valid == "raise":
        flagged(wrong, ValueError, text)
    elif modes.current().trace is None and bool(wrong):
        warnings.warn(text, RuntimeWarning, stacklevel=4)


__all__ = ["Vectors"]
