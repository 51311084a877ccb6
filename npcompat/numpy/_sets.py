"""Arrays as sets: distinct elements, membership."""

from typing import Any, NamedTuple

import numpy as onp

from npcompat._internal import dispatch, dtypes
from npcompat._internal.dispatch import apply
from npcompat._internal.op import operator
from npcompat.numpy._checks import shaping
from npcompat.numpy._creation import asarray
from npcompat.numpy._typing import ArrayLike


class UniqueAllResult(NamedTuple):
    """Distinct elements, where each is first, where each element is among them, and how often each occurs."""

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
) -> Any:
    """The distinct elements, in ascending order; computed on the host, as how many there are depends on values.

    Parameters
    ----------
    ar : array_like
        The array.
    return_index, return_inverse, return_counts : bool
        Whether to return also where each is first, where each element is among them, and how often each occurs.
    axis : int, optional
        Compare the slices along this axis; if not given, single elements.
    equal_nan : bool
        Whether all nan count as one element.
    sorted : bool
        Whether they must be in order; they always are.

    Raises
    ------
    TracedValueError
        In a compiled function.

    Examples
    --------
    >>> np.unique([3, 1, 1], return_counts=True)
    (array([1, 3]), array([2, 1]))
    """
    find: Any = onp.unique
    found = find(shaping(ar, "unique"), return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)
    if isinstance(found, tuple):
        return tuple(dispatch.array_of(f) for f in found)
    return dispatch.array_of(found)


def unique_all(x: ArrayLike) -> UniqueAllResult:
    """The distinct elements with all that `unique` can tell; every nan is an element of its own.

    Examples
    --------
    >>> np.unique_all([3, 1, 1]).counts
    array([2, 1])
    """
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: ArrayLike) -> UniqueCountsResult:
    """The distinct elements, and how often each occurs; every nan is an element of its own.

    Examples
    --------
    >>> np.unique_counts([3, 1, 1]).counts
    array([2, 1])
    """
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: ArrayLike) -> UniqueInverseResult:
    """The distinct elements, and where each element is among them; every nan is an element of its own.

    Examples
    --------
    >>> np.unique_inverse([3, 1, 1]).inverse_indices
    array([1, 0, 0])
    """
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: ArrayLike) -> Any:
    """The distinct elements; every nan is an element of its own.

    Examples
    --------
    >>> np.unique_values([3, 1, 1])
    array([1, 3])
    """
    return unique(x, equal_nan=False)


@operator("_npi_isin", rule=lambda types, attrs: ([dtypes.result_type(types)] * 2, onp.dtype(bool)), differentiable=False)
def _isin(xp: Any, element: Any, test_elements: Any, *, invert: bool = False) -> Any:
    """Whether each element is among the tested ones."""
    return xp.isin(element, test_elements, invert=invert)


def isin(
    element: ArrayLike, test_elements: ArrayLike, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
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
        raise ValueError("The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind.")
    return apply(_isin, (element, test_elements), (bool(invert),))


__all__ = [
    "UniqueAllResult", "UniqueCountsResult", "UniqueInverseResult", "isin", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values",
]  # fmt: skip
