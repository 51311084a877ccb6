"""Constraints: the sets in which parameters and values of distributions must lie.

A wrong value raises `ValueError`: at once, or, in a compiled function, when a result of the program
is first read.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core import modes
from npcompat.gluon.probability._functions import constraint_check
from npcompat.numpy._ndarray import ndarray

_Value = TypeVar("_Value")


class Constraint:
    """Base class of constraints.

    Subclasses define `condition(value)`, the elementwise test, and `expected`, a description for
    errors. A subclass may define `check(value)` itself instead. `is_discrete` is True if the values
    are isolated.

    Examples
    --------
    >>> class Even(gluon.probability.constraint.Constraint):
    ...     expected = "even numbers"
    ...     def condition(self, value):
    ...         return value % 2 == 0
    >>> Even().check(np.array([0, 2]))
    array([0, 2])
    """

    expected = "a valid value"
    is_discrete = False

    def condition(self, value: ndarray) -> ndarray | bool:
        """Return a bool array: True where value satisfies the constraint."""
        raise NotImplementedError(f"{type(self).__name__} must define condition(self, value)")

    def check(self, value: _Value) -> _Value:
        """Return value if it satisfies the constraint everywhere; else raise ValueError.

        In a compiled function the error is raised when a result of the program is first read.
        """
        return self._require(value, type(self).__name__)

    def _require(self, value: Any, what: str) -> Any:
        """Run `check`; the error names the owner of the value."""
        if type(self).check is not Constraint.check:
            return self.check(value)
        condition = np.asarray(self.condition(value))
        message = f"{what}: expected {self.expected}"
        if modes.current().trace is not None:
            constraint_check()(condition, message)
        elif not bool(condition.all()):
            raise ValueError(message + _offender(condition, value))
        return value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.expected})"


def _offender(condition: Any, value: Any) -> str:
    """Format the first value that violates a condition, for an error message."""
    host = onp.asarray(value)
    index = tuple(onp.argwhere(~condition.asnumpy())[0].tolist()) if condition.shape else ()
    where = f" at index {index}" if index else ""
    found = onp.asarray(host[index])
    shown = (
        onp.array2string(found, separator=", ", threshold=20).replace("\n", "")
        if found.ndim
        else str(found)
    )
    return f", got {shown}{where}"


def _shown(bound: Any) -> str:
    """Format a bound for an error message."""
    return str(bound) if isinstance(bound, int | float) else "the given bound"


# --- numbers --------------------------------------------------------------------------------------


class Real(Constraint):
    """Real numbers, not nan.

    Examples
    --------
    >>> gluon.probability.constraint.Real().check(np.array([1.0, -2.0]))
    array([ 1., -2.])
    """

    expected = "numbers, not nan"

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is not nan."""
        return value == value


class Boolean(Constraint):
    """Booleans: 0 and 1."""

    expected = "0 or 1"
    is_discrete = True

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is 0 or 1."""
        return (value == 0) | (value == 1)


class _Between(Constraint):
    """Base class of intervals, with two bounds."""

    _relation = "numbers from {} to {}"

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self._lower_bound, self._upper_bound = lower_bound, upper_bound

    @property
    def expected(self) -> str:  # type: ignore[override]
        """Description of the interval."""
        return self._relation.format(_shown(self._lower_bound), _shown(self._upper_bound))


class Interval(_Between):
    """Closed interval between two bounds.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
        The bounds.

    Examples
    --------
    >>> gluon.probability.constraint.Interval(0, 1).check(np.array([0.5, 2.0]))
    Traceback (most recent call last):
    ValueError: Interval: expected numbers from 0 to 1, got 2.0 at index (1,)
    """

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value lies between the bounds, or on one."""
        return (value >= self._lower_bound) & (value <= self._upper_bound)


class OpenInterval(_Between):
    """Open interval between two bounds."""

    _relation = "numbers above {} and below {}"

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value lies between the bounds."""
        return (value > self._lower_bound) & (value < self._upper_bound)


class HalfOpenInterval(_Between):
    """Half-open interval, which includes its lower bound."""

    _relation = "numbers from {} on and below {}"

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value lies between the bounds, or on the lower."""
        return (value >= self._lower_bound) & (value < self._upper_bound)


class UnitInterval(Interval):
    """Unit interval: numbers from 0 to 1."""

    def __init__(self) -> None:
        super().__init__(0, 1)


class _Above(Constraint):
    """Base class of constraints with a lower bound."""

    _relation = "numbers above {}"

    def __init__(self, lower_bound: Any) -> None:
        self._lower_bound = lower_bound

    @property
    def expected(self) -> str:  # type: ignore[override]
        """Description of the constraint."""
        return self._relation.format(_shown(self._lower_bound))


class GreaterThan(_Above):
    """Numbers greater than a bound."""

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is above the bound."""
        return value > self._lower_bound


class GreaterThanEq(_Above):
    """Numbers greater than or equal to a bound."""

    _relation = "numbers from {} on"

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is the bound or above it."""
        return value >= self._lower_bound


class Positive(GreaterThan):
    """Positive numbers."""

    def __init__(self) -> None:
        super().__init__(0)


class NonNegative(GreaterThanEq):
    """Nonnegative numbers."""

    def __init__(self) -> None:
        super().__init__(0)


class _Below(Constraint):
    """Base class of constraints with an upper bound."""

    _relation = "numbers below {}"

    def __init__(self, upper_bound: Any) -> None:
        self._upper_bound = upper_bound

    @property
    def expected(self) -> str:  # type: ignore[override]
        """Description of the constraint."""
        return self._relation.format(_shown(self._upper_bound))


class LessThan(_Below):
    """Numbers less than a bound."""

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is below the bound."""
        return value < self._upper_bound


class LessThanEq(_Below):
    """Numbers less than or equal to a bound."""

    _relation = "numbers up to {}"

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is the bound or below it."""
        return value <= self._upper_bound


# --- whole numbers --------------------------------------------------------------------------------


def _whole(value: Any) -> Any:
    return value % 1 == 0


class IntegerInterval(Interval):
    """Integers in a closed interval."""

    _relation = "whole numbers from {} to {}"
    is_discrete = True

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is whole and in the interval."""
        return _whole(value) & super().condition(value)


class IntegerOpenInterval(OpenInterval):
    """Integers in an open interval."""

    _relation = "whole numbers above {} and below {}"
    is_discrete = True

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is whole and in the interval."""
        return _whole(value) & super().condition(value)


class IntegerHalfOpenInterval(HalfOpenInterval):
    """Integers in a half-open interval, which includes its lower bound."""

    _relation = "whole numbers from {} on and below {}"
    is_discrete = True

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is whole and in the interval."""
        return _whole(value) & super().condition(value)


class IntegerGreaterThan(GreaterThan):
    """Integers greater than a bound."""

    _relation = "whole numbers above {}"
    is_discrete = True

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is whole and above the bound."""
        return _whole(value) & super().condition(value)


class IntegerGreaterThanEq(GreaterThanEq):
    """Integers greater than or equal to a bound."""

    _relation = "whole numbers from {} on"
    is_discrete = True

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is whole and the bound or above it."""
        return _whole(value) & super().condition(value)


class IntegerLessThan(LessThan):
    """Integers less than a bound."""

    _relation = "whole numbers below {}"
    is_discrete = True

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is whole and below the bound."""
        return _whole(value) & super().condition(value)


class IntegerLessThanEq(LessThanEq):
    """Integers less than or equal to a bound."""

    _relation = "whole numbers up to {}"
    is_discrete = True

    def condition(self, value: ndarray) -> ndarray:
        """Return True where value is whole and the bound or below it."""
        return _whole(value) & super().condition(value)


class PositiveInteger(IntegerGreaterThan):
    """Positive integers."""

    def __init__(self) -> None:
        super().__init__(0)


class NonNegativeInteger(IntegerGreaterThanEq):
    """Nonnegative integers."""

    def __init__(self) -> None:
        super().__init__(0)


# --- vectors and matrices -------------------------------------------------------------------------


class Simplex(Constraint):
    """Probability simplex: nonnegative vectors (last axis) that add up to 1.

    Examples
    --------
    >>> gluon.probability.constraint.Simplex().check(np.array([0.25, 0.75]))
    array([0.25, 0.75])
    """

    expected = "vectors along the last axis of numbers from 0 on that add up to 1"

    def condition(self, value: ndarray) -> ndarray:
        """Return True for vectors on the simplex, up to rounding."""
        slack = 1e-6 if value.dtype.itemsize > 2 else 1e-2
        return (value >= 0).all(-1) & (abs(value.sum(-1) - 1) <= slack * max(1, value.shape[-1]))


class _OneHot(Constraint):
    expected = "vectors along the last axis of one 1 and zeros"
    is_discrete = True

    def condition(self, value: ndarray) -> ndarray:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Counts(Constraint):
    """Vectors of nonnegative integers with a given sum."""

    is_discrete = True

    def __init__(self, total: int) -> None:
        self._total = total
        self.expected = (
            f"vectors along the last axis of whole numbers from 0 on that add up to {total}"
        )

    def condition(self, value: ndarray) -> ndarray:
        return (_whole(value) & (value >= 0)).all(-1) & (value.sum(-1) == self._total)


class LowerTriangular(Constraint):
    """Lower triangular square matrices (last two axes)."""

    expected = "square lower triangular matrices"

    def condition(self, value: ndarray) -> ndarray:
        """Return True for lower triangular matrices."""
        return _square(value) & (np.tril(value) == value).all((-2, -1))


class LowerCholesky(Constraint):
    """Cholesky factors: lower triangular matrices with a positive diagonal."""

    expected = "square lower triangular matrices with a positive diagonal"

    def condition(self, value: ndarray) -> ndarray:
        """Return True for Cholesky factors."""
        return (
            _square(value)
            & (np.tril(value) == value).all((-2, -1))
            & (np.diagonal(value, 0, -2, -1) > 0).all(-1)
        )


class PositiveDefinite(Constraint):
    """Symmetric positive definite matrices."""

    expected = "symmetric positive definite matrices"

    def condition(self, value: ndarray) -> ndarray | bool:
        """Return True for positive definite matrices, symmetric up to rounding."""
        if not _square(value):
            return False
        transposed = np.swapaxes(value, -1, -2)
        size = abs(value).max((-2, -1), keepdims=True)
        symmetric = (abs(value - transposed) <= 1e-5 * size).all((-2, -1))
        return symmetric & (np.linalg.eigvalsh((value + transposed) / 2) > 0).all(-1)


def _square(value: Any) -> bool:
    return bool(value.ndim >= 2 and value.shape[-1] == value.shape[-2])


# --- parts ----------------------------------------------------------------------------------------


class _Parts(Constraint):
    """Base class of `Cat` and `Stack`: constraints for parts of the value along an axis."""

    def __init__(self, constraint_seq: Sequence[Constraint], axis: int = 0) -> None:
        for i, constraint in enumerate(constraint_seq):
            if not isinstance(constraint, Constraint):
                raise TypeError(
                    f"{type(self).__name__}: constraint_seq[{i}]: expected a Constraint, got "
                    f"{type(constraint).__name__}"
                )
        self._constraint_seq, self._axis = list(constraint_seq), axis
        self.expected = (
            f"parts along axis {axis} that are: {'; '.join(c.expected for c in constraint_seq)}"
        )

    def _parts(self, value: Any) -> list[Any]:
        raise NotImplementedError(f"{type(self).__name__} must define _parts(self, value)")

    def check(self, value: _Value) -> _Value:
        """Return value if each part satisfies its constraint; else raise ValueError."""
        return self._require(value, type(self).__name__)

    def _require(self, value: Any, what: str) -> Any:
        for i, (constraint, part) in enumerate(
            zip(self._constraint_seq, self._parts(value), strict=True)
        ):
            constraint._require(part, f"{what}: part {i} along axis {self._axis}")
        return value


class Cat(_Parts):
    """Constraints for consecutive pieces of the value along an axis, as in `np.concatenate`.

    Parameters
    ----------
    constraint_seq : sequence of Constraint
        One for each piece.
    axis : int
        The axis of the pieces.
    lengths : sequence of int, optional
        Lengths of the pieces; 1 each if not given.

    Examples
    --------
    >>> c = gluon.probability.constraint
    >>> c.Cat([c.Positive(), c.Real()], lengths=[1, 2]).check(np.array([1.0, -1.0, 0.0]))
    array([ 1., -1.,  0.])
    """

    def __init__(
        self,
        constraint_seq: Sequence[Constraint],
        axis: int = 0,
        lengths: Sequence[int] | None = None,
    ) -> None:
        super().__init__(constraint_seq, axis)
        self._lengths = (
            [1] * len(self._constraint_seq) if lengths is None else [int(n) for n in lengths]
        )
        if len(self._lengths) != len(self._constraint_seq):
            raise ValueError(
                f"Cat: expected {len(self._constraint_seq)} lengths, one for each constraint, got "
                f"{len(self._lengths)}"
            )

    def _parts(self, value: Any) -> list[Any]:
        if value.shape[self._axis] != sum(self._lengths):
            raise ValueError(
                f"Cat: expected length {sum(self._lengths)} along axis {self._axis}, got shape "
                f"{value.shape}"
            )
        return list(np.split(value, onp.cumsum(self._lengths)[:-1].tolist(), self._axis))


class Stack(_Parts):
    """Constraints for the elements of the value along an axis, as in `np.stack`.

    Parameters
    ----------
    constraint_seq : sequence of Constraint
        One for each element.
    axis : int
        The axis of the elements.

    Examples
    --------
    >>> c = gluon.probability.constraint
    >>> c.Stack([c.Positive(), c.Real()], axis=1).check(np.array([[1.0, -1.0]]))
    array([[ 1., -1.]])
    """

    def _parts(self, value: Any) -> list[Any]:
        if value.shape[self._axis] != len(self._constraint_seq):
            raise ValueError(
                f"Stack: expected length {len(self._constraint_seq)} along axis {self._axis}, got "
                f"shape {value.shape}"
            )
        return list(np.moveaxis(value, self._axis, 0))


# --- supports that depend on parameters -----------------------------------------------------------


class _Dependent(Constraint):
    expected = "a region that depends on the parameters"

    def check(self, value: _Value) -> _Value:
        """Raise ValueError: only the distribution's own constraint can be checked."""
        raise ValueError(
            "this constraint depends on the parameters of a distribution: ask for it on the "
            "distribution, not on its class"
        )


class dependent_property(property, _Dependent):
    """Property for a constraint that depends on the distribution's parameters.

    On the class it is a constraint, too, whose `check` raises.
    """


def is_dependent(constraint: Any) -> bool:
    """Return True if a constraint depends on the parameters of a distribution.

    Examples
    --------
    >>> gluon.probability.constraint.is_dependent(gluon.probability.Uniform.support)
    True
    """
    return isinstance(constraint, _Dependent)


__all__ = [
    "Boolean", "Cat", "Constraint", "GreaterThan", "GreaterThanEq", "HalfOpenInterval",
    "IntegerGreaterThan", "IntegerGreaterThanEq", "IntegerHalfOpenInterval", "IntegerInterval",
    "IntegerLessThan", "IntegerLessThanEq", "IntegerOpenInterval", "Interval", "LessThan",
    "LessThanEq", "LowerCholesky", "LowerTriangular", "NonNegative", "NonNegativeInteger",
    "OpenInterval", "Positive", "PositiveDefinite", "PositiveInteger", "Real", "Simplex", "Stack",
    "UnitInterval", "dependent_property", "is_dependent",
]  # fmt: skip
