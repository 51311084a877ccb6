"""Activation functions as layers."""

from typing import Any

import npcompat.numpy_extension as npx
from npcompat import initializer
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.parameter import Parameter
from npcompat.numpy._ndarray import ndarray


class Activation(HybridBlock):
    """Activation function, chosen by name.

    Parameters
    ----------
    activation : str
        One of the names that `npx.activation` knows.

    Examples
    --------
    >>> nn.Activation("relu")(np.array([-1.0, 2.0]))
    array([0., 2.])
    """

    def __init__(self, activation: str) -> None:
        super().__init__()
        npx.activation(0.0, activation)  # an unknown name is an error here, not at the first call
        self._activation = activation

    def forward(self, x: ndarray) -> ndarray:
        """Apply the activation function to x."""
        return npx.activation(x, act_type=self._activation)

    def __repr__(self) -> str:
        return f"Activation({self._activation})"


class LeakyReLU(HybridBlock):
    """Leaky rectified linear unit: negative elements times a slope (Maas et al., 2013).

    Parameters
    ----------
    alpha : float
        The slope.

    Examples
    --------
    >>> nn.LeakyReLU(0.1)(np.array([-1.0, 2.0]))
    array([-0.1,  2. ])
    """

    def __init__(self, alpha: float) -> None:
        super().__init__()
        if alpha < 0:
            raise ValueError(f"LeakyReLU: alpha must not be negative, got {alpha}")
        self._alpha = float(alpha)

    def forward(self, x: ndarray) -> ndarray:
        """Apply the activation function to x."""
        return npx.leaky_relu(x, act_type="leaky", slope=self._alpha)

    def __repr__(self) -> str:
        return f"LeakyReLU({self._alpha})"


class PReLU(HybridBlock):
    """Parametric rectified linear unit, with learned slopes (He et al., 2015).

    Parameters
    ----------
    alpha_initializer : Initializer
        Initializer of the slopes.
    in_channels : int
        Number of slopes: one for all channels (axis 1), or one for each.

    Examples
    --------
    >>> layer = nn.PReLU()
    >>> layer.initialize()
    >>> layer(np.array([-1.0, 2.0]))
    array([-0.25,  2.  ])
    """

    def __init__(self, alpha_initializer: Any = None, in_channels: int = 1) -> None:
        super().__init__()
        init = initializer.Constant(0.25) if alpha_initializer is None else alpha_initializer
        self.alpha = Parameter("alpha", shape=(in_channels,), init=init)

    def forward(self, x: ndarray) -> ndarray:
        """Apply the activation function to x."""
        return npx.leaky_relu(x, gamma=self.alpha.data(), act_type="prelu")


class ELU(HybridBlock):
    """Exponential linear unit: alpha (exp(x) - 1) for negative x (Clevert et al., 2015).

    Parameters
    ----------
    alpha : float
        Negative limit: outputs are greater than -alpha.

    Examples
    --------
    >>> [round(v, 3) for v in nn.ELU()(np.array([-1.0, 2.0])).tolist()]
    [-0.632, 2.0]
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = float(alpha)

    def forward(self, x: ndarray) -> ndarray:
        """Apply the activation function to x."""
        return npx.leaky_relu(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """Scaled exponential linear unit, self-normalizing (Klambauer et al., 2017).

    The scale keeps mean and variance of activations.

    Examples
    --------
    >>> [round(v, 3) for v in nn.SELU()(np.array([-1.0, 2.0])).tolist()]
    [-1.111, 2.101]
    """

    def forward(self, x: ndarray) -> ndarray:
        """Apply the activation function to x."""
        return npx.leaky_relu(x, act_type="selu")


class GELU(HybridBlock):
    """Gaussian error linear unit: x times the normal CDF at x (Hendrycks and Gimpel, 2016).

    Parameters
    ----------
    approximation : {'erf', 'tanh'}
        Exact, or the approximation with tanh.

    Examples
    --------
    >>> [round(v, 3) for v in nn.GELU()(np.array([-1.0, 2.0])).tolist()]
    [-0.159, 1.954]
    """

    def __init__(self, approximation: str = "erf") -> None:
        super().__init__()
        if approximation not in ("erf", "tanh"):
            raise ValueError(f"GELU: approximation must be 'erf' or 'tanh', got {approximation!r}")
        self._approximation = approximation

    def forward(self, x: ndarray) -> ndarray:
        """Apply the activation function to x."""
        return npx.gelu(x, self._approximation)


class Swish(HybridBlock):
    """Swish: x sigmoid(beta x) (Ramachandran et al., 2017).

    Parameters
    ----------
    beta : float
        Steepness.

    Examples
    --------
    >>> [round(v, 3) for v in nn.Swish()(np.array([-1.0, 2.0])).tolist()]
    [-0.269, 1.762]
    """

    def __init__(self, beta: float = 1.0) -> None:
        super().__init__()
        self._beta = float(beta)

    def forward(self, x: ndarray) -> ndarray:
        """Apply the activation function to x."""
        return npx.silu(x, self._beta)


class SiLU(HybridBlock):
    """Sigmoid linear unit: x sigmoid(x) (Elfwing et al., 2018).

    Examples
    --------
    >>> [round(v, 3) for v in nn.SiLU()(np.array([-1.0, 2.0])).tolist()]
    [-0.269, 1.762]
    """

    def forward(self, x: ndarray) -> ndarray:
        """Apply the activation function to x."""
        return npx.silu(x)


__all__ = ["ELU", "GELU", "SELU", "Activation", "LeakyReLU", "PReLU", "SiLU", "Swish"]
