"""Shared by image functions: expected layouts, placement of random draws, luma weights."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Value
from npcompat._internal.dispatch import handles
from npcompat.numpy import random
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike

LUMA = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in the luma (ITU-R BT.601)."""


def host_picture(values: onp.ndarray[Any, Any]) -> ndarray:
    """Wrap a NumPy array as an array on the host, without a copy.

    Images stay on the host until they are collated to a batch.
    """
    return handles.wrap(Value(values))


def pictures(data: ArrayLike, what: str) -> ndarray:
    """Return an image (H, W, C) or a batch (N, H, W, C) as an array; raise for other shapes."""
    data = asarray(data)
    if data.ndim not in (3, 4):
        raise ValueError(
            f"{what}: expected a picture (H, W, C) or a batch (N, H, W, C), got shape {data.shape}"
        )
    return data


def coloured(data: ArrayLike, what: str) -> ndarray:
    """Return images as `pictures` does; raise unless they have 1 or 3 channels."""
    data = pictures(data, what)
    if data.shape[-1] not in (1, 3):
        raise ValueError(
            f"{what}: expected 1 or 3 channels along the last axis, got shape {data.shape}"
        )
    return data


def on_backend_of(data: Any) -> AbstractContextManager[None]:
    """Context manager that places new arrays on the backend of an array.

    Decoded images stay on the host under any policy. Their draws and computations stay there, too,
    so that images of many sizes compile nothing.
    """
    if modes.current().trace is not None:
        return nullcontext()
    on_host = type(handles.read(data).payload) is onp.ndarray
    return modes.changed(backend="numpy" if on_host else "jax")


def uniform(data: Any, low: float, high: float, size: tuple[int, ...] = ()) -> ndarray:
    """Draw uniform numbers of shape `(N, *size)` for a batch, `size` for a single image."""
    with on_backend_of(data):
        return random.uniform(low, high, (*data.shape[:-3], *size))


def saturated(xp: Any, values: Any, dtype: onp.dtype[Any]) -> Any:
    """Cast values to a dtype; integers are rounded half up and clipped to their range."""
    if dtypes.is_float(dtype):
        return xp.astype(values, dtype)
    if dtype == onp.bool_:
        return values >= 0.5
    limits = onp.iinfo(dtype)
    return xp.astype(xp.clip(xp.floor(values + 0.5), limits.min, limits.max), dtype)


def working(dtype: onp.dtype[Any]) -> onp.dtype[Any]:
    """Return the dtype of computations: float32, or float64 where that is too narrow."""
    return onp.dtype(
        "float64" if dtype.itemsize >= 4 and dtype != onp.dtype("float32") else "float32"
    )


__all__ = [
    "LUMA",
    "coloured",
    "host_picture",
    "on_backend_of",
    "pictures",
    "saturated",
    "uniform",
    "working",
]
