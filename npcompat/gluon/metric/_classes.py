"""Classification metrics: accuracy, precision and recall, cross-entropy."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core.op import normalized_axes
from npcompat.gluon.metric._base import Array, EvalMetric, alias, pairs, register
from npcompat.gluon.metric._choices import chosen_of, predict_with_threshold


@alias("acc")
@register
class Accuracy(EvalMetric):
    """Accuracy: the share of correct predictions.

    Parameters
    ----------
    axis : int
        The axis of classes, if predictions are scores; they may be classes, too.
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.Accuracy()
    >>> metric.update(np.array([0, 1]), np.array([[0.9, 0.1], [0.8, 0.2]]))
    >>> metric.get()
    ('accuracy', 0.5)
    """

    def __init__(
        self,
        axis: int = 1,
        name: str = "accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, axis=axis)
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch of classes, and of scores or classes."""
        for label, pred in pairs(labels, preds):
            self._check_fit(
                pred.shape == label.shape or -pred.ndim <= self.axis < pred.ndim, label, pred
            )
            classes = pred if pred.shape == label.shape else pred.argmax(axis=self.axis)
            self._check_fit(label.size == classes.size, label, pred)
            self._add(
                (classes.astype(onp.int64).ravel() == label.astype(onp.int64).ravel()).sum(),
                label.size,
            )


@alias("binary_accuracy")
@register
class BinaryAccuracy(EvalMetric):
    """Accuracy of binary predictions, one for each sample or for each class of each sample.

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.
    threshold : float or ndarray
        Predictions are positive above it; one for each class (last axis), or for all.

    Examples
    --------
    >>> metric = gluon.metric.BinaryAccuracy(threshold=0.6)
    >>> metric.update(np.array([0, 1, 0]), np.array([0.7, 1.0, 0.55]))
    >>> round(metric.get()[1], 4)
    0.6667
    """

    def __init__(
        self,
        name: str = "binary_accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        threshold: Any = 0.5,
    ) -> None:
        super().__init__(name, output_names, label_names, threshold=threshold)
        self.threshold = threshold.asnumpy() if hasattr(threshold, "asnumpy") else threshold

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch of zeros and ones, and of scores."""
        for label, pred in pairs(labels, preds):
            self._check_fit(label.size == pred.size, label, pred)
            chosen = predict_with_threshold(pred, self.threshold).reshape(label.shape)
            self._add((chosen == (label > 0)).sum(), label.size)


@alias("top_k_accuracy", "top_k_acc")
@register
class TopKAccuracy(EvalMetric):
    """Top-k accuracy: the share of samples whose class is among the k largest scores.

    Parameters
    ----------
    top_k : int
        Number of largest scores.
    name, output_names, label_names
        As for `EvalMetric`; `_k` is added to the name.

    Examples
    --------
    >>> metric = gluon.metric.TopKAccuracy(top_k=2)
    >>> metric.update(np.array([1, 0]), np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]))
    >>> metric.get()
    ('top_k_accuracy_2', 0.5)
    """

    def __init__(
        self,
        top_k: int = 1,
        name: str = "top_k_accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(f"{name}_{top_k}", output_names, label_names, top_k=top_k)
        if top_k < 1:
            raise ValueError(f"TopKAccuracy: top_k must be at least 1, got {top_k}")
        self.top_k = top_k

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch of classes and scores."""
        for label, pred in pairs(labels, preds):
            self._check_fit(pred.ndim > 1 and pred.size == label.size * pred.shape[-1], label, pred)
            best = onp.argsort(-pred.reshape(label.size, -1), axis=1, kind="stable")[
                :, : self.top_k
            ]
            self._add((best == label.astype(onp.int64).reshape(-1, 1)).sum(), label.size)


@register
class Fbeta(EvalMetric):
    """F-beta score: the weighted harmonic mean of precision and recall.

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.
    class_type : {'binary', 'multiclass', 'multilabel'}
        Labels are 0 or 1 (1 is the positive class), one of several classes, or 0 or 1 for each of
        several classes.
    beta : float
        Weight of the recall.
    threshold : float
        A class is predicted above it (not for multiclass, nor for two scores).
    average : {'micro', 'macro', None}
        Whether the counts of all classes are summed, or their scores averaged; None returns one
        score for each class.

    Examples
    --------
    >>> metric = gluon.metric.Fbeta(beta=2)
    >>> metric.update(np.array([1, 0, 1]), np.array([0.9, 0.8, 0.7]))
    >>> round(metric.get()[1], 4)
    0.9091
    """

    def __init__(
        self,
        name: str = "fbeta",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        class_type: str = "binary",
        beta: float = 1,
        threshold: float = 0.5,
        average: str | None = "micro",
    ) -> None:
        if class_type not in ("binary", "multiclass", "multilabel"):
            raise ValueError(
                f"{type(self).__name__}: class_type must be 'binary', 'multiclass' or "
                f"'multilabel', got {class_type!r}"
            )
        if average not in ("micro", "macro", None):
            raise ValueError(
                f"{type(self).__name__}: average must be 'micro', 'macro' or None, got {average!r}"
            )
        self.class_type, self.beta, self.threshold, self.average = (
            class_type,
            beta,
            threshold,
            average,
        )
        super().__init__(
            name,
            output_names,
            label_names,
            class_type=class_type,
            beta=beta,
            threshold=threshold,
            average=average,
        )

    def reset(self) -> None:
        """Reset the metric."""
        super().reset()
        self._right, self._predicted, self._true = (onp.zeros(0) for _ in range(3))

    def _indicators(self, label: Array, pred: Array) -> tuple[Array, Array]:
        """Return bool arrays of true and of predicted classes, for each sample and class."""
        if self.class_type == "multilabel":
            return label.reshape(len(label), -1) > 0, pred.reshape(len(label), -1) > self.threshold
        if self.class_type == "multiclass":
            classes = onp.arange(pred.shape[-1])
            return label.reshape(-1, 1) == classes, pred.reshape(-1, len(classes)).argmax(axis=1)[
                :, None
            ] == classes
        return label.reshape(-1, 1) > 0, chosen_of(label, pred, self.threshold).reshape(-1, 1)

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch of classes and scores."""
        for label, pred in pairs(labels, preds):
            self._check_fit(self.class_type != "multilabel" or label.size == pred.size, label, pred)
            true, predicted = self._indicators(label, pred)
            self._check_fit(true.shape == predicted.shape, label, pred)
            counts = (true & predicted).sum(axis=0), predicted.sum(axis=0), true.sum(axis=0)
            if not self.num_inst:
                self._right, self._predicted, self._true = (
                    onp.zeros(true.shape[1]) for _ in range(3)
                )
            self._right, self._predicted, self._true = (
                a + b
                for a, b in zip((self._right, self._predicted, self._true), counts, strict=True)
            )
            self.num_inst += len(true)

    def get(self) -> tuple[Any, Any]:
        """Return name and value; nan without data."""
        if not self.num_inst:
            return self.name, math.nan
        counts = [self._right, self._predicted, self._true]
        right, predicted, true = (
            [c.sum(keepdims=True) for c in counts] if self.average == "micro" else counts
        )
        square = self.beta**2
        scores = (1 + square) * right / onp.maximum(square * true + predicted, 1e-12)
        return self.name, scores if self.average is None else float(scores.mean())


@register
class F1(Fbeta):
    """F1 score: the harmonic mean of precision and recall.

    The arguments are those of `Fbeta` without `beta`.

    Examples
    --------
    >>> metric = gluon.metric.F1()
    >>> metric.update(np.array([1, 0, 1]), np.array([0.9, 0.8, 0.7]))
    >>> metric.get()
    ('f1', 0.8)
    """

    def __init__(
        self,
        name: str = "f1",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        class_type: str = "binary",
        threshold: float = 0.5,
        average: str | None = "micro",
    ) -> None:
        super().__init__(name, output_names, label_names, class_type, 1, threshold, average)
        self._kwargs.pop("beta", None)


@alias("ce")
@register
class CrossEntropy(EvalMetric):
    """Cross-entropy: the mean negative log probability of the true class.

    Parameters
    ----------
    eps : float
        Added to probabilities.
    ignore_label : int, optional
        A class whose samples are ignored.
    axis : int
        The axis of classes.
    from_logits : bool
        Whether predictions are logits, to which softmax is applied.
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.CrossEntropy()
    >>> metric.update(np.array([0]), np.array([[0.5, 0.5]]))
    >>> round(metric.get()[1], 4)
    0.6931
    """

    def __init__(
        self,
        eps: float = 1e-12,
        ignore_label: int | None = None,
        axis: int = -1,
        from_logits: bool = False,
        name: str = "cross-entropy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            name,
            output_names,
            label_names,
            eps=eps,
            ignore_label=ignore_label,
            axis=axis,
            from_logits=from_logits,
        )
        self.eps, self.ignore_label, self.axis, self.from_logits = (
            eps,
            ignore_label,
            axis,
            from_logits,
        )

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch of classes, and of probabilities or logits."""
        for label, pred in pairs(labels, preds):
            normalized_axes(self.axis, pred.ndim)
            self._check_fit(pred.size == label.size * pred.shape[self.axis], label, pred)
            scores = onp.moveaxis(pred.astype(onp.float64), self.axis, -1).reshape(label.size, -1)
            if self.from_logits:
                scores = onp.exp(scores - scores.max(axis=1, keepdims=True))
                scores /= scores.sum(axis=1, keepdims=True)
            classes = label.astype(onp.int64).ravel()
            kept = (
                onp.ones(label.size, bool)
                if self.ignore_label is None
                else classes != self.ignore_label
            )
            chosen = scores[onp.arange(label.size)[kept], classes[kept]]
            self._add(-onp.log(chosen + self.eps).sum(), int(kept.sum()))


@alias("nll_loss", "nll-loss")
@register
class NegativeLogLikelihood(CrossEntropy):
    """Negative log-likelihood: MXNet 1's name for `CrossEntropy` of probabilities.

    Parameters
    ----------
    eps : float
        Added to probabilities.
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.NegativeLogLikelihood()
    >>> metric.update(np.array([0]), np.array([[0.5, 0.5]]))
    >>> metric.get()[0], round(metric.get()[1], 4)
    ('nll-loss', 0.6931)
    """

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "nll-loss",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(eps, name=name, output_names=output_names, label_names=label_names)


@register
class Perplexity(CrossEntropy):
    """Perplexity: the exponential of the mean cross-entropy.

    The arguments are those of `CrossEntropy`; an `eps` of None is the default.

    Examples
    --------
    >>> metric = gluon.metric.Perplexity()
    >>> metric.update(np.array([0]), np.array([[0.5, 0.5]]))
    >>> round(metric.get()[1], 4)
    2.0
    """

    def __init__(
        self,
        eps: float | None = 1e-12,
        ignore_label: int | None = None,
        axis: int = -1,
        from_logits: bool = False,
        name: str = "perplexity",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        if eps is None:
            eps = 1e-12
        elif isinstance(eps, int):
            raise TypeError(
                f"Perplexity({eps!r}): expected a float for `eps`; what MXNet 1 has as first argument "
                f"is ignore_label={eps!r}"
            )
        super().__init__(eps, ignore_label, axis, from_logits, name, output_names, label_names)

    def get(self) -> tuple[Any, Any]:
        """Return name and value; nan without data."""
        return self.name, math.exp(super().get()[1])


__all__ = [
    "F1",
    "Accuracy",
    "BinaryAccuracy",
    "CrossEntropy",
    "Fbeta",
    "NegativeLogLikelihood",
    "Perplexity",
    "TopKAccuracy",
]
