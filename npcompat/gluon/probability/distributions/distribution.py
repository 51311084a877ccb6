"""Base class of distributions."""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core import changes, dtypes
from npcompat._internal.core.op import as_shape
from npcompat.gluon.probability._functions import sample_n_shape_converter
from npcompat.gluon.probability.constraint import Constraint
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike, ShapeLike

_Self = TypeVar("_Self", bound="Distribution")


class Distribution(changes.Counted):
    """Base class of distributions.

    The broadcast shape of the parameters is the batch shape: a batch of independent distributions.
    The last `event_dim` axes of a value are one event, such as a vector of counts. Parameters
    become arrays of one float dtype, which is also the dtype of samples (those of `Categorical` are
    int64).

    A subclass sets its parameters with `_set`, and defines `_draw(shape)`, which draws events with
    a batch shape; or it defines `sample` and `sample_n` themselves.

    Parameters
    ----------
    event_dim : int, optional
        Number of last axes of a value that are one event.
    validate_args : bool, optional
        Whether parameters and values are checked; the default is that of
        `set_default_validate_args`. In a compiled function a wrong value raises when a result is
        first read.

    Attributes
    ----------
    has_grad : bool
        Whether samples are differentiable in the parameters.
    has_enumerate_support : bool
        Whether `enumerate_support` lists all values.
    support : Constraint
        The values that have a probability.
    arg_constraints : dict of str to Constraint
        Constraints of the parameters.
    """

    has_grad: Any = False
    has_enumerate_support: Any = False
    support: Any = None
    arg_constraints: ClassVar[Mapping[str, Constraint]] = {}
    _validate_args: bool = False
    # number of event axes of the parameters that have some
    _event_axes: ClassVar[Mapping[str, int]] = {}
    _given: tuple[str, ...] = ()  # names of the given parameters; others are computed

    def __init__(self, event_dim: int | None = None, validate_args: bool | None = None) -> None:
        self.event_dim = event_dim
        if validate_args is not None:
            self._validate_args = bool(validate_args)
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                if name in self.__dict__:
                    constraint._require(self.__dict__[name], f"{type(self).__name__}: {name}")

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set the default of `validate_args`; it is False initially.

        Parameters
        ----------
        value : bool
            Whether distributions check parameters and values.

        Examples
        --------
        >>> gluon.probability.Distribution.set_default_validate_args(True)
        >>> gluon.probability.Normal(0.0, -1.0)
        Traceback (most recent call last):
        ValueError: Normal: scale: expected numbers above 0, got -1.0
        >>> gluon.probability.Distribution.set_default_validate_args(False)
        """
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected True or False, got {value!r}")
        Distribution._validate_args = bool(value)

    # --- parameters

    def _set(self, **parameters: Any) -> None:
        """Store parameters as arrays of one float dtype, and check that they broadcast."""
        arrays = {
            name: np.asarray(p)
            for name, p in parameters.items()
            if type(p) not in (int, float, bool)
        }
        floats = [a.dtype for a in arrays.values() if dtypes.is_inexact(a.dtype)]
        dtype = np.result_type(*floats) if floats else dtypes.default_float()
        if dtype.kind == "c":
            raise TypeError(f"{type(self).__name__}: expected real parameters, got {dtype}")
        for name, given in parameters.items():
            array = np.asarray(arrays.get(name, given), dtype=dtype)
            axes = self._event_axes.get(name, 0)
            if array.ndim < axes:
                raise ValueError(
                    f"{type(self).__name__}: {name}: expected at least {axes} axes, got shape "
                    f"{array.shape}"
                )
            self.__dict__[name] = array
        self._given = tuple(parameters)
        try:
            onp.broadcast_shapes(*self._batch_shapes())
        except ValueError:
            shapes = ", ".join(f"{name}: {self.__dict__[name].shape}" for name in self._given)
            raise ValueError(
                f"{type(self).__name__}: the shapes of the parameters do not broadcast: {shapes}"
            ) from None

    def _one_of(self, **parameters: Any) -> dict[str, Any]:
        """Return the single given parameter of several alternatives."""
        given = {name: p for name, p in parameters.items() if p is not None}
        if len(given) != 1:
            raise ValueError(
                f"{type(self).__name__}: expected exactly one of {' or '.join(parameters)}, got "
                f"{' and '.join(given) or 'none'}"
            )
        return given

    def _batch_shapes(self) -> list[tuple[int, ...]]:
        return [
            self.__dict__[name].shape[: self.__dict__[name].ndim - self._event_axes.get(name, 0)]
            for name in self._given
        ]

    @property
    def _batch_shape(self) -> tuple[int, ...]:
        """Batch shape: the broadcast shape of the parameters."""
        return onp.broadcast_shapes(*self._batch_shapes())

    @property
    def _dtype(self) -> Any:
        return self.__dict__[self._given[0]].dtype if self._given else dtypes.default_float()

    def _full(self, x: Any, *event: int) -> Any:
        """Broadcast a function of the parameters to the batch shape plus an event shape."""
        shape = (*self._batch_shape, *event)
        return x if x.shape == shape else np.broadcast_to(x, shape)

    def broadcast_to(self: _Self, batch_shape: Any) -> _Self:
        """Return the distribution with its parameters broadcast to a batch shape.

        Parameters
        ----------
        batch_shape : int or tuple of int
            The shape of the new batch.

        Examples
        --------
        >>> gluon.probability.Normal(np.zeros(2), 1.0).broadcast_to((3, 2)).mean.shape
        (3, 2)
        """
        shape = as_shape(batch_shape)
        new = copy.copy(self)
        for name in self._given:
            parameter = self.__dict__[name]
            event = parameter.shape[parameter.ndim - self._event_axes.get(name, 0) :]
            new.__dict__[name] = np.broadcast_to(parameter, (*shape, *event))
        return new

    # --- samples

    def sample(self, size: ShapeLike | None = None) -> ndarray:
        """Draw samples with a given batch shape.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result without the axes of an event; the batch must broadcast to it.
            One for each distribution of the batch if not given.

        Returns
        -------
        ndarray
            Differentiable in the parameters if `has_grad`.

        Examples
        --------
        >>> gluon.probability.Normal(np.zeros(2), 1.0).sample((3, 2)).shape
        (3, 2)
        """
        batch = self._batch_shape
        if size is None:
            return self._draw(batch)
        shape = sample_n_shape_converter(size)
        try:
            fits = onp.broadcast_shapes(batch, shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"{type(self).__name__}.sample: the batch, of shape {batch}, does not broadcast "
                f"to size={size}; "
                f"sample_n(size) draws in the shape size + {batch}"
            )
        return self._draw(shape)

    def sample_n(self, size: ShapeLike | None = None) -> ndarray:
        """Draw several samples from each distribution of the batch.

        Parameters
        ----------
        size : int or tuple of int, optional
            Leading axes of the result, before the batch; one sample if not given.

        Examples
        --------
        >>> gluon.probability.Normal(np.zeros(2), 1.0).sample_n(5).shape
        (5, 2)
        """
        return self._draw(sample_n_shape_converter(size) + self._batch_shape)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        """Draw events with a batch shape."""
        raise self._undefined("sample")

    def enumerate_support(self) -> ndarray:
        """Return all values of a discrete distribution, along a new first axis before the batch."""
        raise self._undefined("enumerate_support")

    # --- functions of a value

    def _value(self, value: ArrayLike) -> ndarray:
        """Convert the argument of a method to floats; check its support if `validate_args`."""
        array = np.asarray(value)
        if not dtypes.is_inexact(array.dtype):
            array = array.astype(self._dtype)
        return self._validate_samples(array) if self._validate_args else array

    def _validate_samples(self, value: Any) -> Any:
        """Return value if it lies in the support; else raise ValueError."""
        return (
            self.support._require(value, f"{type(self).__name__}: value")
            if self.support is not None
            else value
        )

    def log_prob(self, value: ArrayLike) -> ndarray:
        """Return the log probability (density) of value.

        Parameters
        ----------
        value : array_like
            Point to evaluate; broadcasts with the batch (and the event axes).

        Examples
        --------
        >>> round(float(gluon.probability.Normal().log_prob(0.0)), 4)
        -0.9189
        """
        raise self._undefined("log_prob")

    def pdf(self, value: ArrayLike) -> ndarray:
        """Return the probability density at value, or the probability of a discrete value.

        Examples
        --------
        >>> round(float(gluon.probability.Normal().pdf(0.0)), 4)
        0.3989
        """
        return np.exp(self.log_prob(value))

    def cdf(self, value: ArrayLike) -> ndarray:
        """Cumulative distribution function (CDF): the probability of values up to a given one.

        Examples
        --------
        >>> float(gluon.probability.Normal().cdf(0.0))
        0.5
        """
        raise self._undefined("cdf")

    def icdf(self, value: ArrayLike) -> ndarray:
        """Inverse CDF (quantile function) at a probability.

        Examples
        --------
        >>> float(gluon.probability.Uniform(2.0, 4.0).icdf(0.25))
        2.5
        """
        raise self._undefined("icdf")

    # --- numbers that describe it

    @property
    def mean(self) -> ndarray:
        """Mean."""
        raise self._undefined("mean")

    @property
    def variance(self) -> ndarray:
        """Variance."""
        raise self._undefined("variance")

    @property
    def stddev(self) -> ndarray:
        """Standard deviation."""
        return np.sqrt(self.variance)

    def entropy(self) -> ndarray:
        """Entropy, in nats; that of a density may be negative.

        Examples
        --------
        >>> round(float(gluon.probability.Bernoulli(0.5).entropy()), 4)
        0.6931
        """
        raise self._undefined("entropy")

    def perplexity(self) -> ndarray:
        """Perplexity: the exponential of the entropy.

        Examples
        --------
        >>> round(float(gluon.probability.Categorical(4, np.full(4, 0.25)).perplexity()), 4)
        4.0
        """
        return np.exp(self.entropy())

    def _undefined(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not define {what}")

    def __repr__(self) -> str:
        shapes = [f"{name}: shape {self.__dict__[name].shape}" for name in self._given]
        return f"{type(self).__name__}({', '.join([*shapes, f'event_dim: {self.event_dim}'])})"


__all__ = ["Distribution"]
