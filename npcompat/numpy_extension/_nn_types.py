"""Type rules that network operators share."""

from collections.abc import Mapping
from typing import Any

import numpy as onp

from npcompat._internal import dtypes
from npcompat._internal.dtypes import Resolution, Type

float32 = onp.dtype("float32")
int64 = onp.dtype("int64")


def working_dtype(dtype: onp.dtype[Any]) -> onp.dtype[Any]:
    """The dtype in which sums over many elements are made: floats of 16 bits or less are summed in float32."""
    return float32 if dtypes.is_float(dtype) and dtype.itemsize < 4 else dtype


def widened(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """All inputs are floats of one dtype; 16-bit ones are computed with in float32, and the result has 16 bits again."""
    dtype = dtypes.floating(types)[1]
    return [working_dtype(dtype)] * len(types), dtype


def positioned(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """The first input keeps its dtype, which is the output's; the others are positions."""
    dtype = dtypes.strong(types[0])
    return [dtype, *[int64] * (len(types) - 1)], dtype
