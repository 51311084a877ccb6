"""Multivariate normal distribution."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import npcompat.numpy as np
from npcompat.gluon.probability._functions import derived
from npcompat.gluon.probability.constraint import LowerCholesky, PositiveDefinite, Real
from npcompat.gluon.probability.distributions.distribution import Distribution
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


class MultivariateNormal(Distribution):
    """Multivariate normal distribution, of vectors of length n.

    Parameters
    ----------
    loc : array_like, shape (..., n)
        Mean.
    cov : array_like, shape (..., n, n), optional
        Covariance.
    precision : array_like, shape (..., n, n), optional
        Inverse of the covariance, instead of `cov`.
    scale_tril : array_like, shape (..., n, n), optional
        Cholesky factor: lower triangular L with covariance `L @ L.T`, instead of `cov`; the
        fastest choice.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> gluon.probability.MultivariateNormal(np.zeros(2), np.eye(2)).log_prob(np.zeros(2)).round(4)
    np.float32(-1.8379)
    """

    has_grad = True
    support = Real()
    arg_constraints: ClassVar = {
        "loc": Real(),
        "cov": PositiveDefinite(),
        "precision": PositiveDefinite(),
        "scale_tril": LowerCholesky(),
    }
    _event_axes: ClassVar = {"loc": 1, "cov": 2, "precision": 2, "scale_tril": 2}
    loc: Any

    def __init__(
        self,
        loc: ArrayLike,
        cov: ArrayLike | None = None,
        precision: ArrayLike | None = None,
        scale_tril: ArrayLike | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = self._one_of(cov=cov, precision=precision, scale_tril=scale_tril)
        self._set(loc=loc, **given)
        (name,) = given
        n, matrix = self.loc.shape[-1], self.__dict__[name]
        if matrix.shape[-2:] != (n, n):
            raise ValueError(
                f"MultivariateNormal: {name}: expected shape (..., {n}, {n}), as loc has {n} "
                f"elements, got {matrix.shape}"
            )
        super().__init__(event_dim=1, validate_args=validate_args)

    @derived
    def scale_tril(self) -> ndarray:
        """Cholesky factor of the covariance."""
        return (
            self._factored(np.linalg.cholesky, self.cov)
            if "cov" in self._given
            else self._factored(np.linalg.inv, self._inverse_tril)
        )

    @derived
    def cov(self) -> ndarray:
        """Covariance matrix."""
        factor = self.scale_tril
        return factor @ np.swapaxes(factor, -1, -2)

    @derived
    def precision(self) -> ndarray:
        """Precision matrix, the inverse of the covariance."""
        inverse = self._inverse_tril
        return np.swapaxes(inverse, -1, -2) @ inverse

    @derived
    def _inverse_tril(self) -> Any:
        """Inverse of the Cholesky factor of the covariance, also lower triangular."""
        if "precision" not in self._given:
            return self._factored(np.linalg.inv, self.scale_tril)
        # The Cholesky factor of the precision with both axes reversed, reversed again, is upper
        # triangular: its transpose is the inverse factor.
        return np.swapaxes(
            self._factored(np.linalg.cholesky, self.precision[..., ::-1, ::-1])[..., ::-1, ::-1],
            -1,
            -2,
        )

    def _factored(self, function: Callable[[Any], Any], matrix: Any) -> Any:
        """Apply a function of linear algebra; 16-bit floats are computed in float32."""
        return (
            function(matrix)
            if matrix.dtype.itemsize > 2
            else function(matrix.astype("float32")).astype(matrix.dtype)
        )

    def _log_det(self) -> Any:
        """Return half of the log determinant of the covariance."""
        return np.log(np.diagonal(self.scale_tril, 0, -2, -1)).sum(-1)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        noise = np.random.normal(0.0, 1.0, (*shape, self.loc.shape[-1]), dtype=self._dtype)
        return self.loc + (self.scale_tril @ noise[..., None])[..., 0]

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        away, inverse = self._value(value) - self.loc, self._inverse_tril
        z = (inverse @ away[..., None])[..., 0]
        log_det = np.log(np.diagonal(inverse, 0, -2, -1)).sum(-1)
        return log_det - 0.5 * (z * z).sum(-1) - 0.5 * away.shape[-1] * math.log(2 * math.pi)

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return self._full(self.loc, self.loc.shape[-1])

    @property
    def variance(self) -> ndarray:
        """Variance of each element."""
        return self._full((self.scale_tril**2).sum(-1), self.loc.shape[-1])

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return self._full(self._log_det() + 0.5 * self.loc.shape[-1] * (1 + math.log(2 * math.pi)))


__all__ = ["MultivariateNormal"]
