"""Functions of finance, which NumPy had until 1.19 and MXNet still has.

They solve one equation (Wheeler, Rodriguez-Rodriguez and Jordan, 2006: OpenFormula): `fv + pv (1 +
rate)^nper + pmt (1 + rate when) ((1 + rate)^nper - 1) / rate = 0`, where `when` is 1 for payments
at the beginning of periods, and 0 for those at their end. Powers are made by `log1p` and `expm1`,
so that small rates are exact; rates are greater than -1.
"""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat.numpy._arithmetic import absolute
from npcompat.numpy._comparison import logical_and
from npcompat.numpy._creation import asarray
from npcompat.numpy._exponents import exp, expm1, log1p
from npcompat.numpy._host_arrays import by_numpy
from npcompat.numpy._ranges import arange
from npcompat.numpy._reductions import any as any_of
from npcompat.numpy._reductions import sum as sum_of
from npcompat.numpy._selection import where
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_WHEN = {"end": 0, "e": 0, "finish": 0, 0: 0, "begin": 1, "b": 1, "beginning": 1, "start": 1, 1: 1}


def _begins(when: Any) -> Any:
    """Convert `when` to 1 (payments at the beginning of periods) or 0 (at their end)."""
    if isinstance(when, str | int):
        if when not in _WHEN:
            raise ValueError(f"when: expected 'begin' or 'end', 1 or 0, got {when!r}")
        return asarray(_WHEN[when])
    if isinstance(when, list | tuple) and any(isinstance(w, str) for w in when):
        return asarray([int(_begins(w)) for w in when])
    return asarray(when)


def _factors(rate: Any, nper: Any, when: Any) -> tuple[Any, Any]:
    """Return the growth factor of a unit, and that of a unit paid in each period."""
    none = rate == 0
    logarithm = nper * log1p(rate)
    return exp(logarithm), where(
        none, nper, (1 + rate * when) * expm1(logarithm) / where(none, 1, rate)
    )


def pmt(
    rate: ArrayLike, nper: ArrayLike, pv: ArrayLike, fv: ArrayLike = 0, when: Any = "end"
) -> "ndarray":
    """Compute the payment in each period that pays off a loan.

    Parameters
    ----------
    rate : array_like
        Interest rate of a period.
    nper : array_like
        Number of periods.
    pv, fv : array_like
        Present value (the loan) and future value (the balance left at the end).
    when : {'end', 'begin', 0, 1} or array_like
        Time of payments: at the beginning or the end of periods.

    Examples
    --------
    >>> round(float(np.pmt(0.01, 12, 1000)), 2)
    -88.85
    """
    rate, nper, pv, fv = (asarray(a) for a in (rate, nper, pv, fv))
    power, each = _factors(rate, nper, _begins(when))
    return -(fv + pv * power) / each


def pv(
    rate: ArrayLike, nper: ArrayLike, pmt: ArrayLike, fv: ArrayLike = 0, when: Any = "end"
) -> "ndarray":
    """Compute the present value of payments; the parameters are those of `pmt`.

    Examples
    --------
    >>> round(float(np.pv(0.01, 12, -100)), 2)
    1125.51
    """
    rate, nper, pmt, fv = (asarray(a) for a in (rate, nper, pmt, fv))
    power, each = _factors(rate, nper, _begins(when))
    return -(fv + pmt * each) / power


def ppmt(
    rate: ArrayLike,
    per: ArrayLike,
    nper: ArrayLike,
    pv: ArrayLike,
    fv: ArrayLike = 0,
    when: Any = "end",
) -> "ndarray":
    """Compute the principal part (without interest) of the payment in a period.

    Parameters
    ----------
    per : array_like
        The period, counted from 1.
    rate, nper, pv, fv, when
        As for `pmt`.

    Examples
    --------
    >>> round(float(np.ppmt(0.01, 1, 12, 1000)), 2)
    -78.85
    """
    rate, per, nper, pv, fv = (asarray(a) for a in (rate, per, nper, pv, fv))
    begins = _begins(when)
    total = pmt(rate, nper, pv, fv, begins)
    power, each = _factors(rate, per - 1, begins)
    interest = -(pv * power + total * each) * rate / where(begins == 1, 1 + rate, 1)
    return total - where(logical_and(begins == 1, per == 1), 0, interest)


def npv(rate: ArrayLike, values: ArrayLike) -> "ndarray":
    """Compute the net present value of cash flows.

    Parameters
    ----------
    rate : float
        Interest rate of a period.
    values : array_like, shape (periods, ...)
        Cash flows.

    Examples
    --------
    >>> round(float(np.npv(0.1, [-100.0, 60.0, 60.0])), 2)
    4.13
    """
    values = asarray(values)
    age = arange(values.shape[0]).reshape(-1, *[1] * (values.ndim - 1))
    return sum_of(values * exp(-age * log1p(asarray(rate))), axis=0)


def mirr(values: ArrayLike, finance_rate: ArrayLike, reinvest_rate: ArrayLike) -> "ndarray":
    """Compute the modified internal rate of return of cash flows.

    Parameters
    ----------
    values : array_like, shape (periods,)
        Cash flows; nan is returned unless there are positive and negative ones.
    finance_rate, reinvest_rate : float
        Interest rate on borrowed money, and on reinvested earnings.

    Examples
    --------
    >>> round(float(np.mirr([-100.0, 60.0, 60.0], 0.1, 0.1)), 4)
    0.1225
    """
    values = asarray(values)
    if values.ndim != 1 or values.size < 2:
        raise ValueError(
            f"mirr: values must be at least 2 cash flows along one axis, got shape {values.shape}"
        )
    earned, spent = where(values > 0, values, 0), where(values < 0, values, 0)
    both = logical_and(any_of(values > 0), any_of(values < 0))
    ratio = absolute(npv(reinvest_rate, earned)) / where(
        both, absolute(npv(finance_rate, spent)), 1
    )
    growth = ratio ** (1 / (values.size - 1))
    return where(both, growth * (1 + asarray(reinvest_rate)) - 1, onp.nan)


def rate(
    nper: ArrayLike,
    pmt: ArrayLike,
    pv: ArrayLike,
    fv: ArrayLike,
    when: Any = "end",
    guess: ArrayLike | None = None,
    tol: float | None = None,
    maxiter: int = 100,
) -> "ndarray":
    """Compute the interest rate of a loan by Newton's method.

    It runs on the host and has no gradient.

    Parameters
    ----------
    nper, pmt, pv, fv, when
        As for `pmt`, and the payment.
    guess : array_like, optional
        Start of the iteration; 0.1 if not given.
    tol : float, optional
        Tolerance of the last step; 1e-6 if not given.
    maxiter : int
        Largest number of steps.

    Returns
    -------
    float
        The rate; nan if there were too few steps.

    Examples
    --------
    >>> round(float(np.rate(10, 0, -3500, 10000)), 4)
    0.1107
    """
    options = (0.1 if guess is None else guess, 1e-6 if tol is None else float(tol), int(maxiter))
    args = (nper, pmt, pv, fv, _begins(when), *options)
    return by_numpy(_rate, args, {}, [a.dtype for a in args[:4] if hasattr(a, "dtype")])


def _rate(
    nper: Any, pmt: Any, pv: Any, fv: Any, when: Any, guess: Any, tol: float, maxiter: int
) -> Any:
    arrays = onp.broadcast_arrays(
        *[onp.asarray(a, onp.float64) for a in (nper, pmt, pv, fv, when, guess)]
    )
    nper, pmt, pv, fv, when, found = arrays
    close = onp.full(found.shape, False)
    for _ in range(maxiter):
        none = found == 0
        safe = onp.where(none, 1.0, found)
        power = (1 + found) ** nper
        slope = nper * (1 + found) ** (nper - 1)
        each = onp.where(none, nper, (power - 1) / safe)
        steeper = onp.where(none, nper * (nper - 1) / 2, (slope - each) / safe)
        value = fv + pv * power + pmt * (1 + found * when) * each
        change = pv * slope + pmt * (when * each + (1 + found * when) * steeper)
        following = found - value / change
        close = abs(following - found) < tol
        found = following
        if close.all():
            break
    return onp.where(close, found, onp.nan)[()]


__all__ = ["mirr", "npv", "pmt", "ppmt", "pv", "rate"]
