"""Activation functions, element by element."""

import math
from collections.abc import Callable
from typing import Any

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.op import operator
from npcompat._internal.core.op_kinds import unary
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy import _trigonometry
from npcompat.numpy import random as np_random
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


@unary("_npx_relu", rule=dtypes.promote)
def _relu(xp: Any, x: Any) -> Any:
    """Rectified linear unit, max(x, 0); the derivative at zero is zero."""
    return xp.relu(x)


@unary("_npx_sigmoid")
def _sigmoid(xp: Any, x: Any) -> Any:
    """Logistic sigmoid, 1 / (1 + exp(-x))."""
    return xp.sigmoid(x)


def _softplus_of(xp: Any, x: Any) -> Any:
    return xp.logaddexp(x, xp.zeros_like(x))


@unary("_npx_softplus")
def _softplus(xp: Any, x: Any) -> Any:
    """Softplus, log(1 + exp(x))."""
    return _softplus_of(xp, x)


@unary("_npx_log_sigmoid")
def _log_sigmoid(xp: Any, x: Any) -> Any:
    """Log-sigmoid, log(sigmoid(x)), accurate for large negative x."""
    return -_softplus_of(xp, -x)


@unary("_npx_softsign")
def _softsign(xp: Any, x: Any) -> Any:
    """Softsign, x / (1 + |x|)."""
    return x / (1 + xp.abs(x))


@unary("_npx_mish")
def _mish(xp: Any, x: Any) -> Any:
    """Mish, x tanh(log(1 + exp(x)))."""
    return x * xp.tanh(_softplus_of(xp, x))


@unary("_npx_silu")
def _silu(xp: Any, x: Any, *, beta: float = 1.0) -> Any:
    """Sigmoid linear unit (SiLU, swish), x sigmoid(beta x)."""
    return x * xp.sigmoid(x if beta == 1 else xp.asarray(beta, x.dtype) * x)


@unary("_npx_gelu")
def _gelu(xp: Any, x: Any, *, approximation: str = "erf") -> Any:
    """Gaussian error linear unit (GELU), x times the standard normal CDF at x."""
    if approximation == "tanh":
        inner = xp.asarray(math.sqrt(2 / math.pi), x.dtype) * (
            x + xp.asarray(0.044715, x.dtype) * x * x * x
        )
        return x * xp.asarray(0.5, x.dtype) * (1 + xp.tanh(inner))
    return x * xp.asarray(0.5, x.dtype) * (1 + xp.erf(x * xp.asarray(math.sqrt(0.5), x.dtype)))


@unary("_npx_leaky_relu")
def _leaky(xp: Any, x: Any, *, slope: float = 0.25) -> Any:
    """Leaky ReLU: negative elements times a slope."""
    return xp.where(x > 0, x, x * xp.asarray(slope, x.dtype))


@operator("_npx_prelu", rule=dtypes.floating, pattern="broadcast")
def _prelu(xp: Any, x: Any, slope: Any) -> Any:
    """Parametric ReLU: negative elements times a slope of their channel (axis 1)."""
    if slope.ndim == 1 and x.ndim > 1:
        slope = xp.reshape(slope, (-1,) + (1,) * (x.ndim - 2))
    return xp.where(x > 0, x, x * slope)


def _elu_of(xp: Any, x: Any, alpha: float) -> Any:
    positive = x > 0
    # Replacing large x keeps exp and its derivative from overflowing.
    below = xp.where(positive, xp.zeros_like(x), x)
    return xp.where(positive, x, xp.asarray(alpha, x.dtype) * xp.expm1(below))


@unary("_npx_elu")
def _elu(xp: Any, x: Any, *, alpha: float = 1.0) -> Any:
    """Exponential linear unit (ELU): alpha (exp(x) - 1) for negative elements.

    Parameters
    ----------
    alpha : float
        Negative of the limit for large negative elements.
    """
    return _elu_of(xp, x, alpha)


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@unary("_npx_selu")
def _selu(xp: Any, x: Any) -> Any:
    """Scaled exponential linear unit (SELU): ELU with constants that keep mean and variance."""
    return xp.asarray(_SELU_SCALE, x.dtype) * _elu_of(xp, x, _SELU_ALPHA)


def relu(data: ArrayLike) -> ndarray:
    """Rectified linear unit (ReLU), max(x, 0).

    Parameters
    ----------
    data : array_like
        Operand, of any shape and real dtype.

    Returns
    -------
    ndarray
        Of the same shape and dtype.

    Examples
    --------
    >>> npx.relu([-1.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    return apply(_relu, (data,))


def sigmoid(data: ArrayLike) -> ndarray:
    """Logistic sigmoid, 1 / (1 + exp(-x)).

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.

    Examples
    --------
    >>> [round(v, 3) for v in npx.sigmoid([-1.0, 0.0, 1.0]).tolist()]
    [0.269, 0.5, 0.731]
    """
    return apply(_sigmoid, (data,))


def log_sigmoid(data: ArrayLike) -> ndarray:
    """Log-sigmoid, log(sigmoid(x)), accurate for large negative x.

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.

    Examples
    --------
    >>> [round(v, 3) for v in npx.log_sigmoid([-100.0, 0.0]).tolist()]
    [-100.0, -0.693]
    """
    return apply(_log_sigmoid, (data,))


def softplus(data: ArrayLike) -> ndarray:
    """Softplus, a smooth rectifier: log(1 + exp(x)).

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.

    Examples
    --------
    >>> [round(v, 3) for v in npx.softplus([0.0, 100.0]).tolist()]
    [0.693, 100.0]
    """
    return apply(_softplus, (data,))


def softsign(data: ArrayLike) -> ndarray:
    """Softsign, x / (1 + abs(x)), between -1 and 1.

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.

    Examples
    --------
    >>> npx.softsign([-1.0, 0.0, 3.0])
    array([-0.5 ,  0.  ,  0.75])
    """
    return apply(_softsign, (data,))


def mish(data: ArrayLike) -> ndarray:
    """Mish, x tanh(softplus(x)) (Misra, 2019).

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.

    Examples
    --------
    >>> [round(v, 3) for v in npx.mish([0.0, 1.0]).tolist()]
    [0.0, 0.865]
    """
    return apply(_mish, (data,))


def silu(data: ArrayLike, beta: float = 1.0) -> ndarray:
    """Sigmoid linear unit (SiLU, swish), x sigmoid(beta x) (Elfwing et al., 2018).

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.
    beta : float
        Steepness.

    Examples
    --------
    >>> [round(v, 3) for v in npx.silu([0.0, 1.0]).tolist()]
    [0.0, 0.731]
    """
    return apply(_silu, (data,), (float(beta),))


def gelu(data: ArrayLike, approximation: str = "erf") -> ndarray:
    """Gaussian error linear unit (GELU), x times the standard normal CDF at x.

    Hendrycks and Gimpel, 2016.

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.
    approximation : {'erf', 'tanh'}
        Exact, or the approximation with tanh.

    Examples
    --------
    >>> [round(v, 3) for v in npx.gelu([-1.0, 0.0, 1.0]).tolist()]
    [-0.159, 0.0, 0.841]
    """
    if approximation not in ("erf", "tanh"):
        raise ValueError(f"gelu: approximation must be 'erf' or 'tanh', got {approximation!r}")
    return apply(_gelu, (data,), (approximation,))


_ACTIVATIONS: dict[str, Callable[[ArrayLike], Any]] = {
    "relu": relu,
    "sigmoid": sigmoid,
    "log_sigmoid": log_sigmoid,
    "tanh": _trigonometry.tanh,
    "softrelu": softplus,
    "softplus": softplus,
    "softsign": softsign,
    "mish": mish,
    "gelu": gelu,
    "silu": silu,
}


def activation(data: ArrayLike, act_type: str = "relu") -> ndarray:
    """Apply the activation function of a name.

    Parameters
    ----------
    data : array_like
        Operand.
    act_type : {'relu', 'sigmoid', 'log_sigmoid', 'tanh', 'softrelu', 'softplus', 'softsign',
    'mish', 'gelu', 'silu'}
        Its name; softrelu and softplus are the same.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> npx.activation([-1.0, 2.0], act_type="relu")
    array([0., 2.])
    """
    if act_type not in _ACTIVATIONS:
        raise ValueError(
            f"activation: act_type must be one of {', '.join(_ACTIVATIONS)}; got {act_type!r}"
        )
    return _ACTIVATIONS[act_type](data)


def leaky_relu(
    data: ArrayLike,
    gamma: ArrayLike | None = None,
    act_type: str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
) -> ndarray:
    """Leaky rectifiers: LeakyReLU, PReLU, RReLU, ELU, SELU and GELU.

    Parameters
    ----------
    data : array_like
        Operand; integers become the default float.
    gamma : array_like, optional
        Slopes of `prelu`: one for each channel (axis 1), or one for all.
    act_type : {'leaky', 'prelu', 'rrelu', 'elu', 'selu', 'gelu', 'gelu_erf', 'gelu_tanh'}
        `leaky` and `prelu` multiply negative elements by a slope, `rrelu` by a random one when
        training (its mean when predicting), `elu` and `selu` bend exponentially, `gelu` is smooth.
    slope : float
        Slope of `leaky`, alpha of `elu`.
    lower_bound, upper_bound : float
        Range of the random slope of `rrelu`.

    Raises
    ------
    ValueError
        If the kind is unknown, or `gamma` is given for another kind than `prelu` or missing there.

    Examples
    --------
    >>> npx.leaky_relu([-1.0, 2.0], slope=0.1)
    array([-0.1,  2. ])
    """
    if (gamma is not None) != (act_type == "prelu"):
        raise ValueError(
            "leaky_relu: gamma is the slopes of act_type='prelu' and of nothing else; got "
            f"{act_type!r}"
        )
    if act_type == "leaky":
        return apply(_leaky, (data,), (float(slope),))
    if act_type == "prelu":
        return apply(_prelu, (data, gamma))
    if act_type == "rrelu":
        if not modes.current().training:
            return apply(_leaky, (data,), ((float(lower_bound) + float(upper_bound)) / 2,))
        data = asarray(data)
        return apply(_prelu, (data, np_random.uniform(lower_bound, upper_bound, data.shape)))
    if act_type == "elu":
        return apply(_elu, (data,), (float(slope),))
    if act_type == "selu":
        return apply(_selu, (data,))
    if act_type in ("gelu", "gelu_erf", "gelu_tanh"):
        return gelu(data, "tanh" if act_type == "gelu_tanh" else "erf")
    raise ValueError(
        "leaky_relu: act_type must be one of leaky, prelu, rrelu, elu, selu, gelu, gelu_erf, "
        f"gelu_tanh; got {act_type!r}"
    )


__all__ = [
    "activation",
    "gelu",
    "leaky_relu",
    "log_sigmoid",
    "mish",
    "relu",
    "sigmoid",
    "silu",
    "softplus",
    "softsign",
]
