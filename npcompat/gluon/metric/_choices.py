"""Predicted classes from scores, and one-hot encoding."""

from typing import Any, TypeVar

import npcompat.numpy as np
from npcompat.gluon.metric._base import Array
from npcompat.numpy._typing import ArrayLike

_Array = TypeVar("_Array", Array, np.ndarray)


def predict_with_threshold(pred: _Array, threshold: Any = 0.5) -> _Array:
    """Return True for classes whose scores are above a threshold.

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


def one_hot(idx: ArrayLike, num: int) -> np.ndarray:
    """One-hot encoding of class indices.

    Parameters
    ----------
    idx : array_like of int, shape (N,)
        Classes.
    num : int
        Number of classes.

    Examples
    --------
    >>> gluon.metric.one_hot([1, 0], 3)
    array([[0, 1, 0],
           [1, 0, 0]], dtype=int32)
    """
    return (np.asarray(idx)[:, None] == np.arange(num)).astype("int32")


def chosen_of(label: Array, pred: Array, threshold: Any) -> Array:
    """Return binary predictions from one score per sample, or from scores of both classes."""
    chosen: Array = (
        pred.argmax(axis=-1) == 1
        if pred.ndim > label.ndim and pred.shape[-1] == 2
        else predict_with_threshold(pred, threshold)
    )
    return chosen


__all__ = ["chosen_of", "one_hot", "predict_with_threshold"]
