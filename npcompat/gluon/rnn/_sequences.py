"""Conversion between lists of steps and arrays of sequences, and masking by lengths."""

from collections.abc import Sequence
from typing import Any

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.numpy._ndarray import ndarray


def axis_of_time(layout: str) -> int:
    """Return the index of the time axis in a layout; the batch is the other of the first two."""
    if layout not in ("NTC", "TNC"):
        raise ValueError(f"layout: expected 'NTC' or 'TNC', got {layout!r}")
    return layout.index("T")


def as_steps(length: int | None, inputs: Any, layout: str) -> list[Any]:
    """Split sequences into a list of steps; lists of steps are checked."""
    axis = axis_of_time(layout)
    if isinstance(inputs, np.ndarray):
        if inputs.ndim < 2:
            raise ValueError(
                f"unroll: inputs of layout {layout} need at least two axes, got shape "
                f"{inputs.shape}"
            )
        steps = [inputs[t] if axis == 0 else inputs[:, t] for t in range(inputs.shape[axis])]
    else:
        steps = list(inputs)
    if length is not None and length != len(steps):
        raise ValueError(f"unroll: length is {length}, but inputs have {len(steps)} steps")
    if not steps:
        raise ValueError("unroll: inputs have no steps, so the shape of the outputs is unknown")
    return steps


def merged(steps: Sequence[Any], layout: str) -> ndarray:
    """Stack the steps into one array."""
    return np.stack(list(steps), axis=axis_of_time(layout))


def last_of(steps: Sequence[Any], lengths: Any, first: Any) -> ndarray:
    """Select the last step of each sequence; `first` for empty sequences."""
    return np.stack([first, *steps])[lengths, np.arange(len(lengths))]


def masked(steps: Sequence[Any], lengths: Any) -> list[Any]:
    """Zero the steps after the end of each sequence."""
    return list(npx.sequence_mask(np.stack(list(steps)), lengths, use_sequence_length=True))


def turned(steps: Sequence[Any], lengths: Any) -> list[Any]:
    """Reverse the steps of each sequence up to its length; later steps stay in place."""
    if lengths is None:
        return list(steps)[::-1]
    time = np.arange(len(steps))[:, None]
    return list(
        np.stack(list(steps))[
            np.where(time < lengths, lengths - 1 - time, time), np.arange(len(lengths))
        ]
    )
