"""Arrays as sets: distinct elements, membership."""

from typing import Any, NamedTuple, SupportsIndex

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._checks import shaping
from npcompat.numpy._creation import asarray
from npcompat.numpy._given_length import distinct, length
from npcompat.numpy._typing import ArrayLike


class UniqueAllResult(NamedTuple):
    """Distinct elements, where each is first, where each element is among them, and how often each
    occurs.
    """

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCountsResult(NamedTuple):
    """Distinct elements, and how often each occurs."""

    values: Any
    counts: Any


class UniqueInverseResult(NamedTuple):
    """Distinct elements, and where each element is among them."""

    values: Any
    inverse_indices: Any


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
    fill_value: ArrayLike = None,
) -> Any:
    """The distinct elements, in ascending order; computed on the host without `size`, as how many
    there are depends on values.

    Parameters
    ----------
    ar : array_like
        The array.
    return_index, return_inverse, return_counts : bool
        Whether to return also where each is first, where each element is among them, and how often
        each occurs.
    axis : int, optional
        Compare the slices along this axis; if not given, single elements.
    equal_nan : bool
        Whether all nan count as one element.
    sorted : bool
        Whether they must be in order; they always are.
    size : int, optional
        How many elements to return, which lets it be compiled; greater ones are left out, but not
        of what says where each element is among them.
    fill_value : scalar, optional
        With `size`, what stands where there are no more elements, each of which occurs 0 times; the
        least element if not given.

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
    host = shaping(ar, "unique", "size=")
    ordered = sorted or dtypes.on_devices(
        host.dtype
    )  # strings of any length may hold what has no order
    found = find(
        host, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan, sorted=ordered
    )
    if isinstance(found, tuple):
        return tuple(array_like.array_of(f) for f in found)
    return array_like.array_of(found)


def unique_all(
    x: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike = None
) -> UniqueAllResult:
    """The distinct elements with all that `unique` can tell; every nan is an element of its own.
    `size` and `fill_value` as there.

    Examples
    --------
    >>> np.unique_all([3, 1, 1]).counts
    array([2, 1])
    """
    return UniqueAllResult(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_counts(
    x: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike = None
) -> UniqueCountsResult:
    """The distinct elements, and how often each occurs; every nan is an element of its own. `size`
    and `fill_value` as for `unique`.

    Examples
    --------
    >>> np.unique_counts([3, 1, 1]).counts
    array([2, 1])
    """
    return UniqueCountsResult(
        *unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_inverse(
    x: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike = None
) -> UniqueInverseResult:
    """The distinct elements, and which of them each element is; every nan is one of its own. `size`
    and `fill_value` as for `unique`.

    Examples
    --------
    >>> np.unique_inverse([3, 1, 1]).inverse_indices
    array([1, 0, 0])
    """
    return UniqueInverseResult(
        *unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_values(
    x: ArrayLike, *, size: SupportsIndex | None = None, fill_value: ArrayLike = None
) -> Any:
    """The distinct elements; every nan is an element of its own. `size` and `fill_value` as for
    `unique`.

    Examples
    --------
    >>> np.unique_values([3, 1, 1])
    array([1, 3])
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


@operator(
    "_npi_isin",
    keeps_class=False,
    rule=lambda types, attrs: ([dtypes.result_type(types)] * 2, onp.dtype(bool)),
    differentiable=False,
)
def _isin(xp: Any, element: Any, test_elements: Any, *, invert: bool = False) -> Any:
    """Whether each element is among the tested ones."""
    return xp.isin(element, test_elements, invert=invert)


def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Any:
    """Whether each element is among others.

    Parameters
    ----------
    element : array_like
        The elements.
    test_elements : array_like
        Among which they are searched.
    assume_unique : bool
        A promise that both hold distinct elements; it is not needed.
    invert : bool
        Whether to ask for those that are not among them.
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
    return apply(_isin, (element, test_elements), (bool(invert),))


# --- of two arrays --------------------------------------------------------------------------------


def _elements(
    ar1: ArrayLike, ar2: ArrayLike, what: str
) -> tuple[onp.ndarray[Any, Any], onp.ndarray[Any, Any]]:
    """The values of two arrays on the host: how many of them a set has depends on them."""
    return shaping(ar1, what), shaping(ar2, what)


def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The distinct elements that two arrays have in common, in ascending order.

    Parameters
    ----------
    ar1, ar2 : array_like
        The arrays, raveled.
    assume_unique : bool
        A promise that the elements of each are distinct.
    return_indices : bool
        Whether to return also where each is first in `ar1`, and in `ar2`.

    Raises
    ------
    TracedValueError
        In a compiled function, as all functions on sets: how many elements there are depends on
        values.

    Examples
    --------
    >>> np.intersect1d([1, 3, 4, 3], [3, 1, 2])
    array([1, 3])
    """
    find: Any = onp.intersect1d
    found = find(*_elements(ar1, ar2, "intersect1d"), assume_unique, return_indices)
    return (
        tuple([array_like.array_of(f) for f in found])
        if return_indices
        else array_like.array_of(found)
    )


def union1d(ar1: ArrayLike, ar2: ArrayLike) -> Any:
    """The distinct elements of two arrays, in ascending order.

    Examples
    --------
    >>> np.union1d([3, 1], [2, 3])
    array([1, 2, 3])
    """
    return array_like.array_of(onp.union1d(*_elements(ar1, ar2, "union1d")))


def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Any:
    """The distinct elements of the first array that the second does not have, in ascending order.

    With `assume_unique`, which promises that the elements of each are distinct, they keep their
    order.

    Examples
    --------
    >>> np.setdiff1d([1, 2, 3, 2], [3])
    array([1, 2])
    """
    return array_like.array_of(onp.setdiff1d(*_elements(ar1, ar2, "setdiff1d"), assume_unique))


def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Any:
    """The distinct elements that one of two arrays has and the other has not, in ascending order.

    Examples
    --------
    >>> np.setxor1d([1, 2, 3], [3, 4])
    array([1, 2, 4])
    """
    return array_like.array_of(onp.setxor1d(*_elements(ar1, ar2, "setxor1d"), assume_unique))


__all__ = [
    "UniqueAllResult", "UniqueCountsResult", "UniqueInverseResult", "intersect1d", "isin",
    "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values",
]  # fmt: skip
