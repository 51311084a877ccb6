"""Bytes of elements on the host: byte order, and views as another dtype."""

from typing import Any

import numpy as onp

from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("byteswap", backend="numpy")
def byteswap(a: onp.ndarray[Any, Any]) -> onp.ndarray[Any, Any]:
    """Swap the bytes of each element."""
    return a.byteswap()


@register_kernel("reinterpret", backend="numpy")
def reinterpret(a: onp.ndarray[Any, Any], dtype: Any) -> onp.ndarray[Any, Any]:
    """Read the bytes along the last axis as elements of another dtype."""
    if a.ndim and a.itemsize != onp.dtype(dtype).itemsize and a.strides[-1] != a.itemsize:
        a = onp.ascontiguousarray(a)  # the strides of a value may differ from those of NumPy's view
    found: onp.ndarray[Any, Any] = a.view(dtype)
    return found


__all__ = ["byteswap", "reinterpret"]
