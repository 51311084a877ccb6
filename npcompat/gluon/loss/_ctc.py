"""Connectionist temporal classification: sequences without alignment."""

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.loss._base import Loss
from npcompat.numpy._ndarray import ndarray


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


__all__ = ["CTCLoss"]
