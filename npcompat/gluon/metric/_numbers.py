"""Regression metrics: errors and losses."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat.gluon.metric._base import Array, EvalMetric, as_lists, pairs, register


class _Difference(EvalMetric):
    """Base class of metrics that average `_error` over elements and then over samples."""

    def __init__(
        self,
        name: str,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _error(self, difference: Array) -> Array:
        raise NotImplementedError

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch of numbers."""
        for label, pred in pairs(labels, preds):
            self._check_fit(label.size == pred.size, label, pred)
            count = len(label) if label.ndim else 1
            difference = (
                label.astype(onp.float64).ravel() - pred.astype(onp.float64).ravel()
            ).reshape(count, -1)
            self._add(self._error(difference).mean(axis=1).sum(), count)


@register
class MAE(_Difference):
    """Mean absolute error (MAE).

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.MAE()
    >>> metric.update(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    >>> metric.get()
    ('mae', 1.0)
    """

    def __init__(
        self,
        name: str = "mae",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _error(self, difference: Array) -> Array:
        return onp.abs(difference)


@register
class MSE(_Difference):
    """Mean squared error (MSE).

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.MSE()
    >>> metric.update(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    >>> metric.get()
    ('mse', 2.0)
    """

    def __init__(
        self,
        name: str = "mse",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _error(self, difference: Array) -> Array:
        return onp.square(difference)


@register
class RMSE(MSE):
    """Root mean squared error (RMSE).

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.RMSE()
    >>> metric.update(np.array([1.0, 2.0]), np.array([1.0, 6.0]))
    >>> round(metric.get()[1], 4)
    2.8284
    """

    def __init__(
        self,
        name: str = "rmse",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def get(self) -> tuple[Any, Any]:
        """Return name and value; nan without data."""
        return self.name, math.sqrt(super().get()[1])


@register
class Loss(EvalMetric):
    """Mean of losses, given as predictions; labels are ignored.

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.Loss()
    >>> metric.update(None, np.array([1.0, 3.0]))
    >>> metric.get()
    ('loss', 2.0)
    """

    def __init__(
        self,
        name: str = "loss",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with losses."""
        for pred in as_lists(preds):
            self._add(pred.sum(dtype=onp.float64), pred.size)


@register
class Torch(Loss):
    """Mean of another library's losses: MXNet's second name for `Loss`.

    Parameters
    ----------
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.Torch()
    >>> metric.update(None, np.array([1.0, 3.0]))
    >>> metric.get()
    ('torch', 2.0)
    """

    def __init__(
        self,
        name: str = "torch",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)


__all__ = ["MAE", "MSE", "RMSE", "Loss", "Torch"]
