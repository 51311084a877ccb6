"""Optimizers for large batches: each parameter's step is scaled by its norm."""

from collections.abc import Hashable
from typing import Any, ClassVar

from npcompat.optimizer._optimizer import DefaultRate, register
from npcompat.optimizer._rules import SGD, Adam, Hyper


class _Trusting(Adam):
    """Adam's direction, scaled by the bounded norm of the parameter over its own."""

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
    """LAMB (You et al., 2020, https://arxiv.org/abs/1904.00962): AdamW with steps as large as the
    parameter.

    Adam's direction plus `wd * weight` is multiplied with `norm(weight) / norm(direction)`; with 1
    where one of them is zero.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.001.
    beta1, beta2 : float
        Decay of the first and second moment.
    epsilon : float
        What is added to the denominator.
    lower_bound, upper_bound : float, optional
        Between which the norm of a parameter is taken.
    bias_correction : bool
        Whether moments are corrected for having begun at zero.
    aggregate_num, use_fused_step
        Hints to MXNet's implementation, which change nothing.
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
    """LANS (Zheng et al., 2020, https://arxiv.org/abs/2006.13484): LAMB with normalized gradients
    and Nesterov's momentum.

    Each gradient is divided by its norm, and then clipped. A step is `beta1` parts of LAMB's, and
    `1 - beta1` parts of that which the gradient alone, in the place of the first moment, would
    make.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.001.
    beta1, beta2 : float
        Decay of the first and second moment.
    epsilon : float
        What is added to the denominator.
    lower_bound, upper_bound : float, optional
        Between which the norm of a parameter is taken.
    aggregate_num, use_fused_step
        Hints to MXNet's implementation, which change nothing.
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
    """LARS (You et al., 2017, https://arxiv.org/abs/1708.03888): SGD whose rate follows the norms
    of parameter and gradient.

    The rate is multiplied with `eta * norm(weight) / (norm(grad) + wd * norm(weight) + epsilon)`,
    where the gradient is rescaled and not clipped yet; with 1 where a norm is zero, and for
    parameters whose name ends in gamma, beta or bias.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate; if not given, that of the scheduler, or 0.1.
    momentum : float
        How much of the last change is kept.
    eta : float
        Factor of the rate.
    epsilon : float
        What is added to the denominator.
    lazy_update : bool
        Sparse gradients are not supported: True raises NotImplementedError.
    use_fused_step, aggregate_num
        Hints to MXNet's implementation, which change nothing.
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
        """Whether the rate of a parameter is left as it is."""
        name = self.idx2name.get(index)
        if name is None:
            name = self.param_dict[index].name if index in self.param_dict else str(index)
        return name.endswith(("gamma", "beta", "bias"))


__all__ = ["LAMB", "LANS", "LARS"]
