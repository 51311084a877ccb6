"""Check of labels that are numbers of classes."""

from typing import Any

import numpy as onp

from npcompat._internal.core.op import REQUIRED, operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy_extension._checks import raise_if


@operator(
    "_npx_any_wrong_label",
    pattern="reduction",
    scalars=True,
    differentiable=False,
    rule=lambda types, attrs: ([None] * len(types), onp.dtype(bool)),
)
def _any_wrong_label(
    xp: Any, label: Any, *where: Any, classes: int = REQUIRED, ignored: Any = None
) -> Any:
    """True if any label is no number of a class.

    Parameters
    ----------
    label : array
        Numbers of classes.
    where : array of bool, optional
        True for the labels that are checked.
    classes : int
        Number of classes.
    ignored : int, optional
        Label that is right besides.
    """
    if label.dtype.kind in "biu":  # classes and what is ignored may lie beyond a narrow dtype
        label = xp.astype(label, onp.int64)
    right = (label > -1) & (label < classes)
    if ignored is not None:
        right = right | (label == ignored)
    if where:
        right = right | xp.logical_not(where[0])
    return xp.logical_not(xp.all(right))


def check_labels(loss: str, label: Any, classes: int, ignored: Any) -> None:
    """Raise IndexError if a label of a loss is no number of a class; on XLA at the next read."""
    raise_if(
        apply(_any_wrong_label, (label,), (classes, ignored)),
        IndexError,
        f"{loss}: label: expected numbers of classes, from 0 to {classes - 1}"
        + ("" if ignored is None else f", or ignore_index={ignored}"),
    )


__all__ = ["check_labels"]
