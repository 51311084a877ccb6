"""Initializers with constants and random numbers."""

import json
import math
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat.initializer._base import Initializer, alias, register
from npcompat.numpy import random
from npcompat.numpy_extension._nn_special import erfinv


def _sample_dtype(arr: Any) -> Any:
    """Return the dtype of random draws: the array's, or float32 for narrower ones."""
    return (
        arr.dtype
        if dtypes.is_float(arr.dtype) and arr.dtype.itemsize >= 4
        else onp.dtype("float32")
    )


def _fill_uniform(arr: Any, scale: float) -> None:
    arr[...] = random.uniform(-scale, scale, arr.shape, dtype=_sample_dtype(arr))


def _fill_normal(arr: Any, sigma: float) -> None:
    arr[...] = random.normal(0.0, sigma, arr.shape, dtype=_sample_dtype(arr))


# --- constants ------------------------------------------------------------------------------------


@alias("zeros")
@register
class Zero(Initializer):
    """Zeros initializer.

    Examples
    --------
    >>> a = np.ones(2)
    >>> init.Zero()("weight", a)
    >>> a
    array([0., 0.])
    """

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[...] = 0


@alias("ones")
@register
class One(Initializer):
    """Ones initializer.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> init.One()("weight", a)
    >>> a
    array([1., 1.])
    """

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[...] = 1


@register
class Constant(Initializer):
    """Constant initializer: one value, or the values of an array.

    Parameters
    ----------
    value : float or array_like
        The value; broadcast to the shape.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> init.Constant(0.5)("weight", a)
    >>> a
    array([0.5, 0.5])
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[...] = self.value

    def dumps(self) -> str:
        """Serialize the initializer to text."""
        value = self.value.tolist() if hasattr(self.value, "tolist") else self.value
        return json.dumps(["constant", {"value": value}])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.dumps() == other.dumps()

    def __hash__(self) -> int:
        return hash(self.dumps())


# --- random ---------------------------------------------------------------------------------------


@register
class Uniform(Initializer):
    """Uniform initializer on [-scale, scale).

    Parameters
    ----------
    scale : float
        Bound.

    Examples
    --------
    >>> a = np.zeros(100)
    >>> init.Uniform(0.1)("weight", a)
    >>> bool((abs(a) <= 0.1).all())
    True
    """

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: Any) -> None:
        _fill_uniform(arr, self.scale)


@register
class Normal(Initializer):
    """Normal initializer with mean 0.

    Parameters
    ----------
    sigma : float
        Standard deviation.

    Examples
    --------
    >>> init.Normal(0.02)
    Normal(sigma=0.02)
    """

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: Any) -> None:
        _fill_normal(arr, self.sigma)


@register
class TruncNorm(Initializer):
    """Truncated normal initializer, cut off at two standard deviations from the mean.

    Parameters
    ----------
    mean, stdev : float
        Mean and standard deviation of the untruncated normal distribution.

    Examples
    --------
    >>> a = np.zeros(100)
    >>> init.TruncNorm(0.0, 0.1)("weight", a)
    >>> bool((abs(a) <= 0.2).all())
    True
    """

    def __init__(self, mean: float = 0.0, stdev: float = 0.01) -> None:
        super().__init__(mean=mean, stdev=stdev)
        self.mean, self.stdev = mean, stdev

    def _init_weight(self, name: str, arr: Any) -> None:
        bound = math.erf(math.sqrt(2))  # the probability of lying within two standard deviations
        uniform = random.uniform(-bound, bound, arr.shape, dtype=_sample_dtype(arr))
        limit = 2 * self.stdev
        arr[...] = (erfinv(uniform) * (math.sqrt(2) * self.stdev)).clip(-limit, limit) + self.mean


@register
class Xavier(Initializer):
    """Xavier (Glorot) initializer, which keeps the scale of signals and gradients.

    Glorot and Bengio, 2010. The variance is `magnitude / factor` for `gaussian`, a third of that
    for `uniform`, where the factor is the number of inputs, of outputs, or the mean of both.

    Parameters
    ----------
    rnd_type : {'uniform', 'gaussian'}
        Distribution.
    factor_type : {'avg', 'in', 'out'}
        The factor: the mean of both, inputs, or outputs.
    magnitude : float
        Scale.

    Examples
    --------
    >>> a = np.zeros((30, 20))
    >>> init.Xavier()("weight", a)
    >>> bool(abs(a).max() <= (3 / 25) ** 0.5)
    True
    """

    def __init__(
        self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3
    ) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        if rnd_type not in ("uniform", "gaussian"):
            raise ValueError(f"Xavier: rnd_type must be 'uniform' or 'gaussian', got {rnd_type!r}")
        if factor_type not in ("avg", "in", "out"):
            raise ValueError(
                f"Xavier: factor_type must be 'avg', 'in' or 'out', got {factor_type!r}"
            )
        self.rnd_type, self.factor_type, self.magnitude = rnd_type, factor_type, float(magnitude)

    def _init_weight(self, name: str, arr: Any) -> None:
        shape = arr.shape
        if len(shape) < 2:
            raise ValueError(
                f"{type(self).__name__} needs the numbers of inputs and outputs, so at least 2 "
                f"axes; {name} has shape {shape}"
            )
        window = math.prod(shape[2:])
        inputs, outputs = shape[1] * window, shape[0] * window
        factor = {"avg": (inputs + outputs) / 2, "in": inputs, "out": outputs}[self.factor_type]
        scale = math.sqrt(self.magnitude / max(factor, 1))
        (_fill_uniform if self.rnd_type == "uniform" else _fill_normal)(arr, scale)


@register
class MSRAPrelu(Xavier):
    """He (Kaiming) normal initializer, for layers followed by leaky rectifiers.

    He et al., 2015.

    Parameters
    ----------
    factor_type : {'avg', 'in', 'out'}
        As for `Xavier`.
    slope : float
        Slope of the rectifier for negative elements.

    Examples
    --------
    >>> init.MSRAPrelu(slope=0)
    MSRAPrelu(factor_type='avg', slope=0)
    """

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Orthogonal(Initializer):
    """Orthogonal initializer: orthogonal rows or columns, whichever are fewer (Saxe et al., 2014).

    Parameters
    ----------
    scale : float
        Norm of each.
    rand_type : {'uniform', 'normal'}
        Distribution of the matrix before orthogonalization.

    Examples
    --------
    >>> a = np.zeros((2, 3))
    >>> init.Orthogonal(scale=1.0)("weight", a)
    >>> np.dot(a, a.T).round(3) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        if rand_type not in ("uniform", "normal"):
            raise ValueError(
                f"Orthogonal: rand_type must be 'uniform' or 'normal', got {rand_type!r}"
            )
        self.scale, self.rand_type = scale, rand_type

    def _init_weight(self, name: str, arr: Any) -> None:
        shape = (arr.shape[0], math.prod(arr.shape[1:]))
        draw = (
            random.uniform(-1.0, 1.0, shape)
            if self.rand_type == "uniform"
            else random.normal(0.0, 1.0, shape)
        )
        left, _, right = onp.linalg.svd(draw.asnumpy(), full_matrices=False)
        arr[...] = (self.scale * (left if left.shape == shape else right)).reshape(arr.shape)


__all__ = [
    "Constant",
    "MSRAPrelu",
    "Normal",
    "One",
    "Orthogonal",
    "TruncNorm",
    "Uniform",
    "Xavier",
    "Zero",
]
