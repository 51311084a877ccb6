"""Losses of embeddings: distances between matching and other vectors."""

import math

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.loss._base import TINY, Loss
from npcompat.numpy._ndarray import ndarray


class TripletLoss(Loss):
    """Triplet loss: distance to a positive example minus distance to a negative one.

    A margin is added, and negative results become 0. Called with predictions, positive and negative
    examples with as many elements, and optionally weights of samples. Squared distances are summed
    over each sample.

    Parameters
    ----------
    margin : float
        The margin.
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples.

    Examples
    --------
    >>> gluon.loss.TripletLoss()(np.array([[0.0]]), np.array([[1.0]]), np.array([[2.0]]))
    array([0.])
    """

    def __init__(self, margin: float = 1, weight: float | None = None, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._margin = margin

    def forward(
        self,
        pred: ndarray,
        positive: ndarray,
        negative: ndarray,
        sample_weight: ndarray | None = None,
    ) -> ndarray:
        """Compute the loss of each sample."""
        near = np.square(self._like("positive", positive, pred) - pred)
        far = np.square(self._like("negative", negative, pred) - pred)
        distance = near - far
        return self._weighted(
            npx.relu(distance.sum(axis=self._other_axes(distance)) + self._margin), sample_weight
        )


class CosineEmbeddingLoss(Loss):
    """Cosine embedding loss: 1 - cosine for matching vectors, the cosine above a margin for others.

    Called with two batches of vectors, labels (1: matching, -1: not), and optionally weights of
    samples.

    Parameters
    ----------
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples.
    margin : float
        The margin.

    Examples
    --------
    >>> a, b = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    >>> gluon.loss.CosineEmbeddingLoss()(a, b, np.array([1]))
    array([1.])
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, margin: float = 0) -> None:
        super().__init__(weight, batch_axis)
        self._margin = margin

    def forward(
        self, input1: ndarray, input2: ndarray, label: ndarray, sample_weight: ndarray | None = None
    ) -> ndarray:
        """Compute the loss of each sample."""
        input1 = self._like("input1", input1, input2, "input2")
        squares = np.square(input1).sum(axis=-1) * np.square(input2).sum(axis=-1)
        cosine = (input1 * input2).sum(axis=-1) / np.sqrt(np.maximum(squares, TINY))
        label = self._like("label", label, cosine, "the cosine")
        loss = np.where(label == 1, 1.0 - cosine, npx.relu(cosine - self._margin))
        return self._mean(loss, sample_weight)


class SDMLLoss(Loss):
    """Smoothed deep metric learning loss (SDML; Bonadiman et al., 2019).

    Called with two batches of vectors; those at the same index match, all other pairs are negative
    examples. The loss is the Kullback-Leibler divergence of the softmax of the negative squared
    distances from the smoothed labels.

    Parameters
    ----------
    smoothing_parameter : float
        Label smoothing: the share of the probability that is spread over the other vectors.
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples; must be 0.

    Examples
    --------
    >>> a = np.array([[0.0, 0.0], [9.0, 9.0]])
    >>> gluon.loss.SDMLLoss(smoothing_parameter=0.0)(a, a)
    array([0., 0.])
    """

    def __init__(
        self, smoothing_parameter: float = 0.3, weight: float | None = 1.0, batch_axis: int = 0
    ) -> None:
        super().__init__(weight, batch_axis)
        if not 0 <= smoothing_parameter <= 1:
            raise ValueError(
                f"SDMLLoss: smoothing_parameter must be between 0 and 1, got {smoothing_parameter}"
            )
        if batch_axis != 0:
            raise ValueError(f"SDMLLoss: batch_axis must be 0, got {batch_axis}")
        self._smoothing = float(smoothing_parameter)

    def forward(self, x1: ndarray, x2: ndarray) -> ndarray:
        """Compute the loss of each sample of the first batch."""
        if x1.ndim != 2 or x1.shape != x2.shape:
            raise ValueError(
                f"SDMLLoss: expected two batches of vectors of one shape (N, C), got {x1.shape} "
                f"and {x2.shape}"
            )
        others = max(len(x1) - 1, 1)
        spread = self._smoothing if len(x1) > 1 else 0.0
        same = np.eye(len(x1), dtype=x1.dtype)
        truth = same * (1 - spread) + (1 - same) * (spread / others)
        entropy = -sum(p * math.log(p / n) for p, n in ((1 - spread, 1), (spread, others)) if p)
        distances = np.square(np.expand_dims(x1, 1) - np.expand_dims(x2, 0)).sum(axis=2)
        return self._weighted(
            -(truth * npx.log_softmax(-distances, axis=1)).sum(axis=1) - entropy, None
        )


__all__ = ["CosineEmbeddingLoss", "SDMLLoss", "TripletLoss"]
