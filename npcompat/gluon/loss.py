"""Losses: blocks that return one number for each sample of a batch."""

import math
from typing import Any

import numpy as onp

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat._internal.core.op import normalized_axes
from npcompat._internal.support.errors import InferenceError
from npcompat.gluon._labels import check_labels
from npcompat.gluon.block import HybridBlock
from npcompat.numpy._ndarray import ndarray
from npcompat.symbol import Symbol


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


class L2Loss(Loss):
    """Squared error: half the squared difference.

    Called with predictions, labels with as many elements, and optionally weights that broadcast to
    the predictions.

    Parameters
    ----------
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples; the loss is averaged over all others.

    Examples
    --------
    >>> gluon.loss.L2Loss()(np.array([1.0, 2.0]), np.array([0.0, 4.0]))
    array([0.5, 2. ])
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)

    def forward(
        self, pred: ndarray, label: ndarray, sample_weight: ndarray | None = None
    ) -> ndarray:
        """Compute the loss of each sample."""
        return self._mean(np.square(self._like("label", label, pred) - pred) * 0.5, sample_weight)


class L1Loss(Loss):
    """Absolute error: the absolute difference.

    Called with predictions, labels with as many elements, and optionally weights that broadcast to
    the predictions.

    Parameters
    ----------
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples; the loss is averaged over all others.

    Examples
    --------
    >>> gluon.loss.L1Loss()(np.array([1.0, 2.0]), np.array([0.0, 4.0]))
    array([1., 2.])
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)

    def forward(
        self, pred: ndarray, label: ndarray, sample_weight: ndarray | None = None
    ) -> ndarray:
        """Compute the loss of each sample."""
        return self._mean(np.abs(self._like("label", label, pred) - pred), sample_weight)


_TINY = 1e-12


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
            yes, no = np.log(pred + _TINY) * label, np.log(1.0 - pred + _TINY) * (1.0 - label)
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
        (axis,) = normalized_axes(self._axis, pred.ndim)
        label, classes = np.asarray(label), pred.shape[axis]
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
            loss = label * (np.log(label + _TINY) - pred)
        except ValueError as error:
            raise self._misfit(
                "label", label, f"probabilities in the shape of pred, {np.shape(pred)}"
            ) from error
        return self._mean(loss, sample_weight)


class HuberLoss(Loss):
    """Huber loss: quadratic for small differences, linear for large ones (Huber, 1964).

    Called with predictions, labels with as many elements, and optionally weights of samples.

    Parameters
    ----------
    rho : float
        Absolute difference at which the quadratic part ends.
    weight : float, optional
        Factor of the loss.
    batch_axis : int
        The axis of samples; the loss is averaged over all others.

    Examples
    --------
    >>> gluon.loss.HuberLoss()(np.array([0.5, 3.0]), np.array([0.0, 0.0]))
    array([0.125, 2.5  ])
    """

    def __init__(self, rho: float = 1, weight: float | None = None, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._rho = float(rho)

    def forward(
        self, pred: ndarray, label: ndarray, sample_weight: ndarray | None = None
    ) -> ndarray:
        """Compute the loss of each sample."""
        size = np.abs(self._like("label", label, pred) - pred)
        return self._mean(
            np.where(size > self._rho, size - 0.5 * self._rho, np.square(size) * (0.5 / self._rho)),
            sample_weight,
        )


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


class PoissonNLLLoss(Loss):
    """Negative log-likelihood of counts under a Poisson distribution, averaged over the batch.

    Called with predictions, counts, and optionally weights of samples and `epsilon`, which is added
    inside of logarithms.

    Parameters
    ----------
    weight : float, optional
        Factor of the loss.
    from_logits : bool
        Whether predictions are logarithms of rates.
    batch_axis : int
        The axis of samples.
    compute_full : bool
        Whether the term that does not depend on predictions is added, in Stirling's approximation.

    Examples
    --------
    >>> gluon.loss.PoissonNLLLoss()(np.array([0.0]), np.array([2.0]))
    np.float32(1.0)
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
    ) -> None:
        super().__init__(weight, batch_axis)
        self._from_logits, self._compute_full = bool(from_logits), bool(compute_full)

    def forward(
        self,
        pred: ndarray,
        target: ndarray,
        sample_weight: ndarray | None = None,
        epsilon: float = 1e-8,
    ) -> ndarray:
        """Compute the mean loss of the batch."""
        target = self._like("target", target, pred)
        loss = (
            np.exp(pred) - target * pred
            if self._from_logits
            else pred - target * np.log(pred + epsilon)
        )
        if self._compute_full:
            stirling = (
                target * np.log(target + epsilon)
                - target
                + 0.5 * np.log(2 * math.pi * (target + epsilon))
            )
            loss = loss + np.where(target > 1, stirling, 0.0)
        return self._weighted(loss, sample_weight).mean()


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
        cosine = (input1 * input2).sum(axis=-1) / np.sqrt(np.maximum(squares, _TINY))
        label = self._like("label", label, cosine, "the cosine")
        loss = np.where(label == 1, 1.0 - cosine, npx.relu(cosine - self._margin))
        return self._mean(loss, sample_weight)


class CTCLoss(Loss):
    """Connectionist temporal classification loss (CTC; Graves et al., 2006).

    It is the negative log-likelihood of labels whose alignment in time is unknown. Called with
    scores of classes in time, labels, and optionally lengths of both and weights of samples. The
    last class is the blank; without lengths, labels end at the first -1. `npx.ctc_loss` has the
    details.

    Parameters
    ----------
    layout : {'NTC', 'TNC'}
        Axes of the scores.
    label_layout : {'NT', 'TN'}
        Axes of the labels.
    weight : float, optional
        Factor of the loss.

    Examples
    --------
    >>> loss = gluon.loss.CTCLoss()
    >>> [round(v, 4) for v in loss(np.zeros((1, 2, 3)), np.array([[0, -1]])).tolist()]
    [1.0986]
    """

    def __init__(
        self, layout: str = "NTC", label_layout: str = "NT", weight: float | None = None
    ) -> None:
        if layout not in ("NTC", "TNC"):
            raise ValueError(f"CTCLoss: layout must be 'NTC' or 'TNC', got {layout!r}")
        if label_layout not in ("NT", "TN"):
            raise ValueError(f"CTCLoss: label_layout must be 'NT' or 'TN', got {label_layout!r}")
        super().__init__(weight, label_layout.index("N"))
        self._layout, self._label_layout = layout, label_layout

    def forward(
        self,
        pred: ndarray,
        label: ndarray,
        pred_lengths: ndarray | None = None,
        label_lengths: ndarray | None = None,
        sample_weight: ndarray | None = None,
    ) -> ndarray:
        """Compute the loss of each sample."""
        pred = np.swapaxes(pred, 0, 1) if self._layout == "NTC" else pred
        label = np.swapaxes(label, 0, 1) if self._label_layout == "TN" else label
        used = (pred_lengths is not None, label_lengths is not None)
        return self._weighted(
            npx.ctc_loss(pred, label, pred_lengths, label_lengths, *used, blank_label="last"),
            sample_weight,
        )


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


__all__ = [
    "CTCLoss",
    "CosineEmbeddingLoss",
    "HingeLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L2Loss",
    "LogisticLoss",
    "Loss",
    "PoissonNLLLoss",
    "SDMLLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SquaredHingeLoss",
    "TripletLoss",
]
