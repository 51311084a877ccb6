"""Estimator: a training and evaluation loop with event handlers."""

from npcompat._internal.support import old_paths
from npcompat.gluon.contrib.estimator._batch_processor import BatchProcessor
from npcompat.gluon.contrib.estimator._checkpoints import CheckpointHandler, EarlyStoppingHandler
from npcompat.gluon.contrib.estimator._estimator import Estimator
from npcompat.gluon.contrib.estimator._events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    TrainBegin,
    TrainEnd,
)
from npcompat.gluon.contrib.estimator._handlers import (
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    ProgressBarHandler,
    StoppingHandler,
    ValidationHandler,
)

__all__ = [
    "BatchBegin",
    "BatchEnd",
    "BatchProcessor",
    "CheckpointHandler",
    "EarlyStoppingHandler",
    "EpochBegin",
    "EpochEnd",
    "Estimator",
    "GradientUpdateHandler",
    "LoggingHandler",
    "MetricHandler",
    "ProgressBarHandler",
    "StoppingHandler",
    "TrainBegin",
    "TrainEnd",
    "ValidationHandler",
]

__getattr__ = old_paths.names_of(__name__)
