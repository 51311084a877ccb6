"""Uniform integers on a range."""

import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as onp

from npcompat._internal.core.dtypes import Resolution, Type, on_devices
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import handles
from npcompat.numpy._checks import outside, refuse
from npcompat.numpy._ufunc import finish
from npcompat.numpy.random._parameters import check
from npcompat.numpy.random._sampling import Sampler, check_size, int64, size_of

_uint64 = onp.dtype("uint64")
_SWAPPED = (
    "Providing a dtype with a non-native byteorder is not supported. If you require "
    "platform-independent byteorder, "
    "call byteswap when required."
)


def _carrier(dtype: Any) -> Any:
    return _uint64 if dtype == _uint64 else int64


def _integers_rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return [None, None, *[_carrier(attrs["dtype"])] * 2], (attrs["dtype"], int64)


def _compute(
    xp: Any,
    key: Any,
    counter: Any,
    low: Any,
    high: Any,
    *,
    size: Any = None,
    dtype: Any = int64,
    closed: bool = False,
) -> Any:
    """Draw uniform integers between bounds; also return the counter of the next draw.

    Parameters
    ----------
    low : array of int
        Least value.
    high : array of int
        End of the values.
    closed : bool
        If True, the end is a value, too.
    """
    return xp.random_integers(key, counter, low, high, size, dtype, closed), xp.next_counter(
        counter
    )


_declare = operator(
    "_npi_random_integers",
    rule=_integers_rule,
    outputs=2,
    kernels={"jax": _compute},
    differentiable=False,
    element_axes=(),
    prefetchable=True,
    rounding_independent_of_size=True,
)
_integers = _declare(_compute)


def integers(
    sampler: Sampler,
    low: Any,
    high: Any,
    size: Any,
    dtype: Any,
    closed: bool,
    device: Any = None,
    out: Any = None,
    what: str = "integers",
    legacy: bool = False,
) -> Any:
    """Draw uniform integers on [low, high), or [low, high] if closed.

    If `high` is None, they are on [0, low) or [0, low].
    """
    wanted = onp.dtype(dtype)
    if wanted.kind not in "iub":
        raise TypeError(f"Unsupported dtype {wanted!r} for {what}")
    if not wanted.isnative:
        if not legacy:
            raise ValueError(_SWAPPED)
        warnings.warn(
            f"{_SWAPPED}\nIn future version, providing byteorder will raise a ValueError",
            DeprecationWarning,
            stacklevel=3,
        )
        wanted = wanted.newbyteorder("=")
    if high is None:
        low, high = 0, low
    shape = size_of(size, out)
    low, high = _known(low), _known(high)
    if not isinstance(low, Handle) and not isinstance(high, Handle):
        low, high = _on_host(low), _on_host(high) - (not closed)
        check_size(shape, (low, high))
        if shape is None or 0 not in shape:
            _check_known(low, high, wanted, closed)
        else:
            low = high = 0
        low, high, included = _operand(low, wanted), _operand(high, wanted), True
    else:
        included = closed
        if not isinstance(high, Handle):
            # The inclusive end fits the dtype of the draw.
            high, included = (
                _on_host(high) - (not closed),
                True,
            )
            _check_within("high", high, wanted)
        if not isinstance(low, Handle):
            low = _on_host(low)
            _check_within("low", low, wanted)
        low, high = (b if isinstance(b, Handle) else _operand(b, wanted) for b in (low, high))
        check_size(shape, (low, high))
        _check_arrays(low, high, wanted, included, closed)
    drawn = sampler._draw(_integers, (low, high), (shape, wanted, included), device, size is None)
    return finish(drawn, out, what)


def full_range(sampler: Sampler, size: Any) -> Any:
    """Draw uniform uint64."""
    return sampler._draw(
        _integers,
        (0, onp.asarray(2**64 - 1, _uint64)),
        (size_of(size), _uint64, True),
        scalar=size is None,
    )


def _known(bound: Any) -> Any:
    """Convert a bound; object arrays, whose integers may have any length, stay NumPy's."""
    return (
        bound
        if not isinstance(bound, Handle) or on_devices(bound.dtype)
        else handles.to_host(bound)
    )


def _on_host(bound: Any) -> Any:
    """Convert a bound to a Python int or an array of them, which have no limits."""
    if isinstance(bound, int):
        return bound
    array = onp.asarray(bound)
    if not array.shape:
        return int(array)
    return onp.array([int(x) for x in array.ravel()], object).reshape(array.shape)


def _operand(bound: Any, dtype: onp.dtype[Any]) -> Any:
    if isinstance(bound, int) and -(2**63) <= bound < 2**63:
        return int(bound)
    return onp.asarray(bound).astype(_carrier(dtype))


@lru_cache(maxsize=16)
def _limits(dtype: onp.dtype[Any]) -> tuple[int, int]:
    return (0, 1) if dtype.kind == "b" else (int(onp.iinfo(dtype).min), int(onp.iinfo(dtype).max))


def _any(truths: Any) -> bool:
    """Return True if any element is true; a single bool skips NumPy's microseconds."""
    return truths if truths is True or truths is False else bool(onp.any(truths))


def _check_known(low: Any, last: Any, dtype: onp.dtype[Any], closed: bool) -> None:
    smallest, largest = _limits(dtype)
    if _any(low < smallest):
        raise ValueError(f"low is out of bounds for {dtype}")
    if _any(last > largest):
        raise ValueError(f"high is out of bounds for {dtype}")
    if _any(low > last):
        default = not onp.any(low)
        raise ValueError(f"high {'<' if closed else '<='} 0" if default else _order(closed))


def _order(closed: bool) -> str:
    return f"low {'>' if closed else '>='} high"


def _check_within(name: str, bound: Any, dtype: onp.dtype[Any]) -> None:
    smallest, largest = _limits(dtype)
    if _any(bound < smallest) or _any(bound > largest):
        raise ValueError(f"{name} is out of bounds for {dtype}")


def _check_arrays(low: Any, high: Any, dtype: onp.dtype[Any], included: bool, closed: bool) -> None:
    """Check bounds of which at least one is an array of ours.

    Returns two bools: the end is a value now, and it was one when it was given.
    """
    smallest, largest = _limits(dtype)
    if dtype.itemsize < 8:
        for name, bound, end in (
            ("low", low, largest + 1),
            ("high", high, largest + 1 + (not included)),
        ):
            refuse(
                outside,
                (bound,),
                (smallest, end),
                ValueError,
                f"{name} is out of bounds for {dtype}",
            )
    elif dtype == _uint64:
        check(f"low is out of bounds for {dtype}", "ordered", 0, low)
    else:
        for name, bound, end in (("low", low, largest), ("high", high, largest + (not included))):
            if getattr(bound, "dtype", None) == _uint64:
                check(
                    f"{name} is out of bounds for {dtype}",
                    "ordered",
                    bound,
                    onp.asarray(end, _uint64),
                )
    check(_order(closed), "ordered" if included else "range", low, high)


__all__ = ["full_range", "integers"]
