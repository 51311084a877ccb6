"""Continuous relaxations of discrete distributions, with differentiable samples.

RelaxedBernoulli and RelaxedOneHotCategorical. Maddison, Mnih and Teh, "The concrete distribution"
(2017); Jang, Gu and Poole, "Categorical reparameterization with Gumbel-softmax" (2017).
"""

import math
from typing import Any, ClassVar

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.probability._functions import inside_unit, prob2logit, tiny
from npcompat.gluon.probability.constraint import (
    OpenInterval,
    Positive,
    Real,
    Simplex,
    UnitInterval,
)
from npcompat.gluon.probability.distributions.categorical import _Events
from npcompat.gluon.probability.distributions.discrete import _Trials
from npcompat.gluon.probability.distributions.distribution import Distribution
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


class RelaxedBernoulli(_Trials):
    """Relaxed Bernoulli distribution on (0, 1), which is Bernoulli at temperature 0.

    Parameters
    ----------
    T : array_like
        Temperature.
    prob : array_like, optional
        Probability of a 1 at temperature 0.
    logit : array_like, optional
        Its log-odds, instead of `prob`.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> sample = gluon.probability.RelaxedBernoulli(0.1, prob=np.full(5, 0.5)).sample()
    >>> bool(((sample > 0) & (sample < 1)).all())
    True
    """

    has_grad = True
    support = OpenInterval(0, 1)
    arg_constraints: ClassVar = {"T": Positive(), "prob": UnitInterval(), "logit": Real()}
    T: Any

    def __init__(
        self,
        T: ArrayLike,
        prob: ArrayLike | None = None,
        logit: ArrayLike | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set(T=T, **self._one_of(prob=prob, logit=logit))
        Distribution.__init__(self, event_dim=0, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        noise = np.random.logistic(0.0, 1.0, shape, dtype=self._dtype)
        return inside_unit(npx.sigmoid((self.logit + noise) / self.T))

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density at value."""
        x = prob2logit(self._value(value))
        away = self.logit - self.T * x
        jacobian = npx.log_sigmoid(x) + npx.log_sigmoid(-x)
        return np.log(self.T) + npx.log_sigmoid(away) + npx.log_sigmoid(-away) - jacobian


class RelaxedOneHotCategorical(_Events):
    """Relaxed one-hot categorical (Gumbel-softmax, concrete) distribution.

    Samples are probability vectors; at temperature 0 they are one-hot.

    Parameters
    ----------
    T : array_like
        Temperature.
    num_events : int
        Number of events.
    prob : array_like, shape (..., num_events), optional
        Their probabilities at temperature 0.
    logit : array_like, shape (..., num_events), optional
        The logarithms of the probabilities, instead of `prob`; they need not be normalized.
    validate_args : bool, optional
        Whether arguments are checked.

    Examples
    --------
    >>> sample = gluon.probability.RelaxedOneHotCategorical(0.1, 3, prob=np.full(3, 1 / 3)).sample()
    >>> round(float(sample.sum()), 4)
    1.0
    """

    has_grad = True
    support = Simplex()
    arg_constraints: ClassVar = {"T": Positive(), "prob": Simplex(), "logit": Real()}
    T: Any

    def __init__(
        self,
        T: ArrayLike,
        num_events: int,
        prob: ArrayLike | None = None,
        logit: ArrayLike | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_events(num_events, prob, logit, T=T)
        Distribution.__init__(self, event_dim=1, validate_args=validate_args)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        noise = np.random.gumbel(0.0, 1.0, (*shape, self.num_events), dtype=self._dtype)
        return npx.softmax((self.logit + noise) / self.T[..., None], axis=-1)

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability density, of all elements but one."""
        logs = np.log(np.maximum(self._value(value), tiny(self._dtype)))
        scores = npx.log_softmax(self.logit - self.T[..., None] * logs, axis=-1)
        constant = math.lgamma(self.num_events) + (self.num_events - 1) * np.log(self.T)
        return constant + (scores - logs).sum(-1)


__all__ = ["RelaxedBernoulli", "RelaxedOneHotCategorical"]
