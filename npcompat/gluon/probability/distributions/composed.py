"""Distributions composed of other distributions: TransformedDistribution, Independent."""

import copy
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core.op import as_shape
from npcompat.gluon.probability._functions import sum_right_most
from npcompat.gluon.probability.constraint import Constraint, dependent_property
from npcompat.gluon.probability.distributions.distribution import Distribution
from npcompat.gluon.probability.transformation import ComposeTransform, Transformation
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike

_Self = TypeVar("_Self", bound=Distribution)


class TransformedDistribution(Distribution):
    """Distribution of a transformed random variable.

    Parameters
    ----------
    base_dist : Distribution
        Distribution of the random variable.
    transforms : Transformation or sequence of Transformation
        Transformations, applied in order.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> mgp = gluon.probability
    >>> lognormal = mgp.TransformedDistribution(mgp.Normal(0.0, 1.0), mgp.ExpTransform())
    >>> float(lognormal.cdf(1.0))
    0.5
    """

    def __init__(
        self,
        base_dist: Distribution,
        transforms: Transformation | Sequence[Transformation],
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(base_dist, Distribution):
            raise TypeError(
                "TransformedDistribution: base_dist: expected a Distribution, got "
                f"{type(base_dist).__name__}"
            )
        self._base_dist = base_dist
        self._transforms = (
            [transforms] if isinstance(transforms, Transformation) else list(transforms)
        )
        self._transform = ComposeTransform(self._transforms)
        super().__init__(
            event_dim=max(base_dist.event_dim or 0, self._transform.event_dim),
            validate_args=validate_args,
        )

    @property
    def has_grad(self) -> bool:
        """True if samples of the base distribution are differentiable."""
        return bool(self._base_dist.has_grad)

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        base = self._base_dist._batch_shape
        more = (self.event_dim or 0) - (self._base_dist.event_dim or 0)
        return onp.broadcast_shapes(base[: max(len(base) - more, 0)], self._transform._batch_shape)

    @property
    def _dtype(self) -> Any:
        return self._base_dist._dtype

    def broadcast_to(self: _Self, batch_shape: Any) -> _Self:
        """Return the distribution with the base distribution's parameters broadcast."""
        new: Any = copy.copy(self)
        new._base_dist = new._base_dist.broadcast_to(as_shape(batch_shape) + self._base_event())  # type: ignore[attr-defined]
        return new

    def _base_event(self) -> tuple[int, ...]:
        """Return the batch axes of the base distribution that are event axes of this one."""
        more = (self.event_dim or 0) - (self._base_dist.event_dim or 0)
        base = self._base_dist._batch_shape
        return base[len(base) - more :] if more else ()

    def _draw(self, shape: tuple[int, ...]) -> Any:
        whole = shape + self._base_event()
        x = self._base_dist.sample(None if whole == self._base_dist._batch_shape else whole)
        for transform in self._transforms:
            x = transform(x)
        return x

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value, by the change of variables.

        It is the base distribution's, minus the log determinant of the Jacobian.
        """
        event_dim = self.event_dim or 0
        y = self._value(value)
        result: Any = 0.0
        for transform in reversed(self._transforms):
            x = transform.inv(y)
            result = result - sum_right_most(
                transform.log_det_jacobian(x, y), event_dim - transform.event_dim
            )
            y = x
        return result + sum_right_most(
            self._base_dist.log_prob(y), event_dim - (self._base_dist.event_dim or 0)
        )

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF), for monotonic transformations."""
        sign = self._transform.sign
        below = self._base_dist.cdf(self._transform.inv(self._value(value)))
        return np.where(np.asarray(sign) > 0, below, 1 - below)

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function)."""
        value = np.asarray(value)
        return self._transform(
            self._base_dist.icdf(np.where(np.asarray(self._transform.sign) > 0, value, 1 - value))
        )

    def __repr__(self) -> str:
        names = ", ".join(type(t).__name__ for t in self._transforms)
        return f"{type(self).__name__}({self._base_dist!r}, [{names}])"


class Independent(Distribution):
    """Batch of distributions as one distribution of arrays with independent elements.

    Parameters
    ----------
    base_distribution : Distribution
        The batch.
    reinterpreted_batch_ndims : int
        Number of last batch axes that become event axes.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> normals = gluon.probability.Normal(np.zeros((2, 3)), 1.0)
    >>> gluon.probability.Independent(normals, 1).log_prob(np.zeros((2, 3))).round(4)
    array([-2.7568, -2.7568])
    """

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(base_distribution, Distribution):
            raise TypeError(
                "Independent: base_distribution: expected a Distribution, got "
                f"{type(base_distribution).__name__}"
            )
        batch = base_distribution._batch_shape
        if not 0 <= reinterpreted_batch_ndims <= len(batch):
            raise ValueError(
                "Independent: reinterpreted_batch_ndims: expected a number from 0 to "
                f"{len(batch)}, as the batch has shape {batch}, "
                f"got {reinterpreted_batch_ndims}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = (
            base_distribution,
            int(reinterpreted_batch_ndims),
        )
        super().__init__(
            event_dim=self.reinterpreted_batch_ndims + (base_distribution.event_dim or 0),
            validate_args=validate_args,
        )

    @property
    def has_grad(self) -> bool:
        """True if samples of the base distribution are differentiable."""
        return bool(self.base_dist.has_grad)

    @property
    def has_enumerate_support(self) -> bool:
        """True if the base distribution has it, and no batch axis became an event axis."""
        return self.reinterpreted_batch_ndims == 0 and bool(self.base_dist.has_enumerate_support)

    @dependent_property
    def support(self) -> Constraint | None:
        """Support of the base distribution."""
        return self.base_dist.support

    @property
    def _dtype(self) -> Any:
        return self.base_dist._dtype

    def _split(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        batch = self.base_dist._batch_shape
        first = len(batch) - self.reinterpreted_batch_ndims
        return batch[:first], batch[first:]

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        return self._split()[0]

    def broadcast_to(self: _Self, batch_shape: Any) -> _Self:
        """Return the distribution with parameters broadcast; event axes stay."""
        new: Any = copy.copy(self)
        new.base_dist = new.base_dist.broadcast_to(as_shape(batch_shape) + new._split()[1])
        return new

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self.base_dist.sample(shape + self._split()[1])

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density: the sum over the elements of an event."""
        return sum_right_most(
            self.base_dist.log_prob(self._value(value)), self.reinterpreted_batch_ndims
        )

    @property
    def mean(self) -> ndarray:
        """Mean of each element."""
        return self.base_dist.mean

    @property
    def variance(self) -> ndarray:
        """Variance of each element."""
        return self.base_dist.variance

    def entropy(self) -> ndarray:
        """Entropy, in nats: the sum over the elements of an event."""
        return sum_right_most(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self) -> ndarray:
        """Return all values, if no batch axis became an event axis."""
        if self.reinterpreted_batch_ndims:
            raise self._undefined("enumerate_support for arrays of independent elements")
        return self.base_dist.enumerate_support()

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"


__all__ = ["Independent", "TransformedDistribution"]
