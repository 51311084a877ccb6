"""Bytes of elements, as operators' computes see them on the host."""

from typing import Any

import numpy as onp


def byteswap(a: onp.ndarray[Any, Any]) -> onp.ndarray[Any, Any]:
    """The elements with their bytes in the other order."""
    return a.byteswap()


__all__ = ["byteswap"]
