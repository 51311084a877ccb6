"""Numerical integration and differentiation, convolution, phase unwrapping."""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import normalized_axes, operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._arithmetic import absolute, remainder, subtract
from npcompat.numpy._checks import holds_no_numbers
from npcompat.numpy._creation import asanyarray, asarray
from npcompat.numpy._differences import diff
from npcompat.numpy._host_arrays import by_numpy
from npcompat.numpy._joining import concatenate
from npcompat.numpy._memory_order import in_order
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._products import product_types
from npcompat.numpy._reductions import sum
from npcompat.numpy._running import cumsum
from npcompat.numpy._selection import where
from npcompat.numpy._typing import ArrayLike, AxisLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def _part(ndim: int, axis: int, start: int | None, stop: int | None) -> tuple[Any, ...]:
    """Return an index that slices one axis."""
    return tuple([slice(start, stop) if i == axis else slice(None) for i in range(ndim)])


def _along(d: Any, ndim: int, axis: int) -> Any:
    """Reshape a vector so that it lies along one of several axes."""
    return d.reshape([-1 if i == axis else 1 for i in range(ndim)])


# --- integrals and derivatives --------------------------------------------------------------------


@defers_to_classes
def trapezoid(
    y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1
) -> "ndarray":
    """Integrate along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
        Values of the function.
    x : array_like, optional
        Coordinates of the values: along the axis, or in the shape of `y`.
    dx : scalar
        Distance between them, if `x` is not given.
    axis : int
        The axis.

    Examples
    --------
    >>> np.trapezoid([1, 2, 3])
    np.float32(4.0)
    """
    y = asanyarray(y)
    (at,) = normalized_axes(axis, y.ndim)
    if x is None:
        width: Any = dx
    else:
        x = asanyarray(x)
        width = _along(diff(x), y.ndim, at) if x.ndim == 1 else diff(x, axis=axis)
    return sum(width * (y[_part(y.ndim, at, 1, None)] + y[_part(y.ndim, at, None, -1)]) / 2.0, at)


def _spacings(given: tuple[Any, ...], f: Any, axes: tuple[int, ...]) -> list[Any]:
    """Return the spacing along each axis: a number, or an array if it is uneven."""
    if not given:
        return [1.0] * len(axes)
    if (
        len(given) == 1
        and onp.ndim(given[0] if not isinstance(given[0], Handle) else onp.empty(given[0].shape))
        == 0
    ):
        return [given[0]] * len(axes)
    if len(given) != len(axes):
        raise TypeError(
            f"invalid number of arguments: expected distances for {len(axes)} axes, got "
            f"{len(given)}"
        )
    found: list[Any] = []
    for d, axis in zip(given, axes, strict=True):
        d = d if type(d) in (int, float) else asanyarray(d)
        if isinstance(d, Handle):
            if d.ndim > 1:  # type: ignore[attr-defined]
                raise ValueError("distances must be either scalars or 1d")
            if d.ndim == 1:  # type: ignore[attr-defined]
                if d.shape[0] != f.shape[axis]:
                    raise ValueError(
                        "when 1d, distances must match the length of the corresponding dimension"
                    )
                known: Any = d
                d = diff(known.astype(float) if d.dtype.kind in "biu" else d)
        found.append(d)
    return found


def _derivative(f: Any, d: Any, axis: int, edge_order: int) -> Any:
    """Differentiate along one axis: central differences inside, one-sided at both ends."""

    def at(start: int | None, stop: int | None = None) -> Any:
        return f[_part(f.ndim, axis, start, stop)]

    uneven = isinstance(d, Handle) and d.ndim == 1  # type: ignore[attr-defined]
    if uneven:
        before, after = _along(d[:-1], f.ndim, axis), _along(d[1:], f.ndim, axis)
        inner = (
            -after / (before * (before + after)) * at(None, -2)
            + (after - before) / (before * after) * at(1, -1)
            + before / (after * (before + after)) * at(2)
        )
        first, last = d[0], d[-1]
    else:
        inner = (at(2) - at(None, -2)) / (2.0 * d)
        first = last = d
    if edge_order == 1:
        left, right = (at(1, 2) - at(0, 1)) / first, (at(-1) - at(-2, -1)) / last
    else:
        a, b = (d[0], d[1]) if uneven else (d, d)
        left = (
            -(2.0 * a + b) / (a * (a + b)) * at(0, 1)
            + (a + b) / (a * b) * at(1, 2)
            - a / (b * (a + b)) * at(2, 3)
        )
        a, b = (d[-2], d[-1]) if uneven else (d, d)
        right = (
            b / (a * (a + b)) * at(-3, -2)
            - (b + a) / (a * b) * at(-2, -1)
            + (2.0 * b + a) / (b * (a + b)) * at(-1)
        )
    return concatenate([left, inner, right], axis).astype(f.dtype, copy=False)


@defers_to_classes
def gradient(f: ArrayLike, *varargs: ArrayLike, axis: AxisLike = None, edge_order: int = 1) -> Any:
    """Compute the gradient by central differences, one-sided at both ends of an axis.

    Parameters
    ----------
    f : array_like
        Values of a function on a grid.
    *varargs : scalar or array_like
        Distances between grid points: one for all axes, or one for each; or the coordinates along
        each axis.
    axis : int or tuple of int, optional
        The axes; all if not given.
    edge_order : {1, 2}
        Order of accuracy of the differences at the ends.

    Returns
    -------
    ndarray or tuple of ndarray
        One array for each axis, alone if there is one.

    Examples
    --------
    >>> np.gradient(np.array([1.0, 2.0, 4.0, 7.0]), 0.5)
    array([2., 3., 5., 6.])
    """
    f = asanyarray(f)
    if holds_no_numbers(f.dtype):
        return by_numpy(onp.gradient, (f, *varargs), {"axis": axis, "edge_order": edge_order})
    axes = normalized_axes(axis, f.ndim)
    spacings = _spacings(varargs, f, axes)
    if edge_order > 2:
        raise ValueError(f"'edge_order' greater than 2 not supported, got {edge_order}")
    if f.dtype == bool:
        subtract(f, f)  # raise NumPy's error
    if not dtypes.is_inexact(f.dtype):
        f = f.astype(float)
    found = []
    for i, d in zip(axes, spacings, strict=True):
        if f.shape[i] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order "
                "+ 1) elements are required: "
                f"axis {i} of shape {f.shape}, edge_order {edge_order}."
            )
        found.append(in_order(_derivative(f, d, i, edge_order), "K", f))
    return found[0] if len(found) == 1 else tuple(found)


@defers_to_classes
def unwrap(
    p: ArrayLike,
    discont: Any = None,
    axis: int = -1,
    *,
    period: Any = 6.283185307179586,
) -> "ndarray":
    """Unwrap phases: add multiples of the period where neighbours jump by more than half of it.

    Parameters
    ----------
    p : array_like
        The phases.
    discont : scalar, optional
        Least difference that counts as a jump; half the period if not given or if it is
        less.
    axis : int
        The axis.
    period : scalar
        The period.

    Examples
    --------
    >>> np.unwrap([0, 3, 2, 1], period=4)
    array([ 0, -1, -2, -3])
    """
    p = asanyarray(p)
    step = diff(p, axis=axis)
    (at,) = normalized_axes(axis, p.ndim)
    if discont is None:
        discont = period / 2
    weak = type(period) in (int, float)
    dtype = dtypes.result_type([step.dtype, type(period) if weak else asarray(period).dtype])
    whole = dtype.kind in "iu"
    half = period // 2 if whole else period / 2
    short = remainder(step + half, period) - half
    if not whole or period % 2 == 0:
        short = where((short == -half) & (step > 0), half, short)
    correction = where(absolute(step) < discont, 0, short - step)
    later = p[_part(p.ndim, at, 1, None)] + cumsum(correction, at)
    first = p[_part(p.ndim, at, None, 1)].astype(dtype)
    return in_order(concatenate([first, later.astype(dtype)], at), "K", p)


# --- convolution ----------------------------------------------------------------------------------

_MODES = ("valid", "same", "full")


def _mode(mode: Any) -> Any:
    """Return the name of a convolution mode given by its number."""
    return _MODES[mode] if type(mode) is int and 0 <= mode < len(_MODES) else mode


@operator("_npi_convolve", rule=product_types, pattern="complex")
def _convolve(xp: Any, a: Any, v: Any, *, mode: str = "full") -> Any:
    """Convolve two vectors."""
    return xp.convolve(a, v, mode)


@operator("_npi_correlate", rule=product_types, pattern="complex")
def _correlate(xp: Any, a: Any, v: Any, *, mode: str = "valid") -> Any:
    """Correlate two vectors."""
    return xp.correlate(a, v, mode)


@defers_to_classes
def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> "ndarray":
    """Compute the discrete convolution of two vectors.

    Parameters
    ----------
    a, v : array_like
        The vectors.
    mode : {'full', 'same', 'valid'}
        All positions of overlap; as many as the longer one has, from the middle; those of
        complete overlap.

    Raises
    ------
    ValueError
        If a vector is empty.

    Examples
    --------
    >>> np.convolve([1, 2, 3], [0, 1, 2])
    array([0, 1, 4, 7, 6])
    """
    a, v = (asarray(x) for x in (a, v))
    for name, x in (("a", a), ("v", v)):
        if x.size == 0:
            raise ValueError(f"{name} cannot be empty")
    return apply(
        _convolve,
        (a.reshape(1) if a.ndim == 0 else a, v.reshape(1) if v.ndim == 0 else v),
        (_mode(mode),),
    )


@defers_to_classes
def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> "ndarray":
    """Compute the cross-correlation of two vectors, the second conjugated.

    Each element is the sum of products at one lag.

    Parameters
    ----------
    a, v : array_like
        The vectors.
    mode : {'valid', 'same', 'full'}
        Range of lags: see `convolve`.

    Examples
    --------
    >>> np.correlate([1, 2, 3], [0, 1, 0.5])
    array([3.5])
    """
    return apply(_correlate, (asarray(a), asarray(v)), (_mode(mode),))


__all__ = ["convolve", "correlate", "gradient", "trapezoid", "unwrap"]
