"""Loops of operators on the host."""

from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("for_each", backend="numpy")
def for_each(step: Callable[..., Any], *arrays: Any) -> Any:
    """Stack the results of a function of slices along the leading axes; there must be some."""
    return onp.stack([step(*slices) for slices in zip(*arrays, strict=True)])


@register_kernel("sum_over", backend="numpy")
def sum_over(step: Callable[..., Any], *arrays: Any) -> Any:
    """Sum the results of a function of slices along the leading axes."""
    return sum(step(*slices) for slices in zip(*arrays, strict=True))


@register_kernel("for_range", backend="numpy")
def for_range(count: int, step: Callable[[Any, Any], Any], state: Any) -> Any:
    """Run `state = step(i, state)` for each number below the count."""
    for i in range(count):
        state = step(i, state)
    return state
