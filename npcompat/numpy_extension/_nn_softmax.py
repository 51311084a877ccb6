"""Softmax and its logarithm, also of masked elements."""

import math
from collections.abc import Mapping
from typing import Any

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike, DTypeLike
from npcompat.numpy_extension._nn_types import int64, working_dtype


def _normalized(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    source = dtypes.floating(types[:1])[1]
    dtype = attrs["dtype"] or source
    working = working_dtype(source if source.itemsize > dtype.itemsize else dtype)
    rest = [int64 if attrs["length"] else dtypes.strong(t) for t in types[1:]]
    return [working, *rest], dtype


def _kept(xp: Any, x: Any, where: tuple[Any, ...], axis: int, length: bool) -> Any:
    """Return the mask of elements that take part; None for all."""
    if not where:
        return None
    if not length:
        return xp.broadcast_to(where[0] != 0, x.shape)
    axis %= x.ndim
    positions = xp.reshape(xp.arange(x.shape[axis]), (-1,) + (1,) * (x.ndim - 1 - axis))
    return positions < xp.expand_dims(where[0], axis)


def _shifted(
    xp: Any, x: Any, kept: Any, axis: int, temperature: float | None, normalize: bool
) -> Any:
    """Return logits minus their maximum, so that exp can't overflow; -inf where masked."""
    if temperature is not None and temperature != 1:
        x = x / xp.asarray(temperature, x.dtype)
    if kept is not None:
        x = xp.where(kept, x, xp.asarray(-math.inf, x.dtype))
    if not normalize:
        return x
    largest = xp.stop_gradient(xp.max(x, axis=axis, keepdims=True, initial=-math.inf))
    return x - xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))


@operator("_npx_softmax", rule=_normalized)
def _softmax(
    xp: Any,
    x: Any,
    *where: Any,
    axis: int = -1,
    temperature: float | None = None,
    length: bool = False,
    normalize: bool = True,
    dtype: Any = None,
) -> Any:
    """Softmax: exp(x) divided by its sum along an axis; `where` is a mask, or lengths.

    Parameters
    ----------
    *where : array
        Lengths, or a mask: elements after the length, or where the mask is 0, are excluded.
    normalize : bool
        Whether the maximum is subtracted first, to avoid overflow.
    length : bool
        Whether these are lengths.
    """
    if x.size == 0 or x.ndim == 0:
        return xp.ones_like(x)
    exps = xp.exp(_shifted(xp, x, _kept(xp, x, where, axis, length), axis, temperature, normalize))
    total = xp.sum(exps, axis=axis, keepdims=True)
    return exps / (total if not where else xp.where(total == 0, xp.ones_like(total), total))


@operator("_npx_log_softmax", rule=_normalized)
def _log_softmax(
    xp: Any,
    x: Any,
    *where: Any,
    axis: int = -1,
    temperature: float | None = None,
    length: bool = False,
    normalize: bool = True,
    dtype: Any = None,
) -> Any:
    """Log-softmax: x minus log(sum(exp(x))) along an axis; `where` is a mask, or lengths.

    Parameters
    ----------
    *where : array
        Lengths, or a mask: elements after the length, or where the mask is 0, are excluded.
    length : bool
        Whether these are lengths.
    temperature : float, optional
        Divisor of the elements.
    normalize : bool
        Whether the maximum is subtracted first, to avoid overflow.
    """
    if x.size == 0 or x.ndim == 0:
        return xp.zeros_like(x)
    shifted = _shifted(xp, x, _kept(xp, x, where, axis, length), axis, temperature, normalize)
    total = xp.sum(xp.exp(shifted), axis=axis, keepdims=True)
    return shifted - xp.log(
        total if not where else xp.where(total == 0, xp.ones_like(total), total)
    )


def _apply_softmax(
    op: Any,
    data: ArrayLike,
    length: Any,
    axis: int,
    temperature: float | None,
    use_length: bool,
    dtype: DTypeLike,
) -> Any:
    if use_length != (length is not None):
        raise ValueError(
            f"{op.name.removeprefix('_npx_')}: use_length={use_length}, but length is "
            f"{'missing' if length is None else 'given'}"
        )
    wanted = None if dtype is None else dtypes.canonical(dtype)
    attrs = (
        int(axis),
        None if temperature is None else float(temperature),
        use_length,
        True,
        wanted,
    )
    return apply(op, (data, length) if use_length else (data,), attrs)


def softmax(
    data: ArrayLike,
    length: ArrayLike | None = None,
    axis: int = -1,
    temperature: float | None = None,
    use_length: bool = False,
    dtype: DTypeLike = None,
) -> ndarray:
    """Softmax: exponentials divided by their sum along an axis.

    Parameters
    ----------
    data : array_like
        Logits.
    length : array_like of int, optional
        Number of elements along the axis that take part, in the shape of `data` without it; the
        others become 0.
    axis : int
        The axis that sums to one.
    temperature : float, optional
        Divisor of the logits.
    use_length : bool
        Must be True if `length` is given.
    dtype : dtype, optional
        Dtype of the result; that of `data` if not given. 16-bit floats are summed in float32.

    Examples
    --------
    >>> npx.softmax([[0.0, 0.0], [0.0, 1000.0]])
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    return _apply_softmax(_softmax, data, length, axis, temperature, use_length, dtype)


def log_softmax(
    data: ArrayLike,
    axis: int = -1,
    length: ArrayLike | None = None,
    temperature: float | None = None,
    use_length: bool = False,
    dtype: DTypeLike = None,
) -> ndarray:
    """Logarithm of `softmax`, computed accurately.

    The arguments are those of `softmax`; elements beyond `length` become -inf.

    Examples
    --------
    >>> npx.log_softmax([0.0, 1000.0])
    array([-1000.,     0.])
    """
    return _apply_softmax(_log_softmax, data, length, axis, temperature, use_length, dtype)


def masked_softmax(
    data: ArrayLike,
    mask: ArrayLike,
    axis: int = -1,
    temperature: float | None = 1.0,
    normalize: bool = True,
) -> ndarray:
    """Masked softmax: elements where the mask is False become 0.

    Parameters
    ----------
    data : array_like
        Logits.
    mask : array_like of bool
        True for elements that take part; broadcast to the shape of `data`.
    axis : int
        The axis that sums to one.
    temperature : float, optional
        Divisor of the logits.
    normalize : bool
        Whether the maximum is subtracted first, to avoid overflow.

    Examples
    --------
    >>> npx.masked_softmax([1.0, 1.0, 5.0], [True, True, False])
    array([0.5, 0.5, 0. ])
    """
    return apply(
        _softmax,
        (data, mask),
        (
            int(axis),
            None if temperature is None else float(temperature),
            False,
            bool(normalize),
            None,
        ),
    )


def masked_log_softmax(
    data: ArrayLike,
    mask: ArrayLike,
    axis: int = -1,
    temperature: float | None = 1.0,
    normalize: bool = True,
) -> ndarray:
    """Logarithm of `masked_softmax`; -inf where the mask is False.

    Examples
    --------
    >>> [round(v, 3) for v in npx.masked_log_softmax([1.0, 1.0, 5.0], [True, True, False]).tolist()]
    [-0.693, -0.693, -inf]
    """
    return apply(
        _log_softmax,
        (data, mask),
        (
            int(axis),
            None if temperature is None else float(temperature),
            False,
            bool(normalize),
            None,
        ),
    )


__all__ = ["log_softmax", "masked_log_softmax", "masked_softmax", "softmax"]
