"""Metrics of numbers: errors and losses."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat.gluon.metric._base import Array, EvalMetric, as_lists, pairs, register


class _Difference(EvalMetric):
    """A mean over elements and then over samples of what `_error` makes of each pair of numbers."""

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
        """See a batch of numbers."""
        for label, pred in pairs(labels, preds):
            self._check_fit(label.size == pred.size, label, pred)
            count = len(label) if label.ndim else 1
            difference = (
                label.astype(onp.float64).ravel() - pred.astype(onp.float64).ravel()
            ).reshape(count, -1)
            self._add(self._error(difference).mean(axis=1).sum(), count)


@register
class MAE(_Difference):
    """Mean absolute error.

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
    """Mean squared error.

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
    """Root of the mean squared error.

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
        """Name and value; nan if nothing was seen."""
        return self.name, math.sqrt(super().get()[1])


@register
class Loss(EvalMetric):
    """Mean of what is given as predictions; labels are not looked at.

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
        """See losses."""
        for pred in as_lists(preds):
            self._add(pred.sum(dtype=onp.float64), pred.size)


@register
class Torch(Loss):
    """Mean of what a criterion of another library gives; MXNet's name for `Loss` there.

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
