"""Set operations: distinct elements, membership, union, intersection."""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, overload

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._checks import is_recorded, shaping
from npcompat.numpy._creation import asarray
from npcompat.numpy._given_length import distinct, length
from npcompat.numpy._host_arrays import by_numpy
from npcompat.numpy._joining import concatenate
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._selection import take
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


class UniqueAllResult(NamedTuple):
    """Result of `unique_all`: values, first indices, inverse indices, counts."""

    values: "ndarray"
    indices: "ndarray"
    inverse_indices: "ndarray"
    counts: "ndarray"


class UniqueCountsResult(NamedTuple):
    """Result of `unique_counts`: values and counts."""

    values: "ndarray"
    counts: "ndarray"


class UniqueInverseResult(NamedTuple):
    """Result of `unique_inverse`: values and inverse indices."""

    values: "ndarray"
    inverse_indices: "ndarray"


@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    size: SupportsIndex | None = None,
    fill_value: ArrayLike | None = None,
) -> "ndarray": ...


@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    size: SupportsIndex | None = None,
    fill_value: ArrayLike | None = None,
) -> "tuple[ndarray, ...]": ...


@overload
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    *,
    return_inverse: Literal[True],
    return_counts: bool = False,
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
    size: SupportsIndex | None = None,
    fill_value: ArrayLike | None = None,
) -> "tuple[ndarray, ...]": ...


@overload
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    *,
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
    size: SupportsIndex | None = None,
    fill_value: ArrayLike | None = None,
) -> "tuple[ndarray, ...]": ...


@overload
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    size: SupportsIndex | None = None,
    fill_value: ArrayLike | None = None,
) -> "ndarray | tuple[ndarray, ...]": ...


@defers_to_classes
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    size: SupportsIndex | None = None,
    fill_value: ArrayLike | None = None,
) -> "ndarray | tuple[ndarray, ...]":
    """Return the unique elements, in ascending order.

    Without `size` it is computed on the host, because their number depends on values.

    Parameters
    ----------
    ar : array_like
        The array.
    return_index, return_inverse, return_counts : bool
        If True, also return the first index of each, the index of each element among them,
        and the counts.
    axis : int, optional
        Compare the slices along this axis; if not given, single elements.
    equal_nan : bool
        If True, all NaN count as one element.
    sorted : bool
        Without effect on the result, which is always sorted.
    size : int, optional
        Number of elements to return, which allows compilation. Greater ones are dropped;
        the inverse indices still count them.
    fill_value : scalar, optional
        With `size`, padding value of missing elements, whose counts are 0; the least
        element if not given.

    Raises
    ------
    TracedValueError
        In a compiled function without `size`.

    Examples
    --------
    >>> np.unique([3, 1, 1], return_counts=True)
    (array([1, 3]), array([2, 1]))
    >>> npx.jit(lambda a: np.unique(a, size=3, fill_value=0))(np.array([3, 1, 1]))
    array([1, 3, 0])
    """
    count = length("unique", size, fill_value)
    if count is not None:
        values, *more = distinct(ar, axis, equal_nan, count, fill_value)
        asked = [
            found
            for found, wanted in zip(
                more, (return_index, return_inverse, return_counts), strict=True
            )
            if wanted
        ]
        return (values, *asked) if asked else values
    find: Any = onp.unique
    ar = asarray(ar)
    host = shaping(ar, "unique", "size=")
    if is_recorded(ar):
        values, *more = find(host, True, return_inverse, return_counts, axis, equal_nan=equal_nan)
        taken = _chosen(ar, more[0], axis)
        rest = [array_like.array_of(f) for f in more[0 if return_index else 1 :]]
        return (taken, *rest) if rest else taken
    # Missing values of StringDType have no order.
    ordered = sorted or dtypes.on_devices(host.dtype)
    found = find(
        host, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan, sorted=ordered
    )
    if isinstance(found, tuple):
        return tuple(array_like.array_of(f) for f in found)
    return array_like.array_of(found)


@defers_to_classes
def unique_all(
    x: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike | None = None
) -> UniqueAllResult:
    """Return the unique elements with first indices, inverse indices and counts.

    Every NaN is an element of its own. `size` and `fill_value` are those of `unique`.

    Examples
    --------
    >>> np.unique_all([3, 1, 1]).counts
    array([2, 1])
    """
    return UniqueAllResult(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


@defers_to_classes
def unique_counts(
    x: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike | None = None
) -> UniqueCountsResult:
    """Return the unique elements and their counts.

    Every NaN is an element of its own. `size` and `fill_value` are those of `unique`.

    Examples
    --------
    >>> np.unique_counts([3, 1, 1]).counts
    array([2, 1])
    """
    return UniqueCountsResult(
        *unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    )


@defers_to_classes
def unique_inverse(
    x: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike | None = None
) -> UniqueInverseResult:
    """Return the unique elements and the inverse indices.

    Every NaN is an element of its own. `size` and `fill_value` are those of `unique`.

    Examples
    --------
    >>> np.unique_inverse([3, 1, 1]).inverse_indices
    array([1, 0, 0])
    """
    return UniqueInverseResult(
        *unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    )


@defers_to_classes
def unique_values(
    x: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike | None = None
) -> "ndarray":
    """Return the unique elements.

    Every NaN is an element of its own. `size` and `fill_value` are those of `unique`.

    Examples
    --------
    >>> np.unique_values([3, 1, 1])
    array([1, 3])
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def _comparable(types: Any) -> list[Any]:
    """Resolve the dtypes in which elements are compared; uint64 and int64 have no common one."""
    strong = [dtypes.strong(type_) for type_ in types]
    if onp.uint64 in strong and onp.int64 in strong:
        return strong
    return [dtypes.result_type(types)] * 2


@operator(
    "_npi_isin",
    keeps_class=False,
    rule=lambda types, attrs: (_comparable(types), onp.dtype(bool)),
    differentiable=False,
)
def _isin(xp: Any, element: Any, test_elements: Any, *, invert: bool = False) -> Any:
    """Return True for each element that is among the test elements."""
    if element.dtype == test_elements.dtype:
        return xp.isin(element, test_elements, invert=invert)
    # Bits are compared. Those of a negative number are those of one that only uint64 has.
    bits = (xp.astype(a, onp.uint64) for a in (element, test_elements))
    found = xp.isin(*bits)
    if element.dtype == onp.uint64:
        found = found & (element < onp.uint64(2**63))
    else:
        found = found & (element >= 0)
    return ~found if invert else found


@defers_to_classes
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> "ndarray":
    """Test each element for membership in another array.

    Parameters
    ----------
    element : array_like
        The elements.
    test_elements : array_like
        Elements to search.
    assume_unique : bool
        A promise that both hold distinct elements; it is not needed.
    invert : bool
        If True, invert the answer.
    kind : {None, 'sort', 'table'}
        Without effect on the result.

    Examples
    --------
    >>> np.isin([1, 2, 3], [1, 3])
    array([ True, False,  True])
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: {kind!r}. Please use None, 'sort' or 'table'.")
    element, test_elements = asarray(element), asarray(test_elements)
    if kind == "table" and not all(a.dtype.kind in "iub" for a in (element, test_elements)):
        raise ValueError(
            "The 'table' method is only supported for boolean or integer arrays. Please select "
            "'sort' or None for kind."
        )
    one, other = element.dtype.kind, test_elements.dtype.kind
    if one != other and (one in "SU" or other in "SU"):  # NumPy compares, and promotes nothing
        return by_numpy(onp.isin, (element, test_elements), {"invert": bool(invert)})
    return apply(_isin, (element, test_elements), (bool(invert),))


def _chosen(array: "ndarray", places: onp.ndarray[Any, Any], axis: int | None = None) -> "ndarray":
    """Take elements or slices of a recorded array, so that they have gradients."""
    return take(array.ravel() if axis is None else array, places, axis=axis or 0)


# --- of two arrays --------------------------------------------------------------------------------


def _elements(
    ar1: ArrayLike, ar2: ArrayLike, what: str
) -> tuple[onp.ndarray[Any, Any], onp.ndarray[Any, Any]]:
    """Read the values of two arrays on the host, because the size of a set depends on them."""
    return shaping(ar1, what), shaping(ar2, what)


@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
) -> "ndarray": ...


@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, *, return_indices: Literal[True]
) -> "tuple[ndarray, ndarray, ndarray]": ...


@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool, return_indices: Literal[True]
) -> "tuple[ndarray, ndarray, ndarray]": ...


@defers_to_classes
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> "ndarray | tuple[ndarray, ...]":
    """Return the intersection of two arrays: unique elements in ascending order.

    Parameters
    ----------
    ar1, ar2 : array_like
        The arrays, raveled.
    assume_unique : bool
        A promise that the elements of each are distinct.
    return_indices : bool
        If True, also return the first indices in `ar1` and `ar2`.

    Raises
    ------
    TracedValueError
        In a compiled function, as all functions on sets: the number of elements depends on
        values.

    Examples
    --------
    >>> np.intersect1d([1, 3, 4, 3], [3, 1, 2])
    array([1, 3])
    """
    find: Any = onp.intersect1d
    if is_recorded(ar1) or is_recorded(ar2):
        one, other = asarray(ar1), asarray(ar2)
        values, *places = find(*_elements(one, other, "intersect1d"), assume_unique, True)
        taken = _chosen(one, places[0]).astype(values.dtype, copy=False)
        return (taken, *map(array_like.array_of, places)) if return_indices else taken
    found = find(*_elements(ar1, ar2, "intersect1d"), assume_unique, return_indices)
    return (
        tuple([array_like.array_of(f) for f in found])
        if return_indices
        else array_like.array_of(found)
    )


@defers_to_classes
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> "ndarray":
    """Return the union of two arrays: unique elements in ascending order.

    Examples
    --------
    >>> np.union1d([3, 1], [2, 3])
    array([1, 2, 3])
    """
    if is_recorded(ar1) or is_recorded(ar2):
        return unique(concatenate((ar1, ar2), axis=None))
    return array_like.array_of(onp.union1d(*_elements(ar1, ar2, "union1d")))


@defers_to_classes
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> "ndarray":
    """Return the set difference: unique elements of the first array that the second lacks.

    They are in ascending order. With `assume_unique`, which promises that the elements of each
    array are distinct, they keep their order.

    Examples
    --------
    >>> np.setdiff1d([1, 2, 3, 2], [3])
    array([1, 2])
    """
    if is_recorded(ar1):
        one = asarray(ar1).ravel() if assume_unique else unique(ar1)
        kept = onp.isin(*_elements(one, ar2, "setdiff1d"), invert=True)
        return _chosen(one, onp.flatnonzero(kept))
    return array_like.array_of(onp.setdiff1d(*_elements(ar1, ar2, "setdiff1d"), assume_unique))


@defers_to_classes
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> "ndarray":
    """Return the symmetric difference: unique elements of exactly one of two arrays.

    They are in ascending order.

    Examples
    --------
    >>> np.setxor1d([1, 2, 3], [3, 4])
    array([1, 2, 4])
    """
    if is_recorded(ar1) or is_recorded(ar2):
        parts = [asarray(a).ravel() if assume_unique else unique(a) for a in (ar1, ar2)]
        both = concatenate(parts)
        find: Any = onp.unique
        _, places, counts = find(shaping(both, "setxor1d"), True, return_counts=True)
        return _chosen(both, places[counts == 1])
    return array_like.array_of(onp.setxor1d(*_elements(ar1, ar2, "setxor1d"), assume_unique))


__all__ = [
    "UniqueAllResult", "UniqueCountsResult", "UniqueInverseResult", "intersect1d", "isin",
    "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values",
]  # fmt: skip
