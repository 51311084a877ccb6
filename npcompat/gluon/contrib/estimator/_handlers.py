"""Default handlers: stopping, updates, metrics, validation, logging and progress bars."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat.gluon.contrib.estimator._events import (
    BatchEnd,
    EpochBegin,
    EpochEnd,
    TrainBegin,
    TrainEnd,
    described,
    metrics_of,
)
from npcompat.gluon.metric import Loss


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Ends training after a number of epochs or batches, which `Estimator.fit` sets.

    Parameters
    ----------
    max_epoch, max_batch : int, optional
        Maximum numbers of epochs and batches.
    """

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None) -> None:
        self.max_epoch, self.max_batch = max_epoch, max_batch
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Copy the limits that `fit` was called with."""
        self.max_epoch, self.max_batch, self.stop_training = (
            estimator.max_epoch,
            estimator.max_batch,
            False,
        )

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Return True after the last batch."""
        self.stop_training = self.stop_training or (
            self.max_batch is not None and estimator.trained_batches >= self.max_batch
        )
        return self.stop_training

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Return True after the last epoch."""
        self.stop_training = self.stop_training or (
            self.max_epoch is not None and estimator.trained_epochs >= self.max_epoch
        )
        return self.stop_training


class GradientUpdateHandler(BatchEnd):
    """Updates the parameters after each batch, or after several with accumulated gradients.

    Parameters
    ----------
    priority : float
        Handlers of smaller priority are called first.
    update_period : int
        Number of batches per update. If more than 1, parameters must have `grad_req='add'`;
        gradients are set to zero after each update.

    Examples
    --------
    >>> net = nn.Dense(1)
    >>> net.setattr("grad_req", "add")
    >>> four_batches_at_once = gluon.contrib.estimator.GradientUpdateHandler(update_period=4)
    """

    def __init__(self, priority: float = -2000, *, update_period: int = 1) -> None:
        if update_period < 1:
            raise ValueError(
                f"GradientUpdateHandler: update_period must be at least 1, got {update_period}"
            )
        self.priority, self.update_period = priority, int(update_period)
        self._examples = self._batches = 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Update the parameters if the period has elapsed."""
        loss = kwargs["loss"]
        self._examples += sum(
            [
                part.shape[estimator.batch_axis]
                for part in (loss if isinstance(loss, list) else [loss])
            ]
        )
        self._batches += 1
        if self._batches < self.update_period:
            return
        estimator.trainer.step(self._examples)
        self._examples = self._batches = 0
        if self.update_period > 1:
            estimator.net.zero_grad()


class MetricHandler(EpochBegin, BatchEnd):
    """Updates metrics after each batch, and resets them at each epoch.

    Parameters
    ----------
    metrics : EvalMetric or list of EvalMetric
        The metrics; `gluon.metric.Loss` gets the losses, others labels and predictions.
    priority : float
        Handlers of smaller priority are called first.
    """

    def __init__(self, metrics: Any, priority: float = -1000) -> None:
        self.metrics, self.priority = metrics_of(metrics), priority

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Reset the metrics."""
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Update the metrics with a batch."""
        for metric in self.metrics:
            if isinstance(metric, Loss):
                metric.update(None, kwargs["loss"])
            else:
                metric.update(kwargs["label"], kwargs["pred"])


class ValidationHandler(BatchEnd, EpochEnd):
    """Evaluates on validation data, every few epochs or batches.

    Parameters
    ----------
    val_data : DataLoader
        The data.
    eval_fn : callable
        Evaluation function, such as `Estimator.evaluate`; called with `val_data`, `batch_axis` and
        `event_handlers`.
    epoch_period, batch_period : int, optional
        Numbers of epochs and of batches between evaluations; never if None.
    priority : float
        Handlers of smaller priority are called first.
    event_handlers : handler or list of them, optional
        Passed to `eval_fn`.
    """

    def __init__(
        self,
        val_data: Any,
        eval_fn: Callable[..., Any],
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        priority: float = -1000,
        event_handlers: Any = None,
    ) -> None:
        self.val_data, self.eval_fn, self.priority = val_data, eval_fn, priority
        self.epoch_period, self.batch_period, self.event_handlers = (
            epoch_period,
            batch_period,
            event_handlers,
        )

    def _evaluate(self, estimator: Any) -> None:
        self.eval_fn(
            val_data=self.val_data,
            batch_axis=estimator.batch_axis,
            event_handlers=self.event_handlers,
        )

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Evaluate if the period has elapsed."""
        if self.batch_period and estimator.trained_batches % self.batch_period == 0:
            self._evaluate(estimator)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Evaluate if the period has elapsed."""
        if self.epoch_period and estimator.trained_epochs % self.epoch_period == 0:
            self._evaluate(estimator)


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchEnd):
    """Logs the progress of training to the estimator's logger.

    Parameters
    ----------
    log_interval : 'epoch' or int
        Log after each epoch; a number also logs at that interval of batches.
    metrics : EvalMetric or list of EvalMetric, optional
        Metrics to log.
    priority : float
        Handlers of smaller priority are called first.
    """

    def __init__(
        self, log_interval: str | int = "epoch", metrics: Any = None, priority: float = math.inf
    ) -> None:
        if log_interval != "epoch" and not (
            isinstance(log_interval, int | onp.integer) and log_interval > 0
        ):
            raise ValueError(
                "LoggingHandler: log_interval must be 'epoch' or a number of batches, got "
                f"{log_interval!r}"
            )
        self.log_interval, self.metrics, self.priority = log_interval, metrics_of(metrics), priority
        self._train_start = self._epoch_start = self._interval_start = time.perf_counter()
        self._batches = self._samples = 0

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log the settings."""
        self._train_start = time.perf_counter()
        trainer = estimator.trainer
        name = type(trainer.optimizer).__name__
        try:
            rate: Any = trainer.learning_rate
        except NotImplementedError:
            rate = "of the transformation"
        length = (
            f"{estimator.max_epoch} epochs"
            if estimator.max_epoch is not None
            else f"{estimator.max_batch} batches"
        )
        estimator.logger.info(
            "Training begins with %s, learning rate %.4g, for %s", name, rate, length
        )

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log the results."""
        seconds = time.perf_counter() - self._train_start
        estimator.logger.info(
            "Training ended after %.1f s and %d epochs; %s",
            seconds,
            estimator.trained_epochs,
            described(self.metrics),
        )

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Reset the counters and clocks."""
        self._epoch_start = self._interval_start = time.perf_counter()
        self._batches = self._samples = 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log if the interval has elapsed."""
        self._batches += 1
        self._samples += kwargs["batch"][0].shape[estimator.batch_axis]
        if self.log_interval == "epoch" or self._batches % int(self.log_interval):
            return
        now = time.perf_counter()
        seconds, self._interval_start = now - self._interval_start, now
        estimator.logger.info(
            "[Epoch %d][Batch %d] %d samples, %.3f s, %s",
            estimator.trained_epochs,
            self._batches,
            self._samples,
            seconds,
            described(self.metrics),
        )

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log the epoch's time and metrics."""
        seconds = time.perf_counter() - self._epoch_start
        estimator.logger.info(
            "[Epoch %d] %.3f s, %s", estimator.trained_epochs, seconds, described(self.metrics)
        )


class ProgressBarHandler(TrainBegin, TrainEnd, EpochBegin, BatchEnd, EpochEnd):
    """Shows a tqdm progress bar of each epoch, with metrics.

    Parameters
    ----------
    metrics : EvalMetric or list of EvalMetric, optional
        Metrics to show; the estimator's training metrics if not given.
    priority : float
        Handlers of smaller priority are called first.
    **kwargs
        Arguments of `tqdm.tqdm`, such as `file` or `leave`.
    """

    def __init__(self, metrics: Any = None, priority: float = 1000, **kwargs: Any) -> None:
        self.metrics, self.priority, self._options = metrics_of(metrics), priority, kwargs
        self._bar: Any = None

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Import tqdm, which is an optional dependency."""
        try:
            from tqdm import tqdm
        except ImportError as error:
            raise ImportError(
                "ProgressBarHandler draws its bars with tqdm, which is not installed: pip install "
                "tqdm"
            ) from error
        self._tqdm = tqdm

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Open a bar."""
        self._bar = self._tqdm(
            total=kwargs.get("batches"),
            desc=f"epoch {estimator.trained_epochs + 1}",
            **self._options,
        )

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Advance the bar."""
        self._bar.set_postfix_str(described(self.metrics or estimator.train_metrics), refresh=False)
        self._bar.update()

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Close the bar."""
        self._close()

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Close the bar of an unfinished epoch."""
        self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


__all__ = [
    "GradientUpdateHandler",
    "LoggingHandler",
    "MetricHandler",
    "ProgressBarHandler",
    "StoppingHandler",
    "ValidationHandler",
]
