"""Base classes of recurrent cells, which compute one step, and unrolling over sequences."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core import dtypes
from npcompat.gluon.block import Block, HybridBlock
from npcompat.gluon.nn._activations import Activation
from npcompat.gluon.parameter import Parameter
from npcompat.gluon.rnn._sequences import as_steps, last_of, masked, merged

States = list[Any]


class RecurrentCell(Block):
    """Base class of recurrent cells.

    A cell is called with the input of one step and a list of states; it returns the output and the
    next states. A subclass defines `forward(self, inputs, states)` and `state_info(self,
    batch_size)`.
    """

    def reset(self) -> None:
        """Reset what cells keep between steps beyond their states, such as dropout masks.

        `unroll` calls it.
        """
        for cell in self._blocks().values():
            if isinstance(cell, RecurrentCell):
                cell.reset()

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Describe the states: a dict with `shape` and `__layout__` for each.

        Parameters
        ----------
        batch_size : int
            Number of samples.

        Examples
        --------
        >>> gluon.rnn.LSTMCell(3).state_info(2)
        [{'shape': (2, 3), '__layout__': 'NC'}, {'shape': (2, 3), '__layout__': 'NC'}]
        """
        raise NotImplementedError(f"{type(self).__name__} must define state_info(self, batch_size)")

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = np.zeros, **kwargs: Any
    ) -> States:
        """Return the initial states.

        Parameters
        ----------
        batch_size : int
            Number of samples.
        func : callable
            Creates each state from its shape; zeros if not given.
        **kwargs
            Further arguments of `func`, such as `dtype`.

        Examples
        --------
        >>> gluon.rnn.GRUCell(2).begin_state(1, np.ones, dtype="float64")
        [array([[1., 1.]], dtype=float64)]
        """
        return [func(info["shape"], **kwargs) for info in self.state_info(batch_size)]

    def unroll(
        self,
        length: int | None,
        inputs: Any,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, States]:
        """Unroll the cell: call it for each step of a batch of sequences.

        Parameters
        ----------
        length : int or None
            Number of steps; checked against the inputs if given.
        inputs : ndarray or list of ndarray
            Sequences in one array, or a list of arrays of one step each.
        begin_state : list of ndarray, optional
            The initial states; zeros if not given.
        layout : {'NTC', 'TNC'}
            Axes of arrays of whole sequences: N is the batch, T is time.
        merge_outputs : bool, optional
            Whether outputs are returned as one array instead of a list; by default, if
            `valid_length` is given.
        valid_length : array_like of int, shape (N,), optional
            Lengths of the sequences: outputs after them are zero, and the last states are those at
            their ends.

        Returns
        -------
        outputs : ndarray or list of ndarray
            The output of each step.
        states : list of ndarray
            The last states.

        Examples
        --------
        >>> cell = gluon.rnn.RNNCell(4)
        >>> cell.initialize()
        >>> outputs, states = cell.unroll(3, np.ones((2, 3, 5)), merge_outputs=True)
        >>> outputs.shape, states[0].shape
        ((2, 3, 4), (2, 4))
        """
        steps = as_steps(length, inputs, layout)
        merge = valid_length is not None if merge_outputs is None else merge_outputs
        states = list(begin_state) if begin_state is not None else self._first_states(steps[0])
        lengths = None if valid_length is None else np.asarray(valid_length, dtype="int64")
        if lengths is not None and lengths.shape != steps[0].shape[:1]:
            raise ValueError(
                f"unroll: valid_length must have shape {steps[0].shape[:1]}, one for each "
                f"sequence, got {lengths.shape}"
            )
        self.reset()
        outputs, last = self._unroll(steps, states, lengths)
        self.reset()
        return merged(outputs, layout) if merge else outputs, last

    def _first_states(self, step: Any) -> States:
        """Return zero states in the dtype of the inputs."""
        return self.begin_state(
            step.shape[0],
            dtype=step.dtype if dtypes.is_float(step.dtype) else dtypes.default_float(),
        )

    def _unroll(self, steps: list[Any], states: States, lengths: Any) -> tuple[list[Any], States]:
        """Compute the outputs of all steps, and the last states.

        Cells that are no loop over time override it.
        """
        outputs, passed = [], []
        first = states
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
            passed.append(states)
        if lengths is None:
            return outputs, list(states)
        last = [
            last_of(column, lengths, begin)
            for column, begin in zip(zip(*passed, strict=True), first, strict=True)
        ]
        return masked(outputs, lengths), last

    def infer_shape(self, *args: Any) -> None:
        """Infer the number of features: from a call's inputs, or as a layer of a stack.

        Parameters
        ----------
        *args
            The inputs and states of a call; or MXNet's `i, x, is_bidirect`: the position of the
            cell in a stack of cells of its size, the input of the stack, and whether each layer
            of it has two directions.

        Examples
        --------
        >>> cell = gluon.rnn.GRUCell(4)
        >>> cell.infer_shape(1, np.ones((2, 3)), True)
        >>> cell
        GRUCell(8 -> 4)
        """
        if args and isinstance(args[0], int | onp.integer):
            i, x, is_bidirect = args
            own = self._width() * (2 if is_bidirect else 1)
            self._infer_from(x.shape[-1] if i == 0 else own)
        else:
            self._infer_from_call(*args)

    def _infer_from_call(self, *args: Any) -> None:
        super().infer_shape(*args)

    def _width(self) -> int:
        """Return the number of features of the output; 0 for that of the input."""
        return 0

    def _infer_from(self, width: int) -> int:
        """Infer shapes from the number of features of the input; return that of the output."""
        return self._width() or width

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """Compute one step: the output and the next states."""
        raise NotImplementedError(
            f"{type(self).__name__} must define forward(self, inputs, states)"
        )


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """Base class of recurrent cells that can be compiled.

    A subclass defines `forward`, or `hybrid_forward(self, F, ...)`.
    """

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """Compute one step: the output and the next states."""
        found: tuple[Any, States] = HybridBlock.forward(self, inputs, states)
        return found


class GatedCell(HybridRecurrentCell):
    """Base class of cells with weights.

    Gates are computed from maps of the input and of the first state, stacked along an axis. A
    subclass defines the maps, and a step class (`ElmanStep` and its siblings) defines the update.
    """

    _gates = 1
    _kept = 1
    _axis = 1
    i2h_weight: Parameter
    h2h_weight: Parameter
    i2h_bias: Parameter
    h2h_bias: Parameter

    def _declare(self, **parameters: tuple[tuple[int, ...], Any]) -> None:
        """Declare parameters by their shapes and initializers."""
        for name, (shape, init) in parameters.items():
            setattr(self, name, Parameter(name, shape=shape, init=init, allow_deferred_init=True))

    def _from_input(self, inputs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _from_input(self, inputs)")

    def _from_state(self, state: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _from_state(self, state)")

    def _step(self, a: Any, b: Any, states: States) -> tuple[Any, States]:
        raise NotImplementedError(f"{type(self).__name__} must define _step(self, a, b, states)")

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """Compute one step: the output and the next states."""
        if isinstance(states, np.ndarray) or len(states) != self._kept:
            given = (
                f"an array of shape {states.shape}"
                if isinstance(states, np.ndarray)
                else f"{len(states)}"
            )
            raise ValueError(
                f"{type(self).__name__}: states: expected a list of {self._kept}, got {given}"
            )
        return self._step(self._from_input(inputs), self._from_state(states[0]), states)


def as_function(activation: Any) -> Callable[..., Any]:
    """Return the activation function of a name; functions are returned unchanged."""
    return Activation(activation) if isinstance(activation, str) else activation


class ElmanStep:
    """Update of an Elman cell: `h' = activation(a + b)`."""

    _gates, _kept = 1, 1
    activation: Any

    def _step(self, a: Any, b: Any, states: States) -> tuple[Any, States]:
        out = self.activation(a + b)
        return out, [out]


class LSTMStep:
    """Update of an LSTM: `c' = sigmoid(f) c + sigmoid(i) tanh(g)`, `h' = sigmoid(o) tanh(c')`.

    i, f, g, o are the parts of `a + b`.
    """

    _gates, _kept = 4, 2
    _axis: int
    activation: Any
    recurrent_activation: Any

    def _step(self, a: Any, b: Any, states: States) -> tuple[Any, States]:
        i, f, g, o = np.split(a + b, 4, axis=self._axis)
        kept = self.recurrent_activation(f) * states[1]
        cell = kept + self.recurrent_activation(i) * self.activation(g)
        out = self.recurrent_activation(o) * self.activation(cell)
        return out, [out, cell]


class GRUStep:
    """Update of a GRU: `h' = (1 - z) tanh(a_n + r b_n) + z h`.

    r and z are the sigmoid of the first and the second part of `a + b`.
    """

    _gates, _kept = 3, 1
    _axis: int
    activation: Any
    recurrent_activation: Any

    def _step(self, a: Any, b: Any, states: States) -> tuple[Any, States]:
        (a_r, a_z, a_n), (b_r, b_z, b_n) = (
            np.split(a, 3, axis=self._axis),
            np.split(b, 3, axis=self._axis),
        )
        reset, update = self.recurrent_activation(a_r + b_r), self.recurrent_activation(a_z + b_z)
        new = self.activation(a_n + reset * b_n)
        out = (1 - update) * new + update * states[0]
        return out, [out]
