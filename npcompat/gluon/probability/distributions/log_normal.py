"""Log-normal distribution."""

from typing import Any, ClassVar

import npcompat.numpy as np
from npcompat.gluon.probability.constraint import Positive, Real
from npcompat.gluon.probability.distributions.composed import TransformedDistribution
from npcompat.gluon.probability.distributions.location_scale import Normal
from npcompat.gluon.probability.transformation import ExpTransform
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


class LogNormal(TransformedDistribution):
    """Log-normal distribution, of the exponential of a normal variable.

    Parameters
    ----------
    loc : array_like
        Mean of the logarithm.
    scale : array_like
        Standard deviation of the logarithm.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> round(float(gluon.probability.LogNormal(0.0, 1.0).mean), 4)
    1.6487
    """

    support = Positive()
    arg_constraints: ClassVar = {"loc": Real(), "scale": Positive()}

    def __init__(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, validate_args: bool | None = None
    ) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """Mean of the logarithm."""
        return self._base_dist.loc  # type: ignore[attr-defined]

    @property
    def scale(self) -> Any:
        """Standard deviation of the logarithm."""
        return self._base_dist.scale  # type: ignore[attr-defined]

    @property
    def mean(self) -> ndarray:
        """Mean."""
        return np.exp(self.loc + 0.5 * self.scale**2)

    @property
    def variance(self) -> ndarray:
        """Variance."""
        return np.expm1(self.scale**2) * np.exp(2 * self.loc + self.scale**2)

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return self._base_dist.entropy() + self.loc

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.loc!r}, {self.scale!r})"


__all__ = ["LogNormal"]
