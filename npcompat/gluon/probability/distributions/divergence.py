"""Kullback-Leibler divergences: a registry of closed forms, and a Monte Carlo estimate."""

from collections.abc import Callable
from typing import Any, TypeVar

from npcompat.gluon.probability.distributions.distribution import Distribution
from npcompat.numpy._ndarray import ndarray

Formula = Callable[[Any, Any], Any]
_F = TypeVar("_F", bound=Formula)
_FORMULAS: dict[tuple[type, type], Formula] = {}


def register_kl(typeP: type, typeQ: type) -> Callable[[_F], _F]:
    """Register a closed form of the KL divergence between two classes of distributions.

    Returns a decorator.

    Parameters
    ----------
    typeP, typeQ : type
        Classes of the first and of the second distribution. Subclasses inherit the formula unless
        they have one of their own; a second registration replaces the first.

    Examples
    --------
    >>> class Point(gluon.probability.Distribution):
    ...     pass
    >>> @gluon.probability.register_kl(Point, Point)
    ... def _kl_point_point(p, q):
    ...     return 0.0
    >>> gluon.probability.kl_divergence(Point(), Point())
    0.0
    """
    for name, kind in (("typeP", typeP), ("typeQ", typeQ)):
        if not isinstance(kind, type) or not issubclass(kind, Distribution):
            raise TypeError(
                f"register_kl: {name}: expected a subclass of Distribution, got {kind!r}"
            )

    def decorator(func: _F) -> _F:
        _FORMULAS[typeP, typeQ] = func
        return func

    return decorator


def kl_divergence(p: Distribution, q: Distribution) -> ndarray:
    """Kullback-Leibler divergence of q from p: the mean of `log p(x) - log q(x)` under p.

    Parameters
    ----------
    p, q : Distribution
        Two distributions whose batches broadcast.

    Returns
    -------
    ndarray
        In the shape of the batch; nan where no closed form is known (binomials of different numbers
        of trials).

    Raises
    ------
    NotImplementedError
        If there is no formula; `empirical_kl` estimates it, and `register_kl` gives one.

    Examples
    --------
    >>> mgp = gluon.probability
    >>> float(mgp.kl_divergence(mgp.Normal(1.0, 1.0), mgp.Normal(0.0, 1.0)))
    0.5
    """
    found = [
        (i + j, i, formula)
        for i, kind_p in enumerate(type(p).__mro__)
        for j, kind_q in enumerate(type(q).__mro__)
        if (formula := _FORMULAS.get((kind_p, kind_q))) is not None
    ]
    if not found:
        kinds = f"{type(p).__name__} and {type(q).__name__}"
        raise NotImplementedError(
            f"kl_divergence does not define {kinds}: give it with register_kl, or use empirical_kl"
        )
    return min(found, key=lambda entry: entry[:2])[2](p, q)


def empirical_kl(p: Distribution, q: Distribution, n_samples: int = 1) -> ndarray:
    """Monte Carlo estimate of the KL divergence, from samples of p.

    Parameters
    ----------
    p, q : Distribution
        Two distributions of the same values.
    n_samples : int
        Number of samples.

    Examples
    --------
    >>> mgp = gluon.probability
    >>> estimate = mgp.empirical_kl(mgp.Normal(1.0, 1.0), mgp.Normal(0.0, 1.0), 2000)
    >>> bool(abs(estimate - 0.5) < 0.1)
    True
    """
    if n_samples < 1:
        raise ValueError(f"empirical_kl: n_samples: expected a number from 1 on, got {n_samples}")
    samples = p.sample_n(n_samples)
    return (p.log_prob(samples) - q.log_prob(samples)).mean(0)


__all__ = ["empirical_kl", "kl_divergence", "register_kl"]
