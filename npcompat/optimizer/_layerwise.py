"""Layerwise optimizers for large batches: steps are scaled by the norm of each parameter."""

from collections.abc import Hashable
from typing import Any, ClassVar

from npcompat.optimizer._optimizer import DefaultRate, register
from npcompat.optimizer._rules import SGD, Adam, Hyper


class _Trusting(Adam):
    """Base class: Adam's update, scaled by the ratio of the parameter's norm to the update's."""

    def __init__(
        self,
        learning_rate: float | None,
        beta1: float,
        beta2: float,
        epsilon: float,
        lower_bound: float | None,
        upper_bound: float | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, **kwargs)
        self.lower_bound = None if lower_bound is None else float(lower_bound)
        self.upper_bound = None if upper_bound is None else float(upper_bound)

    def _hyper(self) -> Hyper:
        return (
            *super()._hyper(),
            ("lower_bound", self.lower_bound),
            ("upper_bound", self.upper_bound),
        )


@register
class LAMB(_Trusting):
    """LAMB (You et al., 2020, https://arxiv.org/abs/1904.00962): AdamW with layerwise scaling.

    Adam's direction plus `wd * weight` is multiplied by `norm(weight) / norm(direction)`, the trust
    ratio; by 1 if one of them is zero.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.001.
    beta1, beta2 : float
        Decay of the first and second moment.
    epsilon : float
        Added to the denominator.
    lower_bound, upper_bound : float, optional
        Bounds to which the norm of a parameter is clipped.
    bias_correction : bool
        Bias correction: whether moments are corrected for their initialization to zero.
    aggregate_num, use_fused_step
        Hints to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.

    Examples
    --------
    >>> weight, grad = np.ones(4), np.ones(4)
    >>> lamb = optimizer.LAMB(learning_rate=0.1)
    >>> lamb.update(0, weight, grad, lamb.create_state(0, weight))
    >>> weight
    array([0.9, 0.9, 0.9, 0.9])
    """

    rule: ClassVar[str | None] = "lamb"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        bias_correction: bool = True,
        aggregate_num: int = 4,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, lower_bound, upper_bound, **kwargs)
        self.bias_correction = bool(bias_correction)

    def _hyper(self) -> Hyper:
        return (*super()._hyper(), ("bias_correction", self.bias_correction))


@register
class LANS(_Trusting):
    """LANS (Zheng et al., 2020, https://arxiv.org/abs/2006.13484).

    LAMB with normalized gradients and Nesterov momentum. Each gradient is divided by its norm, and
    then clipped. The step is a mean of two: LAMB's, with weight `beta1`, and the one with the
    gradient in place of the first moment, with weight `1 - beta1`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.001.
    beta1, beta2 : float
        Decay of the first and second moment.
    epsilon : float
        Added to the denominator.
    lower_bound, upper_bound : float, optional
        Bounds to which the norm of a parameter is clipped.
    aggregate_num, use_fused_step
        Hints to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "lans"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        aggregate_num: int = 4,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, lower_bound, upper_bound, **kwargs)

    def _hyper(self) -> Hyper:
        return (*super()._hyper(), ("clip", self.clip_gradient))


@register
class LARS(SGD):
    """LARS (You et al., 2017, https://arxiv.org/abs/1708.03888): SGD with layerwise rates.

    The rate is multiplied by `eta * norm(weight) / (norm(grad) + wd * norm(weight) + epsilon)`,
    where the gradient is rescaled and not clipped yet; by 1 if a norm is zero, and for parameters
    whose name ends in gamma, beta or bias.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.1.
    momentum : float
        Share of the last update that is kept.
    eta : float
        Factor of the rate.
    epsilon : float
        Added to the denominator.
    lazy_update : bool
        Sparse gradients are not supported: True raises NotImplementedError.
    use_fused_step, aggregate_num
        Hints to MXNet's implementation, without effect.
    **kwargs
        As for `Optimizer`.
    """

    rule: ClassVar[str | None] = "lars"

    def __init__(
        self,
        learning_rate: float | None = DefaultRate(0.1),
        momentum: float = 0.0,
        eta: float = 0.001,
        epsilon: float = 1e-8,
        lazy_update: bool = False,
        use_fused_step: bool = True,
        aggregate_num: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, momentum, lazy_update, **kwargs)
        self.eta, self.epsilon = float(eta), float(epsilon)

    def _hyper(self) -> Hyper:
        return (
            ("momentum", self.momentum),
            ("eta", self.eta),
            ("epsilon", self.epsilon),
            ("clip", self.clip_gradient),
        )

    def _mark(self, index: Any) -> Hashable:
        """Return True if the rate of a parameter is not scaled."""
        name = self.idx2name.get(index)
        if name is None:
            name = self.param_dict[index].name if index in self.param_dict else str(index)
        return name.endswith(("gamma", "beta", "bias"))


__all__ = ["LAMB", "LANS", "LARS"]
