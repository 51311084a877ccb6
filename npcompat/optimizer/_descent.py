"""Variants of gradient descent: delay compensation, signs, and noise."""

from collections.abc import Sequence
from typing import Any, ClassVar

import npcompat.numpy as np
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.outside_traces import outside, value_outside
from npcompat.numpy import random
from npcompat.numpy._ndarray import ndarray
from npcompat.optimizer._optimizer import DefaultRate, Optimizer, register
from npcompat.optimizer._rules import Hyper


@register
class DCASGD(Optimizer):
    """Delay-compensated asynchronous SGD (Zheng et al., 2017, https://arxiv.org/abs/1609.08326).

    With the gradient `g = clip(rescale_grad * grad) + wd * weight`, and the previous weight `w`, `m
    = momentum * m - lr * (g + lamda * g**2 * (weight - w))` and `weight += m`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.1.
    momentum : float
        Share of the last update that is kept.
    lamda : float
        Strength of the compensation.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "dcasgd"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.1),
        momentum: float = 0.0,
        lamda: float = 0.04,
        use_fused_step: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum, self.lamda = float(momentum), float(lamda)

    def _hyper(self) -> Hyper:
        return (("momentum", self.momentum), ("lamda", self.lamda))

    def create_state(self, index: Any, weight: Any) -> tuple[ndarray, ...]:
        """Create the state: the last update, if there is momentum, and the current weight."""
        *change, _ = super().create_state(index, weight) or ()
        now = value_outside(weight)
        with outside():
            return (*change, np.array(handles.wrap(now)))


@register
class Signum(Optimizer):
    """Signum: sign of the averaged gradient (Bernstein et al., 2018).

    https://arxiv.org/abs/1802.04434. With the gradient `g = clip(rescale_grad * grad) + wd *
    weight`, `m = momentum * m + (1 - momentum) * g` and `weight -= lr * (sign(m) + wd_lh *
    weight)`. Without momentum, `weight -= lr * (sign(grad) + (wd + wd_lh) * weight)`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.01.
    momentum : float
        Decay of the average.
    wd_lh : float
        Decoupled weight decay (Loshchilov and Hutter, 2019).
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.

    Examples
    --------
    >>> weight, grad = np.ones(2), np.array([3.0, -0.2])
    >>> signum = optimizer.Signum(learning_rate=0.1)
    >>> signum.update(0, weight, grad, signum.create_state(0, weight))
    >>> weight
    array([0.9, 1.1])
    """

    rule: ClassVar[str | None] = "signum"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.01),
        momentum: float = 0.9,
        wd_lh: float = 0.0,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum, self.wd_lh = float(momentum), float(wd_lh)

    def _hyper(self) -> Hyper:
        return (("momentum", self.momentum), ("wd_lh", self.wd_lh))


@register
class SGLD(Optimizer):
    """Stochastic gradient Langevin dynamics (Welling and Teh, 2011).

    Half a step of gradient descent, plus noise whose variance is the learning rate. The noise is
    drawn from the stream of `np.random`, and so determined by its seed.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.1.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.1),
        use_fused_step: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)

    def step(
        self,
        indices: Sequence[Any],
        weights: Sequence[Any],
        grads: Sequence[Any],
        states: Sequence[Any],
    ) -> None:
        """Update parameters in place; the arguments are those of `Optimizer.step`."""
        for index, weight, grad in zip(indices, weights, grads, strict=True):
            self._update_count(index)
            lr, wd = self._get_lr(index), self._get_wd(index)
            direction = grad * self.rescale_grad
            if self.clip_gradient is not None:
                direction = direction.clip(-self.clip_gradient, self.clip_gradient)
            direction = direction + wd.astype(weight.dtype) * weight
            noise = random.normal(0.0, np.sqrt(lr), weight.shape)
            weight[...] += (noise - lr / 2 * direction).astype(weight.dtype)


@register
class Test(Optimizer):
    """Plain gradient descent, for tests.

    `weight -= lr * (clip(rescale_grad * grad) + wd * weight)`.

    Parameters
    ----------
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "sgd"
    __test__ = False  # pytest collects classes of this name

    def _hyper(self) -> Hyper:
        return (("momentum", 0.0), ("nesterov", False))


__all__ = ["DCASGD", "SGLD", "Signum", "Test"]
