"""Reduction methods of arrays: sums, extremes, variances, products."""

from typing import TYPE_CHECKING, Any

from npcompat._internal.native.fast_path import call_cached
from npcompat.numpy import _products, _reductions, _running, _sorting, _spread
from npcompat.numpy._typing import ArrayLike, AxisLike, DTypeLike, NoValue, Out

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


class Reductions:
    """Mixin of `ndarray` for reductions."""

    __slots__ = ()

    @call_cached
    def sum(
        self: Any,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: Out = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> "ndarray":
        """Compute the sum over axes."""
        return _reductions.reduce(
            _reductions._sum, self, axis, dtype, out, keepdims, initial, where
        )

    @call_cached
    def prod(
        self: Any,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: Out = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> "ndarray":
        """Compute the product over axes."""
        return _reductions.reduce(
            _reductions._prod, self, axis, dtype, out, keepdims, initial, where
        )

    @call_cached
    def max(
        self: Any,
        axis: AxisLike = None,
        out: Out = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> "ndarray":
        """Return the maximum over axes."""
        return _reductions.reduce(_reductions._max, self, axis, None, out, keepdims, initial, where)

    @call_cached
    def min(
        self: Any,
        axis: AxisLike = None,
        out: Out = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> "ndarray":
        """Return the minimum over axes."""
        return _reductions.reduce(_reductions._min, self, axis, None, out, keepdims, initial, where)

    @call_cached
    def mean(
        self: Any,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: Out = None,
        keepdims: bool = False,
        *,
        where: Any = NoValue,
    ) -> "ndarray":
        """Compute the arithmetic mean over axes."""
        return _reductions.mean_of(self, axis, dtype, out, keepdims, where)

    @call_cached
    def var(
        self: Any,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = NoValue,
        mean: Any = NoValue,
        correction: Any = NoValue,
    ) -> "ndarray":
        """Compute the variance over axes."""
        return _spread.spread_of(
            _spread._var, self, axis, dtype, out, ddof, keepdims, where, mean, correction
        )

    @call_cached
    def std(
        self: Any,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = NoValue,
        mean: Any = NoValue,
        correction: Any = NoValue,
    ) -> "ndarray":
        """Compute the standard deviation over axes."""
        return _spread.spread_of(
            _spread._std, self, axis, dtype, out, ddof, keepdims, where, mean, correction
        )

    @call_cached
    def all(
        self: Any,
        axis: AxisLike = None,
        out: Out = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> "ndarray":
        """Return True if all elements over axes are true."""
        return _reductions.reduce(_reductions._all, self, axis, None, out, keepdims, NoValue, where)

    @call_cached
    def any(
        self: Any,
        axis: AxisLike = None,
        out: Out = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> "ndarray":
        """Return True if any element over axes is true."""
        return _reductions.reduce(_reductions._any, self, axis, None, out, keepdims, NoValue, where)

    @call_cached
    def cumsum(
        self: Any, axis: int | None = None, dtype: DTypeLike = None, out: Out = None
    ) -> "ndarray":
        """Compute the cumulative sum."""
        return _running.cumsum(self, axis, dtype, out)

    @call_cached
    def cumprod(
        self: Any, axis: int | None = None, dtype: DTypeLike = None, out: Out = None
    ) -> "ndarray":
        """Compute the cumulative product."""
        return _running.cumprod(self, axis, dtype, out)

    @call_cached
    def argmax(
        self: Any, axis: int | None = None, out: Out = None, *, keepdims: bool = False
    ) -> "ndarray":
        """Return the index of the maximum."""
        return _sorting.argmax(self, axis, out, keepdims=keepdims)

    @call_cached
    def argmin(
        self: Any, axis: int | None = None, out: Out = None, *, keepdims: bool = False
    ) -> "ndarray":
        """Return the index of the minimum."""
        return _sorting.argmin(self, axis, out, keepdims=keepdims)

    def ptp(self: Any, axis: AxisLike = None, out: Out = None, keepdims: bool = False) -> "ndarray":
        """Compute the range: maximum minus minimum."""
        return _reductions.ptp(self, axis, out, keepdims)

    def trace(
        self: Any,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        dtype: DTypeLike = None,
        out: Out = None,
    ) -> "ndarray":
        """Compute the trace: the sum of the diagonal."""
        return _products.trace(self, offset, axis1, axis2, dtype, out)

    @call_cached
    def dot(self: Any, b: ArrayLike, out: Out = None) -> "ndarray":
        """Compute the matrix product, as `np.dot`."""
        return _products.dot(self, b, out)


__all__ = ["Reductions"]
