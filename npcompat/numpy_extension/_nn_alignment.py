"""Connectionist temporal classification (CTC) loss."""

from collections.abc import Mapping
from typing import Any

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_types import int64, working_dtype

_IMPOSSIBLE = -1e30
"""Log probability of impossible events; finite, so that its derivative is 0 instead of nan."""


def _types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule: scores are computed at least in float32; the other inputs are integers."""
    dtype = dtypes.floating(types[:1])[1]
    return [working_dtype(dtype), *[int64] * (len(types) - 1)], dtype


@operator("_npx_ctc_loss", rule=_types, prefers_xla=True)
def _ctc_loss(
    xp: Any, data: Any, label: Any, *lengths: Any, measured: tuple[bool, bool], blank_first: bool
) -> Any:
    """Connectionist temporal classification (CTC) loss: -log P(labels).

    The states are: nothing seen yet, then blank, first label, blank, second label, ..., blank. A
    step stays, goes to the next state, or skips a blank between different labels.

    Parameters
    ----------
    *lengths : array of int
        Lengths of the data, of the labels, or both.
    measured : tuple of bool
        Whether lengths of the data and of the labels are among the inputs.
    blank_first : bool
        Whether the blank is the first class, instead of the last.
    """
    if data.ndim != 3 or label.ndim != 2 or label.shape[0] != data.shape[1] or not data.shape[2]:
        raise ValueError(
            "ctc_loss: expected data with axes time, batch and class, and labels with axes batch "
            f"and place; got shapes {data.shape} "
            f"and {label.shape}"
        )
    if any(n.shape != label.shape[:1] for n in lengths):
        raise ValueError(
            f"ctc_loss: lengths must have shape {label.shape[:1]}, got "
            f"{' and '.join(str(n.shape) for n in lengths)}"
        )
    steps, samples, classes = data.shape
    blank, padding = (0, 0) if blank_first else (classes - 1, -1)
    remaining = iter(lengths)
    ends = next(remaining) if measured[0] else xp.full((samples,), steps)
    counts = (
        next(remaining) if measured[1] else xp.sum(xp.cumsum(label == padding, axis=1) == 0, axis=1)
    )

    pairs = xp.reshape(
        xp.stack([xp.full_like(label, blank), label], axis=2), (samples, 2 * label.shape[1])
    )
    states = xp.concatenate([pairs, xp.full((samples, 1), blank, label.dtype)], axis=1)
    over = xp.concatenate(
        [
            xp.ones_like(states[:, :2], dtype=bool),
            (states[:, 2:] != states[:, :-2]) & (states[:, 2:] != blank),
        ],
        axis=1,
    )
    over = xp.concatenate([xp.zeros_like(over[:, :1]), over], axis=1)

    low = xp.asarray(_IMPOSSIBLE, data.dtype)
    scores = data - xp.max(data, axis=2, keepdims=True)
    scores = scores - xp.log(xp.sum(xp.exp(scores), axis=2, keepdims=True))
    scores = xp.take_along(
        scores, xp.broadcast_to(xp.clip(states, 0, classes - 1), (steps, *states.shape)), 2
    )
    scores = xp.where((states >= 0) & (states < classes), scores, low)
    scores = xp.concatenate([xp.full_like(scores[:, :, :1], low), scores], axis=2)
    never = xp.full_like(scores[0, :, :1], low) if steps else xp.full((samples, 1), low)

    def step(reached: Any, at: Any) -> tuple[Any, None]:
        time, score = at
        one = xp.concatenate([never, reached[:, :-1]], axis=1)
        two = xp.concatenate([never, one[:, :-1]], axis=1)
        following = score + xp.logaddexp(xp.logaddexp(reached, one), xp.where(over, two, low))
        return xp.where((time < ends)[:, None], following, reached), None

    begin = xp.concatenate([xp.zeros_like(never), *[never] * states.shape[1]], axis=1)
    reached, _ = xp.scan(step, begin, (xp.arange(steps), scores))
    last = xp.clip(2 * counts, 0, states.shape[1] - 1)[:, None]
    total = xp.logaddexp(xp.take_along(reached, last, 1), xp.take_along(reached, last + 1, 1))[:, 0]
    return xp.where(total > low / 2, -total, xp.asarray(xp.inf, data.dtype))


def ctc_loss(
    data: ArrayLike,
    label: ArrayLike,
    data_lengths: ArrayLike | None = None,
    label_lengths: ArrayLike | None = None,
    use_data_lengths: bool = False,
    use_label_lengths: bool = False,
    blank_label: str = "first",
) -> ndarray:
    """Connectionist temporal classification (CTC) loss of labels (Graves et al., 2006).

    A path assigns each step a class, or blank; its labels are what remains after merging equal
    neighbors and removing blanks. The loss is the negative log probability of all paths with the
    given labels.

    Parameters
    ----------
    data : array_like, shape (T, N, K)
        Logits of K classes, of which one is the blank; softmax is applied to them.
    label : array_like of int, shape (N, L)
        Labels.
    data_lengths : array_like of int, shape (N,), optional
        Numbers of steps; all if not given.
    label_lengths : array_like of int, shape (N,), optional
        Numbers of labels; those before the first padding if not given.
    use_data_lengths, use_label_lengths : bool
        Must be True if these lengths are given.
    blank_label : {'first', 'last'}
        'first': the blank is class 0, and labels are padded with 0; 'last': it is class K - 1, and
        labels are padded with -1.

    Returns
    -------
    ndarray, shape (N,)
        The losses; infinite, with gradient zero, if there is no path, because there are too few
        steps or a label is no class.

    Examples
    --------
    >>> round(float(npx.ctc_loss(np.zeros((2, 1, 3)), [[1]])[0]), 4)
    1.0986
    """
    if blank_label not in ("first", "last"):
        raise ValueError(f"ctc_loss: blank_label must be 'first' or 'last', got {blank_label!r}")
    for name, used, lengths in (
        ("data", use_data_lengths, data_lengths),
        ("label", use_label_lengths, label_lengths),
    ):
        if used != (lengths is not None):
            raise ValueError(
                f"ctc_loss: use_{name}_lengths={used}, but {name}_lengths is "
                f"{'missing' if lengths is None else 'given'}"
            )
    given = [lengths for lengths in (data_lengths, label_lengths) if lengths is not None]
    return apply(
        _ctc_loss,
        [data, label, *given],
        ((bool(use_data_lengths), bool(use_label_lengths)), blank_label == "first"),
    )


__all__ = ["ctc_loss"]
