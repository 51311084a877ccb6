"""Bytes of elements, as operators' computes see them on the host."""

from typing import Any

import numpy as onp


def byteswap(a: onp.ndarray[Any, Any]) -> onp.ndarray[Any, Any]:
    """The elements with their bytes in the other order."""
    return a.byteswap()


def reinterpret(a: onp.ndarray[Any, Any], dtype: Any) -> onp.ndarray[Any, Any]:
    """The bytes along the last axis read as elements of another dtype."""
    if a.ndim and a.itemsize != onp.dtype(dtype).itemsize and a.strides[-1] != a.itemsize:
        a = onp.ascontiguousarray(
            a
        )  # a value of a view need not lie in memory as NumPy's view does
    found: onp.ndarray[Any, Any] = a.view(dtype)
    return found


__all__ = ["byteswap", "reinterpret"]
