"""Transformations of random variables, with inverses and log Jacobian determinants."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.probability._functions import floating, inside_unit, prob2logit, sum_right_most
from npcompat.numpy._ndarray import ndarray


class Transformation:
    """Base class of transformations `y = t(x)`.

    Subclasses define `_forward_compute(x)`, `_inverse_compute(y)` and, if they are bijective,
    `log_det_jacobian(x, y)` and `sign`.

    Attributes
    ----------
    bijective : bool
        Whether it has an inverse.
    event_dim : int
        Number of last axes that are transformed together.
    sign : int or ndarray
        Sign of the derivative of a transformation of numbers: 1 if it increases, -1 if it
        decreases.
    """

    bijective = False
    event_dim: int = 0

    @property
    def sign(self) -> int | ndarray:
        """Sign of the derivative: 1 if the transformation increases, -1 if it decreases."""
        raise NotImplementedError(
            f"{type(self).__name__} does not define sign: it neither increases nor decreases "
            "everywhere"
        )

    @property
    def inv(self) -> "Transformation":
        """Inverse transformation."""
        return _Inverse(self)

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        """Batch shape: the shape of the parameters without event axes."""
        return ()

    def __call__(self, x: Any) -> ndarray:
        return self._forward_compute(x)

    def _forward_compute(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _forward_compute(self, x)")

    def _inverse_compute(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define an inverse")

    def log_det_jacobian(self, x: Any, y: Any) -> ndarray:
        """Log absolute determinant of the Jacobian dy/dx, where `y = t(x)`.

        Its shape is that of `x` without the last `event_dim` axes.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define log_det_jacobian")


class _Inverse(Transformation):
    """Inverse of a transformation."""

    def __init__(self, forward: Transformation) -> None:
        self._forward = forward

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """True if the transformation is bijective."""
        return self._forward.bijective

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """Number of event axes of the transformation."""
        return self._forward.event_dim

    @property
    def sign(self) -> int | ndarray:
        """Sign of the transformation."""
        return self._forward.sign

    @property
    def inv(self) -> Transformation:
        """Original transformation."""
        return self._forward

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        return self._forward._batch_shape

    def _forward_compute(self, x: Any) -> Any:
        return self._forward._inverse_compute(x)

    def _inverse_compute(self, y: Any) -> Any:
        return self._forward(y)

    def log_det_jacobian(self, x: Any, y: Any) -> ndarray:
        """Return the negative log determinant of the transformation."""
        return -self._forward.log_det_jacobian(y, x)


class TransformBlock(Transformation, HybridBlock):
    """Base class of transformations with learned parameters, such as normalizing flows.

    It is a block: its parameters are collected, and `hybridize` compiles its forward computation.

    Examples
    --------
    >>> class Shift(gluon.probability.TransformBlock):
    ...     bijective, sign = True, 1
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.loc = gluon.Parameter("loc", shape=(), init="ones")
    ...     def _forward_compute(self, x):
    ...         return x + self.loc.data()
    ...     def _inverse_compute(self, y):
    ...         return y - self.loc.data()
    ...     def log_det_jacobian(self, x, y):
    ...         return np.zeros_like(x)
    >>> shift = Shift()
    >>> shift.initialize()
    >>> shift(np.array([1.0])), shift.inv(np.array([1.0]))
    (array([2.]), array([0.]))
    """

    def __call__(self, *args: Any, **kwargs: Any) -> ndarray:
        return HybridBlock.__call__(self, *args, **kwargs)

    def forward(self, x: ndarray) -> ndarray:
        """Transform x."""
        return self._forward_compute(x)


class ComposeTransform(Transformation):
    """Composition of transformations.

    Parameters
    ----------
    parts : sequence of Transformation
        Applied in order; an empty sequence is the identity.

    Examples
    --------
    >>> mgp = gluon.probability
    >>> t = mgp.ComposeTransform([mgp.AffineTransform(1.0, 2.0), mgp.ExpTransform()])
    >>> t.inv(t(np.array([0.5]))), t.log_det_jacobian(np.array([0.5]), None).round(4)
    (array([0.5]), array([2.6931]))
    """

    def __init__(self, parts: Sequence[Transformation]) -> None:
        for i, part in enumerate(parts):
            if not isinstance(part, Transformation):
                raise TypeError(
                    f"ComposeTransform: parts[{i}]: expected a Transformation, got "
                    f"{type(part).__name__}"
                )
        self._parts = list(parts)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """True if all parts are bijective."""
        return all(part.bijective for part in self._parts)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """Largest number of event axes of the parts."""
        return max((part.event_dim for part in self._parts), default=0)

    @property
    def sign(self) -> int | ndarray:
        """Product of the signs of the parts."""
        sign: Any = 1
        for part in self._parts:
            sign = sign * part.sign
        return sign

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        return onp.broadcast_shapes(*[part._batch_shape for part in self._parts])

    @property
    def inv(self) -> "ComposeTransform":
        """Composition of the inverses, in reverse order."""
        return ComposeTransform([part.inv for part in reversed(self._parts)])

    def _forward_compute(self, x: Any) -> Any:
        for part in self._parts:
            x = part(x)
        return x

    def _inverse_compute(self, y: Any) -> Any:
        for part in reversed(self._parts):
            y = part.inv(y)
        return y

    def log_det_jacobian(self, x: Any, y: Any) -> ndarray:
        """Return the sum of the log determinants of the parts; `y` may be None."""
        x = floating(x)
        result: Any = np.zeros(x.shape[: x.ndim - self.event_dim], dtype=x.dtype)
        for i, part in enumerate(self._parts):
            after = y if i == len(self._parts) - 1 and y is not None else part(x)
            result = result + sum_right_most(
                part.log_det_jacobian(x, after), self.event_dim - part.event_dim
            )
            x = after
        return result


class ExpTransform(Transformation):
    """Exponential transformation, `exp(x)`.

    Examples
    --------
    >>> gluon.probability.ExpTransform().inv(1.0)
    np.float32(0.0)
    """

    bijective = True
    sign = 1

    def _forward_compute(self, x: Any) -> Any:
        return np.exp(x)

    def _inverse_compute(self, y: Any) -> Any:
        return np.log(y)

    def log_det_jacobian(self, x: Any, y: Any) -> ndarray:
        """Return x, the log derivative."""
        return floating(x)


class AffineTransform(Transformation):
    """Affine transformation, `loc + scale * x`.

    Parameters
    ----------
    loc, scale : array_like
        Location and scale.
    event_dim : int
        Number of last axes that are one event.

    Examples
    --------
    >>> gluon.probability.AffineTransform(1.0, 2.0)(np.array([0.0, 1.0]))
    array([1., 3.])
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0) -> None:
        self._loc, self._scale, self.event_dim = loc, scale, event_dim

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        shape = onp.broadcast_shapes(np.shape(self._loc), np.shape(self._scale))
        return shape[: max(len(shape) - self.event_dim, 0)]

    def _forward_compute(self, x: Any) -> Any:
        return self._loc + self._scale * np.asarray(x)

    def _inverse_compute(self, y: Any) -> Any:
        return (np.asarray(y) - self._loc) / self._scale

    def log_det_jacobian(self, x: Any, y: Any) -> ndarray:
        """Return the logarithm of abs(scale)."""
        return sum_right_most(
            np.zeros_like(floating(x)) + np.log(abs(np.asarray(self._scale))), self.event_dim
        )

    @property
    def sign(self) -> ndarray:
        """Sign of the scale."""
        return np.sign(self._scale)


class PowerTransform(Transformation):
    """Power transformation of positive numbers, `x**exponent`.

    Parameters
    ----------
    exponent : array_like
        The power.

    Examples
    --------
    >>> gluon.probability.PowerTransform(2.0).inv(np.array([4.0, 9.0]))
    array([2., 3.])
    """

    bijective = True

    def __init__(self, exponent: Any) -> None:
        self._exponent = exponent

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        return np.shape(self._exponent)

    def _forward_compute(self, x: Any) -> Any:
        return np.power(x, self._exponent)

    def _inverse_compute(self, y: Any) -> Any:
        return np.power(y, 1 / self._exponent)

    def log_det_jacobian(self, x: Any, y: Any) -> ndarray:
        """Return the logarithm of `exponent * x**(exponent - 1)`."""
        return np.log(abs(np.asarray(self._exponent))) + (self._exponent - 1) * np.log(floating(x))

    @property
    def sign(self) -> ndarray:
        """Sign of the exponent."""
        return np.sign(self._exponent)


class SigmoidTransform(Transformation):
    """Sigmoid transformation, `1 / (1 + exp(-x))`.

    Results lie strictly between 0 and 1, even where rounding would give one of these.

    Examples
    --------
    >>> gluon.probability.SigmoidTransform()(np.array([0.0]))
    array([0.5])
    """

    bijective = True
    sign = 1

    def _forward_compute(self, x: Any) -> Any:
        return inside_unit(npx.sigmoid(floating(x)))

    def _inverse_compute(self, y: Any) -> Any:
        return prob2logit(y)

    def log_det_jacobian(self, x: Any, y: Any) -> ndarray:
        """Return the logarithm of `sigmoid(x) * sigmoid(-x)`."""
        return npx.log_sigmoid(x) + npx.log_sigmoid(-floating(x))


class SoftmaxTransform(Transformation):
    """Softmax along the last axis; not bijective, as it loses the sum.

    Its inverse is the logarithm.

    Examples
    --------
    >>> gluon.probability.SoftmaxTransform()(np.zeros(4))
    array([0.25, 0.25, 0.25, 0.25])
    """

    event_dim = 1

    def _forward_compute(self, x: Any) -> Any:
        return npx.softmax(x, axis=-1)

    def _inverse_compute(self, y: Any) -> Any:
        return np.log(y)


class AbsTransform(Transformation):
    """Absolute value; not bijective.

    Its inverse returns the positive of the two numbers.

    Examples
    --------
    >>> gluon.probability.AbsTransform()(np.array([-2.0]))
    array([2.])
    """

    def _forward_compute(self, x: Any) -> Any:
        return np.abs(x)

    def _inverse_compute(self, y: Any) -> Any:
        return y


__all__ = [
    "AbsTransform", "AffineTransform", "ComposeTransform", "ExpTransform", "PowerTransform",
    "SigmoidTransform", "SoftmaxTransform", "TransformBlock", "Transformation",
]  # fmt: skip
