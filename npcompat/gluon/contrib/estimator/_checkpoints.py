"""Handlers that monitor a metric: checkpoints and early stopping."""

import json
import math
import os
import re
from pathlib import Path
from typing import Any

from npcompat._internal.random.stream import default as stream
from npcompat._internal.support import atomic_file
from npcompat._internal.support.damaged_file import reading
from npcompat._internal.support.errors import ParameterFileError
from npcompat.gluon.contrib.estimator._events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    TrainBegin,
    TrainEnd,
)
from npcompat.gluon.metric import CompositeEvalMetric, EvalMetric

_RISING = ("acc", "f1", "fbeta", "mcc", "pcc", "pearson", "cosine", "top_k")
"""Substrings of the names of metrics whose larger values are better."""


class _Watch:
    """Tracks the best value of a metric."""

    def __init__(
        self,
        who: str,
        monitor: Any,
        mode: str,
        min_delta: float = 0.0,
        baseline: float | None = None,
    ) -> None:
        if not isinstance(monitor, EvalMetric) or isinstance(monitor, CompositeEvalMetric):
            raise ValueError(
                f"{who}: monitor must be one of estimator.train_metrics or estimator.val_metrics, "
                f"got {type(monitor).__name__}"
            )
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"{who}: mode must be 'auto', 'min' or 'max', got {mode!r}")
        self.monitor, self.min_delta, self.baseline = monitor, abs(min_delta), baseline
        rising = mode == "max" or (
            mode == "auto" and any(part in monitor.name.lower() for part in _RISING)
        )
        self.sign = 1 if rising else -1
        self.begin()

    def begin(self) -> None:
        """Reset the best value."""
        self.best = -self.sign * math.inf if self.baseline is None else self.baseline

    def improved(self) -> bool:
        """Return True if the metric improved by more than `min_delta`; store it as the best."""
        value = self.monitor.get()[1]
        if math.isnan(value) or self.sign * (value - self.best) <= self.min_delta:
            return False
        self.best = value
        return True


class CheckpointHandler(TrainBegin, EpochBegin, BatchBegin, BatchEnd, EpochEnd):
    """Checkpointing: writes parameters, trainer states and random state to files.

    A file's name is `prefix-epochEbatchB`, where E and B are the numbers of finished epochs and
    batches; files are written atomically. A resumed training gives the same parameters, bit by bit,
    as an uninterrupted one: the batches of an unfinished epoch that were already used are read and
    skipped. Neither the architecture nor gradients are written: where gradients of several batches
    are accumulated, `batch_period` must be a multiple of their number.

    Parameters
    ----------
    model_dir : path
        The folder; it is created if there is none.
    model_prefix : str
        Prefix of the files' names.
    monitor : EvalMetric, optional
        The metric that selects the best parameters.
    verbose : int
        Whether to log each file.
    save_best : bool
        Whether to write the best parameters as `prefix-best`, too.
    mode : {'auto', 'min', 'max'}
        Whether smaller or larger values are better; 'auto' knows it from the metric's name.
    epoch_period, batch_period : int, optional
        Numbers of epochs and of batches between checkpoints; never if None.
    max_checkpoints : int
        Number of checkpoints that are kept.
    resume_from_checkpoint : bool
        Whether to resume from the latest checkpoint.
    """

    priority = 900

    def __init__(
        self,
        model_dir: str | os.PathLike[str],
        model_prefix: str = "model",
        monitor: EvalMetric | None = None,
        verbose: int = 0,
        save_best: bool = False,
        mode: str = "auto",
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        max_checkpoints: int = 5,
        resume_from_checkpoint: bool = False,
    ) -> None:
        self.model_dir, self.model_prefix, self.verbose = Path(model_dir), model_prefix, verbose
        self.epoch_period, self.batch_period = epoch_period, batch_period
        self.max_checkpoints, self.resume_from_checkpoint = max_checkpoints, resume_from_checkpoint
        self._watch = _Watch("CheckpointHandler", monitor, mode) if save_best else None
        self._in_epoch = 0
        self._epoch_position: tuple[int, int] = (0, 0)
        self._written: tuple[int, int] | None = None
        self.model_dir.mkdir(parents=True, exist_ok=True)

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Resume from the latest checkpoint, if requested."""
        if self._watch is not None:
            self._watch.begin()
        self._written = None
        if not self.resume_from_checkpoint:
            return
        found = self._checkpoints()
        if not found:
            estimator.logger.info(
                "CheckpointHandler: no checkpoint in %s, training from the beginning",
                self.model_dir,
            )
            return
        (epochs, batches), prefix = found[-1]
        if (estimator.max_epoch is not None and epochs >= estimator.max_epoch) or (
            estimator.max_batch is not None and batches >= estimator.max_batch
        ):
            raise ValueError(
                f"CheckpointHandler: {self.model_dir / prefix} was written after {epochs} epochs "
                f"and {batches} batches, which is all that "
                "fit was asked for; ask for more, or pass resume_from_checkpoint=False"
            )
        self._resume(estimator, prefix, epochs, batches)
        estimator.logger.info(
            "CheckpointHandler: going on after %d epochs and %d batches", epochs, batches
        )

    def _resume(self, estimator: Any, prefix: str, epochs: int, batches: int) -> None:
        place = self.model_dir / f"{prefix}.json"
        with reading(str(place), "whole file of a checkpoint", ParameterFileError):
            state = json.loads(place.read_text())
            best, in_epoch, epoch_position, position = [
                state[key] for key in ("best", "in_epoch", "epoch_position", "position")
            ]
            if best is not None:
                best = float(best)
            for key, counter in (epoch_position, position):
                if type(key) is not int or type(counter) is not int:
                    raise ValueError("positions of the random stream are pairs of integers")
        estimator.net.load_parameters(self.model_dir / f"{prefix}.params", device=estimator.device)
        estimator.trainer.load_states(self.model_dir / f"{prefix}.states")
        if self._watch is not None and best is not None:
            self._watch.best = best
        stream.begin(*(epoch_position if in_epoch else position))
        estimator.resume(epochs, batches, in_epoch, lambda: stream.begin(*position))
        self._written = epochs, batches

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Store the position of the random stream, which determines the order of the data."""
        self._in_epoch = 0
        self._epoch_position = stream.position()

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Count the batches of the epoch."""
        self._in_epoch = kwargs.get("index", self._in_epoch) + 1

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Write a checkpoint if the period has elapsed."""
        if self.batch_period and estimator.trained_batches % self.batch_period == 0:
            self._write(estimator)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Write a checkpoint if the period has elapsed."""
        self._in_epoch = 0
        if self.epoch_period and estimator.trained_epochs % self.epoch_period == 0:
            self._write(estimator)

    def _write(self, estimator: Any) -> None:
        now = estimator.trained_epochs, estimator.trained_batches
        if self._watch is not None and self._watch.improved():
            self._save(estimator, f"{self.model_prefix}-best")
        if now != self._written:
            self._save(estimator, f"{self.model_prefix}-epoch{now[0]}batch{now[1]}")
            self._written = now
        for _, prefix in self._checkpoints()[: -self.max_checkpoints]:
            for ending in (".json", ".params", ".states"):  # the first one makes it a checkpoint
                (self.model_dir / f"{prefix}{ending}").unlink(missing_ok=True)

    def _save(self, estimator: Any, prefix: str) -> None:
        estimator.net.save_parameters(self.model_dir / f"{prefix}.params")
        estimator.trainer.save_states(self.model_dir / f"{prefix}.states")
        state = {
            "best": None
            if self._watch is None or math.isinf(self._watch.best)
            else self._watch.best,
            "in_epoch": self._in_epoch,
            "epoch_position": self._epoch_position,
            "position": stream.position(),
        }
        atomic_file.write(self.model_dir / f"{prefix}.json", json.dumps(state).encode())
        if self.verbose:
            estimator.logger.info("CheckpointHandler: %s written", self.model_dir / prefix)

    def _checkpoints(self) -> list[tuple[tuple[int, int], str]]:
        """Return (epochs, batches) and name prefix of the complete checkpoints, latest last."""
        form = re.compile(re.escape(self.model_prefix) + r"-epoch(\d+)batch(\d+)\.json")
        found = [match for path in self.model_dir.iterdir() if (match := form.fullmatch(path.name))]
        return sorted([((int(m[1]), int(m[2])), m[0].removesuffix(".json")) for m in found])


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Early stopping: ends training when a metric has not improved for some epochs.

    Parameters
    ----------
    monitor : EvalMetric
        The metric: one of `estimator.train_metrics` or `estimator.val_metrics`.
    min_delta : float
        Minimum difference that counts as an improvement.
    patience : int
        Number of epochs without improvement after which training ends.
    mode : {'auto', 'min', 'max'}
        Whether smaller or larger values are better; 'auto' knows it from the metric's name.
    baseline : float, optional
        Initial best value.
    """

    def __init__(
        self,
        monitor: EvalMetric,
        min_delta: float = 0,
        patience: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
    ) -> None:
        self._watch = _Watch("EarlyStoppingHandler", monitor, mode, min_delta, baseline)
        self.patience, self.wait, self.stopped_epoch = patience, 0, 0

    @property
    def best(self) -> float:
        """Best value so far."""
        return self._watch.best

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Reset the best value and the counters."""
        self._watch.begin()
        self.wait = self.stopped_epoch = 0

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Return True, which ends training, after `patience` epochs without improvement."""
        self.wait = 0 if self._watch.improved() else self.wait + 1
        if self.wait == 0 or self.wait < self.patience:
            return False
        self.stopped_epoch = estimator.trained_epochs
        return True

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log the reason if training was stopped."""
        if self.stopped_epoch:
            estimator.logger.info(
                "[Epoch %d] EarlyStoppingHandler: %s does not improve on %.4f",
                self.stopped_epoch,
                self._watch.monitor.name,
                self.best,
            )


__all__ = ["CheckpointHandler", "EarlyStoppingHandler"]
