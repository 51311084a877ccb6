"""Gluon: blocks, parameters, losses, trainers, data, metrics and probability.

The names are MXNet's.
"""

from npcompat._internal.support.errors import DeferredInitializationError
from npcompat.gluon import contrib, data, loss, metric, model_zoo, nn, probability, rnn, utils
from npcompat.gluon.block import Block, HybridBlock
from npcompat.gluon.checkpoint import Checkpoint
from npcompat.gluon.parameter import Constant, Parameter, ParameterDict
from npcompat.gluon.symbol_block import SymbolBlock
from npcompat.gluon.trainer import Trainer
from npcompat.numpy import ndarray

tensor_types = (ndarray,)
"""Array classes that blocks accept."""

__all__ = [
    "Block",
    "Checkpoint",
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
