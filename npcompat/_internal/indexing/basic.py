"""Basic keys (ints, slices, newaxis and an ellipsis): their lenses, and NumPy's errors."""

from functools import lru_cache
from typing import Any

from npcompat._internal.core.index_spec import FULL, INTEGER, NEWAXIS, SLICE
from npcompat._internal.core.op import MOST_AXES
from npcompat._internal.dispatch import masked_array
from npcompat._internal.indexing import lens
from npcompat._internal.indexing.parse import (
    WHOLE,
    Item,
    Kind,
    ParsedKey,
    has_arrays,
    numpy_error,
    parse,
    position,
)
from npcompat._internal.native import fast_path
from npcompat._internal.support.errors import InferenceError


def basic(shape: tuple[int, ...], key: Any) -> tuple[lens.Lens, bool] | None:
    """Return the lens of a basic key, and True if NumPy returns a scalar; None if advanced."""
    kind = type(key)
    if kind is int and shape and type(shape[0]) is int:
        size = shape[0]
        if not -size <= key < size:
            raise IndexError(f"index {key} is out of bounds for axis 0 with size {size}")
        spec = ((INTEGER,), *[(FULL,)] * (len(shape) - 1))
        return lens.index((key + size if key < 0 else key,), spec), len(shape) == 1
    if _CACHES and _ORDINARY.issuperset(map(type, shape)):
        plain = _plain(key)
        if plain is not None:
            return _of_plain(shape, plain)
    return None if has_arrays(key) else of_parsed(shape, key, parse(shape, key))


_CACHES = "index" in fast_path.enabled
_ORDINARY = frozenset([int])
_BOUNDS = frozenset([int, type(None)])


def _plain(key: Any) -> tuple[Any, ...] | None:
    """Return a key of Python's ints, slices of them, newaxis and ellipses, with tuples for slices;
    None for other keys.
    """
    items = []
    for item in key if type(key) is tuple else (key,):
        kind = type(item)
        if kind is slice:
            item = item.start, item.stop, item.step
            if not _BOUNDS.issuperset(map(type, item)):
                return None
        elif not (kind is int or item is None or item is Ellipsis):
            return None
        items.append(item)
    return tuple(items)


@lru_cache(maxsize=4096)
def _of_plain(shape: tuple[int, ...], plain: tuple[Any, ...]) -> tuple[lens.Lens, bool]:
    """Return what `basic` does, from a cache: programs use few keys."""
    key = tuple([slice(*item) if type(item) is tuple else item for item in plain])
    return of_parsed(shape, key, parse(shape, key))


def of_parsed(shape: tuple[int, ...], key: Any, parsed: ParsedKey) -> tuple[lens.Lens, bool]:
    """Return the lens of a key without arrays, and True if NumPy returns a scalar."""
    steps = [step_of(item, shape, key) for item in parsed.items]
    spec = tuple([kind for kind, _ in steps])
    if len(spec) > MOST_AXES and sum(kind[0] != INTEGER for kind in spec) > MOST_AXES:
        raise numpy_error(shape, key)
    starts = tuple([start for kind, start in steps if kind[0] in (INTEGER, SLICE)])
    return lens.index(starts, spec), parsed.is_element


def step_of(item: Item, shape: tuple[int, ...], key: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the specification of an item that is no array, and its start position."""
    if item.kind is Kind.NEWAXIS:
        return (NEWAXIS,), None
    if item.kind is Kind.INTEGER:
        return (INTEGER,), position(item, shape, key)
    if item.value == WHOLE:
        return (FULL,), None
    size: Any = shape[item.axis]
    if type(size) is masked_array.Length and item.value == _REVERSED:
        return (SLICE, size, -1), 0
    start, stop, step = _bounds(item.value, size)
    length = len(range(start, stop, step))
    if start == 0 and step == 1 and length == size:
        return (FULL,), None
    return (SLICE, length, step), start if length else 0


_REVERSED = slice(None, None, -1)

ELEMENT = tuple([(((INTEGER,),) * ndim,) for ndim in range(65)])
"""Attributes of the index of one element, by number of axes."""


def element(key: Any, shape: tuple[int, ...]) -> list[int] | None:
    """Return the positions of a key of ints that names one element in range; None for others."""
    kind = type(key)
    if kind is int:
        key = (key,)
    elif kind is not tuple:
        return None
    if len(key) != len(shape):
        return None
    starts = []
    for item, size in zip(key, shape, strict=True):
        if type(item) is not int or type(size) is not int or not -size <= item < size:
            return None
        starts.append(item + size if item < 0 else item)
    return starts


LONGEST = 2**63 - 1
"""Maximum step of a slice; a larger one selects the same elements."""


def _bounds(item: slice, size: Any) -> tuple[int, int, int]:
    if type(size) is int or type(size) is masked_array.Length:
        start, stop, step = item.indices(size)
        return start, stop, max(-LONGEST, min(step, LONGEST))
    raise InferenceError(
        f"the slice {item} of an axis of length {size} is not known: give the length"
    )


__all__ = ["ELEMENT", "basic", "element", "numpy_error", "of_parsed", "step_of"]
