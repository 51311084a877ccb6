"""Backend of einops for npcompat's arrays: rearrange, reduce, repeat, pack and einsum.

einops finds the subclasses of its `AbstractBackend` by itself.
"""

from typing import Any

from einops._backends import AbstractBackend

from npcompat import np
from npcompat._internal.core.handle import Handle


class NpcompatBackend(AbstractBackend):  # type: ignore[misc]
    """Operations on npcompat's arrays, recorded and traced as all of theirs."""

    framework_name = "npcompat"

    def is_appropriate_type(self, tensor: Any) -> bool:
        """Return True for arrays of npcompat."""
        return isinstance(tensor, Handle)

    def from_numpy(self, x: Any) -> Any:
        """Convert from NumPy."""
        return np.asarray(x)

    def to_numpy(self, x: Any) -> Any:
        """Convert to NumPy."""
        return x.asnumpy()

    def arange(self, start: int, stop: int) -> Any:
        """Return the integers from `start` to `stop`."""
        return np.arange(start, stop)

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        """Stack arrays along a new first axis."""
        return np.stack(tensors)

    def tile(self, x: Any, repeats: Any) -> Any:
        """Repeat an array along its axes."""
        return np.tile(x, repeats)

    def concat(self, tensors: list[Any], axis: int) -> Any:
        """Join arrays along an axis."""
        return np.concatenate(tensors, axis=axis)

    def is_float_type(self, x: Any) -> bool:
        """Return True for arrays of floats, whose mean einops takes."""
        return str(x.dtype) in ("float16", "float32", "float64", "bfloat16")

    def add_axis(self, x: Any, new_position: int) -> Any:
        """Insert an axis of length 1."""
        return np.expand_dims(x, new_position)

    def einsum(self, pattern: str, *x: Any) -> Any:
        """Sum products by Einstein's notation."""
        return np.einsum(pattern, *x)


__all__ = ["NpcompatBackend"]
