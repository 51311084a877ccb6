"""Discrete Fourier transforms (np.fft).

Integers and bools are transformed in the default float, float16 in float32.
"""

import operator as python
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Op, operator
from npcompat._internal.dispatch.apply import apply, apply_cached
from npcompat.numpy._arithmetic import conjugate
from npcompat.numpy._checks import check_numbers
from npcompat.numpy._creation import asarray, placed_on
from npcompat.numpy._joining import concatenate
from npcompat.numpy._overrides import defers_in_fft
from npcompat.numpy._ranges import arange
from npcompat.numpy._repeating import roll
from npcompat.numpy._typing import ArrayLike, AxisLike, DTypeLike, Out
from npcompat.numpy._ufunc import finish
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
Sizes = Sequence[int] | None


# --- one axis -------------------------------------------------------------------------------------


def _real_of(dtype: onp.dtype[Any]) -> onp.dtype[Any]:
    """Return the real dtype in which a transform is computed."""
    if not dtypes.is_inexact(dtype):
        return dtypes.default_float()
    size = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    return onp.dtype("float64" if size > 4 else "float32")


def _types(operand: str, result: str, numpys: Callable[..., object]) -> Any:
    """Return a type rule by letters: 'r' real, 'c' complex, 'a' as given.

    NumPy transforms reals in half of the time.
    """

    def rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
        check_numbers(types, numpys)
        dtype = dtypes.strong(types[0])
        real = _real_of(dtype)
        of = {"r": real, "c": onp.dtype(f"c{real.itemsize * 2}")}
        of["a"] = of["c" if dtype.kind == "c" else "r"]
        half = (
            result == "r"
            and len(attrs["axes"]) == 1
            and dtypes.is_inexact(dtype)
            and dtype.itemsize == 2
        )
        return [of[operand]], dtype if half else of[result]

    return rule


_FLOATS = frozenset(map(onp.dtype, ("float32", "float64", "complex64", "complex128")))
_KINDS = {"r": "f", "c": "c", "a": "fc"}


def _transform(name: str, operand: str, result: str, what: str) -> Op:
    """Declare the operator of a transform, by NumPy's name and the letters of its rule."""

    def compute(
        xp: Any, a: Any, *, s: Any = None, axes: Any = (-1,), norm: str | None = None
    ) -> Any:
        # NumPy leaves the result uninitialized.
        if result == "r" and any(a.shape[axis] == 0 for axis in axes):
            lengths = dict(zip(axes, s, strict=True))
            return xp.zeros(
                tuple([lengths.get(i, size) for i, size in enumerate(a.shape)]), onp.float64
            )
        if len(axes) == 1:
            return getattr(xp.fft, name)(a, None if s is None else s[0], axes[0], norm)
        return getattr(xp.fft, name + "n")(a, s, axes, norm)

    def numpys(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Any:
        """Call NumPy's own function along one axis, on floats that need no cast."""
        given, axes = types[0], attrs["axes"]
        if (
            not isinstance(given, onp.dtype)
            or given not in _FLOATS
            or given.kind not in _KINDS[operand]
            or len(axes) != 1
            or attrs["s"]
        ):
            return None
        return partial(getattr(onp.fft, name), axis=axes[0], norm=attrs["norm"])

    compute.__doc__ = f"""{what}

    Parameters
    ----------
    s : tuple of int, optional
        Length of the transform along each axis; those of the axes if not given.
    axes : tuple of int
        Axes to transform.
    norm : {{'backward', 'ortho', 'forward'}}, optional
        Normalization: divide the inverse by the number of elements, both by its square
        root, or the transform.
    """
    rule = _types(operand, result, getattr(onp.fft, name))
    return operator(f"_npi_{name}", order="K", rule=rule, numpy_function=numpys)(compute)


_fft = _transform("fft", "a", "c", "Discrete Fourier transform.")
_ifft = _transform("ifft", "a", "c", "Inverse discrete Fourier transform.")
_rfft = _transform(
    "rfft",
    "r",
    "c",
    "Discrete Fourier transform of reals, without the redundant half along the last axis.",
)
_irfft = _transform("irfft", "c", "r", "Inverse of the transform of reals.")
_COMPLEX = {_rfft: _fft, _irfft: _ifft}
"""Complex transform that a real transform uses along the other axes."""


def _written(result: Any, out: Any, what: str) -> Any:
    """Return the result, or write it into `out`."""
    if isinstance(out, Handle | onp.ndarray) and out.shape != result.shape:
        raise ValueError(f"output array has wrong shape: expected {result.shape}, got {out.shape}")
    if out is not None and not isinstance(out, Handle | onp.ndarray | tuple):
        raise TypeError(
            "return arrays must be of ArrayType: `out` must be an npcompat ndarray, got "
            f"{type(out).__name__}"
        )
    return finish(result, out, what)


def _along(op: Any, a: Any, n: Any, axis: Any, norm: Any, out: Any) -> Any:
    """Transform along one axis."""
    a = asarray(a)
    whole = n is None
    if n is None:
        n = a.shape[axis]
        if op is _irfft:
            n = (n - 1) * 2
    n = _checked(op, a, python.index(n), norm)
    axis = onp.lib.array_utils.normalize_axis_index(axis, a.ndim)
    call = apply_cached if whole else apply
    result = call(op, (a,), (None if whole else (n,), (axis,), norm))
    return _written(result, out, op.name.removeprefix("_npi_"))


def _checked(op: Any, a: Any, n: int, norm: Any) -> int:
    """Check the length of a transform."""
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    if norm not in _SWAPPED:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if op is _rfft and a.dtype.kind == "c":
        raise TypeError(f"rfft: expected a real array, got {a.dtype}; use fft")
    return n


@call_cached
@defers_in_fft
def fft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Out = None
) -> "ndarray":
    """Compute the discrete Fourier transform (DFT) along an axis.

    Parameters
    ----------
    a : array_like
        The array.
    n : int, optional
        Length of the transform: the axis is cut off, or zeros are appended.
    axis : int
        The axis.
    norm : {None, 'backward', 'ortho', 'forward'}
        Normalization: divide the inverse by the length, both by its square root, or the
        transform. None is 'backward'.
    out : ndarray, optional
        Array to write the result into.

    Raises
    ------
    ValueError
        If the length is less than 1.

    Examples
    --------
    >>> np.fft.fft([1.0, 2.0, 3.0, 4.0])
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    return _along(_fft, a, n, axis, norm, out)


@call_cached
@defers_in_fft
def ifft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Out = None
) -> "ndarray":
    """Compute the inverse discrete Fourier transform.

    Examples
    --------
    >>> np.fft.ifft([4.0, 0.0, 0.0, 0.0])
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _along(_ifft, a, n, axis, norm, out)


@call_cached
@defers_in_fft
def rfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Out = None
) -> "ndarray":
    """Compute the discrete Fourier transform of a real array.

    The result is the first half, `n // 2 + 1` elements. The rest is its mirrored conjugate.

    Examples
    --------
    >>> np.fft.rfft([1.0, 2.0, 3.0, 4.0])
    array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return _along(_rfft, a, n, axis, norm, out)


@defers_in_fft
def irfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Out = None
) -> "ndarray":
    """Compute the inverse of `rfft`; `n` is the length of the result, even if not given.

    Examples
    --------
    >>> np.fft.irfft([4.0, 0.0, 0.0])
    array([1., 1., 1., 1.])
    """
    return _along(_irfft, a, n, axis, norm, out)


@defers_in_fft
def hfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Out = None
) -> "ndarray":
    """Compute the discrete Fourier transform of a Hermitian signal: a real spectrum.

    The second half of the signal, which is not given, is the mirrored conjugate of the first.

    Examples
    --------
    >>> np.fft.hfft([1.0, 0.0, 0.0])
    array([1., 1., 1., 1.])
    """
    a = asarray(a)
    return irfft(
        conjugate(a),
        (a.shape[axis] - 1) * 2 if n is None else n,
        axis,
        _SWAPPED.get(norm, norm),
        out,
    )


@defers_in_fft
def ihfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Out = None
) -> "ndarray":
    """Compute the inverse of `hfft`.

    Examples
    --------
    >>> np.fft.ihfft([1.0, 1.0, 1.0, 1.0])
    array([1.-0.j, 0.-0.j, 0.-0.j])
    """
    return _written(conjugate(rfft(a, n, axis, _SWAPPED.get(norm, norm))), out, "ihfft")


# --- several axes ---------------------------------------------------------------------------------


def _sizes(a: Any, s: Any, axes: Any, halved: bool = False) -> tuple[list[int], list[int]]:
    """Return the lengths and the axes of a transform.

    With `halved`, the last axis holds half of a spectrum.
    """
    given = s is not None
    if not given:
        s = list(a.shape) if axes is None else [int(n) for n in onp.take(a.shape, axes)]
    s = list(s)
    if axes is None:
        if given:
            warnings.warn(
                "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0).",
                DeprecationWarning,
                stacklevel=4,
            )
        axes = range(-len(s), 0)
    axes = list(axes)
    if len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if None in s:
        warnings.warn(
            "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0.",
            DeprecationWarning,
            stacklevel=4,
        )
    if halved and (not given or s[-1] is None):
        s[-1] = (a.shape[axes[-1]] - 1) * 2
    return [a.shape[i] if n == -1 or n is None else n for n, i in zip(s, axes, strict=True)], axes


def _over(op: Any, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    """Transform along several axes, in one operation if they are distinct."""
    a = asarray(a)
    sizes, axes = _sizes(a, s, axes, op is _irfft)
    if op is _rfft and not axes:
        raise IndexError("rfftn: expected at least one axis, got none")
    steps = [(python.index(n), axis) for n, axis in zip(sizes, axes, strict=True)]
    if op is not _irfft:
        steps.reverse()
    found = {
        onp.lib.array_utils.normalize_axis_index(axis, a.ndim): _checked(op, a, n, norm)
        for n, axis in steps
    }
    if steps and len(found) == len(steps):
        found = dict(reversed(found.items())) if op is not _irfft else found
        a = apply(op, (a,), (tuple(found.values()), tuple(found), norm))
    else:
        for i, (n, axis) in enumerate(steps):
            real = i == (len(steps) - 1 if op is _irfft else 0)
            a = _along(op if real else _COMPLEX.get(op, op), a, n, axis, norm, None)
    return _written(a, out, op.name.removeprefix("_npi_"))


@defers_in_fft
def fftn(
    a: ArrayLike, s: Sizes = None, axes: AxisLike = None, norm: str | None = None, out: Out = None
) -> "ndarray":
    """Compute the discrete Fourier transform over several axes.

    Parameters
    ----------
    a : array_like
        The array.
    s : sequence of int, optional
        Length of the transform along each of the axes; -1 for that of the axis.
    axes : sequence of int, optional
        The axes; all if not given.
    norm, out
        As for `fft`.

    Examples
    --------
    >>> np.fft.fftn([[1.0, 1.0], [1.0, 1.0]])
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return _over(_fft, a, s, axes, norm, out)


@defers_in_fft
def ifftn(
    a: ArrayLike, s: Sizes = None, axes: AxisLike = None, norm: str | None = None, out: Out = None
) -> "ndarray":
    """Compute the inverse of `fftn`.

    Examples
    --------
    >>> np.fft.ifftn([[4.0, 0.0], [0.0, 0.0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return _over(_ifft, a, s, axes, norm, out)


@defers_in_fft
def rfftn(
    a: ArrayLike, s: Sizes = None, axes: AxisLike = None, norm: str | None = None, out: Out = None
) -> "ndarray":
    """Compute the discrete Fourier transform of a real array over several axes.

    The last axis is halved as by `rfft`; see `fftn`.

    Examples
    --------
    >>> np.fft.rfftn(np.ones((2, 2, 2))).shape
    (2, 2, 2)
    """
    return _over(_rfft, a, s, axes, norm, out)


@defers_in_fft
def irfftn(
    a: ArrayLike, s: Sizes = None, axes: AxisLike = None, norm: str | None = None, out: Out = None
) -> "ndarray":
    """Compute the inverse of `rfftn`; the last length is even if not given.

    Examples
    --------
    >>> np.fft.irfftn(np.ones((2, 2, 2))).shape
    (2, 2, 2)
    """
    return _over(_irfft, a, s, axes, norm, out)


@defers_in_fft
def fft2(
    a: ArrayLike,
    s: Sizes = None,
    axes: AxisLike = (-2, -1),
    norm: str | None = None,
    out: Out = None,
) -> "ndarray":
    """Compute the 2-D discrete Fourier transform, over the last two axes if not given.

    Examples
    --------
    >>> np.fft.fft2(np.ones((2, 2)))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return _over(_fft, a, s, axes, norm, out)


@defers_in_fft
def ifft2(
    a: ArrayLike,
    s: Sizes = None,
    axes: AxisLike = (-2, -1),
    norm: str | None = None,
    out: Out = None,
) -> "ndarray":
    """Compute the inverse of `fft2`.

    Examples
    --------
    >>> np.fft.ifft2(np.ones((2, 2)))
    array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return _over(_ifft, a, s, axes, norm, out)


@defers_in_fft
def rfft2(
    a: ArrayLike,
    s: Sizes = None,
    axes: AxisLike = (-2, -1),
    norm: str | None = None,
    out: Out = None,
) -> "ndarray":
    """Compute the 2-D transform of a real array, over the last two axes if not given.

    Examples
    --------
    >>> np.fft.rfft2(np.ones((2, 4))).shape
    (2, 3)
    """
    return rfftn(a, s, axes, norm, out)


@defers_in_fft
def irfft2(
    a: ArrayLike,
    s: Sizes = None,
    axes: AxisLike = (-2, -1),
    norm: str | None = None,
    out: Out = None,
) -> "ndarray":
    """Compute the inverse of `rfft2`.

    Examples
    --------
    >>> np.fft.irfft2(np.ones((2, 3))).shape
    (2, 4)
    """
    return irfftn(a, s, axes, norm, out)


# --- frequencies ----------------------------------------------------------------------------------


def _frequencies(n: Any, d: Any, device: Any, dtype: DTypeLike, *ranges: tuple[int, int]) -> Any:
    with placed_on(device):
        parts = [arange(start, stop) for start, stop in ranges]
        found = (concatenate(parts) if len(parts) > 1 else parts[0]) * (1.0 / (n * d))
    if dtype is None:
        return found
    if dtypes.canonical(dtype).kind != "f":
        raise ValueError(f"dtype must be one of floats, got {dtypes.canonical(dtype)}")
    return found.astype(dtype)


def _check_count(n: Any) -> None:
    if not isinstance(n, int | onp.integer):
        raise ValueError(f"n should be an integer, got {type(n).__name__}")


def fftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: DTypeLike = None) -> "ndarray":
    """Return the sample frequencies of a discrete Fourier transform.

    Parameters
    ----------
    n : int
        Length of the transform.
    d : scalar
        Distance between samples.
    device : Device or str, optional
        Device of the result.
    dtype : dtype, optional
        A dtype of floats; the default float if not given. (Not in NumPy, but in the array API
        standard.)

    Examples
    --------
    >>> np.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    _check_count(n)
    return _frequencies(n, d, device, dtype, (0, (n - 1) // 2 + 1), (-(n // 2), 0))


def rfftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: DTypeLike = None) -> "ndarray":
    """Return the sample frequencies of a transform of `n` reals; see `fftfreq`.

    Examples
    --------
    >>> np.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
    """
    _check_count(n)
    return _frequencies(n, d, device, dtype, (0, n // 2 + 1))


def _shift(x: Any, axes: Any, amount: Callable[[int], int]) -> Any:
    x = asarray(x)
    if axes is None:
        axes = tuple(range(x.ndim))
    if hasattr(axes, "__index__"):
        return roll(x, amount(x.shape[axes]), axes)
    return roll(x, [amount(x.shape[i]) for i in axes], tuple(axes))


@defers_in_fft
def fftshift(x: ArrayLike, axes: AxisLike = None) -> "ndarray":
    """Shift the zero frequency to the middle of the axes, all if not given.

    Examples
    --------
    >>> np.fft.fftshift([0, 1, 2, -2, -1])
    array([-2, -1,  0,  1,  2])
    """
    return _shift(x, axes, lambda n: n // 2)


@defers_in_fft
def ifftshift(x: ArrayLike, axes: AxisLike = None) -> "ndarray":
    """Undo `fftshift`.

    Examples
    --------
    >>> np.fft.ifftshift([-2, -1, 0, 1, 2])
    array([ 0,  1,  2, -2, -1])
    """
    return _shift(x, axes, lambda n: -(n // 2))


__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
