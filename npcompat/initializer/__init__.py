"""Initializers of parameters: `net.initialize(init.Xavier())`.

An initializer writes into the array that it is called with; its random numbers come from
`np.random`. Your own:

    class Half(init.Initializer):
        def _init_weight(self, name, arr):
            arr[:] = 0.5
"""

from npcompat.initializer._base import InitDesc, Initializer, alias, create, register
from npcompat.initializer._distributions import (
    Constant,
    MSRAPrelu,
    Normal,
    One,
    Orthogonal,
    TruncNorm,
    Uniform,
    Xavier,
    Zero,
)
from npcompat.initializer._special import Bilinear, Load, LSTMBias, Mixed, RNNFused

__all__ = [
    "Bilinear",
    "Constant",
    "InitDesc",
    "Initializer",
    "LSTMBias",
    "Load",
    "MSRAPrelu",
    "Mixed",
    "Normal",
    "One",
    "Orthogonal",
    "RNNFused",
    "TruncNorm",
    "Uniform",
    "Xavier",
    "Zero",
    "alias",
    "create",
    "register",
]
