"""gluon: blocks, parameters, losses, training, data, metrics and probability, with MXNet's names."""

from npcompat._internal.support.errors import DeferredInitializationError
from npcompat.gluon import contrib, data, loss, metric, model_zoo, nn, probability, rnn, utils
from npcompat.gluon.block import Block, HybridBlock
from npcompat.gluon.parameter import Constant, Parameter, ParameterDict
from npcompat.gluon.symbol_block import SymbolBlock
from npcompat.gluon.trainer import Trainer
from npcompat.numpy import ndarray

tensor_types = (ndarray,)
"""The classes of arrays that blocks take."""

__all__ = [
    "Block",
    "Constant",
    "DeferredInitializationError",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
    "Trainer",
    "contrib",
    "data",
    "loss",
    "metric",
    "model_zoo",
    "nn",
    "probability",
    "rnn",
    "tensor_types",
    "utils",
]
