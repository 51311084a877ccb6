"""Running sums and products."""

from typing import TYPE_CHECKING, Any

from npcompat._internal.core.op import as_axis
from npcompat._internal.core.op_kinds import for_axis
from npcompat._internal.dispatch.apply import apply_cached
from npcompat.numpy._accumulation import accumulated_in
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._reductions import accumulated
from npcompat.numpy._typing import ArrayLike, DTypeLike, Out
from npcompat.numpy._ufunc import finish
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

# --- running sums ---------------------------------------------------------------------------------


@for_axis("_npi_cumsum", order="K", rule=accumulated)
def _cumsum(xp: Any, a: Any, axis: int, *, dtype: Any = None, exclusive: bool = False) -> Any:
    """Compute the cumulative sum."""
    total = xp.cumsum(a, axis=axis)
    return _delayed(xp, total, axis, 0) if exclusive else total


@for_axis("_npi_cumprod", order="K", rule=accumulated)
def _cumprod(xp: Any, a: Any, axis: int, *, dtype: Any = None, exclusive: bool = False) -> Any:
    """Compute the cumulative product."""
    total = xp.cumprod(a, axis=axis)
    return _delayed(xp, total, axis, 1) if exclusive else total


def _delayed(xp: Any, running: Any, axis: int, first: int) -> Any:
    """Shift a cumulative result by one step, after a first value (exclusive scan)."""
    shape = [1 if i == axis else n for i, n in enumerate(running.shape)]
    later = xp.concatenate([xp.full(shape, first, dtype=running.dtype), running], axis=axis)
    return later[(slice(None),) * axis + (slice(-1),)]


@call_cached
@defers_to_classes
def cumsum(
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Out = None,
    *,
    exclusive: bool = False,
) -> "ndarray":
    """Running sum along an axis, or over all elements if no axis is given.

    Parameters
    ----------
    a : array_like
        Array to sum.
    axis : int, optional
        Along which axis; over all elements in C order if not given.
    dtype : dtype, optional
        Dtype in which to sum; small integers are summed in 64 bits if not given.
    out : ndarray, optional
        Array to write the result into.
    exclusive : bool
        If True, each sum excludes its own element (not in NumPy).

    Examples
    --------
    >>> np.cumsum([1, 2, 3])
    array([1, 3, 6])
    >>> np.cumsum([1, 2, 3], exclusive=True)
    array([0, 1, 3])
    """
    attrs = (as_axis(axis), accumulated_in(dtype, a, _cumsum, out), bool(exclusive))
    result = apply_cached(_cumsum, (a,), attrs)
    return finish(result, out, "cumsum", "unsafe")


@call_cached
@defers_to_classes
def cumprod(
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Out = None,
    *,
    exclusive: bool = False,
) -> "ndarray":
    """Cumulative product along an axis, or over all elements if no axis is given.

    Parameters
    ----------
    a : array_like
        Array to multiply.
    axis : int, optional
        Along which axis; over all elements in C order if not given.
    dtype : dtype, optional
        Dtype in which to multiply; small integers are multiplied in 64 bits if not given.
    out : ndarray, optional
        Array to write the result into.
    exclusive : bool
        If True, each product excludes its own element (not in NumPy).

    Examples
    --------
    >>> np.cumprod([1, 2, 3])
    array([1, 2, 6])
    >>> np.cumprod([1, 2, 3], exclusive=True)
    array([1, 1, 2])
    """
    attrs = (as_axis(axis), accumulated_in(dtype, a, _cumprod, out), bool(exclusive))
    result = apply_cached(_cumprod, (a,), attrs)
    return finish(result, out, "cumprod", "unsafe")


__all__ = ["cumprod", "cumsum"]
