"""Parser of keys: the items of `a[key]` by axis, for all readers and writers.

    parse((4, 5, 6), (2, ..., None, [0, 1]))
    INTEGER 2, SLICE of the whole axis 1, NEWAXIS, ARRAY [0, 1]

Keys of one int, and keys that NumPy handles for arrays on the host, don't come here.
"""

import operator as python
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as onp

from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles, late_bound
from npcompat._internal.dispatch.masked_array import Length
from npcompat._internal.dispatch.traced_number import NumberArgument

WHOLE = slice(None)


class Kind(IntEnum):
    """Kind of an item of a key."""

    NEWAXIS = 0
    SLICE = 1
    INTEGER = 2
    ARRAY = 3
    MASK = 4


class Item(NamedTuple):
    """One item of a key; an ellipsis is a slice for each axis that it stands for.

    Attributes
    ----------
    kind : Kind
        Kind of the item.
    value : object
        The slice, the int or traced number, or the array.
    axis : int
        First axis of the array that it consumes.
    axes : int
        Number of axes that it consumes.
    """

    kind: Kind
    value: Any
    axis: int
    axes: int


class ParsedKey(NamedTuple):
    """Parsed key.

    Attributes
    ----------
    items : list of Item
        Items, which together consume all axes of the array.
    is_basic : bool
        True if there are no arrays, so that the key selects a view.
    is_element : bool
        True if NumPy returns a scalar: an int for each axis, and no ellipsis.
    """

    items: list[Item]
    is_basic: bool
    is_element: bool


def is_int(item: Any) -> bool:
    """Return True for an int, an object with `__index__`, or an integer scalar with known value."""
    if isinstance(item, Handle):
        return (
            type(item) in late_bound.scalars
            and isinstance(item, onp.integer)
            and handles.is_known(item)
        )
    return isinstance(item, int | onp.integer) or (
        not isinstance(item, onp.ndarray | list | tuple | slice)
        and hasattr(item, "__index__")
        and (not hasattr(item, "__array__") or _is_index(item))
    )


def _is_index(item: Any) -> bool:
    """Return True for an array of another library that is an integer, as tensors of one element."""
    try:
        python.index(item)
    except TypeError:
        return False
    return True


def is_mask(item: Any) -> bool:
    """Return True for an npcompat array of bools with at least one axis."""
    return (
        isinstance(item, Handle)
        and getattr(item, "dtype", None) == onp.bool_
        and len(getattr(item, "shape", ())) > 0
    )


def _kind_of(item: Any) -> Kind | None:
    """Return the kind of an item that is no array; None for an array."""
    if item is None:
        return Kind.NEWAXIS
    if type(item) is slice:
        return Kind.SLICE
    if isinstance(item, bool | onp.bool_) or not is_int(item):
        return None
    return Kind.INTEGER


def has_arrays(key: Any) -> bool:
    """Return True for advanced keys, which have an item that is no basic one."""
    if type(key) is not tuple:
        return key is not Ellipsis and _kind_of(key) is None
    return any([item is not Ellipsis and _kind_of(item) is None for item in key])


def is_basic_but_for(key: Any, is_number: Callable[[Any], bool]) -> bool:
    """Return True for an advanced key that would be basic if some of its items were numbers."""
    items = key if type(key) is tuple else (key,)
    others = tuple([item for item in items if not is_number(item)])
    return len(others) < len(items) and not has_arrays(others)


def parse(shape: Sequence[int], key: Any) -> ParsedKey:
    """Parse a key of an array of this shape.

    Raises
    ------
    IndexError
        NumPy's error, if the key has too many items, or an item that no key can have.
    """
    given = tuple(key) if isinstance(key, tuple) else (key,)
    kinds: list[Kind | None] = []
    values: list[Any] = []
    ellipsis = -1
    is_basic = True
    for item in given:
        if item is Ellipsis:
            if ellipsis >= 0:
                raise numpy_error(shape, key)
            ellipsis = len(kinds)
            continue
        kind = _kind_of(item)
        if kind is None:
            is_basic = False
            item = _as_array(item)
            kind = Kind.MASK if item.dtype == onp.bool_ else Kind.ARRAY
        kinds.append(kind)
        values.append(item)
    consumed = [
        len(v.shape) if k is Kind.MASK else 0 if k is Kind.NEWAXIS else 1
        for k, v in zip(kinds, values, strict=True)
    ]
    left = len(shape) - sum(consumed)
    if left < 0:
        if is_basic:
            raise numpy_error(shape, key)
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but "
            f"{sum(consumed)} were indexed"
        )
    items: list[Item] = []
    axis = 0
    at = ellipsis if ellipsis >= 0 else len(kinds)
    for i in range(len(kinds) + 1):
        if i == at:
            items += [Item(Kind.SLICE, WHOLE, axis + n, 1) for n in range(left)]
            axis += left
        if i < len(kinds):
            items.append(Item(kinds[i], values[i], axis, consumed[i]))  # type: ignore[arg-type]
            axis += consumed[i]
    is_element = ellipsis < 0 and not left and all([k is Kind.INTEGER for k in kinds])
    return ParsedKey(items, is_basic, is_element)


def _as_array(item: Any) -> Any:
    """Return an advanced item as an array: npcompat's, or NumPy's if it is no array or known."""
    if is_mask(item) and any([type(n) is int and n == 0 for n in item.shape]):
        # an empty mask selects nothing, whatever its values
        item = onp.zeros(item.shape, onp.bool_)
    elif isinstance(item, Handle) and modes.current().trace is not None and handles.is_known(item):
        item = handles.to_host(item)
    found: Any = item
    if not isinstance(item, Handle):
        found = onp.asarray(array_like.host_array(item))
        if found.size == 0 and isinstance(item, list | tuple):
            found = found.astype(onp.intp)
    dtype = getattr(found, "dtype", None)
    if dtype is not None and dtype.kind not in "iub":
        if not found.shape and dtype.kind in "SUTO":
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer "
                f"or boolean arrays are valid indices, got {item!r}"
            )
        advice = "; use .astype('int64') if the values are whole" if dtype.kind in "fc" else ""
        raise IndexError(
            f"arrays used as indices must be of integer (or boolean) type, got {dtype}{advice}"
        )
    return found


def position(item: Item, shape: Sequence[int], key: Any) -> Any:
    """Return the position of an integer item, counted from 0; along an axis of unknown length as it
    is.
    """
    size: Any = shape[item.axis]
    if type(item.value) is NumberArgument:
        return item.value.within(size)
    found = python.index(item.value)
    if type(size) is Length:
        return found
    if not -size <= found < size:
        raise numpy_error(shape, key)
    return found + size if found < 0 else found


def numpy_error(shape: Sequence[int], key: Any) -> Exception:
    """Return the error that NumPy raises for the key."""
    try:
        onp.broadcast_to(onp.zeros(()), shape)[key]
    except Exception as error:
        return error
    return IndexError(f"invalid index {key!r} for shape {tuple(shape)}")


__all__ = [
    "WHOLE",
    "Item",
    "Kind",
    "ParsedKey",
    "has_arrays",
    "is_basic_but_for",
    "is_mask",
    "numpy_error",
    "parse",
    "position",
]
