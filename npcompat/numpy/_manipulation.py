"""Shapes and order of axes: views wherever NumPy returns views."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

import numpy as onp

from npcompat._internal.core.handle import Handle, extra, root_of
from npcompat._internal.core.op import as_shape, normalized_axes
from npcompat._internal.core.tensor_type import is_symbolic
from npcompat._internal.dispatch import array_like, handles, late_bound
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.memory_layout import in_c_order
from npcompat._internal.dispatch.result_layout import axes_as_in_memory
from npcompat._internal.dispatch.subclasses import inherit
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.indexing import lens
from npcompat.numpy._creation import asanyarray, asarray, copy_of
from npcompat.numpy._memory_order import letter
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._typing import ArrayLike, AxisLike, Order, ShapeLike
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

# --- what an array is -----------------------------------------------------------------------------


def _on_host(a: Any) -> Any:
    return a if isinstance(a, Handle) else onp.asarray(array_like.host_array(a))


def shape(a: ArrayLike) -> tuple[int, ...]:
    """Return the shape: the length of each axis.

    Examples
    --------
    >>> np.shape([[1, 2, 3]])
    (1, 3)
    """
    if isinstance(a, list | tuple):
        if array_like.is_unknown(a):
            return array_like.shape_of(a)
    elif isinstance(a, TracedNumber):
        return ()
    elif isinstance(known := getattr(a, "shape", None), tuple):
        return known
    found: tuple[int, ...] = _on_host(a).shape
    return found


def ndim(a: ArrayLike) -> int:
    """Return the number of axes (dimensions).

    Examples
    --------
    >>> np.ndim([[1, 2, 3]])
    2
    """
    return len(shape(a))


def size(a: ArrayLike, axis: AxisLike = None) -> int:
    """Return the number of elements, or the product of the lengths of some axes.

    Examples
    --------
    >>> np.size([[1, 2, 3]]), np.size([[1, 2, 3]], axis=0)
    (3, 1)
    """
    if (
        axis is None
        and not isinstance(a, Handle)
        and type(known := getattr(a, "size", None)) is int
    ):
        return known
    lengths = shape(a)
    count = 1
    for i in normalized_axes(axis, len(lengths)):
        count *= lengths[i]
    return count


# --- reshape --------------------------------------------------------------------------------------


@call_cached
@defers_to_classes
def reshape(
    a: ArrayLike, /, shape: ShapeLike, order: Order = "C", *, copy: bool | None = None
) -> "ndarray":
    """Reshape an array: a view where NumPy returns one, else a copy.

    Parameters
    ----------
    a : array_like
        The array.
    shape : int or tuple of int
        The new shape; one length may be -1, and is computed.
    order : {'C', 'F', 'A'}
        Order in which elements are read and placed: the last index changes fastest ('C') or
        the first ('F').
    copy : bool, optional
        True copies always; False raises ValueError where a view is impossible.

    Raises
    ------
    ValueError
        If the number of elements differs.

    Examples
    --------
    >>> np.reshape(np.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]])
    >>> np.reshape(np.arange(6), (2, 3), order="F")
    array([[0, 2, 4],
           [1, 3, 5]])
    """
    a, new = asanyarray(a), as_shape(shape)
    if letter(order, a) == "C":
        made = lens.reshaped(a, new)
    else:
        reverse = lens.reshaped(transpose(a), new[::-1])
        made = transpose(reverse) if a.ndim > 1 or len(new) > 1 else reverse
    if copy:
        return copy_of(made, letter(order, a))
    if copy is False and made.size and root_of(made) is not root_of(a):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return made


@call_cached
@defers_to_classes
def ravel(a: ArrayLike, order: Order = "C") -> "ndarray":
    """Flatten to one axis: a view if the elements lie in this order in memory, else a copy.

    Examples
    --------
    >>> np.ravel([[1, 2], [3, 4]], order="F")
    array([1, 3, 2, 4])
    """
    a = asanyarray(a)
    if order in ("K", "k"):
        a = transpose(a, axes_as_in_memory(handles.layout(a)))
    elif letter(order, a) == "F":
        a = transpose(a)
    if in_c_order(a) or handles.layout(a).flags.c_contiguous:
        return lens.reshaped(a, (-1,))
    return inherit(copy_of(lens.reshaped(a, (-1,))), a)


def _view_source(a: Any) -> "ndarray":
    """Return the source of a view: an array, or a scalar for a NumPy scalar."""
    array = asanyarray(a)
    return handles.as_scalar(array) if isinstance(a, onp.number) else array


@call_cached
@defers_to_classes
def squeeze(a: ArrayLike, axis: AxisLike = None) -> "ndarray":
    """Remove axes of length 1, all or those given; a view.

    Examples
    --------
    >>> np.squeeze(np.zeros((1, 3, 1))).shape
    (3,)
    """
    a = _view_source(a)
    old = a.shape
    if not old and axis in (0, -1):  # NumPy accepts axis 0 or -1 of a 0-d array
        axis = None
    chosen = (
        [i for i, n in enumerate(old) if n == 1]
        if axis is None
        else normalized_axes(axis, len(old))
    )
    if any(old[i] != 1 for i in chosen):
        raise ValueError(
            f"cannot select an axis to squeeze out which has size not equal to one: shape {old}, "
            f"axis {axis}"
        )
    return (
        lens.cached_view(a, lens.reshape(tuple(n for i, n in enumerate(old) if i not in chosen)))
        if chosen
        else a
    )


@call_cached
@defers_to_classes
def expand_dims(a: ArrayLike, axis: AxisLike) -> "ndarray":
    """Insert axes of length 1 at positions of the result; a view.

    Examples
    --------
    >>> np.expand_dims([1, 2], axis=0).shape
    (1, 2)
    """
    a = asanyarray(a)
    count = len(tuple(axis)) if isinstance(axis, Iterable) else 1
    new = set(normalized_axes(() if axis is None else axis, a.ndim + count))
    rest = iter(a.shape)
    return lens.cached_view(
        a, lens.reshape(tuple(1 if i in new else next(rest) for i in range(a.ndim + count)))
    )


def _at_least(arys: tuple[Any, ...], least: int) -> Any:
    made = []
    for a in map(asanyarray, arys):
        n = a.ndim
        if n >= least:
            made.append(a)
        elif least == 3:
            made.append(
                lens.view(a, lens.reshape({0: (1, 1, 1), 1: (1, *a.shape, 1), 2: (*a.shape, 1)}[n]))
            )
        else:
            made.append(lens.view(a, lens.reshape((1,) * (least - n) + a.shape)))
    return made[0] if len(made) == 1 else tuple(made)


@overload
def atleast_1d(a: ArrayLike, /) -> "ndarray": ...


@overload
def atleast_1d(a: ArrayLike, b: ArrayLike, /, *arys: ArrayLike) -> "tuple[ndarray, ...]": ...


@overload
def atleast_1d(*arys: ArrayLike) -> "ndarray | tuple[ndarray, ...]": ...


@defers_to_classes
def atleast_1d(*arys: ArrayLike) -> "ndarray | tuple[ndarray, ...]":
    """Return arrays with at least one axis; a tuple if there are several.

    Examples
    --------
    >>> np.atleast_1d(3)
    array([3])
    """
    return _at_least(arys, 1)


@overload
def atleast_2d(a: ArrayLike, /) -> "ndarray": ...


@overload
def atleast_2d(a: ArrayLike, b: ArrayLike, /, *arys: ArrayLike) -> "tuple[ndarray, ...]": ...


@overload
def atleast_2d(*arys: ArrayLike) -> "ndarray | tuple[ndarray, ...]": ...


@defers_to_classes
def atleast_2d(*arys: ArrayLike) -> "ndarray | tuple[ndarray, ...]":
    """Return arrays with at least two axes, added in front; a tuple if there are several.

    Examples
    --------
    >>> np.atleast_2d([1, 2])
    array([[1, 2]])
    """
    return _at_least(arys, 2)


@overload
def atleast_3d(a: ArrayLike, /) -> "ndarray": ...


@overload
def atleast_3d(a: ArrayLike, b: ArrayLike, /, *arys: ArrayLike) -> "tuple[ndarray, ...]": ...


@overload
def atleast_3d(*arys: ArrayLike) -> "ndarray | tuple[ndarray, ...]": ...


@defers_to_classes
def atleast_3d(*arys: ArrayLike) -> "ndarray | tuple[ndarray, ...]":
    """Return arrays with at least three axes.

    A vector becomes `(1, n, 1)`, a matrix `(m, n, 1)`. Several arrays are returned as a tuple.

    Examples
    --------
    >>> np.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    return _at_least(arys, 3)


# --- order of axes --------------------------------------------------------------------------------


@call_cached
@defers_to_classes
def transpose(a: ArrayLike, axes: AxisLike = None) -> "ndarray":
    """Permute the axes, reversed if none is given; a view.

    Examples
    --------
    >>> np.transpose([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]])
    >>> np.transpose(np.ones((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    a = _view_source(a)
    n = a.ndim
    if type(a) in late_bound.scalars and axes in (None, ()):
        return a
    if axes is None:
        return lens.cached_view(a, lens.reversed_axes)
    wanted = as_shape(axes)
    if len(wanted) != n:
        raise ValueError(f"axes don't match array: expected {n} axes, got {wanted}")
    order = tuple(onp.lib.array_utils.normalize_axis_index(i, n) for i in wanted)
    if len(set(order)) != n:
        raise ValueError(f"repeated axis in transpose: {wanted}")
    return lens.cached_view(a, lens.transpose(order))


permute_dims = transpose


@defers_to_classes
def matrix_transpose(x: ArrayLike, /) -> "ndarray":
    """Transpose matrices: exchange the last two axes; a view.

    Examples
    --------
    >>> np.matrix_transpose(np.ones((2, 3, 4))).shape
    (2, 4, 3)
    """
    x = asanyarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)


@call_cached
@defers_to_classes
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> "ndarray":
    """Exchange two axes; a view.

    Examples
    --------
    >>> np.swapaxes(np.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a = asanyarray(a)
    n = a.ndim
    first = onp.lib.array_utils.normalize_axis_index(axis1, n, "axis1")
    second = onp.lib.array_utils.normalize_axis_index(axis2, n, "axis2")
    order = list(range(n))
    order[first], order[second] = second, first
    return lens.cached_view(a, lens.transpose(tuple(order)))


@call_cached
@defers_to_classes
def moveaxis(a: ArrayLike, source: Any, destination: Any) -> "ndarray":
    """Move axes to other positions, the rest keep their order; a view.

    Examples
    --------
    >>> np.moveaxis(np.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a = asanyarray(a)
    moved = onp.lib.array_utils.normalize_axis_tuple(source, a.ndim, "source")
    target = onp.lib.array_utils.normalize_axis_tuple(destination, a.ndim, "destination")
    if len(moved) != len(target):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [i for i in range(a.ndim) if i not in moved]
    for where, axis in sorted(zip(target, moved, strict=True)):
        order.insert(where, axis)
    return transpose(a, order)


@defers_to_classes
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> "ndarray":
    """Move one axis in front of another; a view.  `moveaxis` is easier to read.

    Examples
    --------
    >>> np.rollaxis(np.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    a = asanyarray(a)
    n = a.ndim
    moved = onp.lib.array_utils.normalize_axis_index(axis, n)
    if not -n <= start <= n:
        raise onp.exceptions.AxisError(
            f"'start' arg requires {-n} <= start < {n + 1}, but {start} was passed in"
        )
    start += n if start < 0 else 0
    order = [i for i in range(n) if i != moved]
    order.insert(start - 1 if moved < start else start, moved)
    return transpose(a, order)


# --- broadcasting ---------------------------------------------------------------------------------


@defers_to_classes
def broadcast_to(array: ArrayLike, shape: ShapeLike, subok: bool = False) -> "ndarray":
    """Broadcast an array to a larger shape: a read-only view.

    Parameters
    ----------
    array : array_like
        The array.
    shape : int or tuple of int
        The shape, to which that of `array` must broadcast.
    subok : bool
        If True, an instance of a subclass of `ndarray` gives one, instead of a plain array.

    Examples
    --------
    >>> np.broadcast_to([1, 2], (2, 2))
    array([[1, 2],
           [1, 2]])
    """
    array, target = asanyarray(array) if subok else asarray(array), as_shape(shape)
    look = lens.broadcast_to(target)
    if type(array) is not late_bound.symbol:
        # Symbolic lengths: the array becomes a constant of the graph.
        if any(map(is_symbolic, target)):
            made = apply(look.get, (array,), look.attrs)
            extra(made).readonly = True
            return made
        onp.broadcast_to(handles.layout(array), target)  # raise NumPy's error if it does not fit
    return lens.view(array, look)


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """Return the shape to which arrays of these shapes broadcast.

    Examples
    --------
    >>> np.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    found: tuple[int, ...] = onp.broadcast_shapes(*args)
    return found


@defers_to_classes
def broadcast_arrays(*args: ArrayLike, subok: bool = False) -> "tuple[ndarray, ...]":
    """Broadcast arrays against each other: read-only views.

    Arrays that have the shape already are returned as they are.

    Examples
    --------
    >>> x, y = np.broadcast_arrays([1, 2], [[3], [4]])
    >>> y
    array([[3, 3],
           [4, 4]])
    """
    arrays = [asanyarray(a) if subok else asarray(a) for a in args]
    target = (
        onp.broadcast(*[handles.layout(a) for a in arrays]).shape
        if len(arrays) < 32
        else broadcast_shapes(*[a.shape for a in arrays])
    )
    return tuple(a if a.shape == target else broadcast_to(a, target, subok) for a in arrays)


# --- reversing ------------------------------------------------------------------------------------


@defers_to_classes
def flip(m: ArrayLike, axis: AxisLike = None) -> "ndarray":
    """Reverse the elements along axes, all if none is given; a view.

    Examples
    --------
    >>> np.flip([[1, 2], [3, 4]], axis=1)
    array([[2, 1],
           [4, 3]])
    """
    m = asanyarray(m)
    reversed_axes = normalized_axes(axis, m.ndim)
    return m[
        tuple([slice(None, None, -1) if i in reversed_axes else slice(None) for i in range(m.ndim)])
    ]


@defers_to_classes
def flipud(m: ArrayLike) -> "ndarray":
    """Flip vertically: reverse the rows; a view.

    Examples
    --------
    >>> np.flipud([[1, 2], [3, 4]])
    array([[3, 4],
           [1, 2]])
    """
    m = asanyarray(m)
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


@defers_to_classes
def fliplr(m: ArrayLike) -> "ndarray":
    """Flip horizontally: reverse the columns; a view.

    Examples
    --------
    >>> np.fliplr([[1, 2], [3, 4]])
    array([[2, 1],
           [4, 3]])
    """
    m = asanyarray(m)
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


@defers_to_classes
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> "ndarray":
    """Rotate by `k` times 90 degrees in the plane of two axes; a view.

    The direction is from the first axis towards the second.

    Examples
    --------
    >>> np.rot90([[1, 2], [3, 4]])
    array([[2, 4],
           [1, 3]])
    """
    m, plane = asanyarray(m), tuple(axes)
    if len(plane) != 2:
        raise ValueError("len(axes) must be 2.")
    if plane[0] == plane[1] or abs(plane[0] - plane[1]) == m.ndim:
        raise ValueError("Axes must be different.")
    if not all(-m.ndim <= i < m.ndim for i in plane):
        raise ValueError(f"Axes={plane} out of range for array of ndim={m.ndim}.")
    turns = k % 4
    if turns == 0:
        return m[...]
    if turns == 2:
        return flip(m, plane)
    if turns == 1:
        return swapaxes(flip(m, plane[1]), *plane)
    return flip(swapaxes(m, *plane), plane[1])


__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_shapes",
    "broadcast_to", "expand_dims", "flip", "fliplr", "flipud", "matrix_transpose", "moveaxis",
    "ndim", "permute_dims", "ravel", "reshape", "rollaxis", "rot90", "shape", "size", "squeeze",
    "swapaxes", "transpose",
]  # fmt: skip
