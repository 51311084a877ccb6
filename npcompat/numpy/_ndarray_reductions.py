"""Methods of arrays that make less of their elements: sums, extremes, spreads, products."""

from typing import Any

from npcompat._internal.native.fast_path import remembering
from npcompat.numpy import _products, _reductions, _sorting
from npcompat.numpy._typing import ArrayLike, AxisLike, DTypeLike, NoValue


class Reductions:
    """The part of `ndarray` that reduces."""

    __slots__ = ()

    @remembering
    def sum(
        self: Any,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> Any:
        """Sum over axes."""
        return _reductions.reduce(
            _reductions._sum, self, axis, dtype, out, keepdims, initial, where
        )

    @remembering
    def prod(
        self: Any,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> Any:
        """Product over axes."""
        return _reductions.reduce(
            _reductions._prod, self, axis, dtype, out, keepdims, initial, where
        )

    @remembering
    def max(
        self: Any,
        axis: AxisLike = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> Any:
        """Largest element over axes."""
        return _reductions.reduce(_reductions._max, self, axis, None, out, keepdims, initial, where)

    @remembering
    def min(
        self: Any,
        axis: AxisLike = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: Any = NoValue,
    ) -> Any:
        """Smallest element over axes."""
        return _reductions.reduce(_reductions._min, self, axis, None, out, keepdims, initial, where)

    @remembering
    def mean(
        self: Any,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = NoValue,
    ) -> Any:
        """Arithmetic mean over axes."""
        return _reductions.mean_of(self, axis, dtype, out, keepdims, where)

    @remembering
    def var(
        self: Any,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = NoValue,
        mean: Any = NoValue,
        correction: Any = NoValue,
    ) -> Any:
        """Variance over axes."""
        return _reductions.spread_of(
            _reductions._var, self, axis, dtype, out, ddof, keepdims, where, mean, correction
        )

    @remembering
    def std(
        self: Any,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = NoValue,
        mean: Any = NoValue,
        correction: Any = NoValue,
    ) -> Any:
        """Standard deviation over axes."""
        return _reductions.spread_of(
            _reductions._std, self, axis, dtype, out, ddof, keepdims, where, mean, correction
        )

    @remembering
    def all(
        self: Any,
        axis: AxisLike = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Any:
        """Whether all elements are true."""
        return _reductions.reduce(_reductions._all, self, axis, None, out, keepdims, NoValue, where)

    @remembering
    def any(
        self: Any,
        axis: AxisLike = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Any:
        """Whether any element is true."""
        return _reductions.reduce(_reductions._any, self, axis, None, out, keepdims, NoValue, where)

    @remembering
    def cumsum(self: Any, axis: int | None = None, dtype: DTypeLike = None, out: Any = None) -> Any:
        """Running sum."""
        return _reductions.cumsum(self, axis, dtype, out)

    @remembering
    def cumprod(
        self: Any, axis: int | None = None, dtype: DTypeLike = None, out: Any = None
    ) -> Any:
        """Running product."""
        return _reductions.cumprod(self, axis, dtype, out)

    @remembering
    def argmax(
        self: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False
    ) -> Any:
        """Position of the largest element."""
        return _sorting.argmax(self, axis, out, keepdims=keepdims)

    @remembering
    def argmin(
        self: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False
    ) -> Any:
        """Position of the smallest element."""
        return _sorting.argmin(self, axis, out, keepdims=keepdims)

    def ptp(self: Any, axis: AxisLike = None, out: Any = None, keepdims: bool = False) -> Any:
        """Largest minus smallest element."""
        return _reductions.ptp(self, axis, out, keepdims)

    def trace(
        self: Any,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        dtype: DTypeLike = None,
        out: Any = None,
    ) -> Any:
        """Sum of the diagonal."""
        return _products.trace(self, offset, axis1, axis2, dtype, out)

    @remembering
    def dot(self: Any, b: ArrayLike, out: Any = None) -> Any:
        """Matrix product, as `np.dot`."""
        return _products.dot(self, b, out)


__all__ = ["Reductions"]
