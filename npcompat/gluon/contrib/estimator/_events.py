"""The events of training: what a handler inherits, it is called for."""

from typing import Any

from npcompat.gluon.metric import CompositeEvalMetric, EvalMetric


class EventHandler:
    """Base of handlers.  Those of smaller `priority` are called first; 0 if they have none."""

    priority: float = 0


class TrainBegin(EventHandler):
    """Is called when training begins."""

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Training begins."""


class TrainEnd(EventHandler):
    """Is called when training has ended, also by an error."""

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Training has ended."""


class EpochBegin(EventHandler):
    """Is called at the beginning of each pass over the data."""

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """A pass begins."""


class EpochEnd(EventHandler):
    """Is called at the end of each pass over the data."""

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool | None:
        """A pass has ended; True ends training."""
        return False


class BatchBegin(EventHandler):
    """Is called before each batch, with it as `batch`."""

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """A batch begins."""


class BatchEnd(EventHandler):
    """Is called after each batch, with `batch`, `pred`, `label` and `loss`."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool | None:
        """A batch has ended; True ends training."""
        return False


def handlers_of(given: Any) -> list[EventHandler]:
    """Handlers, from one or a list of them."""
    found = [given] if isinstance(given, EventHandler) else list(given or ())
    for handler in found:
        if not isinstance(handler, EventHandler):
            raise ValueError(
                "event_handlers: expected handlers of events, such as TrainBegin or BatchEnd, "
                f"got {type(handler).__name__}"
            )
    return found


def metrics_of(given: Any) -> list[EvalMetric]:
    """Metrics, from one or a list of them; composite ones are taken apart."""
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
    """Names and values of metrics, for people."""
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
