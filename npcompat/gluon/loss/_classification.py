"""Losses of classification: cross-entropies and margins."""

from typing import Any

import numpy as onp

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat._internal.core.op import normalized_axes
from npcompat._internal.support.errors import InferenceError
from npcompat.gluon._labels import check_labels
from npcompat.gluon.loss._base import TINY, Loss
from npcompat.numpy._ndarray import ndarray
from npcompat.symbol import Symbol


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Binary cross-entropy of each element, with a sigmoid.

    Called with predictions, labels between 0 and 1 with as many elements, and optionally weights of
    samples and weights of positive labels, which broadcast to the predictions.

    Parameters
    ----------
    from_sigmoid : bool
        Whether predictions are probabilities, or logits (which is more accurate).
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples; the loss is averaged over all others.

    Examples
    --------
    >>> loss = gluon.loss.SigmoidBCELoss()(np.array([0.0, 2.0]), np.array([1.0, 1.0]))
    >>> [round(v, 3) for v in loss.tolist()]
    [0.693, 0.127]
    """

    def __init__(
        self, from_sigmoid: bool = False, weight: float | None = None, batch_axis: int = 0
    ) -> None:
        super().__init__(weight, batch_axis)
        self._from_sigmoid = bool(from_sigmoid)

    def forward(
        self,
        pred: ndarray,
        label: ndarray,
        sample_weight: ndarray | None = None,
        pos_weight: ndarray | None = None,
    ) -> ndarray:
        """Compute the loss of each sample."""
        label = self._like("label", label, pred)
        if self._from_sigmoid:
            yes, no = np.log(pred + TINY) * label, np.log(1.0 - pred + TINY) * (1.0 - label)
            loss = -(yes if pos_weight is None else self._times(yes, "pos_weight", pos_weight)) - no
        elif pos_weight is None:
            loss = npx.softplus(pred) - pred * label
        else:
            loss = npx.softplus(-pred) * (
                1.0 + self._times(label, "pos_weight", pos_weight - 1.0)
            ) + pred * (1.0 - label)
        return self._mean(loss, sample_weight)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """Softmax cross-entropy: the loss of classification with one class out of several.

    Called with predictions, labels, and optionally weights of samples that broadcast to the
    predictions with axis `axis` of length 1.

    Parameters
    ----------
    axis : int
        The axis of classes.
    sparse_label : bool
        Whether labels are numbers of classes, in the shape of the predictions without that axis, or
        probabilities, in the shape of the predictions.
    from_logits : bool
        Whether predictions are logarithms of probabilities already.
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples; the loss is averaged over all others.
    ignore_index : int, optional
        Label of what does not count: its loss is 0, and the mean leaves it out.
    class_weight : array_like, optional
        Weight of each class.
    label_smoothing : float
        Part of the probability of a label that all classes share, from 0 to 1.

    Raises
    ------
    IndexError
        If a label is the number of no class; on XLA at the next read of an array.

    Examples
    --------
    >>> pred, label = np.array([[0.0, 0.0], [0.0, 2.0]]), np.array([0, 1])
    >>> [round(v, 3) for v in gluon.loss.SoftmaxCELoss()(pred, label).tolist()]
    [0.693, 0.127]
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        *,
        ignore_index: int | None = None,
        class_weight: Any = None,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, batch_axis)
        self._axis, self._sparse_label, self._from_logits = (
            int(axis),
            bool(sparse_label),
            bool(from_logits),
        )
        if ignore_index is not None and not sparse_label:
            raise ValueError(
                "SoftmaxCrossEntropyLoss: ignore_index is a number of a class, but labels are "
                "probabilities (sparse_label=False): use sample_weight"
            )
        if not 0 <= label_smoothing <= 1:
            raise ValueError(
                "SoftmaxCrossEntropyLoss: label_smoothing: expected a number from 0 to 1, got "
                f"{label_smoothing}"
            )
        self._ignored = None if ignore_index is None else int(ignore_index)
        self._smoothing = float(label_smoothing)
        self._class_weight = None if class_weight is None else np.array(class_weight)
        if self._class_weight is not None and self._class_weight.ndim != 1:
            raise self._misfit("class_weight", self._class_weight, "one weight for each class")

    def forward(
        self, pred: ndarray, label: ndarray, sample_weight: ndarray | None = None
    ) -> ndarray:
        """Compute the loss of each sample."""
        if not self._from_logits:
            pred = npx.log_softmax(pred, axis=self._axis)
        if not self._sparse_label:
            label = self._like("label", label, pred)
            if self._smoothing:
                classes = pred.shape[self._axis]
                label = label * (1 - self._smoothing) + self._smoothing / classes
            loss = -(self._weighing(pred) * label).sum(axis=self._axis, keepdims=True)
            return self._mean(loss, sample_weight)
        counted = self._counted(pred, label)
        weighed = self._weighing(pred)
        loss = -self._of_label(weighed, label)
        if self._smoothing:
            shared = -weighed.mean(axis=self._axis, keepdims=True)
            loss = loss * (1 - self._smoothing) + shared * self._smoothing
        if counted is None:
            return self._mean(loss, sample_weight)
        loss = self._weighted(np.where(counted, loss, np.zeros_like(loss)), sample_weight)
        axes = self._other_axes(loss)
        number = counted.astype(loss.dtype).sum(axis=axes)
        return loss.sum(axis=axes) / np.maximum(number, 1)

    def _weighing(self, pred: Any) -> Any:
        """Multiply logarithms of probabilities by the weights of their classes."""
        if self._class_weight is None:
            return pred
        axis = self._axis % pred.ndim
        if pred.shape[axis] != len(self._class_weight):
            raise self._misfit(
                "class_weight",
                self._class_weight,
                f"{pred.shape[axis]} weights, one for each class",
            )
        after = (1,) * (pred.ndim - axis - 1)
        return pred * self._class_weight.reshape(-1, *after).astype(pred.dtype)

    def _counted(self, pred: Any, label: Any) -> Any:
        """Check that labels are numbers of classes; return where they count, None if all do."""
        if isinstance(label, Symbol) or isinstance(pred, Symbol):
            if self._ignored is None:
                return None
            counted = label != self._ignored
            return np.expand_dims(counted, self._axis)
        if not -pred.ndim <= self._axis < pred.ndim:
            normalized_axes(self._axis, pred.ndim)  # raises
        label, classes = np.asarray(label), pred.shape[self._axis]
        check_labels(type(self).__name__, label, classes, self._ignored)
        counted = None if self._ignored is None else label != self._ignored
        if counted is None or counted.ndim == pred.ndim:
            return counted
        return np.expand_dims(counted, self._axis)

    def _of_label(self, pred: Any, label: Any) -> Any:
        try:
            return npx.pick(pred, label, axis=self._axis, keepdims=True)
        except (onp.exceptions.AxisError, InferenceError):
            raise
        except ValueError as error:
            shape = list(np.shape(pred))
            axis = self._axis % len(shape)
            expected = (
                f"classes in shape {(*shape[:axis], *shape[axis + 1 :])}, that of pred "
                f"{np.shape(pred)} without axis {axis}"
            )
            raise self._misfit(
                "label", label, f"{expected}, or probabilities with sparse_label=False"
            ) from error


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """Kullback-Leibler divergence of predicted from true distributions.

    Called with predictions, true probabilities of the same shape, and optionally weights of
    samples.

    Parameters
    ----------
    from_logits : bool
        Whether predictions are logarithms of probabilities; else softmax is applied.
    axis : int
        The axis of classes, for softmax.
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples; the loss is averaged over all others.

    Examples
    --------
    >>> gluon.loss.KLDivLoss(from_logits=False)(np.zeros((1, 2)), np.array([[0.5, 0.5]])).round(3)
    array([0.])
    """

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
    ) -> None:
        super().__init__(weight, batch_axis)
        self._from_logits, self._axis = bool(from_logits), int(axis)

    def forward(
        self, pred: ndarray, label: ndarray, sample_weight: ndarray | None = None
    ) -> ndarray:
        """Compute the loss of each sample."""
        if not self._from_logits:
            pred = npx.log_softmax(pred, axis=self._axis)
        try:
            loss = label * (np.log(label + TINY) - pred)
        except ValueError as error:
            raise self._misfit(
                "label", label, f"probabilities in the shape of pred, {np.shape(pred)}"
            ) from error
        return self._mean(loss, sample_weight)


class HingeLoss(Loss):
    """Hinge loss: the shortfall of pred * label below a margin.

    Called with predictions, labels that are -1 or 1, and optionally weights of samples.

    Parameters
    ----------
    margin : float
        The margin.
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples; the loss is averaged over all others.

    Examples
    --------
    >>> gluon.loss.HingeLoss()(np.array([0.5, 2.0]), np.array([1.0, 1.0]))
    array([0.5, 0. ])
    """

    def __init__(self, margin: float = 1, weight: float | None = None, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._margin = margin

    def _shortfall(self, pred: Any, label: Any) -> Any:
        return npx.relu(self._margin - pred * self._like("label", label, pred))

    def forward(
        self, pred: ndarray, label: ndarray, sample_weight: ndarray | None = None
    ) -> ndarray:
        """Compute the loss of each sample."""
        return self._mean(self._shortfall(pred, label), sample_weight)


class SquaredHingeLoss(HingeLoss):
    """Squared hinge loss; arguments as for `HingeLoss`.

    Examples
    --------
    >>> gluon.loss.SquaredHingeLoss()(np.array([0.5, 2.0]), np.array([1.0, 1.0]))
    array([0.25, 0.  ])
    """

    def forward(
        self, pred: ndarray, label: ndarray, sample_weight: ndarray | None = None
    ) -> ndarray:
        """Compute the loss of each sample."""
        return self._mean(np.square(self._shortfall(pred, label)), sample_weight)


class LogisticLoss(Loss):
    """Logistic loss of binary classification.

    Called with predictions, labels, and optionally weights of samples.

    Parameters
    ----------
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples; the loss is averaged over all others.
    label_format : {'signed', 'binary'}
        'signed' if labels are -1 or 1, 'binary' if they are 0 or 1.

    Examples
    --------
    >>> loss = gluon.loss.LogisticLoss()(np.array([0.0, 2.0]), np.array([1.0, 1.0]))
    >>> [round(v, 3) for v in loss.tolist()]
    [0.693, 0.127]
    """

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, label_format: str = "signed"
    ) -> None:
        super().__init__(weight, batch_axis)
        if label_format not in ("signed", "binary"):
            raise ValueError(
                f"LogisticLoss: label_format must be 'signed' or 'binary', got {label_format!r}"
            )
        self._label_format = label_format

    def forward(
        self, pred: ndarray, label: ndarray, sample_weight: ndarray | None = None
    ) -> ndarray:
        """Compute the loss of each sample."""
        label = self._like("label", label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) * 0.5
        return self._mean(npx.softplus(pred) - pred * label, sample_weight)


__all__ = [
    "HingeLoss",
    "KLDivLoss",
    "LogisticLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SquaredHingeLoss",
]
