"""Selection of elements by index or by mask."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex, cast, overload

import numpy as onp

from npcompat._internal.backend.typed_kernel import boxed
from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import as_axis, operator
from npcompat._internal.dispatch import array_like
from npcompat._internal.dispatch.apply import apply, apply_cached, apply_cached_on_host
from npcompat._internal.indexing import host as host_keys
from npcompat._internal.indexing.checks import check_bounds
from npcompat.numpy._checks import outside, refuse, shaping
from npcompat.numpy._creation import asanyarray, asarray
from npcompat.numpy._filled import zeros
from npcompat.numpy._given_length import length, positions, slices
from npcompat.numpy._logic import result_type
from npcompat.numpy._manipulation import ravel
from npcompat.numpy._memory_order import columns_of
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._typing import ArrayLike, NoValue, Out
from npcompat.numpy._ufunc import finish
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_int64, _bool = onp.dtype("int64"), onp.dtype(bool)
_MODES = ("raise", "wrap", "clip")


# --- where ----------------------------------------------------------------------------------------


def _chosen_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    common = dtypes.result_type(types[1:])
    return [_bool, common, common], common


@operator("_npi_where", keeps_class=False, rule=_chosen_types, pattern="broadcast")
def _where(xp: Any, condition: Any, x: Any, y: Any) -> Any:
    """Choose `x` where the condition is true, else `y`."""
    return xp.where(condition, x, y)


@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> "ndarray": ...


@overload
def where(
    condition: ArrayLike,
    /,
    *,
    size: SupportsIndex | None = None,
    fill_value: ArrayLike | None = None,
) -> "tuple[ndarray, ...]": ...


@call_cached
@defers_to_classes
def where(
    condition: ArrayLike,
    x: ArrayLike = NoValue,
    y: ArrayLike = NoValue,
    /,
    *,
    size: SupportsIndex | None = None,
    fill_value: ArrayLike | None = None,
) -> "ndarray | tuple[ndarray, ...]":
    """Choose elements of `x` where a condition is true, else of `y`.

    Without `x` and `y`, return the indices where it is true.

    Parameters
    ----------
    condition : array_like of bool
        The condition.
    x, y : array_like, optional
        Values; all three are broadcast against each other.
    size, fill_value : optional
        With `condition` alone, as for `nonzero`.

    Returns
    -------
    ndarray or tuple of ndarray
        With `condition` alone the same as `nonzero`.

    Examples
    --------
    >>> np.where([True, False], [1, 2], 0)
    array([1, 0])
    """
    if x is NoValue and y is NoValue:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is NoValue or y is NoValue:
        raise ValueError("either both or neither of x and y should be given")
    if size is not None or fill_value is not None:
        raise ValueError(
            "np.where: size= and fill_value= are for the positions where the condition holds: "
            "without x and y"
        )
    try:
        return apply_cached(_where, (condition, x, y), ())
    except OverflowError:  # NumPy's where casts numbers without a check
        return apply(_where, (condition, *[_wrapped(number, x, y) for number in (x, y)]), ())


def _wrapped(x: Any, *choices: Any) -> Any:
    """Return a Python integer as an array of the common dtype, modulo its range; others as is."""
    return onp.asarray(x).astype(result_type(*choices)) if type(x) is int else x


@defers_to_classes
def nonzero(
    a: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike | None = None
) -> "tuple[ndarray, ...]":
    """Return the indices of the elements that are not zero, in C order: one array per axis.

    Parameters
    ----------
    a : array_like
        The array.
    size : int, optional
        Number of indices to return, which allows compilation; those of further elements are
        dropped.
    fill_value : array_like of int, optional
        With `size`, padding index: one, or one for each axis; 0 if not given.

    Raises
    ------
    TracedValueError
        In a compiled function without `size`: their number depends on values.

    Examples
    --------
    >>> np.nonzero([3, 0, 4])
    (array([0, 2]),)
    >>> npx.jit(lambda a: np.nonzero(a, size=3, fill_value=-1))(np.array([3, 0, 4]))
    (array([ 0,  2, -1]),)
    """
    count = length("nonzero", size, fill_value)
    host = shaping(a, "nonzero", "size=") if count is None else asarray(a)
    if host.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() "
            "instead. "
            "If the context of this error is of the form `arr[nonzero(cond)]`, just use "
            "`arr[cond]`."
        )
    if count is not None:
        return tuple(positions("nonzero", host, count, fill_value))
    found: Any = host.nonzero()
    return columns_of(found)


@defers_to_classes
def flatnonzero(
    a: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike | None = None
) -> "ndarray":
    """Return the flat indices (C order) of the elements that are not zero.

    Parameters
    ----------
    a : array_like
        The array.
    size, fill_value : optional
        Number of indices and padding value, as for `nonzero`.

    Examples
    --------
    >>> np.flatnonzero([[0, 1], [2, 0]])
    array([1, 2])
    """
    count = length("flatnonzero", size, fill_value)
    if count is not None:
        return positions("flatnonzero", ravel(asarray(a)), count, fill_value)[0]
    return array_like.array_of(onp.flatnonzero(shaping(a, "flatnonzero", "size=")))


@defers_to_classes
def argwhere(
    a: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike | None = None
) -> "ndarray":
    """Return the indices of the elements that are not zero, one per row.

    Parameters
    ----------
    a : array_like
        The array.
    size, fill_value : optional
        Number of indices and padding value, as for `nonzero`.

    Examples
    --------
    >>> np.argwhere([[0, 1], [2, 0]])
    array([[0, 1],
           [1, 0]])
    """
    count = length("argwhere", size, fill_value)
    if count is None:
        return array_like.array_of(onp.argwhere(shaping(a, "argwhere", "size=")))
    a = asarray(a)
    if a.ndim == 0:
        return argwhere(a.reshape(1), size=count, fill_value=fill_value)[:, :0]
    return positions("argwhere", a, count, fill_value).T


# --- take -----------------------------------------------------------------------------------------


def _positions(indices: Any) -> Any:
    """Return an index array as integers, on the device or the host."""
    found: Any = indices if isinstance(indices, Handle) else array_like.host_array(indices)
    if not isinstance(indices, Handle | onp.ndarray | onp.generic):
        return found.astype(_int64)
    if found.dtype.kind not in "biu":
        raise TypeError(
            f"Cannot cast array data from {found.dtype!r} to {_int64!r} according to the rule "
            "'safe': positions must be integers"
        )
    return found.astype(_int64) if found.dtype == _bool else found


def _in_range(xp: Any, positions: Any, size: int, mode: str) -> Any:
    if mode == "wrap":
        return xp.remainder(positions, size) if size else positions
    if mode == "clip":
        return xp.clip(positions, 0, max(size - 1, 0))
    return xp.where(positions < 0, positions + size, positions)


def _check_mode(mode: Any) -> str:
    if mode not in _MODES:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return str(mode)


@operator(
    "_npi_take",
    scalars=True,
    rule=lambda types, attrs: ([None, _int64], dtypes.strong(types[0])),
    pattern="injective",
    numpy_function=lambda types, attrs: partial(
        onp.ndarray.take, axis=attrs["axis"], mode=attrs["mode"]
    ),
)
def _take(xp: Any, a: Any, indices: Any, *, axis: Any = None, mode: str = "raise") -> Any:
    """Gather the elements at indices along an axis, or of the raveled array.

    In mode 'raise' the indices are in range.
    """
    if axis is None:
        a, axis = xp.ravel(a), 0
    return xp.take_at(a, (slice(None),) * axis + (_in_range(xp, indices, a.shape[axis], mode),))


@call_cached
@defers_to_classes
def take(
    a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: Out = None, mode: str = "raise"
) -> "ndarray":
    """Gather the elements at indices along an axis.

    Parameters
    ----------
    a : array_like
        The array.
    indices : array_like of int
        Positions; negative ones count from the end.
    axis : int, optional
        The axis; if not given, positions are those among all elements in C order.
    out : ndarray, optional
        Array to write the result into.
    mode : {'raise', 'wrap', 'clip'}
        Treatment of indices out of range: an error, the index modulo the length, or the
        nearest valid one.

    Raises
    ------
    IndexError
        If a position is out of range and the mode is 'raise'.

    Examples
    --------
    >>> np.take([5, 6, 7], [0, 2])
    array([5, 7])
    """
    a, mode = asanyarray(a), _check_mode(mode)
    if axis is not None:
        axis = onp.lib.array_utils.normalize_axis_index(cast("int", as_axis(axis)), a.ndim or 1)
        if a.ndim == 0:
            axis = None
    size = a.size if axis is None else a.shape[axis]
    positions = _positions(indices)
    if size == 0 and positions.size:
        found = () if axis is None else (*a.shape[:axis], *positions.shape, *a.shape[axis + 1 :])
        if 0 not in found:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        if mode == "raise" and 0 not in a.shape[:axis]:
            check_bounds(positions, size, 0 if axis is None else axis)
        return finish_safely(zeros(found, a.dtype), out, "take")
    if mode == "raise":
        key = positions if axis is None else (slice(None),) * axis + (positions,)
        if a.size and (small := host_keys.get_small(a, key, raveled=axis is None)) is not None:
            return finish_safely(small, out, "take")
        if axis is None or 0 not in a.shape[:axis]:
            check_bounds(positions, size, 0 if axis is None else axis)
        else:
            mode = "clip"  # nothing is read, whatever the positions
    return finish_safely(apply_cached_on_host(_take, (a, positions), (axis, mode)), out, "take")


def finish_safely(result: Any, out: Any, what: str) -> Any:
    """Return the result, or write it into `out`, whose dtype must cast safely to its own."""
    if out is None:
        return result
    (target,) = out if isinstance(out, tuple) else (out,)
    if not hasattr(result, "dtype"):  # an element of an array of objects
        result = array_like.array_of(boxed(result))
    if isinstance(target, Handle) and not onp.can_cast(target.dtype, result.dtype, "safe"):
        raise TypeError(
            f"Cannot cast array data from {target.dtype!r} to {result.dtype!r} according to the "
            f"rule 'safe': `out` of {what}"
        )
    return finish(result.astype(target.dtype), target, what)


@operator(
    "_npi_take_along_axis",
    order="K",
    rule=lambda types, attrs: ([None, _int64], dtypes.strong(types[0])),
    pattern="injective",
)
def _take_along_axis(xp: Any, a: Any, indices: Any, *, axis: int = -1) -> Any:
    """Gather one element per index along an axis; indices are in range."""
    size = a.shape[axis]
    return xp.take_along_axis(a, _in_range(xp, indices, size, "raise"), axis)


def _along(arr: Any, indices: Any, axis: int | None) -> tuple[Any, Any, int]:
    positions = asarray(indices)
    if axis is None:
        if positions.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = ravel(arr), 0
    axis = onp.lib.array_utils.normalize_axis_index(axis, arr.ndim)
    if positions.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if positions.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    check_bounds(positions, arr.shape[axis], axis)
    return arr, positions, axis


@defers_to_classes
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> "ndarray":
    """Gather from each 1-D slice along an axis by the same slice of `indices`.

    Examples
    --------
    >>> a = np.array([[30, 10], [20, 40]])
    >>> np.take_along_axis(a, np.argsort(a, axis=1), axis=1)
    array([[10, 30],
           [20, 40]])
    """
    arr, positions, axis = _along(asanyarray(arr), indices, axis)
    return apply(_take_along_axis, (arr, positions), (axis,))


# --- by condition ---------------------------------------------------------------------------------


@defers_to_classes
def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: int | None = None,
    out: Out = None,
    *,
    size: SupportsIndex | None = None,
    fill_value: ArrayLike | None = None,
) -> "ndarray":
    """Return the slices along an axis for which a condition holds.

    Parameters
    ----------
    condition : array_like of bool
        Mask of the slices, along one axis.
    a : array_like
        The array.
    axis : int, optional
        The axis; if not given, the elements in C order are picked.
    out : ndarray, optional
        Array to write the result into.
    size : int, optional
        Number of slices to return, which allows compilation; further ones are dropped.
    fill_value : scalar, optional
        With `size`, padding value of missing slices; 0 if not given.

    Examples
    --------
    >>> np.compress([False, True], [[1, 2], [3, 4]], axis=0)
    array([[3, 4]])
    >>> np.compress([False, True], [[1, 2], [3, 4]], axis=0, size=2)
    array([[3, 4],
           [0, 0]])
    """
    count = length("compress", size, fill_value)
    if count is not None:
        a, axis = (ravel(asarray(a)), 0) if axis is None else (a, axis)
        return finish_safely(
            slices("compress", condition, a, axis, count, fill_value), out, "compress"
        )
    host = shaping(condition, "compress", "size=")
    if host.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, onp.flatnonzero(host), axis, out)


@defers_to_classes
def extract(
    condition: ArrayLike,
    arr: ArrayLike,
    *,
    size: SupportsIndex | None = None,
    fill_value: ArrayLike | None = None,
) -> "ndarray":
    """Return the elements for which a condition holds, in 1-D.

    Parameters
    ----------
    condition : array_like of bool
        Mask of the elements.
    arr : array_like
        The array.
    size, fill_value : optional
        Number of elements and padding value, as for `compress`.

    Examples
    --------
    >>> np.extract([True, False, True], [1, 2, 3])
    array([1, 3])
    """
    count = length("extract", size, fill_value)
    if count is not None:
        return slices(
            "extract", ravel(asarray(condition)), ravel(asarray(arr)), 0, count, fill_value
        )
    return take(ravel(arr), onp.flatnonzero(shaping(condition, "extract", "size=")))


def _choice_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    common = dtypes.result_type(types[1:])
    return [_int64, *[common] * (len(types) - 1)], common


@operator(
    "_npi_choose",
    order="C",
    keeps_class=False,
    scalars=True,
    rule=_choice_types,
    pattern="broadcast",
)
def _choose(xp: Any, a: Any, *choices: Any, mode: str = "raise") -> Any:
    """Choose each element from the choice whose index `a` holds.

    Parameters
    ----------
    *choices : array
        Arrays to choose from.
    """
    arrays = xp.broadcast_arrays(a, *choices)
    index = _in_range(xp, arrays[0], len(choices), mode)
    return xp.take_along_axis(xp.stack(arrays[1:]), index[None], 0)[0]


_WEAK = frozenset((bool, int, float, complex))


@defers_to_classes
def choose(a: ArrayLike, choices: ArrayLike, out: Out = None, mode: str = "raise") -> "ndarray":
    """Choose each element from the array of `choices` whose index `a` holds; all are broadcast.

    Examples
    --------
    >>> np.choose([0, 1, 0], [[1, 2, 3], [10, 20, 30]])
    array([ 1, 20,  3])
    """
    positions, mode = _positions(a), _check_mode(mode)
    arrays: list[Any] = list(cast("Any", choices))
    if not arrays:
        raise ValueError("choose: expected at least one choice")
    if len(arrays) > 63:
        raise ValueError(
            "Need at least 0 and at most 64 array objects: choose takes an array and 63 choices, "
            f"got {len(arrays)}"
        )
    if {int, float, complex} & set(map(type, arrays)):  # NumPy casts them without a check
        common = dtypes.result_type(
            [
                x.dtype
                if hasattr(x, "dtype")
                else type(x)
                if type(x) in _WEAK
                else asarray(x).dtype
                for x in arrays
            ]
        )
        arrays = [onp.asarray(x).astype(common) if type(x) in _WEAK else x for x in arrays]
    if mode == "raise":
        refuse(
            outside,
            (positions,),
            (0, len(arrays)),
            ValueError,
            f"invalid entry in choice array: expected 0 <= entry < {len(arrays)}",
        )
    return finish(apply(_choose, (positions, *arrays), (mode,)), out, "choose", "unsafe")


__all__ = [
    "argwhere",
    "choose",
    "compress",
    "extract",
    "flatnonzero",
    "nonzero",
    "take",
    "take_along_axis",
    "where",
]
