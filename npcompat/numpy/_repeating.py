"""Shifting (roll), repetition and padding."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import as_axis, as_shape, operator
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.apply import apply, apply_cached
from npcompat.numpy._checks import shaping
from npcompat.numpy._creation import asanyarray, asarray, copy_of
from npcompat.numpy._floats import floor, rint
from npcompat.numpy._joining import concatenate
from npcompat.numpy._manipulation import broadcast_to, flip, moveaxis, ravel, squeeze
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._ranges import linspace
from npcompat.numpy._reductions import mean
from npcompat.numpy._selection import take
from npcompat.numpy._statistics import median
from npcompat.numpy._typing import ArrayLike, ShapeLike
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


@operator(
    "_npi_roll",
    order="K",
    pattern="injective",
    rule=lambda types, attrs: ([None] * len(types), types[0]),
)
def _roll(xp: Any, a: Any, *shifts: Any, axes: Any = None) -> Any:
    """Roll elements along axes.

    `shifts` are operands, so that other distances reuse the program.

    Parameters
    ----------
    *shifts : int
        One for each axis: how far, forwards.
    axes : tuple of int, optional
        Along which axes; None: all elements in C order.
    """
    if axes is None:
        return xp.reshape(xp.roll(xp.ravel(a), shifts[0]), a.shape)
    for shift, axis in zip(shifts, axes, strict=True):
        a = xp.roll(a, shift, axis)
    return a


@call_cached
@defers_to_classes
def roll(a: ArrayLike, shift: Any, axis: Any = None) -> "ndarray":
    """Roll elements along axes: those shifted out at one end enter at the other.

    Without an axis, the elements are rolled in C order.

    Parameters
    ----------
    a : array_like
        The array.
    shift : int or tuple of int
        Number of places; one for each axis, or one for all.
    axis : int or tuple of int, optional
        The axes.

    Examples
    --------
    >>> np.roll([1, 2, 3, 4], 1)
    array([4, 1, 2, 3])
    """
    a = asanyarray(a)
    if type(shift) is type(axis) is int and abs(shift) < 2**62 and -a.ndim <= axis < a.ndim:
        return apply_cached(_roll, (a, shift), ((axis % a.ndim,),))
    shifts = _distances(shift)
    if axis is None:
        rolled = a
        for s in shifts or [0]:
            rolled = apply(_roll, (rolled, _within(s, rolled, None)))
        return rolled
    axes = onp.lib.array_utils.normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
    count = max(len(shifts), len(axes)) if min(len(shifts), len(axes)) else 0
    if not all(len(group) in (1, count) for group in (shifts, axes)):
        raise ValueError(
            "'shift' and 'axis' should be scalars or 1D sequences of one length, got "
            f"{len(shifts)} and {len(axes)} of them"
        )
    if not count:
        if not axes:
            onp.roll(onp.empty(a.shape, onp.int8), (), axis)  # raise NumPy's error, if any
        return copy_of(a)
    axes = (axes * count)[:count]
    return apply(
        _roll,
        (a, *[_within(s, a, i) for s, i in zip((shifts * count)[:count], axes, strict=True)]),
        (axes,),
    )


def _within(shift: Any, a: Any, axis: int | None) -> Any:
    """Reduce a shift, a Python integer of any size, to a number that XLA can hold."""
    if type(shift) is not int or -(2**62) < shift < 2**62:
        return shift
    return shift % max(a.size if axis is None else a.shape[axis], 1)


def _distances(shift: Any) -> list[Any]:
    if isinstance(shift, Handle):
        shifts: Any = shift
        if shifts.ndim > 1:
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        return [shifts[i] for i in range(shifts.shape[0])] if shifts.ndim else [shifts]
    host = onp.asarray(shift)
    if host.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    return [int(s) for s in host.reshape(-1)]


# --- repeating ------------------------------------------------------------------------------------


@operator("_npi_repeat", pattern="injective")
def _repeat(xp: Any, a: Any, *, repeats: int, axis: Any = None) -> Any:
    """Repeat each element equally often."""
    return xp.repeat(a, repeats, axis)


@call_cached
@defers_to_classes
def repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None) -> "ndarray":
    """Repeat each element several times in a row.

    Parameters
    ----------
    a : array_like
        The array.
    repeats : int or array_like of int
        Number of repetitions: for all, or for each position along the axis.
    axis : int, optional
        The axis; if not given, the elements of all axes in C order.

    Examples
    --------
    >>> np.repeat([1, 2], 2)
    array([1, 1, 2, 2])
    >>> np.repeat([1, 2], [1, 3])
    array([1, 2, 2, 2])
    """
    a = asanyarray(a)
    if type(repeats) is int and repeats >= 0:
        if axis is None or (a.ndim == 0 and type(axis) is int and axis == 0):
            return apply_cached(_repeat, (a,), (repeats, None))
        if type(axis) is int and 0 <= axis < a.ndim:
            return apply_cached(_repeat, (a,), (repeats, axis))
    counts = shaping(repeats, "repeat")
    if not isinstance(repeats, Handle | onp.ndarray | onp.generic):
        counts = counts.astype(onp.int64)
    if not onp.can_cast(counts.dtype, onp.int64, "safe"):
        raise TypeError(
            f"Cannot cast array data from {counts.dtype!r} to dtype('int64') according to the "
            "rule 'safe': repeats must be integers"
        )
    if counts.ndim > 1:
        raise ValueError("object too deep for desired array")
    if axis is None or a.ndim == 0:
        a, axis = ravel(a), 0 if axis is None else axis
    axis = onp.lib.array_utils.normalize_axis_index(cast("int", as_axis(axis)), a.ndim)
    if (counts < 0).any() and a.shape[axis]:
        raise ValueError("repeats may not contain negative values.")
    if counts.size == 1:
        return apply(_repeat, (a,), (max(int(counts.reshape(())), 0), axis))
    if counts.size != a.shape[axis]:
        raise ValueError(
            f"operands could not be broadcast together with shape ({a.shape[axis]},) "
            f"({counts.size},)"
        )
    return take(a, onp.repeat(onp.arange(counts.size), counts), axis)


@operator("_npi_tile", pattern="injective", order="K")
def _tile(xp: Any, A: Any, *, reps: Any) -> Any:
    """Tile an array along axes.

    Parameters
    ----------
    A : array
        The operand.
    reps : tuple of int
        Number of repetitions along each axis.
    """
    return xp.tile(A, reps)


@defers_to_classes
def tile(A: ArrayLike, reps: ShapeLike) -> "ndarray":
    """Tile an array: repeat it `reps` times along each axis; missing axes are added in front.

    Examples
    --------
    >>> np.tile([1, 2], (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    counts = as_shape(reps)
    if any(n < 0 for n in counts):
        raise ValueError(f"negative dimensions are not allowed: reps={counts}")
    return apply(_tile, (asanyarray(A),), (counts,))


@operator("_npi_resize", pattern="injective")
def _resize(xp: Any, a: Any, *, shape: Any) -> Any:
    """Fill a shape with the elements, repeated in C order."""
    return xp.resize(a, shape) if a.size else xp.zeros(shape, a.dtype)


@defers_to_classes
def resize(a: ArrayLike, new_shape: ShapeLike) -> "ndarray":
    """Return a new array of a shape, filled with the elements in C order, repeated.

    The method `ndarray.resize` changes the array in place and pads with zeros instead.

    Examples
    --------
    >>> np.resize([1, 2, 3], (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    shape = as_shape(new_shape)
    if any(n < 0 for n in shape):
        raise ValueError(f"all elements of `new_shape` must be non-negative, got {shape}")
    return apply(_resize, (a,), (shape,))


# --- padding --------------------------------------------------------------------------------------

_PAD_OPTIONS: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",),
    "edge": (),
    "empty": (),
    "linear_ramp": ("end_values",),
    "maximum": ("stat_length",),
    "mean": ("stat_length",),
    "median": ("stat_length",),
    "minimum": ("stat_length",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "wrap": (),
}


@operator(
    "_npi_pad",
    order="K",
    rule=lambda types, attrs: ([None, *types[: len(types) - 1]], types[0]),
    pattern="injective",
)
def _pad(
    xp: Any, array: Any, *border: Any, pad_width: Any, mode: str = "constant", option: Any = None
) -> Any:
    """Pad an array, with constants for both ends of each axis or one setting of the mode.

    Parameters
    ----------
    *border : array
        Both ends of each axis, where a mode has values for them.
    option : Any
        The one setting that a mode has.
    """
    setting = border[0] if border else option
    options = {} if setting is None else {_PAD_OPTIONS[mode][0]: setting}
    return xp.pad(array, pad_width, "constant" if mode == "empty" else mode, **options)


def _numbers(option: Handle) -> onp.ndarray[Any, Any]:
    handles.check_reader(option)
    return shaping(option, "pad")


@defers_to_classes
def pad(array: ArrayLike, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> "ndarray":
    """Pad an array with a border.

    Parameters
    ----------
    array : array_like
        The array.
    pad_width : int, (int, int), one pair for each axis, or dict of axis to one of these
        Number of elements to add before and after.
    mode : str or callable
        Padding mode: 'constant', 'edge', 'linear_ramp', 'maximum', 'mean', 'median',
        'minimum', 'reflect', 'symmetric', 'wrap', or 'empty' (zeros). A function is called
        with each vector along each axis, the two widths, the axis, and a dict of the other
        arguments; it writes the border of the vector in place.
    **kwargs
        `constant_values`, `end_values`, `stat_length` or `reflect_type`, for the modes that have
        them.

    Examples
    --------
    >>> np.pad([1, 2], 1)
    array([0, 1, 2, 0])
    >>> np.pad([1, 2, 3], (2, 0), mode="reflect")
    array([3, 2, 1, 2, 3])
    """
    array = asarray(array)
    widths = _pairs(_as_widths(pad_width, array.ndim), array.ndim, "pad_width")
    if callable(mode):
        return _padded_by(mode, apply(_pad, (array,), (widths, "constant", None)), widths, kwargs)
    if mode not in _PAD_OPTIONS:
        raise ValueError(
            f"mode '{mode}' is not supported; expected one of {', '.join(_PAD_OPTIONS)}, or a "
            "function"
        )
    wrong = kwargs.keys() - set(_PAD_OPTIONS[mode])
    if wrong:
        raise ValueError(f"unsupported keyword arguments for mode {mode!r}: {wrong}")
    if not array.ndim:
        return copy_of(array)
    if mode == "median" and array.dtype.kind == "c" and handles.current_array(array) is None:
        raise NotImplementedError("pad(mode='median') of a complex array on XLA")
    if kwargs.get("reflect_type") == "odd" and array.dtype == onp.bool_:
        raise NotImplementedError("pad(reflect_type='odd') of a bool array")
    option: Any = kwargs.get(_PAD_OPTIONS[mode][0]) if kwargs else None
    operands = [array]
    if mode == "constant" and option is not None:
        operands.append(_border(option, array))
        option = None
    elif mode == "linear_ramp" and option is not None:
        ends = _paired(
            _numbers(option) if isinstance(option, Handle) else onp.asarray(option),
            array.ndim,
            "end_values",
        )
        if array.dtype.kind not in "iu":
            ends = ends.astype(array.dtype)
        option = tuple((before, after) for before, after in ends.tolist())
    elif mode in ("maximum", "mean", "median", "minimum") and option is not None:
        option = _pairs(option, array.ndim, "stat_length")
        if any(n < 1 for pair in option for n in pair) and (
            mode in ("maximum", "minimum") or handles.current_array(array) is None
        ):
            raise ValueError("stat_length of 0 yields no value for padding")
    elif option not in (None, "even", "odd"):
        raise ValueError(f"pad: reflect_type: expected 'even' or 'odd', got {option!r}")
    if mode not in ("constant", "empty"):
        for axis, (n, pair) in enumerate(zip(array.shape, widths, strict=True)):
            if n == 0 and any(pair):
                raise ValueError(
                    f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
                )
    in_floats = mode in ("linear_ramp", "mean", "median") and array.dtype.kind in "iu"
    if in_floats and handles.current_array(array) is None:
        return _with_rounded(array, widths, mode, option)
    return apply(_pad, operands, (widths, mode, option))


def _with_rounded(array: Any, widths: Sequence[tuple[int, int]], mode: str, option: Any) -> Any:
    """Pad integers with what is computed in float64 and rounded, axis by axis, as NumPy does."""
    settings = [(0, 0) if mode == "linear_ramp" else (None, None)] * array.ndim
    for axis, setting in enumerate(settings if option is None else option):
        parts = [array]
        for place, width in enumerate(widths[axis]):
            if not width:
                continue
            length = 1 if mode == "linear_ramp" else setting[place]
            chosen = slice(-length, None) if place and length else slice(length)
            chunk = array[(*[slice(None)] * axis, chosen)].astype("float64")
            if mode == "linear_ramp":
                ramp = floor(linspace(setting[place], chunk, width, False, dtype="float64"))
                part = moveaxis(squeeze(ramp, axis + 1), 0, axis)
                part = flip(part, axis) if place else part
            else:
                of = mean if mode == "mean" else median
                part = repeat(rint(of(chunk, axis, keepdims=True)), width, axis)
            parts.insert(len(parts) if place else 0, part.astype(array.dtype))
        array = concatenate(parts, axis) if len(parts) > 1 else array
    return array if any(map(any, widths)) else copy_of(array)


def _padded_by(
    function: Any, padded: Any, widths: Sequence[tuple[int, int]], options: dict[str, Any]
) -> Any:
    """Pad with zeros, and call a function that writes the border of each vector."""
    for axis, pair in enumerate(widths):
        lines = moveaxis(padded, axis, -1)
        for place in onp.ndindex(lines.shape[:-1]):
            function(lines[(*place, ...)], pair, axis, options)
    return padded


def _as_widths(pad_width: Any, ndim: int) -> Any:
    """Convert `pad_width` to integers; a dict of axes becomes a list of pairs."""
    if isinstance(pad_width, dict):
        listed: list[Any] = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            listed[axis] = width if isinstance(width, tuple | list) else (width, width)
        pad_width = listed
    host = shaping(pad_width, "pad")
    if host.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    return host


def _pairs(given: Any, ndim: int, what: str) -> tuple[tuple[int, int], ...]:
    """Return one pair (before, after) of Python integers for each axis."""
    pairs = _paired(shaping(given, "pad"), ndim, what)
    if pairs.size and pairs.min() < 0:
        raise ValueError(f"pad: {what}: index can't contain negative values")
    return tuple((before, after) for before, after in pairs.tolist())


def _border(given: Any, array: Any) -> Any:
    """Return the constants of both ends of each axis, in the dtype of the array."""
    if isinstance(given, Handle):
        _paired(handles.layout(given), array.ndim, "constant_values")
        return broadcast_to(given, (array.ndim, 2))
    return _paired(onp.asarray(given), array.ndim, "constant_values").astype(array.dtype)


def _paired(host: onp.ndarray[Any, Any], ndim: int, what: str) -> onp.ndarray[Any, Any]:
    try:
        return onp.broadcast_to(host, (ndim, 2))
    except ValueError:
        why = (
            "operands could not be broadcast together"
            if host.ndim < 3
            else "input operand has more dimensions than allowed by the axis remapping"
        )
        raise ValueError(
            f"{why}: {what} is a scalar, a pair, or a pair for each of the {ndim} axes; got shape "
            f"{host.shape}"
        ) from None


__all__ = ["pad", "repeat", "resize", "roll", "tile"]
