"""Reshaping with MXNet's codes, slicing, padding, and shapes of other arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat import numpy as np
from npcompat._internal.core.op import as_shape, normalized_axes
from npcompat._internal.indexing import lens
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike

Slice = slice  # shadowed by the function below
Places = int | None | Sequence[int | None]

# --- reshape --------------------------------------------------------------------------------------


def _decoded(shape: tuple[int, ...], codes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that codes describe; it may contain one -1."""

    def wrong(why: str) -> ValueError:
        return ValueError(f"reshape: newshape={codes} does not fit shape {shape}: {why}")

    def length(at: int) -> int:
        if at >= len(shape):
            raise wrong("it asks for more axes than there are")
        return shape[at]

    out: list[int] = []
    at = i = 0
    while i < len(codes):
        code = codes[i]
        i, at = i + 1, at + 1
        if code >= -1:
            out.append(code)
        elif code == -2:
            out.append(length(at - 1))
        elif code == -3:
            if length(at - 1) != 1:
                raise wrong(f"-3 leaves out axis {at - 1}, whose length must be 1")
        elif code == -4:
            out += shape[at - 1 :]
            at = len(shape)
        elif code == -5:
            out.append(length(at - 1) * length(at))
            at += 1
        elif code == -6:
            if len(codes) < i + 2:
                raise wrong("-6 must be followed by two lengths")
            out += _split(length(at - 1), codes[i], codes[i + 1], wrong)
            i += 2
        else:
            raise wrong(f"{code} means nothing; codes are -1 to -6")
    return tuple(out)


def _split(length: int, first: int, second: int, wrong: Any) -> tuple[int, int]:
    if (first, second) == (-1, -1) or min(first, second) < -1:
        raise wrong("of the two lengths after -6 one may be -1")
    known = second if first == -1 else first
    if -1 in (first, second):
        if known == 0 or length % known:
            raise wrong(f"{known} does not divide {length}")
        return (length // known, second) if first == -1 else (first, length // known)
    if first * second != length:
        raise wrong(f"{first} times {second} is not {length}")
    return first, second


def reshape(
    a: ArrayLike, newshape: int | Sequence[int], reverse: bool = False, order: str = "C"
) -> ndarray:
    """Reshape an array; the new shape may contain MXNet's special codes.

    Parameters
    ----------
    a : array_like
        The array; the result is a view where NumPy returns one.
    newshape : int or sequence of int
        Lengths, each of which consumes one axis of `a`, or codes: -1 is inferred from the size (at
        most once); -2 copies the length of the axis; -3 removes the axis, of length 1; -4 copies
        all remaining axes; -5 merges two axes; -6 splits the axis into the two lengths that follow,
        one of which may be -1.
    reverse : bool
        Whether shape and codes are read from right to left.
    order : {'C'}
        Order of the elements: another one raises NotImplementedError.

    Raises
    ------
    ValueError
        If the codes do not fit the shape.

    Examples
    --------
    >>> x = np.zeros((8, 3, 3, 3, 4, 4))
    >>> npx.reshape(x, (-6, 2, -1, -4)).shape
    (2, 4, 3, 3, 3, 4, 4)
    >>> npx.reshape(x, (-5, -4)).shape
    (24, 3, 3, 4, 4)
    >>> npx.reshape(x, (-4, -5), reverse=True).shape
    (8, 3, 3, 3, 16)
    """
    if order not in ("C", "c"):
        raise NotImplementedError(f"npx.reshape(order={order!r}): elements are taken in C order")
    a, codes = asarray(a), as_shape(newshape)
    shape = _decoded(a.shape[::-1], codes[::-1])[::-1] if reverse else _decoded(a.shape, codes)
    return lens.reshaped(a, shape)


# --- cutting --------------------------------------------------------------------------------------


def _each(what: str, places: Places, count: int | None = None) -> tuple[int | None, ...]:
    found = tuple(places) if isinstance(places, Sequence) else (places,)
    if count is not None and len(found) != count:
        raise ValueError(f"slice: {what} must have {count} entries, as begin has, got {places}")
    return found


def slice(data: ArrayLike, begin: Places, end: Places, step: Places = None) -> ndarray:
    """Slice an array along its first axes; returns a copy.

    Parameters
    ----------
    data : array_like
        The array.
    begin, end : int, None, or sequence of them
        For each axis the first position, and the one after the last; None and negative ones as in
        Python.
    step : int, None, or sequence of them, optional
        Steps; 1 if not given.

    Examples
    --------
    >>> npx.slice([[1, 2, 3, 4], [5, 6, 7, 8]], begin=(0, None), end=(1, None), step=(1, -2))
    array([[4, 2]])
    """
    data, first = asarray(data), _each("begin", begin)
    last = _each("end", end, len(first))
    steps = (None,) * len(first) if step is None else _each("step", step, len(first))
    return data[tuple(Slice(*part) for part in zip(first, last, steps, strict=True))].copy()


def slice_axis(data: ArrayLike, axis: int, begin: int, end: int | None) -> ndarray:
    """Slice an array along one axis; returns a copy.

    Parameters
    ----------
    data : array_like
        The array.
    axis : int
        The axis.
    begin, end : int
        First position, and the one after the last; None means the end of the axis.

    Examples
    --------
    >>> npx.slice_axis([[1, 2, 3], [4, 5, 6]], axis=1, begin=-2, end=None)
    array([[2, 3],
           [5, 6]])
    """
    data = asarray(data)
    (axis,) = normalized_axes(axis, data.ndim)
    return data[(*[Slice(None)] * axis, Slice(begin, end))].copy()


def slice_like(data: ArrayLike, shape_like: ArrayLike, axes: Sequence[int] | int = ()) -> ndarray:
    """Slice the beginning of an array, to the lengths of another one; returns a copy.

    Parameters
    ----------
    data : array_like
        The array.
    shape_like : array_like
        The array whose shape is used; it must not be longer.
    axes : sequence of int, optional
        The axes to slice; all if not given, for which both must have the same number.

    Examples
    --------
    >>> npx.slice_like(np.arange(6).reshape(2, 3), np.zeros((1, 2)))
    array([[0, 1]])
    """
    data, example = asarray(data), asarray(shape_like)
    chosen = (axes,) if isinstance(axes, int | onp.integer) else tuple(axes)
    if not chosen and data.ndim != example.ndim:
        raise ValueError(
            f"slice_like: shapes {data.shape} and {example.shape} must have as many axes, or axes "
            "be given"
        )
    cut = normalized_axes(chosen or None, data.ndim)
    lengths = {
        i: example.shape[a if chosen else i] for i, a in zip(cut, chosen or cut, strict=True)
    }
    if any(n > data.shape[i] for i, n in lengths.items()):
        raise ValueError(
            f"slice_like: shape_like of shape {example.shape} is longer than data of shape "
            f"{data.shape}"
        )
    return data[tuple(Slice(lengths.get(i)) for i in range(data.ndim))].copy()


def slice_channel(
    data: ArrayLike, num_outputs: int, axis: int = 1, squeeze_axis: bool = False
) -> list[Any]:
    """Split an array into equal parts along an axis.

    Parameters
    ----------
    data : array_like
        The array.
    num_outputs : int
        Number of parts, which must divide the length of the axis.
    axis : int
        The axis.
    squeeze_axis : bool
        Whether the axis, which must have length 1 in each part, is removed.

    Returns
    -------
    list of ndarray
        The parts.

    Examples
    --------
    >>> npx.slice_channel([[1, 2], [3, 4]], 2, squeeze_axis=True)
    [array([1, 3]), array([2, 4])]
    """
    data = asarray(data)
    (axis,) = normalized_axes(axis, data.ndim)
    if num_outputs < 1 or data.shape[axis] % num_outputs:
        raise ValueError(
            f"slice_channel: num_outputs={num_outputs} must divide the length of axis {axis} of "
            f"shape {data.shape}"
        )
    if squeeze_axis and data.shape[axis] != num_outputs:
        raise ValueError(
            f"slice_channel: squeeze_axis=True needs parts of length 1: shape {data.shape} along "
            f"axis {axis} into {num_outputs}"
        )
    parts = [part.copy() for part in np.split(data, num_outputs, axis)]
    return [part.squeeze(axis) for part in parts] if squeeze_axis else parts


# --- by example, and padding ----------------------------------------------------------------------


def broadcast_like(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_axes: Sequence[int] | None = None,
    rhs_axes: Sequence[int] | None = None,
) -> ndarray:
    """Broadcast an array to the shape of another one.

    Parameters
    ----------
    lhs : array_like
        The array, repeated along axes of length 1.
    rhs : array_like
        The array whose shape is used.
    lhs_axes, rhs_axes : sequence of int, optional
        Axes of `lhs` that become as long as those of `rhs`; all if not given.

    Examples
    --------
    >>> npx.broadcast_like([[1.0], [2.0]], np.zeros((2, 3)))
    array([[1., 1., 1.],
           [2., 2., 2.]])
    >>> npx.broadcast_like(np.zeros((1, 4)), np.zeros((2, 3)), lhs_axes=(0,), rhs_axes=(-1,)).shape
    (3, 4)
    """
    lhs, rhs = asarray(lhs), asarray(rhs)
    if (lhs_axes is None) != (rhs_axes is None):
        raise ValueError("broadcast_like: lhs_axes and rhs_axes are given together, or not at all")
    if lhs_axes is None or rhs_axes is None:
        return np.broadcast_to(lhs, rhs.shape).copy()
    ours, theirs = (
        normalized_axes(tuple(lhs_axes), lhs.ndim),
        normalized_axes(tuple(rhs_axes), rhs.ndim),
    )
    if len(ours) != len(theirs):
        raise ValueError(
            f"broadcast_like: lhs_axes={lhs_axes} and rhs_axes={rhs_axes} must name as many axes"
        )
    lengths = dict(zip(ours, [rhs.shape[a] for a in theirs], strict=True))
    return np.broadcast_to(lhs, tuple(lengths.get(i, n) for i, n in enumerate(lhs.shape))).copy()


def pad(
    data: ArrayLike,
    mode: str = "constant",
    pad_width: Sequence[int] = (),
    constant_value: float = 0.0,
) -> ndarray:
    """Pad an array with a constant, the edge, or its reflection.

    Parameters
    ----------
    data : array_like
        The array.
    mode : {'constant', 'edge', 'reflect'}
        Padding with a constant, with the outermost element, or with the mirrored array.
    pad_width : sequence of int
        Flat sequence of the numbers of elements before and after each axis. (`np.pad` takes pairs.)
    constant_value : float
        The constant.

    Examples
    --------
    >>> npx.pad([[1, 2]], pad_width=(0, 1, 1, 0), constant_value=7)
    array([[7, 1, 2],
           [7, 7, 7]])
    """
    data, widths = asarray(data), as_shape(pad_width)
    if mode not in ("constant", "edge", "reflect"):
        raise ValueError(f"pad: mode must be 'constant', 'edge' or 'reflect', got {mode!r}")
    if len(widths) != 2 * data.ndim or any(n < 0 for n in widths):
        raise ValueError(
            f"pad: pad_width needs two numbers for each of {data.ndim} axes, none negative, got "
            f"{pad_width}"
        )
    pairs = tuple(zip(widths[::2], widths[1::2], strict=True))
    return (
        np.pad(data, pairs, mode, constant_values=constant_value)
        if mode == "constant"
        else np.pad(data, pairs, mode)
    )


def shape_array(data: ArrayLike) -> ndarray:
    """Shape of an array, as an array of int64.

    Parameters
    ----------
    data : array_like
        The array.

    Examples
    --------
    >>> npx.shape_array(np.zeros((2, 3)))
    array([2, 3])
    """
    return np.array(asarray(data).shape, dtype="int64")


def size_array(data: ArrayLike) -> ndarray:
    """Number of elements of an array, as an int64 array of shape (1,).

    Parameters
    ----------
    data : array_like
        The array.

    Examples
    --------
    >>> npx.size_array(np.zeros((2, 3)))
    array([6])
    """
    return np.array([asarray(data).size], dtype="int64")


__all__ = [
    "broadcast_like",
    "pad",
    "reshape",
    "shape_array",
    "size_array",
    "slice",
    "slice_axis",
    "slice_channel",
    "slice_like",
]
