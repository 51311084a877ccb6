"""Learning rate schedules: functions of the number of updates.

A scheduler is called with the number of updates, a Python number or an array. In a compiled
training step it is an array whose value is unknown: branches of a scheduler of your own become parts
of the program there.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core import changes, modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import late_bound
from npcompat.numpy._ndarray import Array


class LRScheduler(changes.Counted):
    """Base class of schedulers: a warmup, then `schedule`, which a subclass defines.

    Parameters
    ----------
    base_lr : float
        Rate at the end of the warmup.
    warmup_steps : int
        Number of updates of the warmup.
    warmup_begin_lr : float
        Rate at its beginning.
    warmup_mode : {'linear', 'constant'}
        Whether the rate rises linearly during the warmup, or is constant.
    """

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        if warmup_mode not in ("linear", "constant"):
            raise ValueError(
                f"{type(self).__name__}: warmup_mode must be 'linear' or 'constant', got "
                f"{warmup_mode!r}"
            )
        if warmup_steps < 0 or not isinstance(warmup_steps, int | onp.integer):
            raise ValueError(
                f"{type(self).__name__}: warmup_steps must be an int that is not negative, got "
                f"{warmup_steps}"
            )
        if warmup_begin_lr > base_lr:
            raise ValueError(
                f"{type(self).__name__}: base_lr={base_lr} must not be less than "
                f"warmup_begin_lr={warmup_begin_lr}"
            )
        self.base_lr = base_lr
        self.warmup_steps, self.warmup_begin_lr, self.warmup_mode = (
            warmup_steps,
            warmup_begin_lr,
            warmup_mode,
        )

    def schedule(self, xp: Any, num_update: Any) -> float | Array:
        """Compute the rate after the warmup.

        `xp` is numpy for numbers, and npcompat.numpy for arrays.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define schedule(xp, num_update), or __call__(num_update)"
        )

    def get_warmup_lr(self, num_update: Any) -> float | Array:
        """Compute the rate during the warmup."""
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        return self.warmup_begin_lr + (self.base_lr - self.warmup_begin_lr) * (
            num_update / max(self.warmup_steps, 1)
        )

    def __call__(self, num_update: Any) -> float | Array:
        """Compute the rate of an update.

        Parameters
        ----------
        num_update : int or ndarray
            Its number; the first is 1.

        Returns
        -------
        float or ndarray
            An array if `num_update` is one.
        """
        if issubclass(type(num_update), Handle):
            return np.where(
                num_update < self.warmup_steps,
                self.get_warmup_lr(num_update),
                self._schedule()(np, num_update),
            )
        if num_update < self.warmup_steps:
            return float(self.get_warmup_lr(num_update))
        return float(self.schedule(onp, num_update))

    def _schedule(self) -> Any:
        """Return `schedule`; in a trace, with branches of a user's as parts of the program."""
        traced = modes.current().trace is not None
        return late_bound.converted(self.schedule) if traced else self.schedule


class FactorScheduler(LRScheduler):
    """Step decay: the rate is multiplied by a factor after every `step` updates.

    Parameters
    ----------
    step : int
        Number of updates between two changes.
    factor : float
        The factor.
    stop_factor_lr : float
        Lower bound of the rate.
    base_lr, warmup_steps, warmup_begin_lr, warmup_mode
        As for `LRScheduler`.

    Examples
    --------
    >>> schedule = lr_scheduler.FactorScheduler(step=10, factor=0.5, base_lr=1.0)
    >>> [schedule(n) for n in (1, 10, 11, 21)]
    [1.0, 1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError(f"FactorScheduler: step must be at least 1, got {step}")
        if factor > 1:
            raise ValueError(
                f"FactorScheduler: factor must be at most 1, so that the rate falls; got {factor}"
            )
        self.step, self.factor, self.stop_factor_lr = step, factor, stop_factor_lr

    def schedule(self, xp: Any, num_update: Any) -> float | Array:
        """Compute the rate after the warmup."""
        times = xp.maximum(num_update - 1, 0) // self.step
        return xp.maximum(self.base_lr * xp.power(float(self.factor), times), self.stop_factor_lr)


class MultiFactorScheduler(LRScheduler):
    """Piecewise constant decay: the rate is multiplied by a factor at given updates.

    Parameters
    ----------
    step : sequence of int
        Numbers of updates after which the rate changes, ascending.
    factor : float
        The factor.
    base_lr, warmup_steps, warmup_begin_lr, warmup_mode
        As for `LRScheduler`.

    Examples
    --------
    >>> schedule = lr_scheduler.MultiFactorScheduler(step=[5, 8], factor=0.1, base_lr=1.0)
    >>> [round(schedule(n), 3) for n in (5, 6, 8, 9)]
    [1.0, 0.1, 0.1, 0.01]
    """

    def __init__(
        self,
        step: Sequence[int],
        factor: float = 1,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not step or list(step) != sorted(set(step)) or step[0] < 1:
            raise ValueError(
                "MultiFactorScheduler: step must be ascending numbers of updates, from 1 on; got "
                f"{step}"
            )
        if factor > 1:
            raise ValueError(
                "MultiFactorScheduler: factor must be at most 1, so that the rate falls; got "
                f"{factor}"
            )
        self.step, self.factor = tuple(step), factor

    def schedule(self, xp: Any, num_update: Any) -> float | Array:
        """Compute the rate after the warmup."""
        rate = self.base_lr
        for step in self.step:
            rate = rate * xp.where(num_update > step, float(self.factor), 1.0)
        return rate


class _Annealing(LRScheduler):
    """Annealing from `base_lr` to `final_lr` at `max_update` (warmup included); then constant."""

    def __init__(
        self,
        max_update: int,
        base_lr: float,
        final_lr: float,
        warmup_steps: int,
        warmup_begin_lr: float,
        warmup_mode: str,
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if max_update < 1 or not isinstance(max_update, int | onp.integer):
            raise ValueError(
                f"{type(self).__name__}: max_update must be an int of at least 1, got {max_update}"
            )
        self.max_update, self.final_lr = max_update, final_lr

    def shape(self, xp: Any, progress: Any) -> float | Array:
        """Return the remaining share, 1 to 0, at a progress from 0 to 1."""
        raise NotImplementedError

    def schedule(self, xp: Any, num_update: Any) -> float | Array:
        """Compute the rate after the warmup."""
        steps = max(self.max_update - self.warmup_steps, 1)
        progress = xp.clip((num_update - self.warmup_steps) / steps, 0.0, 1.0)
        return self.final_lr + (self.base_lr - self.final_lr) * self.shape(xp, progress)


class PolyScheduler(_Annealing):
    """Polynomial decay: the rate is a power of the remaining share of updates.

    Parameters
    ----------
    max_update : int
        The update at which `final_lr` is reached.
    base_lr : float
        Rate at the end of the warmup.
    pwr : int
        The power.
    final_lr : float
        Rate at the end.
    warmup_steps, warmup_begin_lr, warmup_mode
        As for `LRScheduler`.

    Examples
    --------
    >>> schedule = lr_scheduler.PolyScheduler(max_update=10, base_lr=1.0, pwr=2)
    >>> [schedule(n) for n in (0, 5, 10, 20)]
    [1.0, 0.25, 0.0, 0.0]
    """

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: int = 2,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def shape(self, xp: Any, progress: Any) -> float | Array:
        """Return the remaining share."""
        return (1 - progress) ** self.power


class CosineScheduler(_Annealing):
    """Cosine annealing (Loshchilov and Hutter, 2017).

    Parameters
    ----------
    max_update : int
        The update at which `final_lr` is reached.
    base_lr : float
        Rate at the end of the warmup.
    final_lr : float
        Rate at the end.
    warmup_steps, warmup_begin_lr, warmup_mode
        As for `LRScheduler`.

    Examples
    --------
    >>> schedule = lr_scheduler.CosineScheduler(max_update=10, base_lr=1.0)
    >>> [round(schedule(n), 3) for n in (0, 5, 10, 20)]
    [1.0, 0.5, 0.0, 0.0]
    """

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def shape(self, xp: Any, progress: Any) -> float | Array:
        """Return the remaining share."""
        return (1 + xp.cos(math.pi * progress)) / 2


__all__ = [
    "CosineScheduler",
    "FactorScheduler",
    "LRScheduler",
    "MultiFactorScheduler",
    "PolyScheduler",
]
