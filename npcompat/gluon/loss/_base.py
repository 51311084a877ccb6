"""Base class of losses."""

from typing import Any

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat._internal.support.errors import InferenceError
from npcompat.gluon.block import HybridBlock

TINY = 1e-12
"""Addend inside of logarithms and divisions."""


def _known_shape(x: Any) -> tuple[int, ...] | None:
    """Return the shape of an array; None for a symbol of unknown shape."""
    try:
        return x.shape if hasattr(x, "shape") else np.shape(x)
    except InferenceError:
        return None


class Loss(HybridBlock):
    """Base class of losses.

    Parameters
    ----------
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples; the loss is averaged over all others.
    """

    def __init__(self, weight: float | None, batch_axis: int) -> None:
        super().__init__()
        self._weight, self._batch_axis = weight, int(batch_axis)

    def _misfit(self, argument: str, given: Any, expected: str) -> ValueError:
        return ValueError(
            f"{type(self).__name__}: {argument}: expected {expected}, got shape "
            f"{_known_shape(given)}"
        )

    def _like(self, argument: str, given: Any, other: Any, name: str = "pred") -> Any:
        """Reshape an argument to the shape of another one."""
        try:
            return npx.reshape_like(given, other)
        except InferenceError:
            raise
        except ValueError as error:
            raise self._misfit(
                argument, given, f"as many elements as {name} of shape {_known_shape(other)} has"
            ) from error

    def _weighted(self, loss: Any, sample_weight: Any) -> Any:
        if sample_weight is not None:
            loss = self._times(loss, "sample_weight", sample_weight)
        return loss if self._weight is None else loss * self._weight

    def _times(self, loss: Any, argument: str, weights: Any) -> Any:
        """Multiply elements by weights.

        Weights with more elements than the loss would change the set that the mean is taken over:
        they raise.
        """
        cause = None
        try:
            weighted = loss * weights
            fits = _known_shape(weighted) in (None, _known_shape(loss))
        except ValueError as error:
            fits, cause = False, error
        if not fits:
            shape = _known_shape(loss)
            raise self._misfit(
                argument,
                weights,
                f"a shape that broadcasts to {shape}, that of the loss of each element",
            ) from cause
        return weighted

    def _mean(self, loss: Any, sample_weight: Any) -> Any:
        """Weight the loss, and average it over each sample."""
        loss = self._weighted(loss, sample_weight)
        return loss.mean(axis=self._other_axes(loss))

    def _other_axes(self, loss: Any) -> tuple[int, ...]:
        axis = self._batch_axis % loss.ndim if loss.ndim else 0
        return tuple(i for i in range(loss.ndim) if i != axis)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"


__all__ = ["Loss"]
