"""Exponential families."""

from typing import Any

from npcompat.gluon.probability.distributions.distribution import Distribution


class ExponentialFamily(Distribution):
    """Exponential family: distributions with density `exp(<t(x), theta> - F(theta) + k(x))`.

    t are sufficient statistics, theta natural parameters, F the log-normalizer, and k the carrier
    measure. Subclasses may define theta as `_natural_params` and F as `_log_normalizer`: the
    derivative of F is the mean of t.
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise self._undefined("natural parameters")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise self._undefined("a log-normalizer")


__all__ = ["ExponentialFamily"]
