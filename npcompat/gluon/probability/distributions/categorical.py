"""Distributions over a finite number of events: Categorical, OneHotCategorical, Multinomial."""

from typing import Any, ClassVar

import numpy as onp

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.probability._functions import (
    derived,
    log,
    logit2prob,
    prob2logit,
    weighted,
    xlogy,
)
from npcompat.gluon.probability.constraint import (
    IntegerInterval,
    Real,
    Simplex,
    _Counts,
    _OneHot,
    dependent_property,
)
from npcompat.gluon.probability.distributions.distribution import Distribution
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


class _Events(Distribution):
    """Base class: a number of events, with probabilities or logits."""

    arg_constraints: ClassVar = {"prob": Simplex(), "logit": Real()}
    _event_axes: ClassVar = {"prob": 1, "logit": 1}

    def _set_events(self, num_events: int, prob: Any, logit: Any, **others: Any) -> None:
        if isinstance(num_events, bool) or num_events != int(num_events) or num_events < 1:
            raise ValueError(
                f"{type(self).__name__}: num_events: expected a whole number from 1 on, got "
                f"{num_events}"
            )
        self.num_events = int(num_events)
        self._set(**others, **self._one_of(prob=prob, logit=logit))
        name = self._given[-1]
        shape = self.__dict__[name].shape
        if shape[-1] != self.num_events:
            raise ValueError(
                f"{type(self).__name__}: {name}: expected length num_events={num_events} along "
                f"the last axis, got shape {shape}"
            )

    @derived
    def prob(self) -> ndarray:
        """Probabilities of the events."""
        return logit2prob(self.logit, False)

    @derived
    def logit(self) -> ndarray:
        """Log probabilities, finite also for 0.

        Given logits need not be normalized.
        """
        return prob2logit(self.prob, False)

    def _weighted(self, weights: Any) -> Any:
        """Sum of weighted log probabilities; weight 0 contributes 0, even for impossible events."""
        if "prob" in self._given:
            return xlogy(weights, self.prob).sum(-1)
        return weighted(weights, npx.log_softmax(self.logit, axis=-1)).sum(-1)

    def _categories(self, shape: tuple[int, ...]) -> Any:
        """Draw event numbers by the Gumbel-max trick (Gumbel, 1954)."""
        precise = self._dtype if self._dtype.itemsize >= 4 else "float32"
        noise = np.random.gumbel(0.0, 1.0, (*shape, self.num_events), dtype=precise)
        logs = self.logit if "logit" in self._given else log(self.prob)
        return np.argmax(logs + noise, axis=-1)


class Categorical(_Events):
    """Categorical distribution, of one event out of several; samples are int64.

    Parameters
    ----------
    num_events : int
        Number of events: 0 to `num_events - 1`.
    prob : array_like, shape (..., num_events), optional
        Their probabilities.
    logit : array_like, shape (..., num_events), optional
        The logarithms of the probabilities, instead of `prob`; they need not be normalized.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> dist = gluon.probability.Categorical(3, np.array([0.5, 0.25, 0.25]))
    >>> dist.log_prob(np.array([0, 2])).round(4)
    array([-0.6931, -1.3863])
    """

    has_enumerate_support = True

    def __init__(
        self,
        num_events: int,
        prob: ArrayLike | None = None,
        logit: ArrayLike | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_events(num_events, prob, logit)
        super().__init__(event_dim=0, validate_args=validate_args)

    @dependent_property
    def support(self) -> IntegerInterval:
        """Integers from 0 to `num_events - 1`."""
        return IntegerInterval(0, self.num_events - 1)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self._categories(shape)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability of value; -inf for values that are no event."""
        value = self._value(value)
        given = self.prob if "prob" in self._given else npx.log_softmax(self.logit, axis=-1)
        shape = np.broadcast_shapes(value.shape, self._batch_shape)
        value = np.broadcast_to(value, shape)
        picked = npx.pick(np.broadcast_to(given, (*shape, self.num_events)), value)
        is_event = (value >= 0) & (value < self.num_events) & (value % 1 == 0)
        return np.where(is_event, log(picked) if "prob" in self._given else picked, -np.inf)

    def enumerate_support(self) -> ndarray:
        """Return all events, along a new first axis."""
        events = np.arange(self.num_events).reshape((-1,) + (1,) * len(self._batch_shape))
        return np.broadcast_to(events, (self.num_events, *self._batch_shape))

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return -self._weighted(self.prob)


class OneHotCategorical(_Events):
    """One-hot categorical distribution: events are vectors with a single 1.

    Parameters
    ----------
    num_events : int
        Number of events.
    prob : array_like, shape (..., num_events), optional
        Their probabilities.
    logit : array_like, shape (..., num_events), optional
        The logarithms of the probabilities, instead of `prob`; they need not be normalized.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> gluon.probability.OneHotCategorical(3, np.array([0.0, 1.0, 0.0])).sample()
    array([0., 1., 0.])
    """

    has_enumerate_support = True
    support = _OneHot()

    def __init__(
        self,
        num_events: int,
        prob: ArrayLike | None = None,
        logit: ArrayLike | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_events(num_events, prob, logit)
        super().__init__(event_dim=1, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return npx.one_hot(self._categories(shape), self.num_events, dtype=self._dtype)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability of value; interpolates between one-hot vectors."""
        return self._weighted(self._value(value))

    def enumerate_support(self) -> ndarray:
        """Return all events, along a new first axis."""
        shape = (self.num_events, *(1,) * len(self._batch_shape), self.num_events)
        vectors = np.eye(self.num_events, dtype=self._dtype).reshape(shape)
        return np.broadcast_to(vectors, (self.num_events, *self._batch_shape, self.num_events))

    @property
    def mean(self) -> ndarray:
        """Mean: the probabilities."""
        return self.prob

    @property
    def variance(self) -> ndarray:
        """Variance of each element."""
        return self.prob * (1 - self.prob)

    def entropy(self) -> ndarray:
        """Entropy, in nats."""
        return -self._weighted(self.prob)


class Multinomial(_Events):
    """Multinomial distribution, of the counts of events in a number of trials.

    Parameters
    ----------
    num_events : int
        Number of events.
    prob : array_like, shape (..., num_events), optional
        Their probabilities.
    logit : array_like, shape (..., num_events), optional
        The logarithms of the probabilities, instead of `prob`; they need not be normalized.
    total_count : int
        Number of trials.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> float(gluon.probability.Multinomial(2, np.array([0.5, 0.5]), total_count=5).sample().sum())
    5.0
    """

    def __init__(
        self,
        num_events: int,
        prob: ArrayLike | None = None,
        logit: ArrayLike | None = None,
        total_count: int = 1,
        validate_args: bool | None = None,
    ) -> None:
        if (
            not isinstance(total_count, int | float | onp.number)
            or total_count < 0
            or total_count % 1
        ):
            raise ValueError(
                f"Multinomial: total_count: expected a whole number from 0 on, got {total_count!r}"
            )
        self.total_count = int(total_count)
        self._set_events(num_events, prob, logit)
        super().__init__(event_dim=1, validate_args=validate_args)

    @dependent_property
    def support(self) -> _Counts:
        """Vectors of counts that add up to the number of trials."""
        return _Counts(self.total_count)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        prob = self.prob.astype("float64")
        prob = prob / prob.sum(-1, keepdims=True)
        return npx.random.multinomial(
            self.total_count, np.broadcast_to(prob, (*shape, self.num_events)), dtype=self._dtype
        )

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability of counts."""
        value = self._value(value)
        inside = (value >= 0).all(-1) & (value.sum(-1) == self.total_count)
        counts = np.maximum(value, 0)
        ways = npx.gammaln(counts.sum(-1) + 1) - npx.gammaln(counts + 1).sum(-1)
        return np.where(inside, ways + self._weighted(counts), -np.inf)

    @property
    def mean(self) -> ndarray:
        """Mean of each count."""
        return self.total_count * self.prob

    @property
    def variance(self) -> ndarray:
        """Variance of each count."""
        return self.total_count * self.prob * (1 - self.prob)


__all__ = ["Categorical", "Multinomial", "OneHotCategorical"]
