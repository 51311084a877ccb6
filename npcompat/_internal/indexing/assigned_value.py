"""Assigned values: the right side of `a[key] = new`, broadcast and cast to the part it replaces."""

from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like, execution, masked_array
from npcompat._internal.dispatch.placement import new_value
from npcompat._internal.indexing.checks import checked_scalar


@operator("_npi_fit", pattern="broadcast", rule=lambda types, attrs: ([None], attrs["dtype"]))
def _fit(xp: Any, new: Any, *, shape: Any, dtype: Any) -> Any:
    """Broadcast and cast a value to the part of an array that it replaces.

    Leading axes of length 1 may be too many.

    Parameters
    ----------
    dtype : dtype
        Dtype of the result.
    """
    new = xp.asarray(new)
    extra = new.ndim - len(shape)
    if extra > 0 and new.shape[:extra] == (1,) * extra:
        new = xp.reshape(new, new.shape[extra:])
    if new.ndim > len(shape) or any(
        n not in (1, s) for n, s in zip(new.shape[::-1], shape[::-1], strict=False)
    ):
        raise ValueError(
            f"could not broadcast input array from shape {new.shape} into shape {shape}".replace(
                ", ", ","
            )
        )
    return xp.broadcast_to(xp.astype(new, dtype), shape)


def fitted(new: Any, shape: tuple[int, ...], dtype: onp.dtype[Any]) -> Value:
    """Return the value of an array-like, broadcast and cast to the part that it replaces."""
    if not isinstance(new, Handle) and type(new) not in (int, float, bool, complex):
        new = listed(new, dtype)
    value = array_like.as_value(new)
    payload = value.payload
    if hasattr(payload, "dtype") and payload.dtype == dtype and payload.shape == shape:
        node = (
            value.node if modes.current().recording else None
        )  # while nothing is recorded, the value is a constant
        return new_value(payload, node, value.index)
    if type(payload) in (int, float, complex):
        checked_scalar(payload, dtype)
    elif type(payload) is not bool:
        dtypes.warn_of_lost_parts(payload.dtype, dtype, 5)
    if type(payload) is masked_array.MaskedPayload and payload.shape == shape:
        whole = payload.values
        return payload.alike(execution.run(_fit, [whole], (whole.payload.shape, dtype)))
    result: Value = execution.run(_fit, [value], (shape, dtype))
    return result


def listed(new: Any, dtype: onp.dtype[Any]) -> Any:
    """Return an array of assigned lists or texts.

    Lists and texts are converted to the dtype of the written array at once, which raises an error
    for numbers that don't fit. Other array-likes keep their dtype.
    """
    wanted = dtype if isinstance(new, list | tuple | range | str | bytes) else None
    found = array_like.joined(new, wanted)
    if isinstance(found, Handle):
        return found
    return array_like.array_of(array_like.owned(found, new))  # it may become the array's value
