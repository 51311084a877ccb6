"""Cases of `gluon.rnn`: layers over sequences, and a step of each cell."""

from layer_cases.case import layer
from npcompat.gluon import rnn


def stacked(container, *cells):
    container.add(*cells)
    return container


layer(
    "rnn.RNN", lambda **k: rnn.RNN(3, layout="NTC", activation="tanh", **k), "2,3,4", input_size=4
)
layer(
    "rnn.LSTM",
    lambda **k: rnn.LSTM(3, 2, layout="NTC", dropout=0.4, bidirectional=True, **k),
    "2,3,4",
    input_size=4,
    loose=3,
)
layer(
    "rnn.LSTM", lambda **k: rnn.LSTM(3, layout="NTC", projection_size=2, **k), "2,3,4", input_size=4
)
layer("rnn.GRU", lambda **k: rnn.GRU(3, layout="NTC", **k), "2,3,4", input_size=4)

layer("rnn.RNNCell", lambda **k: rnn.RNNCell(3, **k), "2,4", ["2,3"], input_size=4)
layer("rnn.LSTMCell", lambda **k: rnn.LSTMCell(3, **k), "2,4", ["2,3", "2,3"], input_size=4)
layer("rnn.LSTMPCell", lambda **k: rnn.LSTMPCell(3, 2, **k), "2,4", ["2,2", "2,3"], input_size=4)
layer("rnn.GRUCell", lambda **k: rnn.GRUCell(3, **k), "2,4", ["2,3"], input_size=4)
layer("rnn.DropoutCell", lambda: rnn.DropoutCell(0.5), "2,4", [])
layer(
    "rnn.ZoneoutCell",
    lambda **k: rnn.ZoneoutCell(rnn.RNNCell(4, **k), 0.5, 0.3),
    "2,4",
    ["2,4"],
    input_size=4,
)
layer(
    "rnn.ResidualCell",
    lambda **k: rnn.ResidualCell(rnn.GRUCell(4, **k)),
    "2,4",
    ["2,4"],
    input_size=4,
)
layer(
    "rnn.VariationalDropoutCell",
    lambda **k: rnn.VariationalDropoutCell(rnn.RNNCell(3, **k), 0.3, 0.3, 0.3),
    "2,4",
    ["2,3"],
    input_size=4,
)
for kind in (rnn.SequentialRNNCell, rnn.HybridSequentialRNNCell):
    layer(
        f"rnn.{kind.__name__}",
        lambda kind=kind, input_size=0: stacked(
            kind(), rnn.RNNCell(3, input_size=input_size), rnn.GRUCell(2, input_size=3)
        ),
        "2,4",
        ["2,3", "2,2"],
        input_size=4,
    )

layer(
    "rnn.Conv1DRNNCell", lambda: rnn.Conv1DRNNCell((2, 4), 2, 3, 3, i2h_pad=1), "2,2,4", ["2,2,4"]
)
layer(
    "rnn.Conv1DLSTMCell",
    lambda: rnn.Conv1DLSTMCell((4, 2), 2, 3, 3, conv_layout="NWC"),
    "2,4,2",
    ["2,2,2", "2,2,2"],
)
layer("rnn.Conv1DGRUCell", lambda: rnn.Conv1DGRUCell((2, 4), 2, 2, 1), "2,2,4", ["2,2,3"])
layer("rnn.Conv2DRNNCell", lambda: rnn.Conv2DRNNCell((2, 3, 3), 2, 2, 1), "2,2,3,3", ["2,2,2,2"])
layer(
    "rnn.Conv2DLSTMCell",
    lambda: rnn.Conv2DLSTMCell((2, 3, 3), 2, 2, 1),
    "2,2,3,3",
    ["2,2,2,2", "2,2,2,2"],
)
layer("rnn.Conv2DGRUCell", lambda: rnn.Conv2DGRUCell((2, 3, 3), 2, 2, 1), "2,2,3,3", ["2,2,2,2"])
layer(
    "rnn.Conv3DRNNCell",
    lambda: rnn.Conv3DRNNCell((1, 2, 2, 2), 2, 2, 1, activation="relu"),
    "2,1,2,2,2",
    ["2,2,1,1,1"],
)
layer(
    "rnn.Conv3DLSTMCell",
    lambda: rnn.Conv3DLSTMCell((1, 2, 2, 2), 2, 2, 1),
    "2,1,2,2,2",
    ["2,2,1,1,1", "2,2,1,1,1"],
)
layer(
    "rnn.Conv3DGRUCell",
    lambda: rnn.Conv3DGRUCell((1, 2, 2, 2), 2, 2, 1),
    "2,1,2,2,2",
    ["2,2,1,1,1"],
)
