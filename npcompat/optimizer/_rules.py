"""Optimizers with a rule: hyperparameters, and the name of optax's update rule."""

from typing import Any, ClassVar

from npcompat.optimizer._optimizer import DefaultRate, Optimizer, register

Hyper = tuple[tuple[str, Any], ...]


@register
class SGD(Optimizer):
    """Stochastic gradient descent (SGD) with momentum.

    With the gradient `g = clip(rescale_grad * grad) + wd * weight`, `m = momentum * m - lr * g` and
    `weight += m`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.1.
    momentum : float
        Share of the last update that is kept.
    lazy_update : bool
        Sparse gradients are not supported: True raises NotImplementedError.
    multi_precision : bool
        Whether parameters of 16 bits are updated in float32.
    use_fused_step, aggregate_num
        Hints to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.

    Examples
    --------
    >>> weight, grad = np.ones(2), np.ones(2)
    >>> sgd = optimizer.SGD(learning_rate=0.1)
    >>> sgd.update(0, weight, grad, sgd.create_state(0, weight))
    >>> weight
    array([0.9, 0.9])
    """

    rule: ClassVar[str | None] = "sgd"
    _nesterov = False

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.1),
        momentum: float = 0.0,
        lazy_update: bool = False,
        multi_precision: bool = False,
        use_fused_step: bool = True,
        aggregate_num: int = 1,
        **kwargs: Any,
    ) -> None:
        _dense(self, lazy_update)
        super().__init__(learning_rate=learning_rate, multi_precision=multi_precision, **kwargs)
        self.momentum = float(momentum)

    def _hyper(self) -> Hyper:
        return (("momentum", self.momentum), ("nesterov", self._nesterov))


@register
class NAG(SGD):
    """Nesterov accelerated gradient: SGD with Nesterov momentum.

    As `SGD`, but with `weight += momentum * m - lr * g`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.1.
    momentum : float
        Share of the last update that is kept.
    multi_precision : bool
        Whether parameters of 16 bits are updated in float32.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    _nesterov = True

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.1),
        momentum: float = 0.9,
        multi_precision: bool = False,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, momentum, multi_precision=multi_precision, **kwargs)


@register
class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015).

    With the gradient `g = clip(rescale_grad * grad) + wd * weight`, `m = beta1 * m + (1 - beta1) *
    g`, `v = beta2 * v + (1 - beta2) * g**2` and `weight -= rate * m / (sqrt(v) + epsilon)`, where
    `rate = lr * sqrt(1 - beta2**t) / (1 - beta1**t)` at step `t`. So `epsilon` is added before the
    bias of the root is corrected, as in MXNet and at the end of the paper's section 2; torch and
    optax add it afterwards, which differs for gradients that are not far above it.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.001.
    beta1, beta2 : float
        Decay of the first and second moment.
    epsilon : float
        Added to the denominator.
    lazy_update : bool
        Sparse gradients are not supported: True raises NotImplementedError.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.

    Examples
    --------
    >>> weight, grad = np.ones(2), np.array([1.0, -5.0])
    >>> adam = optimizer.Adam(learning_rate=0.1)
    >>> adam.update(0, weight, grad, adam.create_state(0, weight))
    >>> weight.round(4)
    array([0.9, 1.1])
    """

    rule: ClassVar[str | None] = "adam"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool = False,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        _dense(self, lazy_update)
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2, self.epsilon = float(beta1), float(beta2), float(epsilon)

    def _hyper(self) -> Hyper:
        return (("beta1", self.beta1), ("beta2", self.beta2), ("epsilon", self.epsilon))


@register
class AdamW(Adam):
    """AdamW: Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    The weight decays by `lr * wd` in addition to the step.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.001.
    beta1, beta2 : float
        Decay of the first and second moment.
    epsilon : float
        Added to the denominator.
    correct_bias : bool
        Bias correction: whether moments are corrected for their initialization to zero.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "adamw"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        correct_bias: bool = True,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, **kwargs)
        self.correct_bias = bool(correct_bias)

    def _hyper(self) -> Hyper:
        return (*super()._hyper(), ("correct_bias", self.correct_bias))


@register
class RMSProp(Optimizer):
    """RMSProp: steps divided by a running root mean square (Tieleman and Hinton, 2012).

    The centered form is that of Graves, 2013.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.001.
    rho : float
        Decay of the mean square.
    momentum : float
        Share of the last update that is kept; only for the centered form, as in MXNet.
    epsilon : float
        Added to the root (centered: under the root).
    centered : bool
        Whether the mean square is taken about the mean.
    clip_weights : float, optional
        Not supported: anything but None raises NotImplementedError.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    gamma1, gamma2 : float, optional
        `rho` and `momentum` by their names in MXNet 1.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "rmsprop"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.001),
        rho: float = 0.9,
        momentum: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        clip_weights: float | None = None,
        use_fused_step: bool = True,
        *,
        gamma1: float | None = None,
        gamma2: float | None = None,
        **kwargs: Any,
    ) -> None:
        if clip_weights is not None:
            raise NotImplementedError("RMSProp(clip_weights=...) is not supported")
        rho, momentum = rho if gamma1 is None else gamma1, momentum if gamma2 is None else gamma2
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.rho, self.momentum, self.epsilon, self.centered = (
            float(rho),
            float(momentum),
            float(epsilon),
            bool(centered),
        )

    def _hyper(self) -> Hyper:
        return (
            ("rho", self.rho),
            ("momentum", self.momentum),
            ("epsilon", self.epsilon),
            ("centered", self.centered),
        )


@register
class AdaGrad(Optimizer):
    """AdaGrad: steps divided by the root of the sum of squared gradients (Duchi et al., 2011).

    With the gradient `g = clip(rescale_grad * grad) + wd * weight`, `s = s + g**2` and `weight -=
    lr * g / (sqrt(s) + epsilon)`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.01.
    epsilon : float
        Added to the denominator.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "adagrad"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.01),
        epsilon: float = 1e-6,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.epsilon = float(epsilon)

    def _hyper(self) -> Hyper:
        return (("epsilon", self.epsilon),)


@register
class GroupAdaGrad(AdaGrad):
    """AdaGrad with one learning rate for each row of a matrix, as for embeddings.

    With the gradient `g = clip(rescale_grad * grad)`, `s = s + mean(g**2, axis=1)` and `weight -=
    lr * g / (sqrt(s) + epsilon)`. There is no weight decay, as in MXNet: `wd` raises
    NotImplementedError. The state of a parameter that has not two axes raises ValueError.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.01.
    epsilon : float
        Added to the denominator.
    use_fused_step
        A hint to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "groupadagrad"
    _decays: ClassVar[bool] = False


def _dense(optimizer: Optimizer, lazy_update: bool) -> None:
    if lazy_update:
        raise NotImplementedError(
            f"{type(optimizer).__name__}(lazy_update=True): gradients are dense"
        )


__all__ = ["NAG", "SGD", "AdaGrad", "Adam", "AdamW", "GroupAdaGrad", "RMSProp"]
