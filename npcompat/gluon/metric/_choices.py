"""What scores choose, and choices as zeros and ones."""

from typing import Any

import npcompat.numpy as np
from npcompat.gluon.metric._base import Array
from npcompat.numpy._typing import ArrayLike


def predict_with_threshold(pred: Any, threshold: Any = 0.5) -> Any:
    """Which classes are predicted: those whose scores are above a threshold.

    Parameters
    ----------
    pred : ndarray, shape (..., K)
        Scores.
    threshold : float or ndarray of shape (K,)
        One threshold, or one for each class.

    Raises
    ------
    ValueError
        If there is not one for each class.

    Examples
    --------
    >>> gluon.metric.predict_with_threshold(np.array([[0.2, 0.7]]), np.array([0.1, 0.8]))
    array([[ True, False]])
    """
    shape = getattr(threshold, "shape", ())
    if shape and shape[-1] != pred.shape[-1]:
        raise ValueError(
            f"predict_with_threshold: threshold of shape {shape} has not one entry for each class "
            f"of pred, of shape {pred.shape}"
        )
    return pred > threshold


def one_hot(idx: ArrayLike, num: int) -> Any:
    """Zeros, with a one at the class of each sample.

    Parameters
    ----------
    idx : array_like of int, shape (N,)
        Classes.
    num : int
        How many classes there are.

    Examples
    --------
    >>> gluon.metric.one_hot([1, 0], 3)
    array([[0, 1, 0],
           [1, 0, 0]], dtype=int32)
    """
    return (np.asarray(idx)[:, None] == np.arange(num)).astype("int32")


def chosen_of(label: Array, pred: Array, threshold: Any) -> Array:
    """Whether yes is predicted, from a score for each sample or from one for no and one for yes."""
    chosen: Array = (
        pred.argmax(axis=-1) == 1
        if pred.ndim > label.ndim and pred.shape[-1] == 2
        else predict_with_threshold(pred, threshold)
    )
    return chosen


__all__ = ["chosen_of", "one_hot", "predict_with_threshold"]
