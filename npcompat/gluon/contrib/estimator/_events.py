"""Events of training: a handler inherits the classes of the events that it handles."""

from typing import Any

from npcompat.gluon.metric import CompositeEvalMetric, EvalMetric


class EventHandler:
    """Base class of handlers; those of smaller `priority` are called first (default 0)."""

    priority: float = 0


class TrainBegin(EventHandler):
    """Handler that is called when training begins."""

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Handle the begin of training."""


class TrainEnd(EventHandler):
    """Handler that is called when training has ended, also by an error."""

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Handle the end of training."""


class EpochBegin(EventHandler):
    """Handler that is called at the beginning of each epoch."""

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Handle the begin of an epoch."""


class EpochEnd(EventHandler):
    """Handler that is called at the end of each epoch."""

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool | None:
        """Handle the end of an epoch; returning True ends training."""
        return False


class BatchBegin(EventHandler):
    """Handler that is called before each batch, with it as `batch`."""

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Handle the begin of a batch."""


class BatchEnd(EventHandler):
    """Handler that is called after each batch, with `batch`, `pred`, `label` and `loss`."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool | None:
        """Handle the end of a batch; returning True ends training."""
        return False


def handlers_of(given: Any) -> list[EventHandler]:
    """Return a list of handlers, from one or several."""
    found = [given] if isinstance(given, EventHandler) else list(given or ())
    for handler in found:
        if not isinstance(handler, EventHandler):
            raise ValueError(
                "event_handlers: expected handlers of events, such as TrainBegin or BatchEnd, "
                f"got {type(handler).__name__}"
            )
    return found


def metrics_of(given: Any) -> list[EvalMetric]:
    """Return a list of metrics, from one or several; composite ones are flattened."""
    found = [given] if isinstance(given, EvalMetric) else list(given or ())
    flat: list[EvalMetric] = []
    for metric in found:
        if not isinstance(metric, EvalMetric):
            raise ValueError(
                f"metrics: expected metrics (gluon.metric.EvalMetric), got {type(metric).__name__}"
            )
        flat += metrics_of(metric.metrics) if isinstance(metric, CompositeEvalMetric) else [metric]
    return flat


def described(metrics: list[EvalMetric]) -> str:
    """Format names and values of metrics."""
    return ", ".join(
        [f"{name}: {value:.4f}" for metric in metrics for name, value in metric.get_name_value()]
    )


__all__ = [
    "BatchBegin",
    "BatchEnd",
    "EpochBegin",
    "EpochEnd",
    "EventHandler",
    "TrainBegin",
    "TrainEnd",
]
