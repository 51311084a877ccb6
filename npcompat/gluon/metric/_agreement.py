"""Metrics of agreement: correlation of numbers and of classes, cosine and distance."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat.gluon.metric._base import Array, EvalMetric, alias, pairs, register
from npcompat.gluon.metric._choices import chosen_of

# --- of classes -----------------------------------------------------------------------------------


class _Confusion(EvalMetric):
    """Confusion matrix, and its correlation coefficient R_K (Gorodkin, 2004).

    It is 1 if all predictions are right, and 0 for random predictions or a single class.
    """

    def reset(self) -> None:
        """Reset the metric."""
        super().reset()
        self._counts = onp.zeros((0, 0))

    def _classes(self, label: Array, pred: Array) -> tuple[Array, Array]:
        raise NotImplementedError(f"{type(self).__name__} must define _classes(label, pred)")

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch of classes, and of scores or classes."""
        for label, pred in pairs(labels, preds):
            true, predicted = (c.astype(onp.int64).ravel() for c in self._classes(label, pred))
            self._check_fit(true.size == predicted.size, label, pred)
            if true.size and min(true.min(), predicted.min()) < 0:
                raise ValueError(
                    f"{type(self).__name__}: classes are counted from 0, got "
                    f"{min(true.min(), predicted.min())}"
                )
            size = max(len(self._counts), 1 + max(true.max(initial=0), predicted.max(initial=0)))
            counts = onp.zeros((size, size))
            counts[: len(self._counts), : len(self._counts)] = self._counts
            onp.add.at(counts, (true, predicted), 1)
            self._counts = counts
            self.num_inst += true.size

    def get(self) -> tuple[Any, Any]:
        """Return name and value; nan without data."""
        if not self.num_inst:
            return self.name, math.nan
        counts, total = self._counts, self._counts.sum()
        true, predicted = counts.sum(axis=1), counts.sum(axis=0)
        together = onp.trace(counts) * total - true @ predicted
        spread = math.sqrt((total**2 - true @ true) * (total**2 - predicted @ predicted))
        return self.name, float(together / spread) if spread else 0.0


@register
class MCC(_Confusion):
    """Matthews correlation coefficient of binary labels and predictions (Matthews, 1975).

    Labels greater than 0 are positive.

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.MCC()
    >>> metric.update(np.array([1, 0, 1, 0]), np.array([0.9, 0.2, 0.8, 0.6]))
    >>> round(metric.get()[1], 4)
    0.5774
    """

    def __init__(
        self,
        name: str = "mcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _classes(self, label: Array, pred: Array) -> tuple[Array, Array]:
        return label > 0, chosen_of(label, pred, 0.5)


@register
class PCC(_Confusion):
    """Multiclass correlation coefficient (R_K) of labels and predictions.

    For two classes it is `MCC`.

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.PCC()
    >>> metric.update(np.array([0, 1, 2, 2]), np.array([0, 1, 2, 1]))
    >>> round(metric.get()[1], 4)
    0.7
    """

    def __init__(
        self,
        name: str = "pcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _classes(self, label: Array, pred: Array) -> tuple[Array, Array]:
        return label, pred.argmax(axis=1) if pred.ndim > label.ndim else pred


# --- of numbers -----------------------------------------------------------------------------------


@alias("pearsonr")
@register
class PearsonCorrelation(EvalMetric):
    """Pearson correlation of all labels and predictions, as if they were one batch.

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.PearsonCorrelation()
    >>> metric.update(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    >>> round(metric.get()[1], 4)
    1.0
    """

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def reset(self) -> None:
        """Reset the metric."""
        super().reset()
        self._means, self._products = onp.zeros(2), onp.zeros((2, 2))

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch of numbers.

        Means and co-moments of batches are merged as in Chan et al., 1979.
        """
        for label, pred in pairs(labels, preds):
            self._check_fit(label.size == pred.size, label, pred)
            if not label.size:
                continue
            both = onp.stack([label.ravel(), pred.ravel()]).astype(onp.float64)
            means, count = both.mean(axis=1), both.shape[1]
            deviations = both - means[:, None]
            shift, total = means - self._means, self.num_inst + count
            self._products += deviations @ deviations.T + onp.outer(shift, shift) * (
                self.num_inst * count / total
            )
            self._means += shift * (count / total)
            self.num_inst = total

    def get(self) -> tuple[Any, Any]:
        """Return name and value; nan without data or without variation."""
        spread = math.sqrt(self._products[0, 0] * self._products[1, 1])
        return self.name, float(self._products[0, 1] / spread) if spread else math.nan


def _rows(owner: str, label: Array, pred: Array) -> tuple[Array, Array]:
    """Return labels and predictions as float64 vectors along the last axis."""
    if label.shape != pred.shape or not label.ndim:
        raise ValueError(
            f"{owner}: expected labels and predictions of one shape, with at least one axis; got "
            f"{label.shape} and {pred.shape}"
        )
    return (onp.atleast_2d(label).astype(onp.float64), onp.atleast_2d(pred).astype(onp.float64))


@alias("cos_sim")
@register
class MeanCosineSimilarity(EvalMetric):
    """Mean cosine similarity of vectors along the last axis.

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.
    eps : float
        Lower bound of the product of two norms.

    Examples
    --------
    >>> metric = gluon.metric.MeanCosineSimilarity()
    >>> metric.update(np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    >>> metric.get()
    ('cos_sim', 0.5)
    """

    def __init__(
        self,
        name: str = "cos_sim",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(name, output_names, label_names, eps=eps)
        self.eps = eps

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch of vectors."""
        for label, pred in pairs(labels, preds):
            a, b = _rows("MeanCosineSimilarity", label, pred)
            lengths = onp.linalg.norm(a, axis=-1) * onp.linalg.norm(b, axis=-1)
            cosines = (a * b).sum(axis=-1) / onp.maximum(lengths, self.eps)
            self._add(cosines.sum(), cosines.size)


@alias("mpd")
@register
class MeanPairwiseDistance(EvalMetric):
    """Mean pairwise distance of samples, in a p-norm.

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.
    p : float
        Order of the norm.

    Examples
    --------
    >>> metric = gluon.metric.MeanPairwiseDistance()
    >>> metric.update(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[3.0, 4.0], [1.0, 1.0]]))
    >>> metric.get()
    ('mpd', 2.5)
    """

    def __init__(
        self,
        name: str = "mpd",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        p: float = 2,
    ) -> None:
        super().__init__(name, output_names, label_names, p=p)
        if p <= 0:
            raise ValueError(f"MeanPairwiseDistance: p must be positive, got {p}")
        self.p = p

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch of samples."""
        for label, pred in pairs(labels, preds):
            a, b = _rows("MeanPairwiseDistance", label, pred)
            distances = onp.linalg.norm((a - b).reshape(len(a), -1), self.p, axis=-1)
            self._add(distances.sum(), distances.size)


__all__ = ["MCC", "PCC", "MeanCosineSimilarity", "MeanPairwiseDistance", "PearsonCorrelation"]
