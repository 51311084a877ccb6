"""Losses of regression: distances of predictions to numbers."""

import math

import npcompat.numpy as np
from npcompat.gluon.loss._base import Loss
from npcompat.numpy._ndarray import ndarray


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


__all__ = ["HuberLoss", "L1Loss", "L2Loss", "PoissonNLLLoss"]
