"""Concatenation, stacking, splitting, insertion and deletion."""

import operator as python
import warnings
from collections.abc import Iterable, Mapping, Sequence
from types import GeneratorType
from typing import TYPE_CHECKING, Any, cast

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle, root_of
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import handles, writes
from npcompat._internal.dispatch.apply import apply_cached
from npcompat._internal.indexing.assigned_value import fitted
from npcompat.numpy._checks import check_casting
from npcompat.numpy._creation import asanyarray, asarray, copy_of
from npcompat.numpy._host_arrays import into_numpys
from npcompat.numpy._manipulation import ndim
from npcompat.numpy._other_classes import any_foreign
from npcompat.numpy._overrides import by_items, defers_for_items, given
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike, Out
from npcompat.numpy._ufunc import _select_where, finish
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

# --- joining --------------------------------------------------------------------------------------


def _joined_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = attrs["dtype"] or dtypes.result_type(types)
    return [dtype] * len(types), dtype


@operator(
    "_npi_concatenate", order="K", needs_priority=True, rule=_joined_types, pattern="injective"
)
def _concatenate(xp: Any, *arrays: Any, axis: Any = 0, dtype: Any = None, axes: int = 0) -> Any:
    """Concatenate arrays along an axis, each expanded to at least `ndmin` axes.

    Missing axes are added as `atleast_1d` and its siblings do.
    """
    raised = arrays if axes == 0 else [getattr(xp, f"atleast_{axes}d")(a) for a in arrays]
    return xp.concatenate(raised, axis=axis)


@operator("_npi_stack", order="K", needs_priority=True, rule=_joined_types, pattern="injective")
def _stack(xp: Any, *arrays: Any, axis: int = 0, dtype: Any = None) -> Any:
    """Stack arrays of one shape along a new axis."""
    return xp.stack(arrays, axis=axis)


def _join(
    op: Any,
    arrays: Sequence[Any],
    axis: int | None,
    out: Any,
    dtype: DTypeLike,
    casting: Casting,
    *others: Any,
) -> Any:
    """Join arrays with the arguments that `concatenate` and `stack` share."""
    what = op.name.removeprefix("_npi_")
    if any_foreign(arrays):
        options = given(out, axis=(axis, 0), dtype=(dtype, None), casting=(casting, "same_kind"))
        if (found := by_items(what, (arrays,), options)) is not NotImplemented:
            return found
    if not arrays:
        raise ValueError(f"need at least one array to {what}")
    if out is not None and dtype is not None:
        raise TypeError(
            f"{what}() only takes `out` or `dtype` as an argument, but both were provided."
        )
    check_casting(casting)
    wanted = None if dtype is None else dtypes.canonical(dtype)
    if wanted is not None and wanted.subdtype is not None:
        raise TypeError(f"{what}: the dtype of a result can't be a subarray dtype, got {wanted!r}")
    target = out.dtype if isinstance(out, Handle | onp.ndarray) else wanted
    if target is not None:
        for i, a in enumerate(arrays):
            source = a.dtype if hasattr(a, "dtype") else asarray(a).dtype
            if not onp.can_cast(source, target, casting):
                raise TypeError(
                    f"Cannot cast array data from {source!r} to {target!r} according to the rule "
                    f"'{casting}' (array {i} of {what})"
                )
    result = apply_cached(
        op,
        tuple(arrays),
        (
            None if axis is None else python.index(axis),
            target if out is not None else wanted,
            *others,
        ),
    )
    if out is None:
        return result
    if not isinstance(out, Handle | onp.ndarray):
        raise TypeError(f"{what}: `out` must be an npcompat ndarray, got {type(out).__name__}")
    if result.shape != out.shape:
        raise ValueError(
            f"Output array is the wrong shape: expected {result.shape}, got {out.shape}"
        )
    return finish(result, out, what, "unsafe")


def _listed(arrays: Any, what: str) -> list[Any]:
    if isinstance(arrays, Handle):
        arrays = arrays if arrays.shape else None
    elif not hasattr(arrays, "__getitem__"):
        raise TypeError(
            f'{what}: arrays to stack must be passed as a "sequence" type such as list or tuple, '
            f"got {type(arrays).__name__}"
        )
    if arrays is None:
        raise TypeError(f"{what}: iteration over a 0-d array")
    return list(arrays)


@call_cached
def concatenate(
    arrays: ArrayLike,
    /,
    axis: int | None = 0,
    out: Out = None,
    *,
    dtype: DTypeLike = None,
    casting: Casting = "same_kind",
) -> "ndarray":
    """Concatenate arrays along an existing axis.

    Parameters
    ----------
    arrays : sequence of array_like
        The arrays; their shapes agree but for the axis.
    axis : int, optional
        The axis; with None, all elements of each array in C order.
    out : ndarray, optional
        Array to write the result into.
    dtype : dtype, optional
        Dtype of the result; not together with `out`.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Casting rule for casts to `dtype` or to that of `out`.

    Raises
    ------
    ValueError
        If shapes don't agree.

    Examples
    --------
    >>> np.concatenate([[1, 2], [3]])
    array([1, 2, 3])
    """
    if isinstance(arrays, GeneratorType):  # as MXNet's; NumPy's refuses it
        arrays = list(arrays)
    return _join(_concatenate, _listed(arrays, "concatenate"), axis, out, dtype, casting, 0)


concat = concatenate


@call_cached
def stack(
    arrays: ArrayLike,
    axis: int = 0,
    out: Out = None,
    *,
    dtype: DTypeLike = None,
    casting: Casting = "same_kind",
) -> "ndarray":
    """Stack arrays of one shape along a new axis; the arguments are those of `concatenate`.

    Examples
    --------
    >>> np.stack([[1, 2], [3, 4]], axis=1)
    array([[1, 3],
           [2, 4]])
    """
    return _join(_stack, _listed(arrays, "stack"), axis, out, dtype, casting)


def _raised(
    parts: Sequence[Any],
    axes: int,
    axis: int,
    dtype: DTypeLike = None,
    casting: Casting = "same_kind",
) -> Any:
    """Expand arrays to a number of axes and concatenate them, in one operation."""
    lacking = any([a.ndim < axes for a in parts])
    return _join(_concatenate, parts, axis, None, dtype, casting, axes if lacking else 0)


def _arrays(tup: Any, what: str) -> list[Any]:
    return list(map(asanyarray, _listed(tup, what)))


@call_cached
@defers_for_items
def vstack(tup: ArrayLike, *, dtype: DTypeLike = None, casting: Casting = "same_kind") -> "ndarray":
    """Stack arrays vertically: along the first of at least two axes.

    Examples
    --------
    >>> np.vstack([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    return _raised(_arrays(tup, "vstack"), 2, 0, dtype, casting)


def row_stack(
    tup: ArrayLike, *, dtype: DTypeLike = None, casting: Casting = "same_kind"
) -> "ndarray":
    """Alias of `vstack`, deprecated as in NumPy."""
    warnings.warn(
        "`row_stack` alias is deprecated. Use `np.vstack` directly.",
        DeprecationWarning,
        stacklevel=2,
    )
    return vstack(tup, dtype=dtype, casting=casting)


@call_cached
@defers_for_items
def hstack(tup: ArrayLike, *, dtype: DTypeLike = None, casting: Casting = "same_kind") -> "ndarray":
    """Stack arrays horizontally: along the second axis, the first of vectors.

    Examples
    --------
    >>> np.hstack([[1, 2], [3]])
    array([1, 2, 3])
    """
    parts = _arrays(tup, "hstack")
    return _raised(parts, 1, 0 if parts and parts[0].ndim <= 1 else 1, dtype, casting)


@call_cached
@defers_for_items
def dstack(tup: ArrayLike) -> "ndarray":
    """Stack arrays in depth: along the third of at least three axes.

    Examples
    --------
    >>> np.dstack([[1, 2], [3, 4]])
    array([[[1, 3],
            [2, 4]]])
    """
    return _raised(_arrays(tup, "dstack"), 3, 2)


@defers_for_items
def column_stack(tup: ArrayLike) -> "ndarray":
    """Stack vectors as the columns of a matrix; matrices are put side by side.

    Examples
    --------
    >>> np.column_stack([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]])
    """
    parts = [
        a if a.ndim >= 2 else a.reshape(-1, 1) for a in map(asarray, _listed(tup, "column_stack"))
    ]
    return concatenate(parts, 1)


@defers_for_items
def block(arrays: ArrayLike) -> "ndarray":
    """Assemble an array from nested lists of blocks.

    The innermost lists are concatenated along the last axis, the next ones along the axis
    before.

    Examples
    --------
    >>> np.block([[np.ones((1, 2), int), np.zeros((1, 1), int)], [3, 4, 5]])
    array([[1, 1, 0],
           [3, 4, 5]])
    """
    empty: list[str] = []
    depth = _depth(arrays, (), empty)
    if empty:
        raise ValueError(f"List at {empty[0]} cannot be empty")
    deepest = max(depth, max((ndim(a) for a in _leaves(arrays)), default=0))

    def joined(part: Any, level: int) -> Any:
        if level == depth:
            a = asanyarray(part)
            return a.reshape((1,) * (deepest - a.ndim) + a.shape)
        return concatenate([joined(p, level + 1) for p in part], axis=level - depth)

    made = joined(arrays, 0)
    return made if depth else copy_of(asanyarray(arrays))


def _leaves(part: Any) -> Iterable[Any]:
    if isinstance(part, list):
        for p in part:
            yield from _leaves(p)
    else:
        yield part


def _depth(part: Any, path: tuple[int, ...], empty: list[str]) -> int:
    """Return the depth of nested lists, which must be uniform; record empty ones."""
    where = "arrays" + "".join(f"[{i}]" for i in path)
    if isinstance(part, tuple):
        raise TypeError(
            f"{where} is a tuple. Only lists can be used to arrange blocks, and np.block does not "
            "allow implicit conversion "
            "from tuple to ndarray."
        )
    if not isinstance(part, list):
        return 0
    if not part:
        empty.append(where)
        return 1
    depths = [_depth(p, (*path, i), empty) for i, p in enumerate(part)]
    for i, d in enumerate(depths):
        if d != depths[0]:
            level = len(path) + 1
            raise ValueError(
                f"List depths are mismatched. First element was at depth {depths[0] + level}, but "
                "there is an element at depth "
                f"{d + level} ({where}[{i}])"
            )
    return depths[0] + 1


# --- copying --------------------------------------------------------------------------------------


@into_numpys
def copyto(
    dst: Any, src: ArrayLike, casting: Casting = "same_kind", where: ArrayLike = True
) -> None:
    """Copy values into an array, where a mask is True; both are broadcast to its shape.

    Parameters
    ----------
    dst : ndarray
        The array that is written.
    src : array_like
        The values.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Casting rule for casts to the dtype of `dst`.
    where : array_like of bool
        Mask of the elements to write.

    Examples
    --------
    >>> a = np.zeros(3)
    >>> np.copyto(a, [1, 2, 3], where=[True, False, True])
    >>> a
    array([1., 0., 3.])
    """
    if not isinstance(dst, Handle):
        raise TypeError(
            f"copyto() argument 1 must be an npcompat ndarray, not {type(dst).__name__}"
        )
    check_casting(casting)
    target: Any = dst
    mask = (
        None
        if where is True
        else asarray(where if hasattr(where, "dtype") else onp.asarray(where, onp.bool_))
    )
    if mask is not None and mask.dtype != onp.bool_:
        raise TypeError(
            f"Cannot cast array data from {mask.dtype!r} to dtype('bool') according to the rule "
            "'safe': `where` must be a mask"
        )
    if src is dst or (
        isinstance(src, Handle) and root_of(src) is root_of(dst) and _same_elements(src, dst)
    ):
        return  # no error even if it is read-only, as in NumPy
    if type(src) in (float, complex) and casting == "unsafe":
        src = onp.asarray(src).astype(target.dtype)  # elements are assigned by other rules
    elif type(src) in (bool, int, float, complex):
        # Let NumPy raise or warn for an impossible cast.
        onp.copyto(onp.empty((), target.dtype), cast("Any", src), casting)
    else:
        src = asarray(src)
        if not onp.can_cast(src.dtype, target.dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {src.dtype!r} to {target.dtype!r} according to the "
                f"rule '{casting}'"
            )
    value = fitted(src, target.shape, target.dtype)
    if mask is None:
        writes.write(dst, value)
        return
    if onp.broadcast_shapes(mask.shape, target.shape) != target.shape:
        raise ValueError(
            f"could not broadcast where mask from shape {mask.shape} into shape {target.shape}"
        )
    writes.write_part(dst, _select_where, [handles.read(mask), value, None])


def _same_elements(a: Handle, b: Handle) -> bool:
    """Return True if two views of one array show the same elements in the same order.

    NumPy writes single elements without axes in any case.
    """
    first, second = [handles.layout(x).__array_interface__ for x in (a, b)]
    if first["data"][0] != second["data"][0]:
        return False
    return (
        all([first[name] == second[name] for name in ("shape", "strides", "typestr", "descr")])
        and first["shape"] != ()
    )


__all__ = ["block", "column_stack", "concat", "concatenate", "copyto", "dstack", "hstack", "row_stack", "stack", "vstack"]  # fmt: skip
