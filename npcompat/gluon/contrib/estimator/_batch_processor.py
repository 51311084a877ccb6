"""Processing of single batches; a subclass can replace it."""

from typing import Any

from npcompat import autograd
from npcompat.gluon.utils import split_and_load

Results = tuple[list[Any], list[Any], list[Any], list[Any]]


class BatchProcessor:
    """Trains and evaluates on single batches, for `Estimator`.

    A subclass overrides one of the two methods.

    Examples
    --------
    >>> class Scaled(gluon.contrib.estimator.BatchProcessor):
    ...     def fit_batch(self, estimator, train_batch, batch_axis=0):
    ...         data, label = train_batch
    ...         return super().fit_batch(estimator, (data / 255, label), batch_axis)
    """

    def _loaded(
        self, batch: Any, devices: list[Any], batch_axis: int
    ) -> tuple[list[Any], list[Any]]:
        data, label = batch
        return split_and_load(data, devices, batch_axis), split_and_load(label, devices, batch_axis)

    def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: int = 0) -> Results:
        """Evaluate on a batch.

        Parameters
        ----------
        estimator : Estimator
            Has the network and the loss.
        val_batch : tuple
            Data and labels.
        batch_axis : int
            The axis of examples.

        Returns
        -------
        data, label, pred, loss : list of ndarray
            One of each for each device.
        """
        data, label = self._loaded(val_batch, estimator.device, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        return (
            data,
            label,
            pred,
            [estimator.val_loss(p, y) for p, y in zip(pred, label, strict=True)],
        )

    def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> Results:
        """Compute the gradients of a batch; `GradientUpdateHandler` updates the parameters.

        The arguments are those of `evaluate_batch`.
        """
        data, label = self._loaded(train_batch, estimator.device, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(p, y) for p, y in zip(pred, label, strict=True)]
        autograd.backward(loss)
        return data, label, pred, loss


__all__ = ["BatchProcessor"]
