"""Bits packed into bytes, and byte order."""

import operator as python
from typing import TYPE_CHECKING, Any, Literal

import numpy as onp

from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.memory_layout import in_c_order
from npcompat.numpy._creation import asarray
from npcompat.numpy._memory_order import in_order, letter
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_uint8 = onp.dtype("uint8")
BitOrder = Literal["big", "little"]


@operator("_npi_packbits", rule=lambda types, attrs: ([None], _uint8), differentiable=False)
def _packbits(xp: Any, a: Any, *, axis: int | None = None, bitorder: str = "big") -> Any:
    """Pack eight elements, zero or not, into each byte."""
    if axis is None:
        a, axis = xp.ravel(a), 0
    bits = xp.astype(xp.moveaxis(a, axis, -1) != 0, _uint8)
    missing = -bits.shape[-1] % 8
    bits = xp.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
    bits = xp.reshape(bits, (*bits.shape[:-1], bits.shape[-1] // 8, 8))
    return xp.moveaxis(xp.sum(bits << _places(bitorder), axis=-1, dtype=_uint8), -1, axis)


@operator("_npi_unpackbits", rule=lambda types, attrs: ([None], _uint8), differentiable=False)
def _unpackbits(
    xp: Any, a: Any, *, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Any:
    """Unpack the bits of each byte."""
    if axis is None:
        a, axis = xp.ravel(a), 0
    bits = (xp.moveaxis(a, axis, -1)[..., None] >> _places(bitorder)) & _uint8.type(1)
    bits = xp.reshape(bits, (*bits.shape[:-2], bits.shape[-2] * 8))
    if count is not None:
        missing = max(count - bits.shape[-1], 0)
        bits = xp.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])[..., :count]
    return xp.moveaxis(bits, -1, axis)


def _places(bitorder: str) -> onp.ndarray[Any, Any]:
    """Return the shift of each of eight bits."""
    places = onp.arange(8, dtype=_uint8)
    return places if bitorder == "little" else places[::-1]


def _along(a: Any, axis: Any, bitorder: str) -> int | None:
    if not isinstance(bitorder, str):
        raise TypeError(f"bitorder: expected 'big' or 'little', got {type(bitorder).__name__}")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    return (
        None
        if axis is None
        else onp.lib.array_utils.normalize_axis_index(python.index(axis), a.ndim or 1)
    )


def packbits(a: ArrayLike, /, axis: int | None = None, bitorder: BitOrder = "big") -> "ndarray":
    """Pack bits, elements that are zero or not, into bytes.

    The last byte is padded with zeros.

    Parameters
    ----------
    a : array_like of bool or int
        The bits.
    axis : int, optional
        Axis along which eight become one; all elements in C order if not given.
    bitorder : {'big', 'little'}
        Bit order: the first of eight is the highest ('big') or the lowest ('little').

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError
        If the elements are no integers.

    Examples
    --------
    >>> np.packbits([1, 0, 0, 0, 0, 0, 1, 1, 1])
    array([131, 128], dtype=uint8)
    """
    a = asarray(a)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    axis = _along(a, axis, bitorder)
    a = a if a.ndim else a.reshape(1)
    return _as_input(apply(_packbits, (a,), (axis, bitorder)), a)


def unpackbits(
    a: ArrayLike, /, axis: int | None = None, count: int | None = None, bitorder: BitOrder = "big"
) -> "ndarray":
    """Unpack bytes into bits, elements that are 0 or 1.

    Parameters
    ----------
    a : array_like of uint8
        The bytes.
    axis : int, optional
        Axis along which one becomes eight; all elements in C order if not given.
    count : int, optional
        Number of bits to keep, padded with zeros; a negative number drops bits at the end.
    bitorder : {'big', 'little'}
        Bit order: the first of eight is the highest ('big') or the lowest ('little').

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError
        If the elements are not of uint8.

    Examples
    --------
    >>> np.unpackbits(np.array([131], dtype="uint8"))
    array([1, 0, 0, 0, 0, 0, 1, 1], dtype=uint8)
    """
    a = asarray(a)
    if a.dtype != _uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    axis = _along(a, axis, bitorder)
    a = a if a.ndim else a.reshape(1)
    bits = 8 * (a.size if axis is None else a.shape[axis])
    count = None if count is None else python.index(count)
    if count is not None and count < -bits:
        raise ValueError("-count larger than number of elements")
    return _as_input(apply(_unpackbits, (a,), (axis, count, bitorder)), a)


def _as_input(made: Any, a: Any) -> Any:
    """Return a result in Fortran order if the array is in that order only, as NumPy does."""
    return made if in_c_order(a) else in_order(made, letter("A", a))


@operator("_npi_byteswap", pattern="elementwise", differentiable=False)
def byteswap(xp: Any, a: Any) -> Any:
    """Swap the bytes of each element (byte order); complex numbers by parts."""
    return xp.byteswap(a)


__all__ = ["packbits", "unpackbits"]
