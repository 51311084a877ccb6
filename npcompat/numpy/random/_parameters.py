"""Checks of distribution parameters: NumPy's conditions and error messages, by name.

Values on the host and scalars are checked directly. For arrays on a device only the answer is read.
In a compiled function the program flags wrong values when it runs.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import as_attr, from_attr, operator
from npcompat._internal.dispatch import array_like
from npcompat.numpy._checks import refuse

_LARGEST_MEAN = 2.0**63 - 10 * 2.0**31.5

WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "nonnegative": (
        lambda xp, x: xp.signbit(x) & (x == x) if x.dtype.kind == "f" else x < 0,
        "{name} < 0",
    ),
    "positive": (lambda xp, x: x <= 0, "{name} <= 0"),
    "number": (lambda xp, x: x != x, "{name} must not be NaN"),
    "finite": (lambda xp, x: ~xp.isfinite(x), "{name} range exceeds valid bounds"),
    "probability": (lambda xp, x: ~((x >= 0) & (x <= 1)), "{name} < 0, {name} > 1 or {name} {nan}"),
    "probabilities": (
        lambda xp, x: ~((x >= 0) & (x <= 1)),
        "{name} < 0, {name} > 1 or {name} contains NaNs",
    ),
    "positive probability": (
        lambda xp, x: ~((x > 0) & (x <= 1)),
        "{name} <= 0, {name} > 1 or {name} contains NaNs",
    ),
    "probability below one": (
        lambda xp, x: ~((x >= 0) & (x < 1)),
        "{name} < 0, {name} >= 1 or {name} {nan}",
    ),
    "above one": (lambda xp, x: ~(x > 1), "{name} <= 1 or {name} {nan}"),
    "at least one": (lambda xp, x: ~(x >= 1), "{name} < 1 or {name} {nan}"),
    "rate": (lambda xp, x: ~(x >= 0), "{name} < 0 or {name} {nan}"),
    "bounded rate": (
        lambda xp, x: xp.astype(x, onp.float64) > _LARGEST_MEAN,
        "{name} value too large",
    ),
    "bounded mean": (
        lambda xp, n, p: (
            xp.astype((1 - p) / p * (n + 10 * xp.sqrt(n)), onp.float64) > _LARGEST_MEAN
        ),
        "{name}",
    ),
    "less than 1000000000": (
        lambda xp, x: x >= 10**9,
        "both ngood and nbad must be less than 1000000000",
    ),
    "ordered": (lambda xp, x, y: x > y, "{name}"),
    "distinct": (lambda xp, x, y: x == y, "{name}"),
    "enough": (lambda xp, good, bad, sample: good + bad < sample, "ngood + nbad < nsample"),
    "a sum of at most one": (
        lambda xp, p: xp.astype(p[..., :-1], onp.float64).sum(-1) > 1 + _slack(p),
        "{name}",
    ),
    "range": (lambda xp, low, high: low >= high, "{name}"),
    "no nan": (lambda xp, p: xp.isnan(p), "robabilities contain NaN"),
    "no negative": (lambda xp, p: p < 0, "robabilities are not non-negative"),
    "a sum of one": (lambda xp, p: abs(p.sum() - 1) > onp.sqrt(onp.finfo(p.dtype).eps), "{name}"),
}
"""For each name, a predicate of wrong values and the message of the ValueError."""


def _slack(p: Any) -> float:
    # Probabilities are rounded to float32 where that is the default.
    return 1e-12 if p.dtype.itemsize > 4 or modes.current().numpy_dtypes else 1e-6


@operator("_npi_random_wrong", differentiable=False, pattern="reduction")
def _wrong(xp: Any, *parameters: Any, condition: str) -> Any:
    """Return True if parameters violate a condition anywhere.

    Parameters
    ----------
    *parameters : array
        Parameters to check.
    condition : str
        Name of the condition.
    """
    return xp.any(WRONG[condition][0](xp, *[xp.asarray(p) for p in parameters]))


_NUMBERS = frozenset((int, float))


@lru_cache(maxsize=1024, typed=True)
def _fits(condition: str, *numbers: Any) -> bool:
    """Return True if Python numbers meet a condition; most are those of the last call."""
    return not onp.any(WRONG[condition][0](onp, *[onp.asarray(from_attr(n)) for n in numbers]))


def check(
    name: str,
    condition: str,
    *parameters: Any,
    kind: type[Exception] = ValueError,
    prefix: str = "",
) -> None:
    """Raise ValueError if parameters violate a condition; `name` is used in the message."""
    if _NUMBERS.issuperset(map(type, parameters)) and _fits(condition, *map(as_attr, parameters)):
        return
    wrong, text = WRONG[condition]
    scalar = all(not getattr(p, "shape", ()) for p in parameters)
    message = prefix + text.format(name=name, nan="is NaN" if scalar else "contains NaNs")
    if any(isinstance(p, Handle) for p in parameters):
        refuse(_wrong, parameters, (condition,), kind, message)
    elif onp.any(wrong(onp, *map(onp.asarray, parameters))):
        raise kind(message)


def parameter(x: Any) -> Any:
    """Convert a parameter to an array of real numbers, or a Python number."""
    if type(x) in (int, float, bool):
        return x
    if isinstance(x, Handle):
        _safely(x.dtype, onp.float64)
        return x
    array = array_like.joined(x)
    if isinstance(array, Handle):
        return parameter(array)
    if not array.shape:
        return int(x) if array.dtype.kind in "iu" else float(x)
    if array.dtype.kind not in "biuf" and not isinstance(x, onp.ndarray):
        return onp.asarray(x, onp.float64)
    _safely(array.dtype, onp.float64)
    return array


def whole(x: Any, truncated: bool = False) -> Any:
    """Convert a count: a number is truncated, an array must have an integer dtype.

    With `truncated`, an array is truncated, too.
    """
    if isinstance(x, Handle):
        if truncated and x.dtype.kind == "f":
            return x.astype(onp.int64)  # type: ignore[attr-defined]
        if x.shape:
            _safely(x.dtype, onp.int64)
        return x
    array = onp.asarray(x)
    if not array.shape:
        return int(x)
    if not truncated and array.size:
        _safely(array.dtype, onp.int64)
    return array.astype(onp.int64)


def _safely(dtype: Any, wanted: Any) -> None:
    """Raise NumPy's error for arrays whose cast loses information.

    Casts between floats are exempt.
    """
    if not onp.can_cast(dtype, wanted, "safe") and not (
        dtypes.is_float(dtype) and wanted is onp.float64
    ):
        raise TypeError(
            f"Cannot cast array data from {dtype!r} to {onp.dtype(wanted)!r} according to the "
            "rule 'safe'"
        )


__all__ = ["WRONG", "check", "parameter", "whole"]
