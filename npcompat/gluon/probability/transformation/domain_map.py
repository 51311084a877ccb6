"""Transformations from the real numbers onto the set of a constraint."""

from collections.abc import Callable
from typing import Any

from npcompat.gluon.probability.constraint import (
    Constraint,
    GreaterThan,
    GreaterThanEq,
    HalfOpenInterval,
    Interval,
    LessThan,
    LessThanEq,
    OpenInterval,
    Real,
    Simplex,
)
from npcompat.gluon.probability.transformation.transformation import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    SoftmaxTransform,
    Transformation,
)

Factory = Callable[[Any], Transformation]


class domain_map:
    """Registry of transformations by constraint class; `table(constraint)` returns one.

    Examples
    --------
    >>> mgp = gluon.probability
    >>> table = mgp.domain_map()
    >>> @table.register(mgp.constraint.Positive)
    ... def _exponential(constraint):
    ...     return mgp.ExpTransform()
    >>> table(mgp.constraint.Positive())(0.0)
    np.float32(1.0)
    """

    def __init__(self) -> None:
        self._storage: dict[type[Constraint], Factory] = {}

    def register(
        self, constraint: Any, factory: Factory | None = None
    ) -> Factory | Callable[[Factory], Any]:
        """Register the transformation for a class of constraints.

        Without a factory, returns a decorator.

        Parameters
        ----------
        constraint : Constraint or subclass of it
            The class. Subclasses inherit the entry unless they have one of their own, or are
            discrete and the class is not.
        factory : callable, optional
            Returns the transformation for a constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, Constraint):
            raise TypeError(
                "register: constraint: expected a Constraint or a subclass of it, got "
                f"{constraint!r}"
            )
        self._storage[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transformation:
        for kind in type(constraint).__mro__:
            if kind in self._storage and kind.is_discrete == constraint.is_discrete:
                return self._storage[kind](constraint)
        raise NotImplementedError(
            f"this domain_map does not define a transformation to {type(constraint).__name__}; "
            "register one"
        )


biject_to = domain_map()
transform_to = domain_map()


def _register(*kinds: type[Constraint]) -> Callable[[Factory], Factory]:
    def decorator(factory: Factory) -> Factory:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return decorator


@_register(Real)
def _to_real(constraint: Real) -> Transformation:
    return ComposeTransform([])


@_register(GreaterThan, GreaterThanEq)
def _to_greater_than(constraint: Any) -> Transformation:
    bound = constraint._lower_bound
    if isinstance(bound, int | float) and bound == 0:
        return ExpTransform()
    return ComposeTransform([ExpTransform(), AffineTransform(bound, 1)])


@_register(LessThan, LessThanEq)
def _to_less_than(constraint: Any) -> Transformation:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint._upper_bound, -1)])


@_register(Interval, OpenInterval, HalfOpenInterval)
def _to_interval(constraint: Any) -> Transformation:
    low, high = constraint._lower_bound, constraint._upper_bound
    if isinstance(low, int | float) and isinstance(high, int | float) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


transform_to.register(Simplex, lambda constraint: SoftmaxTransform())


__all__ = ["biject_to", "domain_map", "transform_to"]
