"""What functions of pictures share: the layout they expect, where they draw, and the luma of a
colour.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Value
from npcompat._internal.dispatch import handles
from npcompat.numpy import random
from npcompat.numpy._creation import asarray
from npcompat.numpy._typing import ArrayLike

LUMA = (0.299, 0.587, 0.114)
"""Shares of red, green and blue in the luma (ITU-R BT.601)."""


def host_picture(values: onp.ndarray[Any, Any]) -> Any:
    """An array on the host, where pictures stay until they are put together to a batch; it takes
    the NumPy array over.
    """
    return handles.wrap(Value(values))


def pictures(data: ArrayLike, what: str) -> Any:
    """A picture (H, W, C) or a batch of them (N, H, W, C) as an array; an error for anything else."""
    data = asarray(data)
    if data.ndim not in (3, 4):
        raise ValueError(
            f"{what}: expected a picture (H, W, C) or a batch (N, H, W, C), got shape {data.shape}"
        )
    return data


def coloured(data: ArrayLike, what: str) -> Any:
    """As `pictures`, of 1 or 3 channels."""
    data = pictures(data, what)
    if data.shape[-1] not in (1, 3):
        raise ValueError(
            f"{what}: expected 1 or 3 channels along the last axis, got shape {data.shape}"
        )
    return data


def beside(data: Any) -> AbstractContextManager[None]:
    """A context in which new arrays are placed where the values of an array are.

    Decoded pictures lie on the host, whatever the policy says: what is drawn and computed for them
    stays there, so that pictures of many sizes compile nothing.
    """
    if modes.current().trace is not None:
        return nullcontext()
    on_host = type(handles.read(data).payload) is onp.ndarray
    return modes.changed(backend="numpy" if on_host else "jax")


def uniform(data: Any, low: float, high: float, size: tuple[int, ...] = ()) -> Any:
    """Uniform numbers for each picture of a batch, in the shape `(N, *size)`; for a single picture
    `size`.
    """
    with beside(data):
        return random.uniform(low, high, (*data.shape[:-3], *size))


def saturated(xp: Any, values: Any, dtype: onp.dtype[Any]) -> Any:
    """Values in a dtype; for integers rounded, halves up, and kept within its range."""
    if dtypes.is_float(dtype):
        return xp.astype(values, dtype)
    if dtype == onp.bool_:
        return values >= 0.5
    limits = onp.iinfo(dtype)
    return xp.astype(xp.clip(xp.floor(values + 0.5), limits.min, limits.max), dtype)


def working(dtype: onp.dtype[Any]) -> onp.dtype[Any]:
    """The dtype in which pictures are computed with: float32, or float64 where that is too narrow."""
    return onp.dtype(
        "float64" if dtype.itemsize >= 4 and dtype != onp.dtype("float32") else "float32"
    )


__all__ = [
    "LUMA",
    "beside",
    "coloured",
    "host_picture",
    "pictures",
    "saturated",
    "uniform",
    "working",
]
