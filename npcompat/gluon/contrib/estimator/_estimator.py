"""Estimator: the training and evaluation loop."""

import copy
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from npcompat._internal.dispatch.devices import as_device, current_device
from npcompat.gluon import loss as losses
from npcompat.gluon import metric as metrics
from npcompat.gluon._placement import one_of, place_of
from npcompat.gluon.contrib.estimator._batch_processor import BatchProcessor, Results
from npcompat.gluon.contrib.estimator._events import EventHandler, handlers_of, metrics_of
from npcompat.gluon.contrib.estimator._handlers import (
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    ValidationHandler,
)
from npcompat.gluon.parameter import ParameterDict
from npcompat.gluon.trainer import Trainer


class Estimator:
    """Estimator: trains and evaluates a network, with event handlers for everything else.

    Parameters
    ----------
    net : Block
        The network to train.
    loss : gluon.loss.Loss
        The loss.
    train_metrics, val_metrics : EvalMetric or list of EvalMetric, optional
        Metrics in training and in evaluation. By default the loss, and accuracy for classifiers;
        in evaluation the same as in training. Their names get the prefixes 'training' and
        'validation'.
    initializer : Initializer or str, optional
        For parameters that have no values yet.
    trainer : Trainer, optional
        Updates the parameters; SGD with a learning rate of 0.001, with a warning, if not given.
    device, context : Device or list of one, optional
        Device to train on.
    val_net : Block, optional
        The network to evaluate; `net` if not given.
    val_loss : gluon.loss.Loss, optional
        The loss in evaluation; `loss` if not given.
    batch_processor : BatchProcessor, optional
        Computes losses and gradients of single batches.

    Attributes
    ----------
    trained_epochs, trained_batches : int
        Numbers of finished epochs and batches.
    logger : logging.Logger
        Writes to standard output; its handlers and level can be changed.

    Examples
    --------
    >>> from npcompat.gluon.contrib.estimator import Estimator
    >>> dataset = gluon.data.ArrayDataset(np.ones((8, 2)), np.zeros(8))
    >>> data = gluon.data.DataLoader(dataset, batch_size=4)
    >>> net = nn.Dense(1)
    >>> net.initialize()
    >>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    >>> estimator = Estimator(net, gluon.loss.L2Loss(), trainer=trainer)
    >>> estimator.logger.setLevel("WARNING")
    >>> estimator.fit(data, epochs=3)
    >>> estimator.trained_batches
    6
    """

    def __init__(
        self,
        net: Any,
        loss: Any,
        train_metrics: Any = None,
        val_metrics: Any = None,
        initializer: Any = None,
        trainer: Trainer | None = None,
        device: Any = None,
        val_net: Any = None,
        val_loss: Any = None,
        batch_processor: BatchProcessor | None = None,
        *,
        context: Any = None,
    ) -> None:
        self.net, self.val_net = net, net if val_net is None else val_net
        self.loss, self.val_loss = (
            _checked_loss(loss),
            _checked_loss(loss if val_loss is None else val_loss),
        )
        chosen = place_of(one_of(device, context, "Estimator"))
        self.device = [current_device() if chosen is None else as_device(chosen)]
        self.logger = logging.Logger("Estimator", logging.INFO)
        self.logger.addHandler(_StandardOutput())
        self._train_metrics = metrics_of(train_metrics) or _suited(self.loss)
        self._val_metrics = metrics_of(val_metrics) or [
            copy.deepcopy(m) for m in self._train_metrics
        ]
        for kind, group in (("training", self._train_metrics), ("validation", self._val_metrics)):
            for metric in group:
                metric.name = f"{kind} {metric.name}"
        self._initialize(initializer)
        self.trainer = self._checked_trainer(trainer)
        self.batch_processor = BatchProcessor() if batch_processor is None else batch_processor
        if not isinstance(self.batch_processor, BatchProcessor):
            raise ValueError(
                "Estimator: batch_processor must be a BatchProcessor, got "
                f"{type(batch_processor).__name__}"
            )
        self.max_epoch: int | None = None
        self.max_batch: int | None = None
        self.batch_axis = 0
        self.trained_epochs = self.trained_batches = 0
        self._pass_over: tuple[int, Callable[[], None]] | None = None

    @property
    def context(self) -> list[Any]:
        """Alias of `device`."""
        return self.device

    @property
    def train_metrics(self) -> list[metrics.EvalMetric]:
        """Training metrics."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list[metrics.EvalMetric]:
        """Evaluation metrics."""
        return self._val_metrics

    def _initialize(self, initializer: Any) -> None:
        params = self.net.collect_params()
        missing = ParameterDict()
        missing.update(
            {name: p for name, p in params.items() if p._data is None and p._waiting is None}
        )
        if missing:
            missing.initialize(initializer, self.device)
        elif initializer is not None:
            warnings.warn(
                "Estimator: all parameters are initialized, so the initializer is not used; "
                "net.initialize(init, force_reinit=True) would",
                stacklevel=3,
            )

    def _checked_trainer(self, trainer: Any) -> Trainer:
        if trainer is None:
            warnings.warn(
                "Estimator: no trainer was given; SGD with a learning rate of 0.001 is used",
                stacklevel=3,
            )
            return Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.001})
        if not isinstance(trainer, Trainer):
            raise ValueError(
                f"Estimator: trainer must be a gluon.Trainer, got {type(trainer).__name__}"
            )
        return trainer

    # --- single batches

    def fit_batch(self, train_batch: Any, batch_axis: int = 0) -> Results:
        """Compute the gradients of a batch with the batch processor."""
        return self.batch_processor.fit_batch(self, train_batch, batch_axis)

    def evaluate_batch(self, val_batch: Any, batch_axis: int = 0) -> Results:
        """Evaluate on a batch with the batch processor."""
        return self.batch_processor.evaluate_batch(self, val_batch, batch_axis)

    # --- whole passes

    def evaluate(
        self, val_data: Iterable[Any], batch_axis: int = 0, event_handlers: Any = None
    ) -> None:
        """Evaluate on data; the results are in `val_metrics`.

        Parameters
        ----------
        val_data : DataLoader
            Batches of data and labels.
        batch_axis : int
            The axis of examples.
        event_handlers : handler or list of them, optional
            Called at begin and end of the epoch and of batches; a `MetricHandler` of `val_metrics`
            is added.
        """
        handlers = handlers_of(event_handlers)
        if not any(isinstance(h, MetricHandler) for h in handlers):
            handlers.append(MetricHandler(self._val_metrics))
        handlers = _sorted(handlers)
        _notify(handlers, "epoch_begin", self, batches=_length(val_data))
        for index, batch in enumerate(val_data):
            _notify(handlers, "batch_begin", self, batch=batch, index=index)
            _, label, pred, loss = self.evaluate_batch(batch, batch_axis)
            _notify(handlers, "batch_end", self, batch=batch, pred=pred, label=label, loss=loss)
        _notify(handlers, "epoch_end", self)

    def fit(
        self,
        train_data: Iterable[Any],
        val_data: Iterable[Any] | None = None,
        epochs: int | None = None,
        event_handlers: Any = None,
        batches: int | None = None,
        batch_axis: int = 0,
    ) -> None:
        """Train for a number of epochs or batches.

        Parameters
        ----------
        train_data : DataLoader
            Batches of data and labels.
        val_data : DataLoader, optional
            Data to evaluate on after each epoch.
        epochs, batches : int
            Number of epochs or batches; one of the two.
        event_handlers : handler or list of them, optional
            Further handlers. `StoppingHandler`, `GradientUpdateHandler`, `MetricHandler`,
            `ValidationHandler` and `LoggingHandler` are added unless given.
        batch_axis : int
            The axis of examples.
        """
        if (epochs is None) == (batches is None):
            raise ValueError(
                f"fit: give either epochs or batches, got epochs={epochs} and batches={batches}"
            )
        if hasattr(train_data, "__next__"):
            raise TypeError(
                "fit: train_data must be something that can be passed over several times, such as "
                "a DataLoader, not an iterator"
            )
        self.max_epoch, self.max_batch, self.batch_axis = epochs, batches, batch_axis
        self.trained_epochs = self.trained_batches = 0
        self._pass_over = None
        handlers = _sorted(self._with_defaults(event_handlers, val_data))
        _notify(handlers, "train_begin", self)
        try:
            while not self._pass(train_data, handlers):
                pass
        finally:
            _notify(handlers, "train_end", self)

    def _pass(self, train_data: Iterable[Any], handlers: Sequence[EventHandler]) -> bool:
        """Train for one epoch; return True if it was the last one."""
        seen, go_on = self._pass_over or (0, None)
        self._pass_over = None
        _notify(handlers, "epoch_begin", self, batches=_length(train_data))
        index = -1
        for index, batch in enumerate(train_data):
            if index < seen:
                continue
            if go_on is not None:
                go_on()
                go_on = None
            _notify(handlers, "batch_begin", self, batch=batch, index=index)
            _, label, pred, loss = self.fit_batch(batch, self.batch_axis)
            self.trained_batches += 1
            if _notify(handlers, "batch_end", self, batch=batch, pred=pred, label=label, loss=loss):
                return True
        if index < 0:
            raise ValueError("fit: train_data gave no batch")
        if go_on is not None:
            go_on()
        self.trained_epochs += 1
        return _notify(handlers, "epoch_end", self)

    def resume(self, epochs: int, batches: int, seen: int, go_on: Callable[[], None]) -> None:
        """Resume an earlier training; called by a handler when training begins.

        Parameters
        ----------
        epochs, batches : int
            Numbers of finished epochs and batches.
        seen : int
            Number of used batches of an unfinished epoch, which are skipped.
        go_on : callable
            Called after the last skipped batch.
        """
        self.trained_epochs, self.trained_batches = epochs, batches
        self._pass_over = (seen, go_on) if seen else None

    def _with_defaults(self, given: Any, val_data: Iterable[Any] | None) -> list[EventHandler]:
        handlers = handlers_of(given)

        def lacks(kind: type[EventHandler]) -> bool:
            return not any(isinstance(h, kind) for h in handlers)

        if lacks(StoppingHandler):
            handlers.append(StoppingHandler())
        if lacks(GradientUpdateHandler):
            handlers.append(GradientUpdateHandler())
        if lacks(MetricHandler):
            handlers.append(MetricHandler(self._train_metrics))
        if val_data is not None and lacks(ValidationHandler):
            handlers.append(ValidationHandler(val_data, self.evaluate))
        if lacks(LoggingHandler):
            measured = self._train_metrics + ([] if lacks(ValidationHandler) else self._val_metrics)
            handlers.append(LoggingHandler(metrics=measured))
        return handlers


class _StandardOutput(logging.StreamHandler[Any]):
    """Log handler that writes to the current standard output, which may be redirected."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stdout
        super().emit(record)


def _sorted(handlers: Sequence[EventHandler]) -> list[EventHandler]:
    return sorted(handlers, key=lambda h: getattr(h, "priority", 0))


def _notify(
    handlers: Sequence[EventHandler], event: str, estimator: Estimator, **kwargs: Any
) -> bool:
    """Call the handlers of an event; return True if one of them ends training."""
    return any(
        [getattr(h, event)(estimator, **kwargs) is True for h in handlers if hasattr(h, event)]
    )


def _length(data: Any) -> int | None:
    return len(data) if hasattr(data, "__len__") else None


def _checked_loss(loss: Any) -> Any:
    if not isinstance(loss, losses.Loss):
        raise ValueError(f"Estimator: a loss must be a gluon.loss.Loss, got {type(loss).__name__}")
    return loss


def _suited(loss: Any) -> list[metrics.EvalMetric]:
    """Return the default metrics of a loss."""
    found: list[metrics.EvalMetric] = []
    if isinstance(loss, losses.SoftmaxCrossEntropyLoss):
        found.append(metrics.Accuracy())
    return [*found, metrics.Loss(type(loss).__name__.lower())]


__all__ = ["Estimator"]
