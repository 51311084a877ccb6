"""Normalization layers."""

from typing import Any

import npcompat.numpy_extension as npx
from npcompat._internal.core import dtypes
from npcompat._internal.core.op import normalized_axes
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.parameter import Parameter
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import DTypeLike


class _Normalization(HybridBlock):
    """Base class of normalization layers, with an optional scale and offset for each channel."""

    def __init__(
        self,
        axis: int,
        center: bool,
        scale: bool,
        beta_initializer: Any,
        gamma_initializer: Any,
        in_channels: int,
    ) -> None:
        super().__init__()
        self._axis = int(axis)
        self.gamma = self._vector("gamma", in_channels, gamma_initializer, scale)
        self.beta = self._vector("beta", in_channels, beta_initializer, center)

    def _vector(self, name: str, length: int, init: Any, learned: bool) -> Parameter:
        return Parameter(
            name,
            "write" if learned else "null",
            (length,),
            init=init,
            allow_deferred_init=True,
            differentiable=learned,
        )

    def infer_shape(self, x: Any, *args: Any) -> None:
        """Infer the number of channels from the input."""
        normalized_axes(self._axis, len(x.shape))
        for parameter in self._reg_params.values():
            parameter.shape = (x.shape[self._axis],)

    def _described(self) -> str:
        length = (self.gamma.shape or (-1,))[0]
        return f"axis={self._axis}, in_channels={length if length != -1 else None}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._described()})"


class BatchNorm(_Normalization):
    """Batch normalization (Ioffe and Szegedy, 2015).

    Training mode normalizes with the statistics of the batch and updates the running statistics;
    prediction mode normalizes with the running ones.

    Parameters
    ----------
    axis : int
        The axis of the channels.
    momentum : float
        Share of the running statistics that an update keeps.
    epsilon : float
        Added to the variance, for numerical stability.
    center, scale : bool
        Whether an offset and a scale are learned.
    use_global_stats : bool
        Whether the running statistics are used in training too.
    beta_initializer, gamma_initializer, running_mean_initializer, running_variance_initializer :
    Initializer or str
        Initializers of offset, scale and running statistics.
    in_channels : int
        Number of channels; inferred at the first call if 0.

    Examples
    --------
    >>> layer = nn.BatchNorm()
    >>> layer.initialize()
    >>> with autograd.train_mode():
    ...     y = layer(np.array([[1.0], [3.0]]))
    >>> layer.running_mean.data()
    array([0.2])
    """

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
    ) -> None:
        super().__init__(axis, center, scale, beta_initializer, gamma_initializer, in_channels)
        self._momentum, self._epsilon = float(momentum), float(epsilon)
        self._scale, self._use_global_stats = bool(scale), bool(use_global_stats)
        self.running_mean = self._vector(
            "running_mean", in_channels, running_mean_initializer, False
        )
        self.running_var = self._vector(
            "running_var", in_channels, running_variance_initializer, False
        )

    def cast(self, dtype: DTypeLike) -> None:
        """Change the dtype of the parameters; statistics of 16-bit data stay in float32."""
        wanted = dtypes.canonical(dtype)
        super().cast("float32" if wanted.itemsize < 4 else wanted)

    def forward(self, x: ndarray) -> ndarray:
        """Normalize the batch."""
        return npx.batch_norm(
            x,
            self.gamma.data(),
            self.beta.data(),
            self.running_mean.data(),
            self.running_var.data(),
            eps=self._epsilon,
            momentum=self._momentum,
            fix_gamma=not self._scale,
            use_global_stats=self._use_global_stats,
            axis=self._axis,
        )

    def _described(self) -> str:
        return f"{super()._described()}, eps={self._epsilon}, momentum={self._momentum}"


class BatchNormReLU(BatchNorm):
    """Batch normalization, then the rectified linear unit (ReLU), max(x, 0).

    Parameters
    ----------
    axis, momentum, epsilon, center, scale, use_global_stats
        As for `BatchNorm`.
    beta_initializer, gamma_initializer, running_mean_initializer, running_variance_initializer
        As for `BatchNorm`.
    in_channels : int
        Number of channels; inferred at the first call if 0.

    Examples
    --------
    >>> layer = nn.BatchNormReLU()
    >>> layer.initialize()
    >>> layer(np.array([[-1.0], [3.0]])).round(3)
    array([[0.],
           [3.]])
    """

    def forward(self, x: ndarray) -> ndarray:
        """Normalize the batch, and set what is negative to zero."""
        return npx.relu(super().forward(x))


class SyncBatchNorm(BatchNorm):
    """Synchronized batch normalization, over the batches of several devices.

    It is the same as `BatchNorm`, whose batch may lie on many devices.

    Parameters
    ----------
    in_channels : int
        Number of channels, which are axis 1; inferred at the first call if 0.
    num_devices : int, optional
        1 or None: statistics are always those of the whole batch. More raise NotImplementedError.
    momentum, epsilon, center, scale, use_global_stats
        As for `BatchNorm`.
    beta_initializer, gamma_initializer, running_mean_initializer, running_variance_initializer :
    Initializer or str
        Initializers of offset, scale and running statistics.

    Examples
    --------
    >>> layer = nn.SyncBatchNorm(in_channels=2)
    >>> layer.initialize()
    >>> layer(np.zeros((4, 2))).shape
    (4, 2)
    """

    def __init__(
        self,
        in_channels: int = 0,
        num_devices: int | None = None,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
    ) -> None:
        if num_devices not in (None, 1):
            raise NotImplementedError(
                f"SyncBatchNorm: num_devices={num_devices}: statistics are those of the "
                "whole batch, on however many devices it lies; leave the argument out"
            )
        super().__init__(
            1,
            momentum,
            epsilon,
            center,
            scale,
            use_global_stats,
            beta_initializer,
            gamma_initializer,
            running_mean_initializer,
            running_variance_initializer,
            in_channels,
        )


class LayerNorm(_Normalization):
    """Layer normalization, over one axis (Ba et al., 2016).

    Parameters
    ----------
    axis : int
        The axis.
    epsilon : float
        Added to the variance, for numerical stability.
    center, scale : bool
        Whether an offset and a scale are learned.
    beta_initializer, gamma_initializer : Initializer or str
        Their initializers.
    in_channels : int
        Length of the axis; inferred at the first call if 0.

    Examples
    --------
    >>> layer = nn.LayerNorm()
    >>> layer.initialize()
    >>> layer(np.array([[1.0, 3.0]])).round(3)
    array([[-1.,  1.]])
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
    ) -> None:
        super().__init__(axis, center, scale, beta_initializer, gamma_initializer, in_channels)
        self._epsilon = float(epsilon)

    def forward(self, data: ndarray) -> ndarray:
        """Normalize the array."""
        return npx.layer_norm(
            data, self.gamma.data(), self.beta.data(), axis=self._axis, eps=self._epsilon
        )


class GroupNorm(_Normalization):
    """Group normalization, over groups of channels (Wu and He, 2018).

    Parameters
    ----------
    num_groups : int
        Number of groups, which must divide the number of channels.
    epsilon : float
        Added to the variance, for numerical stability.
    center, scale : bool
        Whether an offset and a scale of each channel are learned.
    beta_initializer, gamma_initializer : Initializer or str
        Their initializers.
    in_channels : int
        Number of channels; inferred at the first call if 0.

    Examples
    --------
    >>> layer = nn.GroupNorm(num_groups=2)
    >>> layer.initialize()
    >>> layer(np.array([[1.0, 3.0, 5.0, 9.0]])).round(2)
    array([[-1.,  1., -1.,  1.]])
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
    ) -> None:
        super().__init__(1, center, scale, beta_initializer, gamma_initializer, in_channels)
        self._num_groups, self._epsilon = int(num_groups), float(epsilon)

    def forward(self, data: ndarray) -> ndarray:
        """Normalize the batch."""
        return npx.group_norm(
            data,
            self.gamma.data(),
            self.beta.data(),
            num_groups=self._num_groups,
            eps=self._epsilon,
        )

    def _described(self) -> str:
        return f"{super()._described()}, num_groups={self._num_groups}"


class InstanceNorm(_Normalization):
    """Instance normalization, over the spatial axes of each channel (Ulyanov et al., 2016).

    Parameters
    ----------
    axis : int
        The axis of the channels.
    epsilon : float
        Added to the variance, for numerical stability.
    center, scale : bool
        Whether an offset and a scale are learned.
    beta_initializer, gamma_initializer : Initializer or str
        Their initializers.
    in_channels : int
        Number of channels; inferred at the first call if 0.

    Examples
    --------
    >>> layer = nn.InstanceNorm()
    >>> layer.initialize()
    >>> layer(np.array([[[1.0, 3.0]]])).round(2)
    array([[[-1.,  1.]]])
    """

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
    ) -> None:
        super().__init__(axis, center, scale, beta_initializer, gamma_initializer, in_channels)
        self._epsilon = float(epsilon)

    def forward(self, x: ndarray) -> ndarray:
        """Normalize the batch."""
        gamma, beta = self.gamma.data(), self.beta.data()
        if self._axis == 1:
            return npx.instance_norm(x, gamma, beta, eps=self._epsilon)
        return npx.instance_norm(
            x.swapaxes(1, self._axis), gamma, beta, eps=self._epsilon
        ).swapaxes(1, self._axis)


__all__ = ["BatchNorm", "BatchNormReLU", "GroupNorm", "InstanceNorm", "LayerNorm", "SyncBatchNorm"]
