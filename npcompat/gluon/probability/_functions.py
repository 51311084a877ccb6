"""Functions that distributions share.

MXNet's helpers, and logarithms that stay finite or accurate at the ends of a domain.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import ml_dtypes

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.op import as_shape
from npcompat.numpy._checks import flagged
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike

_T = TypeVar("_T")


class derived(Generic[_T]):
    """Property for a parameter that is computed from another one, unless it is given.

    Assigning to the instance replaces it. It is computed at each access, since the other parameter
    may have been written in place, recorded or traced meanwhile.
    """

    def __init__(self, func: Callable[[Any], _T]) -> None:
        self._func = func
        self.__doc__ = func.__doc__
        self.__name__ = func.__name__

    @overload
    def __get__(self, instance: None, cls: Any = None) -> "derived[_T]": ...
    @overload
    def __get__(self, instance: Any, cls: Any = None) -> _T: ...
    def __get__(self, instance: Any, cls: Any = None) -> Any:
        return self if instance is None else self._computed(instance)

    def _computed(self, instance: Any) -> _T:
        return self._func(instance)


class cached_property(derived[_T]):
    """Property that is computed once; assigning to the instance replaces it.

    While a function is compiled it is computed at each access, since an array of the program can't
    be kept.

    Examples
    --------
    >>> class Square:
    ...     def __init__(self, x):
    ...         self.x = x
    ...     @gluon.probability.cached_property
    ...     def area(self):
    ...         return self.x * self.x
    >>> Square(3).area
    9
    """

    def _computed(self, instance: Any) -> _T:
        value = self._func(instance)
        if modes.current().trace is None:
            instance.__dict__[self.__name__] = value
        return value


# --- MXNet's helpers ------------------------------------------------------------------------------


def constraint_check() -> Callable[[Any, str], Any]:
    """Return a function `check(condition, message)` that raises ValueError if a condition is False.

    The condition is a Python bool or an array of bool. In a compiled function, whose values Python
    can't branch on, the program sets a flag, and the error is raised when a result is first read.
    `check` returns 1.0 or an array of True, which can be multiplied with the checked value.

    Examples
    --------
    >>> check = gluon.probability.constraint_check()
    >>> check(np.array([1.0, 2.0]) > 1.5, "too small")
    Traceback (most recent call last):
    ValueError: too small
    """

    def check(condition: Any, err_msg: str) -> Any:
        if isinstance(condition, bool):
            if not condition:
                raise ValueError(err_msg)
            return 1.0
        holds = np.all(condition)
        flagged(~holds, ValueError, err_msg)
        return holds

    return check


def digamma() -> Callable[[Any], Any]:
    """Return `npx.digamma`, for arrays and numbers.

    Examples
    --------
    >>> round(float(gluon.probability.digamma()(1.0)), 4)
    -0.5772
    """
    return npx.digamma


def gammaln() -> Callable[[Any], Any]:
    """Return `npx.gammaln`, for arrays and numbers.

    Examples
    --------
    >>> round(float(gluon.probability.gammaln()(4.0)), 4)
    1.7918
    """
    return npx.gammaln


def erf() -> Callable[[Any], Any]:
    """Return `npx.erf`, for arrays and numbers.

    Examples
    --------
    >>> round(float(gluon.probability.erf()(0.5)), 4)
    0.5205
    """
    return npx.erf


def erfinv() -> Callable[[Any], Any]:
    """Return `npx.erfinv`, for arrays and numbers.

    Examples
    --------
    >>> round(float(gluon.probability.erfinv()(0.5)), 4)
    0.4769
    """
    return npx.erfinv


def sample_n_shape_converter(size: Any) -> tuple[int, ...]:
    """Return the `size` of `sample_n` as a tuple; None means one sample.

    Examples
    --------
    >>> gluon.probability.sample_n_shape_converter(3)
    (3,)
    """
    shape = () if size is None else as_shape(size)
    if any(n < 0 for n in shape):
        raise ValueError(f"size: expected numbers from 0 on, got {size}")
    return shape


def prob2logit(prob: ArrayLike, binary: bool = True) -> ndarray:
    """Convert probabilities to logits.

    These are log-odds, `log(p / (1 - p))`, or for `binary=False` log probabilities.

    Parameters
    ----------
    prob : array_like
        Probabilities; 0 and 1 are taken as the nearest floats between, so that the result is
        finite.
    binary : bool
        Whether each is the probability of one of two events, or the last axis is a distribution.

    Examples
    --------
    >>> gluon.probability.prob2logit(np.array([0.5, 0.75])).round(4)
    array([0.    , 1.0986])
    """
    prob = floating(prob)
    if not binary:
        return np.log(np.maximum(prob, tiny(prob.dtype)))
    inside = inside_unit(prob)
    return np.log(inside) - np.log1p(-inside)


def logit2prob(logit: ArrayLike, binary: bool = True) -> ndarray:
    """Convert logits to probabilities, by sigmoid or softmax.

    `binary` chooses the sigmoid of log-odds; otherwise the softmax along the last axis is computed.

    Parameters
    ----------
    logit : array_like
        Logarithms.
    binary : bool
        Whether each is the log-odds of one of two events, or the last axis is a distribution.

    Examples
    --------
    >>> gluon.probability.logit2prob(np.array([0.0, np.log(3.0)])).round(4)
    array([0.5 , 0.75])
    """
    return npx.sigmoid(logit) if binary else npx.softmax(logit, axis=-1)


# --- logarithms -----------------------------------------------------------------------------------


def inside_unit(prob: Any) -> ndarray:
    """Replace probabilities 0 and 1 by the nearest floats between."""
    limits: Any = ml_dtypes.finfo(prob.dtype)  # type: ignore[no-untyped-call]
    return np.clip(prob, float(limits.tiny), 1 - float(limits.epsneg))


def tiny(dtype: Any) -> float:
    """Return the smallest normal number of a float dtype."""
    return float(ml_dtypes.finfo(dtype).tiny)  # type: ignore[no-untyped-call]


def floating(x: ArrayLike) -> ndarray:
    """Convert an array-like to an array of floats; other dtypes become the default float."""
    array = np.asarray(x)
    return array if dtypes.is_float(array.dtype) else array.astype(float)


def log(x: Any) -> ndarray:
    """Natural logarithm without a warning for 0, which is a valid probability."""
    with np.errstate(divide="ignore"):
        return np.log(x)


def weighted(x: Any, logs: Any) -> ndarray:
    """Return x * logs, and 0 where x is 0 and logs is -inf, also in derivatives."""
    none = (x == 0) & (logs == -np.inf)
    return np.where(none, 0, x * np.where(none, 0, logs))


def xlogy(x: Any, y: Any) -> ndarray:
    """Return x log(y), and 0 where both are 0, also in derivatives."""
    none = (x == 0) & (y == 0)
    return np.where(none, 0, x * log(np.where(none, 1, y)))


def xlog1py(x: Any, y: Any) -> ndarray:
    """Return x log(1 + y), and 0 where x is 0 and y is -1, also in derivatives."""
    none = (x == 0) & (y == -1)
    with np.errstate(divide="ignore"):
        return np.where(none, 0, x * np.log1p(np.where(none, 0, y)))


def sum_right_most(x: Any, ndim: int) -> ndarray:
    """Sum over the last `ndim` axes."""
    return x.sum(tuple(range(-ndim, 0))) if ndim else x


__all__ = [
    "cached_property", "constraint_check", "derived", "digamma", "erf", "erfinv", "floating",
    "gammaln", "inside_unit", "log", "logit2prob", "prob2logit", "sample_n_shape_converter",
    "sum_right_most", "tiny", "weighted", "xlog1py", "xlogy",
]  # fmt: skip
