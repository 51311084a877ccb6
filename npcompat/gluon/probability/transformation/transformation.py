"""Transformations of random variables, with their inverses and the logarithms of their Jacobian
determinants.
"""

from collections.abc import Sequence
from typing import Any

import numpy as onp

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.probability._functions import floating, inside_unit, prob2logit, sum_right_most


class Transformation:
    """Base class of transformations `y = t(x)`.

    Subclasses define `_forward_compute(x)`, `_inverse_compute(y)` and, if they are bijective,
    `log_det_jacobian(x, y)` and `sign`.

    Attributes
    ----------
    bijective : bool
        Whether it has an inverse.
    event_dim : int
        How many of the last axes it transforms together.
    sign : int or ndarray
        Of the derivative of a transformation of numbers: 1 if it increases, -1 if it decreases.
    """

    bijective = False
    event_dim: int = 0

    @property
    def sign(self) -> Any:
        """1 if the transformation increases, -1 if it decreases."""
        raise NotImplementedError(
            f"{type(self).__name__} does not define sign: it neither increases nor decreases "
            "everywhere"
        )

    @property
    def inv(self) -> "Transformation":
        """The inverse."""
        return _Inverse(self)

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        """The shape of the parameters, without the axes of an event."""
        return ()

    def __call__(self, x: Any) -> Any:
        return self._forward_compute(x)

    def _forward_compute(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _forward_compute(self, x)")

    def _inverse_compute(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define an inverse")

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """Logarithm of the absolute value of the determinant of dy/dx, where `y = t(x)`.

        Its shape is that of `x` without the last `event_dim` axes.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define log_det_jacobian")


class _Inverse(Transformation):
    """The inverse of a transformation."""

    def __init__(self, forward: Transformation) -> None:
        self._forward = forward

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether the transformation is."""
        return self._forward.bijective

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """That of the transformation."""
        return self._forward.event_dim

    @property
    def sign(self) -> Any:
        """That of the transformation."""
        return self._forward.sign

    @property
    def inv(self) -> Transformation:
        """The transformation itself."""
        return self._forward

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        return self._forward._batch_shape

    def _forward_compute(self, x: Any) -> Any:
        return self._forward._inverse_compute(x)

    def _inverse_compute(self, y: Any) -> Any:
        return self._forward(y)

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """The negative of the transformation's."""
        return -self._forward.log_det_jacobian(y, x)


class TransformBlock(Transformation, HybridBlock):
    """Base class of transformations with parameters that are learned, such as the layers of a
    normalizing flow.

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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return HybridBlock.__call__(self, *args, **kwargs)

    def forward(self, x: Any) -> Any:
        """The transformed values."""
        return self._forward_compute(x)


class ComposeTransform(Transformation):
    """Transformations one after another.

    Parameters
    ----------
    parts : sequence of Transformation
        The first one is applied first; none leave everything as it is.

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
        """Whether all parts are."""
        return all(part.bijective for part in self._parts)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """The largest of the parts."""
        return max((part.event_dim for part in self._parts), default=0)

    @property
    def sign(self) -> Any:
        """The product of the parts'."""
        sign: Any = 1
        for part in self._parts:
            sign = sign * part.sign
        return sign

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        return onp.broadcast_shapes(*[part._batch_shape for part in self._parts])

    @property
    def inv(self) -> "ComposeTransform":
        """The inverses, in the opposite order."""
        return ComposeTransform([part.inv for part in reversed(self._parts)])

    def _forward_compute(self, x: Any) -> Any:
        for part in self._parts:
            x = part(x)
        return x

    def _inverse_compute(self, y: Any) -> Any:
        for part in reversed(self._parts):
            y = part.inv(y)
        return y

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum of the parts'; `y` may be None."""
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
    """The exponential.

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

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """The exponent."""
        return floating(x)


class AffineTransform(Transformation):
    """Each number times a scale, plus a location.

    Parameters
    ----------
    loc, scale : array_like
        Location and scale.
    event_dim : int
        How many of the last axes are one event.

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

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the size of the scale."""
        return sum_right_most(
            np.zeros_like(floating(x)) + np.log(abs(np.asarray(self._scale))), self.event_dim
        )

    @property
    def sign(self) -> Any:
        """That of the scale."""
        return np.sign(self._scale)


class PowerTransform(Transformation):
    """A power of each positive number.

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

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of `exponent * x**(exponent - 1)`."""
        return np.log(abs(np.asarray(self._exponent))) + (self._exponent - 1) * np.log(floating(x))

    @property
    def sign(self) -> Any:
        """That of the exponent."""
        return np.sign(self._exponent)


class SigmoidTransform(Transformation):
    """The sigmoid, `1 / (1 + exp(-x))`.

    Its values lie between 0 and 1, also where rounding would give one of these.

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

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of `sigmoid(x) * sigmoid(-x)`."""
        return npx.log_sigmoid(x) + npx.log_sigmoid(-floating(x))


class SoftmaxTransform(Transformation):
    """The softmax along the last axis, whose inverse is the logarithm: not bijective, a sum is
    lost.

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
    """The absolute value, whose inverse takes the positive of two numbers: not bijective.

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
