"""Activation functions and the softmax family."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.core.op_kinds import unary
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy import _trigonometry
from npcompat.numpy import random as np_random
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike, DTypeLike
from npcompat.numpy_extension._nn_types import int64, working_dtype

# --- one function each ----------------------------------------------------------------------------


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


# --- softmax --------------------------------------------------------------------------------------


def _normalized(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    source = dtypes.floating(types[:1])[1]
    dtype = attrs["dtype"] or source
    working = working_dtype(source if source.itemsize > dtype.itemsize else dtype)
    rest = [int64 if attrs["length"] else dtypes.strong(t) for t in types[1:]]
    return [working, *rest], dtype


def _kept(xp: Any, x: Any, where: tuple[Any, ...], axis: int, length: bool) -> Any:
    """Return the mask of elements that take part; None for all."""
    if not where:
        return None
    if not length:
        return xp.broadcast_to(where[0] != 0, x.shape)
    axis %= x.ndim
    positions = xp.reshape(xp.arange(x.shape[axis]), (-1,) + (1,) * (x.ndim - 1 - axis))
    return positions < xp.expand_dims(where[0], axis)


def _shifted(
    xp: Any, x: Any, kept: Any, axis: int, temperature: float | None, normalize: bool
) -> Any:
    """Return logits minus their maximum, so that exp can't overflow; -inf where masked."""
    if temperature is not None and temperature != 1:
        x = x / xp.asarray(temperature, x.dtype)
    if kept is not None:
        x = xp.where(kept, x, xp.asarray(-math.inf, x.dtype))
    if not normalize:
        return x
    largest = xp.stop_gradient(xp.max(x, axis=axis, keepdims=True, initial=-math.inf))
    return x - xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))


@operator("_npx_softmax", rule=_normalized)
def _softmax(
    xp: Any,
    x: Any,
    *where: Any,
    axis: int = -1,
    temperature: float | None = None,
    length: bool = False,
    normalize: bool = True,
    dtype: Any = None,
) -> Any:
    """Softmax: exp(x) divided by its sum along an axis; `where` is a mask, or lengths.

    Parameters
    ----------
    *where : array
        Lengths, or a mask: elements after the length, or where the mask is 0, are excluded.
    normalize : bool
        Whether the maximum is subtracted first, to avoid overflow.
    length : bool
        Whether these are lengths.
    """
    if x.size == 0 or x.ndim == 0:
        return xp.ones_like(x)
    exps = xp.exp(_shifted(xp, x, _kept(xp, x, where, axis, length), axis, temperature, normalize))
    total = xp.sum(exps, axis=axis, keepdims=True)
    return exps / (total if not where else xp.where(total == 0, xp.ones_like(total), total))


@operator("_npx_log_softmax", rule=_normalized)
def _log_softmax(
    xp: Any,
    x: Any,
    *where: Any,
    axis: int = -1,
    temperature: float | None = None,
    length: bool = False,
    normalize: bool = True,
    dtype: Any = None,
) -> Any:
    """Log-softmax: x minus log(sum(exp(x))) along an axis; `where` is a mask, or lengths.

    Parameters
    ----------
    *where : array
        Lengths, or a mask: elements after the length, or where the mask is 0, are excluded.
    length : bool
        Whether these are lengths.
    temperature : float, optional
        Divisor of the elements.
    normalize : bool
        Whether the maximum is subtracted first, to avoid overflow.
    """
    if x.size == 0 or x.ndim == 0:
        return xp.zeros_like(x)
    shifted = _shifted(xp, x, _kept(xp, x, where, axis, length), axis, temperature, normalize)
    total = xp.sum(xp.exp(shifted), axis=axis, keepdims=True)
    return shifted - xp.log(
        total if not where else xp.where(total == 0, xp.ones_like(total), total)
    )


def _apply_softmax(
    op: Any,
    data: ArrayLike,
    length: Any,
    axis: int,
    temperature: float | None,
    use_length: bool,
    dtype: DTypeLike,
) -> Any:
    if use_length != (length is not None):
        raise ValueError(
            f"{op.name.removeprefix('_npx_')}: use_length={use_length}, but length is "
            f"{'missing' if length is None else 'given'}"
        )
    wanted = None if dtype is None else dtypes.canonical(dtype)
    attrs = (
        int(axis),
        None if temperature is None else float(temperature),
        use_length,
        True,
        wanted,
    )
    return apply(op, (data, length) if use_length else (data,), attrs)


def softmax(
    data: ArrayLike,
    length: ArrayLike | None = None,
    axis: int = -1,
    temperature: float | None = None,
    use_length: bool = False,
    dtype: DTypeLike = None,
) -> ndarray:
    """Softmax: exponentials divided by their sum along an axis.

    Parameters
    ----------
    data : array_like
        Logits.
    length : array_like of int, optional
        Number of elements along the axis that take part, in the shape of `data` without it; the
        others become 0.
    axis : int
        The axis that sums to one.
    temperature : float, optional
        Divisor of the logits.
    use_length : bool
        Must be True if `length` is given.
    dtype : dtype, optional
        Dtype of the result; that of `data` if not given. 16-bit floats are summed in float32.

    Examples
    --------
    >>> npx.softmax([[0.0, 0.0], [0.0, 1000.0]])
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    return _apply_softmax(_softmax, data, length, axis, temperature, use_length, dtype)


def log_softmax(
    data: ArrayLike,
    axis: int = -1,
    length: ArrayLike | None = None,
    temperature: float | None = None,
    use_length: bool = False,
    dtype: DTypeLike = None,
) -> ndarray:
    """Logarithm of `softmax`, computed accurately.

    The arguments are those of `softmax`; elements beyond `length` become -inf.

    Examples
    --------
    >>> npx.log_softmax([0.0, 1000.0])
    array([-1000.,     0.])
    """
    return _apply_softmax(_log_softmax, data, length, axis, temperature, use_length, dtype)


def masked_softmax(
    data: ArrayLike,
    mask: ArrayLike,
    axis: int = -1,
    temperature: float | None = 1.0,
    normalize: bool = True,
) -> ndarray:
    """Masked softmax: elements where the mask is False become 0.

    Parameters
    ----------
    data : array_like
        Logits.
    mask : array_like of bool
        True for elements that take part; broadcast to the shape of `data`.
    axis : int
        The axis that sums to one.
    temperature : float, optional
        Divisor of the logits.
    normalize : bool
        Whether the maximum is subtracted first, to avoid overflow.

    Examples
    --------
    >>> npx.masked_softmax([1.0, 1.0, 5.0], [True, True, False])
    array([0.5, 0.5, 0. ])
    """
    return apply(
        _softmax,
        (data, mask),
        (
            int(axis),
            None if temperature is None else float(temperature),
            False,
            bool(normalize),
            None,
        ),
    )


def masked_log_softmax(
    data: ArrayLike,
    mask: ArrayLike,
    axis: int = -1,
    temperature: float | None = 1.0,
    normalize: bool = True,
) -> ndarray:
    """Logarithm of `masked_softmax`; -inf where the mask is False.

    Examples
    --------
    >>> [round(v, 3) for v in npx.masked_log_softmax([1.0, 1.0, 5.0], [True, True, False]).tolist()]
    [-0.693, -0.693, -inf]
    """
    return apply(
        _log_softmax,
        (data, mask),
        (
            int(axis),
            None if temperature is None else float(temperature),
            False,
            bool(normalize),
            None,
        ),
    )


__all__ = [
    "activation",
    "gelu",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "masked_log_softmax",
    "masked_softmax",
    "mish",
    "relu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
]
