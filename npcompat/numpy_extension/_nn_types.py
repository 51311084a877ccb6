"""Type rules that network operators share, and what data says of the shapes of parameters."""

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
    """The dtype in which sums over many elements are made: floats of 16 bits or less are summed in
    float32.
    """
    return float32 if dtypes.is_float(dtype) and dtype.itemsize < 4 else dtype


def widened(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """All inputs are floats of one dtype; 16-bit ones are computed with in float32, and the result
    has 16 bits again.
    """
    dtype = dtypes.floating(types)[1]
    return [working_dtype(dtype)] * len(types), dtype


def positioned(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """The first input keeps its dtype, which is the output's; the others are positions."""
    dtype = dtypes.strong(types[0])
    return [dtype, *[int64] * (len(types) - 1)], dtype


def length(of: TensorType, axis: int) -> Any:
    """The length of an axis, None if it is not known."""
    return (
        None if of.shape is None or not -len(of.shape) <= axis < len(of.shape) else of.shape[axis]
    )


def per_channel(types: Sequence[TensorType], attrs: Mapping[str, Any]) -> list[TensorType]:
    """All inputs but the data, whose channels lie along `axis` (1), are vectors with an entry for
    each channel.
    """
    return [
        TensorType(),
        *[TensorType((length(types[0], attrs.get("axis", 1)),)) for _ in types[1:]],
    ]


def declared(parameter: Any, shape: tuple[int | None, ...]) -> bool:
    """Whether a parameter is a variable of a graph whose shape is not known; it becomes this one
    (None: follows from the data).
    """
    if type(parameter) is not late_bound.symbol or parameter.type.shape is not None:
        return False
    known: bool = handles.read(parameter).payload.refine(TensorType(shape))
    return known
