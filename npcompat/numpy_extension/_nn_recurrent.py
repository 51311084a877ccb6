"""Fused recurrent networks: several layers in one or both directions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._filled import ones
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn import dropout
from npcompat.numpy_extension._nn_types import int64

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
"""Number of gates of each mode."""
Clip = tuple[float, float, bool] | None
"""Bounds of the cell state, and whether nan becomes the lower bound."""


class Network(NamedTuple):
    """Configuration of a recurrent network, except for its input size."""

    mode: str
    size: int
    layers: int = 1
    directions: int = 1
    projection: int | None = None

    @property
    def output(self) -> int:
        """Output size of one direction."""
        return self.size if self.projection is None else self.projection

    def parameters(self, inputs: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Iterate over names and shapes of the parameters, in the order of the packed vector."""
        rows = GATES[self.mode] * self.size
        for kind in ("weight", "bias"):
            columns = inputs
            for layer in range(self.layers):
                for direction in "lr"[: self.directions]:
                    shapes = {"i2h": (rows, columns), "h2h": (rows, self.output)}
                    if self.projection is not None and kind == "weight":
                        shapes["h2r"] = (self.projection, self.size)
                    for part, shape in shapes.items():
                        yield (
                            f"{direction}{layer}_{part}_{kind}",
                            shape if kind == "weight" else shape[:1],
                        )
                columns = self.output * self.directions

    def count(self, inputs: int) -> int:
        """Return the total number of elements of the parameters."""
        return sum(int(onp.prod(shape)) for _, shape in self.parameters(inputs))

    def inputs(self, count: int) -> int:
        """Return the input size, from the total number of elements."""
        rows = GATES[self.mode] * self.size * self.directions
        rest = count - self.count(0)
        if rest < 0 or rest % rows:
            raise ValueError(
                f"{count} parameters do not fit {self}: expected {self.count(0)}, and {rows} more "
                "for each number of the input"
            )
        return rest // rows


# --- one step -------------------------------------------------------------------------------------
#
# A cell gets the arguments of its gates concatenated in one row.  The sigmoid is computed as
# (1 + tanh(x / 2)) / 2, for the whole row at once, because XLA's CPU compiler does not vectorize
# sliced operands.


def _sum(x: Any, u: Any) -> Any:
    return x + u


def _gru_arguments(xp: Any, x: Any, u: Any) -> Any:
    """Return the sums of reset and update gate, and both parts of the new state.

    The parts stay separate because the reset gate multiplies one of them.
    """
    gates = 2 * (x.shape[-1] // 3)
    return xp.concatenate(
        [x[..., :gates] + u[..., :gates], x[..., gates:], u[..., gates:]], axis=-1
    )


def _relu_cell(xp: Any, z: Any, h: Any, c: Any) -> tuple[Any, Any]:
    return xp.where(z <= 0, xp.zeros_like(z), z), None  # (nan stays)


def _tanh_cell(xp: Any, z: Any, h: Any, c: Any) -> tuple[Any, Any]:
    return xp.tanh(z), None


def _lstm_cell(xp: Any, z: Any, h: Any, c: Any, clip: Clip = None) -> tuple[Any, Any]:
    """LSTM step (Hochreiter and Schmidhuber, 1997) with forget gate (Gers et al., 2000)."""
    half = onp.repeat(onp.array([0.5, 0.5, 1, 0.5]), z.shape[-1] // 4).astype(z.dtype)
    i, f, g, o = xp.split(xp.tanh(z * half) * half + (1 - half), 4, axis=-1)
    c = f * c + i * g
    if clip is not None:
        low, high, nan_too = clip
        if nan_too:
            c = xp.where(xp.isnan(c), xp.asarray(low, c.dtype), c)
        c = xp.clip(c, xp.asarray(low, c.dtype), xp.asarray(high, c.dtype))
    return o * xp.tanh(c), c


def _gru_cell(xp: Any, z: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """GRU step (Cho et al., 2014), with the reset gate after the product, as in cuDNN."""
    size = z.shape[-1] // 4
    gates = xp.tanh(z * 0.5) * 0.5 + 0.5
    reset, update = gates[..., :size], gates[..., size : 2 * size]
    new = xp.tanh(z[..., 2 * size : 3 * size] + reset * z[..., 3 * size :])
    return new + update * (h - new), None


_CELLS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "rnn_relu": _relu_cell,
    "rnn_tanh": _tanh_cell,
    "lstm": _lstm_cell,
    "gru": _gru_cell,
}

# --- the network ----------------------------------------------------------------------------------


def _direction(
    xp: Any,
    net: Network,
    clip: Clip,
    reverse: bool,
    data: Any,
    lengths: Any,
    h: Any,
    c: Any,
    weights: Sequence[Any],
    biases: Sequence[Any],
) -> tuple[Any, Any, Any]:
    """Compute one layer in one direction: all outputs, and the last states."""
    cell = _CELLS[net.mode] if clip is None else partial(_lstm_cell, clip=clip)
    between = net.mode == "gru"  # its recurrent bias can't be added before the loop
    if lengths is not None and reverse:
        data = _turned(xp, data, lengths)
    x = xp.matmul(data, weights[0].T) + (biases[0] if between else biases[0] + biases[1])
    hs, cs, last_h, last_c = xp.recurrence(
        partial(_gru_arguments, xp) if between else _sum,
        partial(cell, xp),
        reverse and lengths is None,
        x,
        h,
        c,
        weights[1],
        biases[1] if between else None,
        weights[2] if net.projection is not None else None,
    )
    if lengths is not None:
        last_h, last_c = _last(xp, hs, h, lengths), None if c is None else _last(xp, cs, c, lengths)
        hs = _masked(xp, _turned(xp, hs, lengths) if reverse else hs, lengths)
    return hs, last_h, last_c


def _masked(xp: Any, x: Any, lengths: Any) -> Any:
    """Zero the steps after the end of each sequence."""
    return xp.where((xp.arange(len(x))[:, None] < lengths)[:, :, None], x, xp.zeros_like(x))


def _turned(xp: Any, x: Any, lengths: Any) -> Any:
    """Reverse each sequence up to its length; later steps stay in place."""
    time = xp.arange(len(x))[:, None]
    return xp.take_along(x, xp.where(time < lengths, lengths - 1 - time, time)[:, :, None], 0)


def _last(xp: Any, states: Any, first: Any, lengths: Any) -> Any:
    """Select the state at the end of each sequence; the initial one for empty sequences."""
    if not len(states):
        return first
    found = xp.take_along(states, xp.clip(lengths - 1, 0, len(states) - 1)[None, :, None], 0)[0]
    return xp.where((lengths > 0)[:, None], found, first)


def _compute(
    xp: Any,
    data: Any,
    state: Any,
    *others: Any,
    mode: str,
    size: int,
    layers: int = 1,
    directions: int = 1,
    projection: int | None = None,
    clip: Clip = None,
    measured: bool = False,
    noisy: bool = False,
) -> tuple[Any, ...]:
    """Recurrent network over sequences: outputs and last states.

    The other inputs are the cell state of an LSTM, lengths (`measured`), the dropout masks
    (`noisy`), and the parameters.

    Parameters
    ----------
    *others : array
        The cell state of an LSTM, lengths, dropout masks, and weights and biases, in one vector or
        one by one.
    size : int
        Length of a state.
    layers : int
        Number of layers.
    directions : int
        1, or 2 for bidirectional.
    projection : int, optional
        Length of the projected state; None: no projection.
    clip : tuple, optional
        Bounds of the cell state, and whether nan becomes the lower one.
    measured : bool
        Whether lengths of the sequences are among the inputs.
    noisy : bool
        Whether dropout masks are among the inputs.
    """
    net = Network(mode, size, layers, directions, projection)
    rest = list(others)
    cell = rest.pop(0) if net.mode == "lstm" else None
    lengths = rest.pop(0) if measured else None
    noise = rest.pop(0) if noisy else None
    parameters = _parameters(xp, net, data, rest)
    _check(net, data, state, cell, lengths)
    if lengths is not None:
        lengths = xp.clip(lengths, 0, len(data))
        data = _masked(xp, data, lengths)  # padding must not matter, not even nan
    last_h, last_c = [], []
    for layer in range(net.layers):
        if layer and noise is not None:
            data = data * noise[layer - 1]
        outs = []
        for direction in range(net.directions):
            at = layer * net.directions + direction
            prefix = f"{'lr'[direction]}{layer}_"
            weights, biases = (
                [
                    a
                    for name, a in parameters.items()
                    if name.startswith(prefix) and name.endswith(kind)
                ]
                for kind in ("weight", "bias")
            )
            c = None if cell is None else cell[at]
            out, h, c = _direction(
                xp, net, clip, direction == 1, data, lengths, state[at], c, weights, biases
            )
            outs.append(out)
            last_h.append(h)
            last_c.append(c)
        data = outs[0] if len(outs) == 1 else xp.concatenate(outs, axis=-1)
    found = (data, xp.stack(last_h))
    return found if cell is None else (*found, xp.stack(last_c))


def _parameters(xp: Any, net: Network, data: Any, given: Sequence[Any]) -> dict[str, Any]:
    """Return the parameters by name, from a packed vector or single arrays."""
    if data.ndim != 3:
        raise ValueError(
            f"rnn: data must have the axes time, batch and feature, got shape {data.shape}"
        )
    wanted = dict(net.parameters(data.shape[2]))
    if len(given) == 1:
        (vector,) = given
        count = net.count(data.shape[2])
        if vector.shape != (count,):
            raise ValueError(
                f"rnn: parameters must have shape ({count},) for data of shape {data.shape} and "
                f"{net}, got {vector.shape}"
            )
        ends = onp.cumsum([int(onp.prod(shape)) for shape in wanted.values()])[:-1]
        pieces = xp.split(vector, ends.tolist())
        return {
            name: xp.reshape(piece, shape)
            for (name, shape), piece in zip(wanted.items(), pieces, strict=True)
        }
    if len(given) != len(wanted):
        raise ValueError(
            f"rnn: parameters must be one vector, or {len(wanted)} arrays ({', '.join(wanted)}), "
            f"got {len(given)}"
        )
    for (name, shape), piece in zip(wanted.items(), given, strict=True):
        if piece.shape != shape:
            raise ValueError(
                f"rnn: {name} must have shape {shape} for data of shape {data.shape}, got "
                f"{piece.shape}"
            )
    return dict(zip(wanted, given, strict=True))


def _check(net: Network, data: Any, state: Any, cell: Any, lengths: Any) -> None:
    """Check that states and lengths fit the data."""
    rows = net.layers * net.directions
    shapes = [("state", state, (rows, data.shape[1], net.output))]
    if cell is not None:
        shapes.append(("state_cell", cell, (rows, data.shape[1], net.size)))
    if lengths is not None:
        shapes.append(("sequence_length", lengths, data.shape[1:2]))
    for name, array, shape in shapes:
        if array.shape != shape:
            raise ValueError(f"rnn: {name} must have shape {shape}, got {array.shape}")


def _types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule: floats of one dtype, except for the lengths."""
    at = (3 if attrs["mode"] == "lstm" else 2) if attrs["measured"] else None
    casts, dtype = dtypes.floating(tuple([t for i, t in enumerate(types) if i != at]))
    return (casts if at is None else [*casts[:at], int64, *casts[at:]]), dtype


_rnn = operator("_npx_rnn", rule=_types, outputs=2, pattern="complex", prefers_xla=True)(_compute)
_lstm = operator("_npx_lstm", rule=_types, outputs=3, pattern="complex", prefers_xla=True)(_compute)


def rnn(
    data: ArrayLike,
    parameters: ArrayLike | Sequence[Any],
    state: ArrayLike,
    state_cell: ArrayLike | None = None,
    sequence_length: ArrayLike | None = None,
    mode: str | None = None,
    state_size: int | None = None,
    num_layers: int | None = None,
    bidirectional: bool = False,
    state_outputs: bool = False,
    p: float = 0.0,
    use_sequence_length: bool = False,
    projection_size: int | None = None,
    lstm_state_clip_min: float | None = None,
    lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool | None = None,
) -> ndarray | tuple[ndarray, ...]:
    """Multi-layer recurrent network (RNN, LSTM, GRU) over whole sequences.

    Let `x` be the input, `h` the previous state, `a = W_i2h x + b_i2h` and `b = W_h2h h + b_h2h`,
    in which each gate has its rows. The next state is

    - `rnn_relu`, `rnn_tanh`: `relu(a + b)`, `tanh(a + b)`;
    - `lstm`, rows in the order input, forget, cell, output: `c' = sigmoid(a_f + b_f) c +
      sigmoid(a_i + b_i) tanh(a_c + b_c)`, `h' = sigmoid(a_o + b_o) tanh(c')`; with a projection,
      `h' = W_h2r sigmoid(a_o + b_o) tanh(c')`;
    - `gru`, rows in the order reset, update, new: `r = sigmoid(a_r + b_r)`, `z = sigmoid(a_z +
      b_z)`, `h' = (1 - z) tanh(a_n + r b_n) + z h`.

    This is the order of cuDNN and torch, too. Keras has the update gate of a GRU first;
    TensorFlow's LSTM cells have input, cell, forget, output.

    Parameters
    ----------
    data : array_like, shape (T, N, C)
        A batch of N sequences of T steps.
    parameters : array_like, or sequence of array_like
        A vector: first the weights of all layers and directions, `i2h`, `h2h` and (with a
        projection) `h2r` of each, then the biases `i2h` and `h2h` of each. Or a sequence of its
        parts, which saves the concatenation.
    state : array_like, shape (L * D, N, H)
        Initial states of L layers in D directions; H is `state_size`, or `projection_size` if
        given.
    state_cell : array_like, shape (L * D, N, state_size)
        Initial cell states, of `lstm` only.
    sequence_length : array_like of int, shape (N,), optional
        Lengths of the sequences. Later steps are ignored, and zero in the output; the last states
        are those at the ends, where the reverse direction begins. More than T means T.
    mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
        The kind of network.
    state_size, num_layers : int
        Size of the states, number of layers.
    bidirectional : bool
        Whether each layer has a second network that reads the sequences backwards; its output
        follows that of the first.
    state_outputs : bool
        Whether the last states are returned.
    p : float
        Dropout probability of elements between layers, in training mode.
    use_sequence_length : bool
        Must be True if lengths are given.
    projection_size : int, optional
        Size to which the output of an `lstm` is projected (Sak et al., 2014).
    lstm_state_clip_min, lstm_state_clip_max : float, optional
        Bounds of the cell states of an `lstm`.
    lstm_state_clip_nan : bool, optional
        Whether nan becomes the lower bound.

    Returns
    -------
    ndarray, shape (T, N, D * H)
        The states of the last layer; with `state_outputs` also the last states, and the last cell
        states of an `lstm`.

    Raises
    ------
    ValueError
        If shapes do not fit, or an argument is missing or does not belong to the mode.

    Examples
    --------
    >>> x, h = np.ones((5, 2, 3)), np.zeros((1, 2, 4))
    >>> parameters = np.zeros(3 * 4 + 4 * 4 + 4 + 4)
    >>> npx.rnn(x, parameters, h, mode="rnn_tanh", state_size=4, num_layers=1).shape
    (5, 2, 4)
    """
    net = network("rnn", mode, state_size, num_layers, bidirectional, projection_size)
    if (state_cell is not None) != (net.mode == "lstm"):
        raise ValueError(
            f"rnn: state_cell is for mode='lstm' and needed there; got mode={mode!r} and "
            f"state_cell={_given(state_cell)}"
        )
    if use_sequence_length != (sequence_length is not None):
        raise ValueError(
            f"rnn: use_sequence_length={use_sequence_length}, but sequence_length is "
            f"{_given(sequence_length)}"
        )
    if not 0 <= p <= 1:
        raise ValueError(f"rnn: p is a probability, got {p}")
    clip = state_bounds("rnn", lstm_state_clip_min, lstm_state_clip_max, lstm_state_clip_nan)
    if clip is not None and net.mode != "lstm":
        raise ValueError(
            f"rnn: lstm_state_clip_min, _max and _nan are for mode='lstm', got mode={mode!r}"
        )
    data = asarray(data)
    noise = None
    if p > 0 and net.layers > 1 and modes.current().training and data.ndim == 3:
        shape = (net.layers - 1, *data.shape[:2], net.output * net.directions)
        noise = dropout(ones(shape, data.dtype if dtypes.is_float(data.dtype) else None), p)
    pieces: list[Any] = [parameters]
    if isinstance(parameters, list | tuple) and any([getattr(a, "ndim", 0) for a in parameters]):
        pieces = list(parameters)
    optional = [a for a in (state_cell, sequence_length, noise) if a is not None]
    attrs = (*net, clip, bool(use_sequence_length), noise is not None)
    found = apply(_lstm if net.mode == "lstm" else _rnn, [data, state, *optional, *pieces], attrs)
    return found if state_outputs else found[0]


def _given(argument: Any) -> str:
    return "missing" if argument is None else "given"


def network(
    owner: str,
    mode: str | None,
    size: int | None,
    layers: int | None,
    bidirectional: bool,
    projection: int | None,
) -> Network:
    """Return a checked network configuration from a user's arguments."""
    if mode not in GATES:
        raise ValueError(f"{owner}: mode must be one of {', '.join(GATES)}, got {mode!r}")
    if size is None or layers is None or min(size, layers) < 1:
        raise ValueError(
            f"{owner}: state_size and num_layers must be positive numbers, got {size} and {layers}"
        )
    if projection is not None and (mode != "lstm" or projection < 1):
        raise ValueError(
            f"{owner}: projection_size must be positive, and is for mode='lstm'; got {projection} "
            f"for mode={mode!r}"
        )
    return Network(
        mode,
        int(size),
        int(layers),
        2 if bidirectional else 1,
        None if projection is None else int(projection),
    )


def state_bounds(owner: str, low: float | None, high: float | None, nan_too: bool | None) -> Clip:
    """Return the checked bounds of an LSTM's cell states; None if there are none."""
    if low is None and high is None and not nan_too:
        return None
    if low is None or high is None or not low <= high:
        raise ValueError(
            f"{owner}: the lower and the upper bound of cell states are given together, in this "
            f"order; got {low} and {high}"
            f"{', with nan clipped, too' if nan_too else ''}"
        )
    return float(low), float(high), bool(nan_too)


__all__ = ["rnn"]
