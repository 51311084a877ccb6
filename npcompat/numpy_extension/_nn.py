"""Basic network operators under MXNet's names: dense layers, dropout, smooth L1, stop_gradient."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import normalized_axes, operator
from npcompat._internal.core.op_kinds import unary
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.detaching import detached
from npcompat._internal.random import stream
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_types import declared, int64

# --- products -------------------------------------------------------------------------------------


def _rows(xp: Any, x: Any) -> Any:
    if x.ndim == 0:
        raise ValueError("expected data with at least one axis, that of the batch, got shape ()")
    return xp.reshape(x, (x.shape[0], math.prod(x.shape[1:])))


def _features(types: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
    """Complete partly known types: features from the data, units from the weight."""
    x, weight, *bias = types
    features = None
    if x.shape and None not in x.shape[1:]:
        features = math.prod(x.shape[1:]) if attrs["flatten"] else x.shape[-1]
    units = None if weight.shape is None else weight.shape[0]
    return [TensorType(), TensorType((None, features)), *[TensorType((units,)) for _ in bias]]


@operator("_npx_fully_connected", rule=dtypes.floating, pattern="complex", complete=_features)
def _fully_connected(xp: Any, x: Any, weight: Any, *bias: Any, flatten: bool = True) -> Any:
    """Dense (fully connected) layer: x @ weight.T + bias."""
    if flatten:
        x = _rows(xp, x)
    if weight.ndim != 2 or x.ndim == 0 or x.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"fully_connected: data of shape {x.shape} does not fit weight of shape "
            f"{weight.shape}; expected (units, {x.shape[-1:]})"
        )
    y = xp.matmul(x, weight.T)
    if not bias:
        return y
    if bias[0].shape != weight.shape[:1]:
        raise ValueError(
            f"fully_connected: bias must have shape {weight.shape[:1]}, one entry for each unit, "
            f"got {bias[0].shape}"
        )
    return y + bias[0]


def fully_connected(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    num_hidden: int | None = None,
    no_bias: bool = True,
    flatten: bool = True,
) -> ndarray:
    """Dense (fully connected) layer: linear transformation of the last axis.

    Computes `x @ weight.T + bias`.

    Parameters
    ----------
    x : array_like, shape (N, ...)
        Data.
    weight : array_like, shape (num_hidden, features)
        Weights.
    bias : array_like, shape (num_hidden,), optional
        Bias.
    num_hidden : int, optional
        Checked against the shape of `weight`, which determines it.
    no_bias : bool
        Must be False if `bias` is given.
    flatten : bool
        Whether all axes but the first are features, or only the last.

    Raises
    ------
    ValueError
        If shapes do not fit.

    Examples
    --------
    >>> npx.fully_connected([[1.0, 2.0]], [[1.0, 1.0], [0.0, 3.0]], [0.5, 0.5], no_bias=False)
    array([[3.5, 6.5]])
    """
    if no_bias != (bias is None):
        raise ValueError(
            f"fully_connected: no_bias={no_bias}, but bias is "
            f"{'missing' if bias is None else 'given'}"
        )
    if (
        num_hidden is not None
        and not declared(weight, (num_hidden, None))
        and num_hidden != len(asarray(weight))
    ):
        raise ValueError(
            f"fully_connected: num_hidden={num_hidden}, but weight has {len(asarray(weight))} rows"
        )
    return apply(
        _fully_connected, (x, weight) if bias is None else (x, weight, bias), (bool(flatten),)
    )


@operator("_npx_batch_dot", rule=dtypes.promote, pattern="complex")
def _batch_dot(
    xp: Any, a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False
) -> Any:
    """Batched matrix product."""
    return xp.matmul(
        xp.swapaxes(a, -1, -2) if transpose_a else a, xp.swapaxes(b, -1, -2) if transpose_b else b
    )


def batch_dot(
    a: ArrayLike,
    b: ArrayLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: str | None = "default",
) -> ndarray:
    """Batched matrix product.

    Parameters
    ----------
    a : array_like, shape (..., n, m)
        Matrices.
    b : array_like, shape (..., m, k)
        Matrices.
    transpose_a, transpose_b : bool
        Whether the last two axes are transposed first.
    forward_stype : {'default', None}
        Sparse results are not supported: anything else raises NotImplementedError.

    Examples
    --------
    >>> npx.batch_dot(np.ones((1, 2, 3)), np.ones((1, 4, 3)), transpose_b=True).shape
    (1, 2, 4)
    """
    if forward_stype not in ("default", None):
        raise NotImplementedError(f"batch_dot: forward_stype={forward_stype!r}: results are dense")
    return apply(_batch_dot, (a, b), (bool(transpose_a), bool(transpose_b)))


@operator("_npx_batch_flatten", pattern="injective")
def _batch_flatten(xp: Any, x: Any) -> Any:
    """Flatten all axes but the first."""
    return _rows(xp, x)


def batch_flatten(data: ArrayLike) -> ndarray:
    """Flatten all axes but the first.

    Parameters
    ----------
    data : array_like, shape (N, ...)
        Batch.

    Returns
    -------
    ndarray
        Of shape (N, product of the rest); a copy.

    Examples
    --------
    >>> npx.batch_flatten(np.zeros((2, 3, 4))).shape
    (2, 12)
    """
    return apply(_batch_flatten, (data,))


# --- dropout --------------------------------------------------------------------------------------


def _dropped(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = dtypes.floating(types[2:])[1]
    return [None, None, dtype], (dtype, int64)


def _dropout_compute(
    xp: Any, key: Any, counter: Any, x: Any, *, p: float, axes: tuple[int, ...]
) -> Any:
    """Dropout: zero elements with probability p, and divide the others by 1 - p.

    One choice is shared along the given axes.
    """
    if p == 1:
        return xp.zeros_like(x), xp.next_counter(counter)
    shared = {a % x.ndim for a in axes}
    shape = tuple(1 if i in shared else n for i, n in enumerate(x.shape))
    kept = xp.keep_mask(key, counter, 1 - p, shape)
    return xp.where(kept, x / xp.asarray(1 - p, x.dtype), xp.zeros_like(x)), xp.next_counter(
        counter
    )


_dropout = operator("_npx_dropout", rule=_dropped, outputs=2, kernels={"jax": _dropout_compute})(
    _dropout_compute
)


def dropout(
    data: ArrayLike,
    p: float = 0.5,
    mode: str = "training",
    axes: Sequence[int] | None = None,
    cudnn_off: bool = False,
) -> ndarray:
    """Dropout: zero random elements, and scale the others so that the expected sum stays.

    Srivastava et al., 2014.

    Parameters
    ----------
    data : array_like
        Operand.
    p : float
        Probability of an element to be zeroed.
    mode : {'training', 'always'}
        Whether elements are dropped in training mode only, or also in prediction.
    axes : sequence of int, optional
        Axes along which all elements share one choice.
    cudnn_off
        A hint to MXNet's implementation, without effect.

    Returns
    -------
    ndarray
        A new array, also where nothing is dropped.

    Examples
    --------
    >>> x = np.ones(1000)
    >>> bool((npx.dropout(x) == x).all())
    True
    >>> with autograd.train_mode():
    ...     y = npx.dropout(x, p=0.5)
    >>> np.unique(y)
    array([0., 2.])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout: p is a probability, got {p}")
    if mode not in ("training", "always"):
        raise ValueError(f"dropout: mode must be 'training' or 'always', got {mode!r}")
    data = asarray(data)
    if p == 0 or not (mode == "always" or modes.current().training):
        return data.copy()
    return handles.wrap(
        stream.default.draw(
            _dropout, (data,), (float(p), normalized_axes(tuple(axes or ()), data.ndim))
        )
    )


# --- others ---------------------------------------------------------------------------------------


@unary("_npx_smooth_l1")
def _smooth_l1(xp: Any, x: Any, *, scalar: float = 1.0) -> Any:
    """Smooth L1 loss: quadratic near zero, linear elsewhere."""
    square = scalar * scalar
    size = xp.abs(x)
    near = xp.asarray(0.5 * square, x.dtype) * x * x
    return xp.where(size < 1 / square, near, size - xp.asarray(0.5 / square, x.dtype))


def smooth_l1(data: ArrayLike, scalar: float = 1.0) -> ndarray:
    """Smooth L1 loss: quadratic near zero and linear elsewhere (Fast R-CNN; Girshick, 2015).

    Parameters
    ----------
    data : array_like
        Differences.
    scalar : float
        The two parts meet at `1 / scalar**2`.

    Examples
    --------
    >>> npx.smooth_l1([0.5, 2.0])
    array([0.125, 1.5  ])
    """
    if not scalar > 0:
        raise ValueError(f"smooth_l1: scalar must be positive, got {scalar}")
    return apply(_smooth_l1, (data,), (float(scalar),))


def stop_gradient(data: ArrayLike) -> ndarray:
    """Stop gradients: return the same values, detached from the recorded computation.

    Parameters
    ----------
    data : array_like
        Operand.

    Examples
    --------
    >>> x = np.array([2.0])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = x * npx.stop_gradient(x)
    >>> y.backward()
    >>> x.grad
    array([2.])
    """
    return handles.wrap(detached(array_like.as_value(asarray(data))))


__all__ = ["batch_dot", "batch_flatten", "dropout", "fully_connected", "smooth_l1", "stop_gradient"]
