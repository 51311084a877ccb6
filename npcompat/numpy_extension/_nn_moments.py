"""Moments of arrays, and the parts that all normalizations share."""

import math
from collections.abc import Mapping
from typing import Any

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat.numpy_extension._nn_types import working_dtype


def with_statistics(outputs: int, operands: int | None = None) -> Any:
    """Type rule: the result has the data's dtype, statistics that of the computation.

    Masks follow the first `operands` inputs.
    """

    def rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
        dtype = dtypes.floating(types[:1])[1]
        others = types[1:operands]
        working = dtypes.result_type(
            [working_dtype(dtype), *[working_dtype(dtypes.floating((t,))[1]) for t in others]]
        )
        found = dtype if outputs == 1 else (dtype, *[working] * (outputs - 1))
        return [working] * (1 + len(others)) + [None] * (len(types) - 1 - len(others)), found

    return rule


def moments(xp: Any, x: Any, axes: tuple[int, ...], where: Any = True) -> tuple[Any, Any]:
    """Return mean and variance over axes, of the elements that a mask selects.

    While gradients are recorded, squares are taken about the detached mean c, and the square of
    mean - c, which is 0, is subtracted. The variance is the same for any constant c, so all its
    derivatives are right; and none of them needs a pass over all elements for the mean's sake.
    """
    if where is True:
        count = xp.asarray(max(math.prod([x.shape[a] for a in axes]), 1), x.dtype)
    else:
        where = xp.broadcast_to(where, x.shape)
        count = xp.maximum(xp.sum(xp.astype(where, x.dtype), axis=axes), xp.asarray(1, x.dtype))
    mean = xp.sum(x, axis=axes, where=where) / count
    centre, distance = xp.about(mean)
    variance = xp.sum(xp.square(x - xp.unsqueeze(centre, axes)), axis=axes, where=where) / count
    return mean, variance if distance is None else variance - xp.square(distance)


def deviation(xp: Any, variance: Any, eps: float) -> Any:
    return xp.sqrt(variance + xp.asarray(eps, variance.dtype))


def normalizing(xp: Any, variance: Any, eps: float) -> Any:
    """Return the reciprocal standard deviation, the factor of deviations from the mean."""
    return xp.rsqrt(variance + xp.asarray(eps, variance.dtype))


def scaled(
    xp: Any,
    x: Any,
    mean: Any,
    variance: Any,
    gamma: Any,
    beta: Any,
    eps: float,
    axes: tuple[int, ...],
    given: bool,
) -> Any:
    """Normalize over axes, with one variance for each gamma.

    Deviations are taken about a constant, as in `moments`, unless the moments are `given`.
    """
    scale = gamma * normalizing(xp, variance, eps)
    centre, distance = (mean, None) if given else xp.about(mean)
    shift = beta if distance is None else beta - distance * scale
    centre, scale, shift = [xp.unsqueeze(v, axes) for v in (centre, scale, shift)]
    return (x - centre) * scale + shift


def along(xp: Any, vector: Any, axis: int, ndim: int, what: str, length: int) -> Any:
    """Reshape a vector with one entry per channel so that it broadcasts along the channel axis."""
    check_length(vector, axis, what, length)
    return xp.unsqueeze(vector, other_axes(axis, ndim))


def check_length(vector: Any, axis: int, what: str, length: int) -> None:
    if vector.shape != (length,):
        raise ValueError(
            f"{what}: expected shape ({length},), one entry for each position along axis {axis}, "
            f"got {vector.shape}"
        )


def other_axes(axis: int, ndim: int) -> tuple[int, ...]:
    return tuple([i for i in range(ndim) if i != axis])
