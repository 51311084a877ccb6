"""Adaptive optimizers beyond Adam, with a rate for each element."""

from typing import Any, ClassVar

from npcompat.optimizer._optimizer import DefaultRate, Optimizer, register
from npcompat.optimizer._rules import Adam, AdamW, Hyper


@register
class AdaBelief(AdamW):
    """AdaBelief (Zhuang et al., 2020, https://arxiv.org/abs/2010.07468).

    Adam with the variance about the running mean. With the gradient `g = clip(rescale_grad * grad)
    + wd * weight`, `m = beta1 * m + (1 - beta1) * g`, `s = beta2 * s + (1 - beta2) * (g - m)**2 +
    epsilon` and `weight -= rate * m / (sqrt(s) + epsilon)`, where `rate = lr * sqrt(1 - beta2**t) /
    (1 - beta1**t)` at step `t`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.001.
    beta1, beta2 : float
        Decay of the mean and of the variance.
    epsilon : float
        Added to the variance at each step, and to its root.
    correct_bias : bool
        Bias correction: whether the rate compensates for moments initialized to zero; else it is
        `lr`.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.

    Examples
    --------
    >>> weight, grad = np.ones(2), np.array([1.0, -5.0])
    >>> belief = optimizer.AdaBelief(learning_rate=0.1)
    >>> belief.update(0, weight, grad, belief.create_state(0, weight))
    >>> (weight < 1).tolist()
    [True, False]
    """

    rule: ClassVar[str | None] = "adabelief"


@register
class AdaDelta(Optimizer):
    """AdaDelta (Zeiler, 2012, https://arxiv.org/abs/1212.5701), on `optax.scale_by_adadelta`.

    A step is the gradient times the ratio of the root mean squares of past steps and of gradients.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 1.
    rho : float
        Decay of the mean squares.
    epsilon : float
        Added to the mean squares.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "adadelta"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(1.0),
        rho: float = 0.9,
        epsilon: float = 1e-6,
        use_fused_step: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.rho, self.epsilon = float(rho), float(epsilon)

    def _hyper(self) -> Hyper:
        return (("rho", self.rho), ("epsilon", self.epsilon))


@register
class Adamax(Optimizer):
    """AdaMax (Kingma and Ba, 2015, section 7), on `optax.scale_by_adamax`.

    Adam with the maximum of absolute gradients as second moment. 1e-8 is added to the absolute
    value of each gradient, so that gradients that are always zero do not produce nan.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.002.
    beta1, beta2 : float
        Decay of the mean and of the maximum.
    epsilon : float
        Added to absolute gradients.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "adamax"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.002),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_fused_step: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2, self.epsilon = float(beta1), float(beta2), float(epsilon)

    def _hyper(self) -> Hyper:
        return (("beta1", self.beta1), ("beta2", self.beta2), ("epsilon", self.epsilon))


@register
class Nadam(Adam):
    """Nadam: Adam with Nesterov momentum (Dozat, 2016), which grows from half of `beta1`.

    At step `t` the momentum is `beta1 * (1 - 0.96**(t * schedule_decay) / 2)`. Moments are
    corrected by the product of a parameter's own momenta; MXNet multiplies those of all parameters
    together.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.001.
    beta1, beta2 : float
        Decay of the first and second moment.
    epsilon : float
        Added to the denominator.
    schedule_decay : float
        Speed at which the momentum grows.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "nadam"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule_decay: float = 0.004,
        use_fused_step: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, **kwargs)
        self.schedule_decay = float(schedule_decay)

    def _hyper(self) -> Hyper:
        return (*super()._hyper(), ("schedule_decay", self.schedule_decay))


@register
class FTML(Adam):
    """Follow the moving leader (FTML; Zheng and Kwok, 2017).

    http://proceedings.mlr.press/v70/zheng17a/zheng17a.pdf

    With the gradient `g = clip(rescale_grad * grad) + wd * weight`, at step `t`: `v = beta2 * v +
    (1 - beta2) * g**2`, `d = (1 - beta1**t) / lr * (sqrt(v / (1 - beta2**t)) + epsilon)`, `z =
    beta1 * z + (1 - beta1) * g - (d - beta1 * d_before) * weight` and `weight = -z / d`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate, which must not be zero; if not given, that of the scheduler, or 0.0025.
    beta1, beta2 : float
        Decay of the leaders and of the second moment.
    epsilon : float
        Added to the denominator.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "ftml"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.0025),
        beta1: float = 0.6,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, **kwargs)


@register
class Ftrl(Optimizer):
    """Follow the regularized leader (FTRL), which yields sparse weights.

    McMahan et al., 2013, https://doi.org/10.1145/2487575.2488200. With the gradient `g =
    clip(rescale_grad * grad)`: `z += g - (sqrt(n + g**2) - sqrt(n)) * weight / lr`, `n += g**2` and
    `weight = -sign(z) * max(abs(z) - lamda1, 0) / ((beta + sqrt(n)) / lr + wd)`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate, which must not be zero; if not given, that of the scheduler, or 0.1.
    lamda1 : float
        L1 regularization.
    beta : float
        Added to the root of the sum of squares.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "ftrl"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.1),
        lamda1: float = 0.01,
        beta: float = 1.0,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.lamda1, self.beta = float(lamda1), float(beta)

    def _hyper(self) -> Hyper:
        return (("lamda1", self.lamda1), ("beta", self.beta))


__all__ = ["FTML", "AdaBelief", "AdaDelta", "Adamax", "Ftrl", "Nadam"]
