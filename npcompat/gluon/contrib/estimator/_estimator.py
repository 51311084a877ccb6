"""The loop of training and evaluation."""

import copy
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from npcompat._internal.dispatch.devices import as_device, current_device
from npcompat.gluon import loss as losses
from npcompat.gluon import metric as metrics
from npcompat.gluon._parameter import one_of, single_device
from npcompat.gluon.contrib.estimator._batch_processor import BatchProcessor
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
    """Trains a network, and evaluates it; what else happens is done by handlers of its events.

    Parameters
    ----------
    net : Block
        What is trained.
    loss : gluon.loss.Loss
        The loss.
    train_metrics, val_metrics : EvalMetric or list of EvalMetric, optional
        What is measured in training and in evaluation. If not given, the loss, and what suits it;
        in evaluation the same as in training. Their names get 'training' and 'validation' in front.
    initializer : Initializer or str, optional
        For parameters that have no values yet.
    trainer : Trainer, optional
        What updates the parameters; SGD with a learning rate of 0.001, with a warning, if not
        given.
    device, context : Device or list of one, optional
        Where to train.
    val_net : Block, optional
        What is evaluated; `net` if not given.
    val_loss : gluon.loss.Loss, optional
        The loss in evaluation; `loss` if not given.
    batch_processor : BatchProcessor, optional
        What is done with a batch.

    Attributes
    ----------
    trained_epochs, trained_batches : int
        How many passes and batches were made.
    logger : logging.Logger
        Writes to standard output; handlers and level are yours to change.

    Examples
    --------
    >>> from npcompat.gluon.contrib.estimator import Estimator
    >>> data = gluon.data.DataLoader(gluon.data.ArrayDataset(np.ones((8, 2)), np.zeros(8)), batch_size=4)
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
        chosen = single_device(one_of(device, context, "Estimator"), "Estimator")
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
        """Where to train, as `device`."""
        return self.device

    @property
    def train_metrics(self) -> list[metrics.EvalMetric]:
        """What is measured in training."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list[metrics.EvalMetric]:
        """What is measured in evaluation."""
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

    def fit_batch(self, train_batch: Any, batch_axis: int = 0) -> Any:
        """Compute the gradients of a batch, by the batch processor."""
        return self.batch_processor.fit_batch(self, train_batch, batch_axis)

    def evaluate_batch(self, val_batch: Any, batch_axis: int = 0) -> Any:
        """Evaluate on a batch, by the batch processor."""
        return self.batch_processor.evaluate_batch(self, val_batch, batch_axis)

    # --- whole passes

    def evaluate(
        self, val_data: Iterable[Any], batch_axis: int = 0, event_handlers: Any = None
    ) -> None:
        """Evaluate on data; the results are in `val_metrics`.

        Parameters
        ----------
        val_data : DataLoader
            Gives batches of data and labels.
        batch_axis : int
            The axis of examples.
        event_handlers : handler or list of them, optional
            Called at the pass's and the batches' begin and end; a `MetricHandler` of `val_metrics`
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
        """Train for a number of passes over data, or of batches.

        Parameters
        ----------
        train_data : DataLoader
            Gives batches of data and labels.
        val_data : DataLoader, optional
            What to evaluate on after each pass.
        epochs, batches : int
            How many passes or batches; one of the two.
        event_handlers : handler or list of them, optional
            Further handlers. Of `StoppingHandler`, `GradientUpdateHandler`, `MetricHandler`,
            `ValidationHandler` and `LoggingHandler`, those that are not given are added.
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
        """One pass; whether it was the last one."""
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
        """Go on with an earlier training; called by a handler when training begins.

        Parameters
        ----------
        epochs, batches : int
            How many passes and batches were made.
        seen : int
            How many batches of an unfinished pass; as many are passed over.
        go_on : callable
            Called after the last batch that is passed over.
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
    """Writes to what standard output is at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stdout
        super().emit(record)


def _sorted(handlers: Sequence[EventHandler]) -> list[EventHandler]:
    return sorted(handlers, key=lambda h: getattr(h, "priority", 0))


def _notify(
    handlers: Sequence[EventHandler], event: str, estimator: Estimator, **kwargs: Any
) -> bool:
    """Call what handlers have for an event; whether one of them wants training to end."""
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
    """What is measured beside a loss, and the loss itself."""
    found: list[metrics.EvalMetric] = []
    if isinstance(loss, losses.SoftmaxCrossEntropyLoss):
        found.append(metrics.Accuracy())
    return [*found, metrics.Loss(type(loss).__name__.lower())]


__all__ = ["Estimator"]
