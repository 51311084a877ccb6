"""Dynamic loss scaling, which keeps 16-bit gradients from underflow.

Steps with gradients that are not finite are skipped. Scale and counts are arrays, and the decision
is made on the device: nothing blocks, and the whole step can be compiled.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import npcompat.numpy as np
from npcompat._internal.core import modes
from npcompat._internal.dispatch.outside_traces import outside
from npcompat.gluon.utils import all_finite


class LossScaler:
    """Dynamic loss scale: falls if gradients overflow, grows after many finite steps.

    Parameters
    ----------
    init_scale : float
        Initial scale.
    scale_window : int
        Number of consecutive finite steps after which the scale doubles.
    max_scale, min_scale : float
        Bounds of the scale.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        scale_window: int = 2000,
        max_scale: float = 2.0**24,
        min_scale: float = 1.0,
    ) -> None:
        if not 0 < min_scale <= init_scale <= max_scale:
            raise ValueError(
                f"LossScaler: expected 0 < min_scale <= init_scale <= max_scale, got {min_scale}, "
                f"{init_scale}, {max_scale}"
            )
        self.scale_window, self.max_scale, self.min_scale = (
            int(scale_window),
            float(max_scale),
            float(min_scale),
        )
        with outside():
            self._scale = np.array(init_scale, dtype="float32")
            self._counted = np.array(0, dtype="int32")  # steps since the scale changed
            self._applied = np.array(1.0, dtype="float32")  # the current factor of the gradients

    @property
    def loss_scale(self) -> float:
        """Current scale; blocks until it is computed."""
        return float(self._scale)

    def has_overflow(self, params: Sequence[Any]) -> bool:
        """Return True if a gradient of these parameters is not finite; blocks."""
        grads = [p.grad() for p in params if p.grad_req != "null"]
        return bool(grads) and not bool(all_finite(*grads))

    def state(self) -> dict[str, Any]:
        """Return the scaler's arrays by name."""
        return {"loss_scale": self._scale, "loss_scale_steps": self._counted}

    def _mark(self) -> Any:
        """Return the factor for losses, and store it as the factor of the gradients."""
        self._applied[...] = self._scale
        return self._scale

    def _taken_off(self) -> Any:
        """Return the factor of the gradients, and reset it to 1."""
        factor = self._applied.copy()
        self._applied[...] = 1.0
        return factor

    def _step(self, usable: Any) -> None:
        """Update the scale after a step; `usable` is True if its gradients were finite."""
        counted = self._counted + 1
        long = counted >= self.scale_window
        grown = np.where(long, np.minimum(self._scale * 2, self.max_scale), self._scale)
        self._scale[...] = np.where(usable, grown, np.maximum(self._scale / 2, self.min_scale))
        self._counted[...] = np.where(usable & ~long, counted, 0)


def _scaler_of(trainer: Any, what: str) -> LossScaler:
    scaler = getattr(trainer, "_scaler", None)
    if not isinstance(scaler, LossScaler):
        raise ValueError(
            f"amp.{what}: call amp.init_trainer on the trainer first, got {type(trainer).__name__}"
        )
    return scaler


def init_trainer(trainer: Any, loss_scaler: LossScaler | None = None) -> None:
    """Enable dynamic loss scaling in a trainer; it skips steps with non-finite gradients.

    Parameters
    ----------
    trainer : gluon.Trainer
        The trainer.
    loss_scaler : LossScaler, optional
        The scaler; one with initial scale 65536 if not given.
    """
    if not hasattr(trainer, "allreduce_grads"):
        raise TypeError(f"amp.init_trainer: expected a gluon.Trainer, got {type(trainer).__name__}")
    trainer._scaler = LossScaler() if loss_scaler is None else loss_scaler


@contextmanager
def scale_loss(loss: Any, trainer: Any) -> Iterator[Any]:
    """Context manager that returns the loss, or losses, times the trainer's loss scale.

    Use it while recording. `trainer.step` divides the gradients by the scale, unless `unscale` did
    so before.

    Parameters
    ----------
    loss : ndarray or list of ndarray
        The losses; those of 16 bits become float32.
    trainer : gluon.Trainer
        A trainer that `init_trainer` was called on.

    Examples
    --------
    >>> from npcompat import amp
    >>> net = nn.Dense(1, in_units=1, use_bias=False, weight_initializer="ones")
    >>> net.initialize()
    >>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    >>> amp.init_trainer(trainer)
    >>> with autograd.record():
    ...     loss = net(np.array([[1.0]]))
    ...     with amp.scale_loss(loss, trainer) as scaled:
    ...         autograd.backward(scaled)
    >>> net.weight.grad()
    array([[65536.]])
    >>> trainer.step(1)
    >>> net.weight.data()
    array([[0.5]])
    """
    scaler = _scaler_of(trainer, "scale_loss")
    with modes.changed(recording=False):
        factor = scaler._mark().copy()
    if isinstance(loss, list | tuple):
        yield [_wide(part) * factor for part in loss]
    else:
        yield _wide(loss) * factor


def _wide(loss: Any) -> Any:
    return loss.astype("float32") if loss.dtype.itemsize < 4 else loss


def unscale(trainer: Any) -> None:
    """Divide the gradients by the loss scale now, to inspect or clip them before `trainer.step`.

    Parameters
    ----------
    trainer : gluon.Trainer
        A trainer that `init_trainer` was called on.
    """
    with modes.changed(recording=False):
        factor = _scaler_of(trainer, "unscale")._taken_off()
        for parameter in trainer._params:
            if parameter.grad_req != "null":
                grad = parameter.grad()
                grad[...] = (grad / factor).astype(grad.dtype)


__all__ = ["LossScaler", "init_trainer", "scale_loss", "unscale"]
