"""Recurrent neural networks: layers over whole sequences, and cells for one step."""

from npcompat._internal.support import old_paths
from npcompat.gluon.rnn._cell import HybridRecurrentCell, RecurrentCell
from npcompat.gluon.rnn._cells import GRUCell, LSTMCell, LSTMPCell, RNNCell
from npcompat.gluon.rnn._combined import (
    BidirectionalCell,
    HybridSequentialRNNCell,
    SequentialRNNCell,
)
from npcompat.gluon.rnn._convolutional import (
    Conv1DGRUCell,
    Conv1DLSTMCell,
    Conv1DRNNCell,
    Conv2DGRUCell,
    Conv2DLSTMCell,
    Conv2DRNNCell,
    Conv3DGRUCell,
    Conv3DLSTMCell,
    Conv3DRNNCell,
)
from npcompat.gluon.rnn._layers import GRU, LSTM, RNN
from npcompat.gluon.rnn._modified import (
    DropoutCell,
    ModifierCell,
    ResidualCell,
    VariationalDropoutCell,
    ZoneoutCell,
    dynamic_unroll,
)

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "BidirectionalCell",
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
    "DropoutCell",
    "GRUCell",
    "HybridRecurrentCell",
    "HybridSequentialRNNCell",
    "LSTMCell",
    "LSTMPCell",
    "ModifierCell",
    "RNNCell",
    "RecurrentCell",
    "ResidualCell",
    "SequentialRNNCell",
    "VariationalDropoutCell",
    "ZoneoutCell",
    "dynamic_unroll",
]

__getattr__ = old_paths.names_of(__name__)
