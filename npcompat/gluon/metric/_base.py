"""Base class of metrics, composite metrics, and functions as metrics."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as onp

from npcompat._internal.backend.jax import sharding
from npcompat._internal.core.handle import Handle
from npcompat.numpy_extension._sharding import gather

_REGISTRY: dict[str, type["EvalMetric"]] = {}
_Class = TypeVar("_Class", bound="type[EvalMetric]")
Array = onp.ndarray[Any, Any]


def register(klass: _Class) -> _Class:
    """Register a metric under its class name, in lower case.

    Examples
    --------
    >>> @gluon.metric.register
    ... class Count(gluon.metric.EvalMetric):
    ...     def update(self, labels, preds):
    ...         self._add(1, 1)
    >>> gluon.metric.create("count", "n").name
    'n'
    """
    _REGISTRY[klass.__name__.lower()] = klass
    return klass


def alias(*names: str) -> Callable[[_Class], _Class]:
    """Register a metric under further names.

    Examples
    --------
    >>> gluon.metric.create("acc").name
    'accuracy'
    """

    def register_names(klass: _Class) -> _Class:
        _REGISTRY.update({name.lower(): klass for name in names})
        return klass

    return register_names


def create(metric: Any, *args: Any, **kwargs: Any) -> "EvalMetric":
    """Create a metric from a name, a function, a list of these, or a metric.

    Parameters
    ----------
    metric : str, callable, EvalMetric or list
        The metric, or the JSON of its `get_config`; a function is called with labels and
        predictions.
    *args, **kwargs
        Arguments of its class.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> gluon.metric.create(["accuracy", "mse"]).get()
    (['accuracy', 'mse'], [nan, nan])
    """
    if isinstance(metric, EvalMetric):
        return metric
    if isinstance(metric, list):
        return CompositeEvalMetric([create(m, *args, **kwargs) for m in metric])
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, str) and metric.startswith("{"):
        return _of_config(json.loads(metric), args, kwargs)
    if not isinstance(metric, str) or metric.lower() not in _REGISTRY:
        raise ValueError(
            f"metric {metric!r}: expected an EvalMetric, a function, or one of "
            f"{', '.join(sorted(_REGISTRY))}"
        )
    return _REGISTRY[metric.lower()](*args, **kwargs)


def _of_config(
    config: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> "EvalMetric":
    """Create a metric from what its `get_config` returned."""
    options = {name: value for name, value in config.items() if name != "metric"}
    if "metrics" in options:
        options["metrics"] = [_of_config(part, (), {}) for part in options["metrics"]]
    if config.get("metric") == CompositeEvalMetric.__name__:
        return CompositeEvalMetric(**options)
    return create(str(config.get("metric")), *args, **{**options, **kwargs})


def _host(array: Any) -> Array:
    if sharding.several[0] and isinstance(array, Handle):
        return onp.asarray(gather(array).asnumpy())  # of all processes, each of which asks
    return onp.asarray(array.asnumpy() if hasattr(array, "asnumpy") else array)


def as_lists(arrays: Any) -> list[Array]:
    """Return arrays on the host, as a list."""
    return [_host(a) for a in arrays] if isinstance(arrays, list | tuple) else [_host(arrays)]


def check_label_shapes(
    labels: Any, preds: Any, wrap: bool = False, shape: bool = False
) -> tuple[Any, Any]:
    """Check that there are as many labels as predictions.

    Parameters
    ----------
    labels, preds : ndarray or list of ndarray
        Labels and predictions.
    wrap : bool
        Whether single arrays are returned as lists of one.
    shape : bool
        Whether shapes are compared, or numbers of arrays.

    Raises
    ------
    ValueError
        If they differ.
    """
    counts = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if counts[0] != counts[1]:
        raise ValueError(
            f"labels and predictions must fit: {counts[0]} labels, {counts[1]} predictions"
        )
    if wrap:
        labels, preds = ([a] if hasattr(a, "shape") else a for a in (labels, preds))
    return labels, preds


def pairs(labels: Any, preds: Any) -> list[tuple[Array, Array]]:
    """Return pairs of labels and predictions, on the host."""
    labels, preds = as_lists(labels), as_lists(preds)
    check_label_shapes(labels, preds)
    return list(zip(labels, preds, strict=True))


class EvalMetric:
    """Base class of metrics: a sum over the data divided by a count.

    A subclass defines `update(labels, preds)`, which calls `_add(sum, count)`.

    Parameters
    ----------
    name : str
        Its name.
    output_names, label_names : sequence of str, optional
        Entries that `update_dict` selects; all if not given.
    **kwargs
        Arguments of the subclass, for `get_config`.
    """

    def __init__(
        self,
        name: str,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        self.name, self.output_names, self.label_names = str(name), output_names, label_names
        self._kwargs = kwargs
        self.reset()

    def reset(self) -> None:
        """Reset the metric."""
        self.num_inst, self.sum_metric = 0, 0.0

    def _check_fit(self, fits: bool, label: Array, pred: Array) -> None:
        if not fits:
            raise ValueError(
                f"{type(self).__name__}: labels of shape {label.shape} do not fit predictions of "
                f"shape {pred.shape}"
            )

    def _add(self, total: float, count: int) -> None:
        self.sum_metric += float(total)
        self.num_inst += int(count)

    def update(self, labels: Any, preds: Any) -> None:
        """See a batch.

        Parameters
        ----------
        labels, preds : ndarray or list of ndarray
            Labels and predictions.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update(labels, preds)")

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Update the metric with a batch given as dicts, whose entries are selected by name."""
        chosen = (
            [pred[n] for n in self.output_names]
            if self.output_names is not None
            else list(pred.values())
        )
        truth = (
            [label[n] for n in self.label_names]
            if self.label_names is not None
            else list(label.values())
        )
        self.update(truth, chosen)

    def get(self) -> tuple[Any, Any]:
        """Return name and value; nan without data."""
        return self.name, self.sum_metric / self.num_inst if self.num_inst else math.nan

    def get_name_value(self) -> list[tuple[str, Any]]:
        """Return names and values, as a list of pairs."""
        names, values = self.get()
        if not isinstance(names, list):
            names, values = [names], [values]
        return list(zip(names, values, strict=True))

    def get_config(self) -> dict[str, Any]:
        """Return the configuration from which an equal metric can be created."""
        own = {
            "metric": type(self).__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }
        return {**self._kwargs, **own}

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"


class CompositeEvalMetric(EvalMetric):
    """Composite of several metrics.

    Parameters
    ----------
    metrics : list, optional
        Metrics, or arguments of `create`.
    name, output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> metric = gluon.metric.CompositeEvalMetric(["acc", "mae"])
    >>> metric.update(np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    >>> metric.get()
    (['accuracy', 'mae'], [0.5, 0.5])
    """

    def __init__(
        self,
        metrics: Sequence[Any] | None = None,
        name: str = "composite",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self.metrics = [create(m) for m in metrics or ()]
        super().__init__(name, output_names, label_names)

    def add(self, metric: Any) -> None:
        """Append a metric."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """Return one of the metrics."""
        return self.metrics[index]

    def reset(self) -> None:
        """Reset the metric."""
        for metric in self.metrics:
            metric.reset()

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def update_dict(self, labels: Mapping[str, Any], preds: Mapping[str, Any]) -> None:
        """Update the metric with a batch given as dicts."""
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def get(self) -> tuple[Any, Any]:
        """Return names and values."""
        pairs = [pair for metric in self.metrics for pair in metric.get_name_value()]
        return [name for name, _ in pairs], [value for _, value in pairs]

    def get_config(self) -> dict[str, Any]:
        """Return the configuration from which an equal metric can be created."""
        return {**super().get_config(), "metrics": [m.get_config() for m in self.metrics]}


def of_function(
    numpy_feval: Callable[[Any, Any], Any],
    name: str | None = None,
    allow_extra_outputs: bool = False,
) -> "CustomMetric":
    """Create a metric of a function of NumPy arrays: MXNet's `metric.np`.

    Parameters
    ----------
    numpy_feval : callable
        Called with labels and predictions; returns a number, or a pair of a sum and a count.
    name : str, optional
        Its name; that of the function if not given.
    allow_extra_outputs : bool
        Whether there may be more predictions than labels.

    Returns
    -------
    CustomMetric
        The metric.

    Examples
    --------
    >>> metric = gluon.metric.np(lambda label, pred: abs(label - pred).max(), name="worst")
    >>> metric.update(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    >>> metric.get()
    ('worst', 2.0)
    """
    return CustomMetric(numpy_feval, name, allow_extra_outputs)


class CustomMetric(EvalMetric):
    """Metric defined by a function of labels and predictions.

    Parameters
    ----------
    feval : callable
        Called with NumPy arrays; returns a number, or a pair of a sum and a count.
    name : str, optional
        Its name; that of the function if not given.
    allow_extra_outputs : bool
        Whether there may be more predictions than labels.
    output_names, label_names
        As for `EvalMetric`.

    Examples
    --------
    >>> def worst(label, pred):
    ...     return abs(label - pred).max()
    >>> metric = gluon.metric.CustomMetric(worst, name="worst")
    >>> metric.update(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    >>> metric.get()
    ('worst', 2.0)
    """

    def __init__(
        self,
        feval: Callable[[Any, Any], Any],
        name: str | None = None,
        allow_extra_outputs: bool = False,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        if not callable(feval):
            raise TypeError(
                "CustomMetric: feval: expected a function of labels and predictions, got "
                f"{type(feval).__name__}"
            )
        super().__init__(
            f"custom({getattr(feval, '__name__', type(feval).__name__)})" if name is None else name,
            output_names,
            label_names,
        )
        self._feval, self._allow_extra_outputs = feval, allow_extra_outputs

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with a batch."""
        labels, preds = as_lists(labels), as_lists(preds)
        if not self._allow_extra_outputs:
            check_label_shapes(labels, preds)
        for label, pred in zip(labels, preds, strict=False):
            found = self._feval(label, pred)
            self._add(*(found if isinstance(found, tuple) else (found, 1)))

    def get_config(self) -> dict[str, Any]:
        """Raise NotImplementedError: a function can't be created from its name."""
        raise NotImplementedError("CustomMetric can't be made again from a config")


__all__ = [
    "CompositeEvalMetric",
    "CustomMetric",
    "EvalMetric",
    "alias",
    "as_lists",
    "check_label_shapes",
    "create",
    "pairs",
    "register",
]
