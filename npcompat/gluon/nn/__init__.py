"""Neural network layers."""

from npcompat._internal.support import old_paths
from npcompat.gluon.block import Block, HybridBlock
from npcompat.gluon.nn import (
    _activations,
    _attention,
    _basic,
    _containers,
    _convolution,
    _deformable,
    _normalization,
    _pixels,
    _pooling,
    _transposed_convolution,
)
from npcompat.gluon.nn._activations import *
from npcompat.gluon.nn._attention import *
from npcompat.gluon.nn._basic import *
from npcompat.gluon.nn._containers import *
from npcompat.gluon.nn._convolution import *
from npcompat.gluon.nn._deformable import *
from npcompat.gluon.nn._normalization import *
from npcompat.gluon.nn._pixels import *
from npcompat.gluon.nn._pooling import *
from npcompat.gluon.nn._transposed_convolution import *
from npcompat.gluon.symbol_block import SymbolBlock

__all__ = ["Block", "HybridBlock", "SymbolBlock"]
__all__ += _activations.__all__
__all__ += _attention.__all__
__all__ += _basic.__all__
__all__ += _containers.__all__
__all__ += _convolution.__all__
__all__ += _deformable.__all__
__all__ += _normalization.__all__
__all__ += _pixels.__all__
__all__ += _pooling.__all__
__all__ += _transposed_convolution.__all__

__getattr__ = old_paths.names_of(__name__)
