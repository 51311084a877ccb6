"""Last elements and reversal of sequences of different lengths."""

from typing import Any

from npcompat import numpy as np
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._checks import expect
from npcompat.numpy_extension._nn_types import int64, positioned


def _checked(
    name: str, data: ArrayLike, lengths: ArrayLike | None, use: bool, axis: int
) -> tuple[ndarray, ndarray | None]:
    """Return data and lengths (None: all as long as the axis), after a check that they fit."""
    if use != (lengths is not None):
        given = "missing" if lengths is None else "given"
        raise ValueError(f"{name}: use_sequence_length={use}, but sequence_length is {given}")
    data = asarray(data)
    if axis not in (0, 1) or data.ndim < 2:
        raise ValueError(
            f"{name}: data needs two axes, time being 0 or 1; got shape {data.shape}, axis={axis}"
        )
    if lengths is None:
        return data, None
    found = asarray(lengths).astype(int64, copy=False)
    batch, time = data.shape[1 - axis], data.shape[axis]
    if found.shape != (batch,):
        raise ValueError(
            f"{name}: sequence_length must have shape ({batch},), one entry for each sequence, "
            f"got {found.shape}"
        )
    expect(
        ((found >= 1) & (found <= time)).all(),
        ValueError,
        f"{name}: sequence_length must be between 1 and {time}",
    )
    return data, found


@operator("_npx_sequence_last", rule=positioned, pattern="injective")
def _sequence_last(xp: Any, x: Any, lengths: Any, *, axis: int) -> Any:
    """Last element of each sequence."""
    last = xp.reshape(xp.clip(lengths, 1, x.shape[axis]) - 1, _beside(axis, x.ndim))
    return xp.squeeze(
        xp.take_along(x, xp.broadcast_to(last, _with_length(x.shape, axis, 1)), axis), axis
    )


@operator("_npx_sequence_reverse", rule=positioned, pattern="injective")
def _sequence_reverse(xp: Any, x: Any, lengths: Any, *, axis: int) -> Any:
    """Reverse each sequence up to its length; later elements stay."""
    ends = xp.reshape(lengths, _beside(axis, x.ndim))
    time = xp.reshape(xp.arange(x.shape[axis]), _with_length((1,) * x.ndim, axis, -1))
    places = xp.where(time < ends, ends - 1 - time, time)
    return xp.take_along(
        x, xp.broadcast_to(xp.clip(places, 0, max(x.shape[axis] - 1, 0)), x.shape), axis
    )


def _beside(axis: int, ndim: int) -> tuple[int, ...]:
    """Return the shape in which lengths broadcast against data, with time as axis 0 or 1."""
    return ((1, -1) if axis == 0 else (-1, 1)) + (1,) * (ndim - 2)


def _with_length(shape: tuple[int, ...], axis: int, length: int) -> tuple[int, ...]:
    return (*shape[:axis], length, *shape[axis + 1 :])


def sequence_last(
    data: ArrayLike,
    sequence_length: ArrayLike | None = None,
    use_sequence_length: bool = False,
    axis: int = 0,
) -> ndarray:
    """Last element of each sequence of a batch.

    Parameters
    ----------
    data : array_like, shape (time, batch, ...) or (batch, time, ...)
        Sequences.
    sequence_length : array_like, shape (batch,), optional
        Their lengths, at least 1.
    use_sequence_length : bool
        Must be True if lengths are given; if False, all are as long as the axis.
    axis : {0, 1}
        The axis of time.

    Returns
    -------
    ndarray
        Of shape (batch, ...).

    Raises
    ------
    ValueError
        If shapes do not fit, or a length is out of range.

    Examples
    --------
    >>> npx.sequence_last([[1, 2, 3], [4, 5, 6]], [2, 3], use_sequence_length=True, axis=1)
    array([2, 6])
    """
    data, lengths = _checked("sequence_last", data, sequence_length, use_sequence_length, axis)
    if data.shape[axis] == 0:
        raise ValueError(
            f"sequence_last: sequences of shape {data.shape} have no last element along axis {axis}"
        )
    if lengths is None:
        return np.take(data, -1, axis)
    return apply(_sequence_last, (data, lengths), (axis,))


def sequence_reverse(
    data: ArrayLike,
    sequence_length: ArrayLike | None = None,
    use_sequence_length: bool = False,
    axis: int = 0,
) -> ndarray:
    """Reverse each sequence of a batch up to its length; later elements stay in place.

    Parameters
    ----------
    data : array_like, shape (time, batch, ...) or (batch, time, ...)
        Sequences.
    sequence_length : array_like, shape (batch,), optional
        Their lengths, at least 1.
    use_sequence_length : bool
        Must be True if lengths are given; if False, all are as long as the axis.
    axis : {0, 1}
        The axis of time.

    Raises
    ------
    ValueError
        If shapes do not fit, or a length is out of range.

    Examples
    --------
    >>> npx.sequence_reverse([[1, 2, 3], [4, 5, 6]], [2, 3], use_sequence_length=True, axis=1)
    array([[2, 1, 3],
           [6, 5, 4]])
    """
    data, lengths = _checked("sequence_reverse", data, sequence_length, use_sequence_length, axis)
    if lengths is None:
        return np.flip(data, axis).copy()
    return apply(_sequence_reverse, (data, lengths), (axis,))


__all__ = ["sequence_last", "sequence_reverse"]
