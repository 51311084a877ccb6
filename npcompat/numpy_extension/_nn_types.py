"""Type rules of network operators, and inference of parameter shapes from data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch import handles, late_bound

float32 = onp.dtype("float32")
int64 = onp.dtype("int64")


def working_dtype(dtype: onp.dtype[Any]) -> onp.dtype[Any]:
    """Return the dtype of sums over many elements: float32 for floats of 16 bits or less."""
    return float32 if dtypes.is_float(dtype) and dtype.itemsize < 4 else dtype


def widened(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule: all inputs are floats of one dtype; 16-bit ones are computed in float32.

    The result of 16-bit inputs has 16 bits again.
    """
    dtype = dtypes.floating(types)[1]
    return [working_dtype(dtype)] * len(types), dtype


def positioned(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule: the first input keeps its dtype, which is the output's; the others are indices."""
    dtype = dtypes.strong(types[0])
    return [dtype, *[int64] * (len(types) - 1)], dtype


def length(of: TensorType, axis: int) -> Any:
    """Return the length of an axis; None if unknown."""
    return (
        None if of.shape is None or not -len(of.shape) <= axis < len(of.shape) else of.shape[axis]
    )


def per_channel(types: Sequence[TensorType], attrs: Mapping[str, Any]) -> list[TensorType]:
    """Complete partly known types: all inputs but the data are vectors of one entry per channel.

    Channels of the data lie along `axis` (1).
    """
    return [
        TensorType(),
        *[TensorType((length(types[0], attrs.get("axis", 1)),)) for _ in types[1:]],
    ]


def declared(parameter: Any, shape: tuple[int | None, ...]) -> bool:
    """Refine the shape of a graph variable whose shape is unknown; return True if it was one.

    None in the shape is a length that follows from the data.
    """
    if type(parameter) is not late_bound.symbol or parameter.type.shape is not None:
        return False
    known: bool = handles.read(parameter).payload.refine(TensorType(shape))
    return known
