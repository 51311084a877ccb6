"""Bits packed into bytes, and the order of bytes."""

import operator as python
from typing import Any, Literal

import numpy as onp

from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._typing import ArrayLike

_uint8 = onp.dtype("uint8")
BitOrder = Literal["big", "little"]


@operator("_npi_packbits", rule=lambda types, attrs: ([None], _uint8), differentiable=False)
def _packbits(xp: Any, a: Any, *, axis: int | None = None, bitorder: str = "big") -> Any:
    """Eight elements, zero or not, in each byte."""
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
    """The bits of each byte as elements."""
    if axis is None:
        a, axis = xp.ravel(a), 0
    bits = (xp.moveaxis(a, axis, -1)[..., None] >> _places(bitorder)) & _uint8.type(1)
    bits = xp.reshape(bits, (*bits.shape[:-2], bits.shape[-2] * 8))
    if count is not None:
        missing = max(count - bits.shape[-1], 0)
        bits = xp.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])[..., :count]
    return xp.moveaxis(bits, -1, axis)


def _places(bitorder: str) -> onp.ndarray[Any, Any]:
    """By how much each of eight bits is shifted."""
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


def packbits(a: ArrayLike, /, axis: int | None = None, bitorder: BitOrder = "big") -> Any:
    """Bits, as elements that are zero or not, packed into bytes; the last byte is filled with
    zeros.

    Parameters
    ----------
    a : array_like of bool or int
        The bits.
    axis : int, optional
        Along which axis eight become one; all elements in C order, if not given.
    bitorder : {'big', 'little'}
        Whether the first of eight is the highest bit or the lowest.

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
    return apply(_packbits, (a if a.ndim else a.reshape(1),), (axis, bitorder))


def unpackbits(
    a: ArrayLike, /, axis: int | None = None, count: int | None = None, bitorder: BitOrder = "big"
) -> Any:
    """The bits of bytes, as elements that are 0 or 1.

    Parameters
    ----------
    a : array_like of uint8
        The bytes.
    axis : int, optional
        Along which axis one becomes eight; all elements in C order, if not given.
    count : int, optional
        How many bits to keep; more are added as zeros, and a negative number says how many to leave
        out at the end.
    bitorder : {'big', 'little'}
        Whether the first of eight is the highest bit or the lowest.

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
    return apply(_unpackbits, (a,), (axis, count, bitorder))


@operator("_npi_byteswap", pattern="elementwise", differentiable=False)
def byteswap(xp: Any, a: Any) -> Any:
    """The elements with their bytes in the other order; the parts of complex numbers each."""
    return xp.byteswap(a)


__all__ = ["packbits", "unpackbits"]
