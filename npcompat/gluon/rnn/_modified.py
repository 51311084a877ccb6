"""Cells that modify another cell: dropout, zoneout, residual connections."""

from collections.abc import Callable, Sequence
from typing import Any

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat._internal.compile.trace import Trace
from npcompat._internal.core import modes
from npcompat.gluon.block import Block
from npcompat.gluon.parameter import ParameterDict
from npcompat.gluon.rnn._cell import HybridRecurrentCell, RecurrentCell, States
from npcompat.gluon.rnn._combined import BidirectionalCell
from npcompat.gluon.rnn._sequences import masked


def _rate(owner: str, argument: str, rate: float) -> float:
    if not 0 <= rate <= 1:
        raise ValueError(f"{owner}: {argument} is a probability, got {rate}")
    return float(rate)


def _reads_backwards(cell: Block) -> bool:
    return isinstance(cell, BidirectionalCell) or any(
        _reads_backwards(child) for child in cell._children.values()
    )


class DropoutCell(HybridRecurrentCell):
    """Dropout of the input; it has no states.

    Parameters
    ----------
    rate : float
        Probability of an element to be zeroed, in training mode.
    axes : sequence of int
        Axes along which all elements share one choice.

    Examples
    --------
    >>> gluon.rnn.DropoutCell(0.5)(np.ones((1, 2)), [])
    (array([[1., 1.]]), [])
    """

    def __init__(self, rate: float, axes: Sequence[int] = ()) -> None:
        super().__init__()
        self._rate, self._axes = _rate("DropoutCell", "rate", rate), tuple(axes)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return an empty list: there are no states."""
        return []

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """Apply dropout to the input; the identity outside of training."""
        return npx.dropout(inputs, self._rate, axes=self._axes), states

    def __repr__(self) -> str:
        return f"DropoutCell(rate={self._rate}, axes={self._axes})"


class ModifierCell(HybridRecurrentCell):
    """Base class of cells that modify another cell, whose states and parameters they use.

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell.
    """

    def __init__(self, base_cell: RecurrentCell) -> None:
        super().__init__()
        if not isinstance(base_cell, RecurrentCell):
            raise TypeError(
                f"{type(self).__name__}: base_cell: expected a RecurrentCell, got "
                f"{type(base_cell).__name__}"
            )
        self.base_cell = base_cell

    @property
    def params(self) -> ParameterDict:
        """Parameters of the base cell."""
        return self.base_cell.params

    def _width(self) -> int:
        return self.base_cell._width()

    def _infer_from(self, width: int) -> int:
        return self.base_cell._infer_from(width)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Describe the states of the base cell."""
        return self.base_cell.state_info(batch_size)

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = np.zeros, **kwargs: Any
    ) -> States:
        """Return the initial states of the base cell."""
        return self.base_cell.begin_state(batch_size, func, **kwargs)


class ResidualCell(ModifierCell):
    """Residual cell: adds the input to the output (Wu et al., 2016).

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell; its output must have the shape of the input.

    Examples
    --------
    >>> cell = gluon.rnn.ResidualCell(gluon.rnn.GRUCell(3))
    >>> cell.initialize(init.Zero())
    >>> cell(np.ones((1, 3)), cell.begin_state(1))[0]
    array([[1., 1., 1.]])
    """

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """Compute one step of the cell, plus the input."""
        output, states = self.base_cell(inputs, states)
        return output + inputs, states

    def _unroll(self, steps: list[Any], states: States, lengths: Any) -> tuple[list[Any], States]:
        outputs, last = self.base_cell.unroll(None, steps, states, "TNC", False, lengths)
        added = steps if lengths is None else masked(steps, lengths)
        return [output + step for output, step in zip(outputs, added, strict=True)], last


class _CellWithMemory(ModifierCell):
    """Base class of cells that keep arrays between steps in addition to states.

    They are not compiled step by step, since a program could not keep these arrays. A function that
    contains the loop over the steps can be compiled; there, the cell must be unrolled or reset.
    """

    _memory: dict[str, Any]
    _trace: Trace | None

    def __init__(self, base_cell: RecurrentCell) -> None:
        super().__init__(base_cell)
        self._clear_memory()

    def _clear_memory(self) -> None:
        # Assigning attributes would discard the block's compiled program.
        self.__dict__.update(_memory={}, _trace=modes.current().trace)

    def reset(self) -> None:
        """Reset the arrays that are kept between steps."""
        super().reset()
        self._clear_memory()

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        return Block._run(self, *args, **kwargs)

    def _store(self, name: str, array: Any) -> None:
        self._memory[name] = array

    def _load(self, name: str) -> Any:
        """Return the array kept under a name, or None."""
        if modes.current().trace is not self._trace:
            raise RuntimeError(
                f"{type(self).__name__} keeps arrays between steps, which can't enter or "
                "leave a compiled function: "
                "use unroll there, or call reset() before the first step"
            )
        return self._memory.get(name)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_memory": {}, "_trace": None}


class ZoneoutCell(_CellWithMemory):
    """Zoneout: keeps random elements of the previous step, in training mode (Krueger et al., 2016).

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell; it can't read backwards.
    zoneout_outputs, zoneout_states : float
        Probability that an element of the output, and of the states, keeps its value of the
        previous step (zero at the first).

    Examples
    --------
    >>> cell = gluon.rnn.ZoneoutCell(gluon.rnn.RNNCell(3), zoneout_states=0.5)
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(4, np.ones((2, 4, 3)))
    >>> len(outputs)
    4
    """

    def __init__(
        self, base_cell: RecurrentCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0
    ) -> None:
        super().__init__(base_cell)
        if _reads_backwards(base_cell):
            raise TypeError(
                "ZoneoutCell: base_cell reads backwards, so it has no step; put ZoneoutCell into "
                "the BidirectionalCell"
            )
        self._outputs = _rate("ZoneoutCell", "zoneout_outputs", zoneout_outputs)
        self._states = _rate("ZoneoutCell", "zoneout_states", zoneout_states)

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """Compute one step of the cell, then apply zoneout."""
        output, following = self.base_cell(inputs, states)
        if not modes.current().training:
            return output, following
        if self._outputs:
            before = self._load("output")
            output = _zoned(
                output, np.zeros_like(output) if before is None else before, self._outputs
            )
            self._store("output", output)
        if self._states:
            following = [
                _zoned(new, old, self._states) for new, old in zip(following, states, strict=True)
            ]
        return output, following

    def __repr__(self) -> str:
        return f"ZoneoutCell(p_out={self._outputs}, p_state={self._states}, {self.base_cell!r})"


def _zoned(new: Any, old: Any, rate: float) -> Any:
    return np.where(npx.dropout(np.ones_like(new), rate) != 0, new, old)


class VariationalDropoutCell(_CellWithMemory):
    """Variational dropout: one mask for all steps of a sequence (Gal and Ghahramani, 2016).

    Applied in training mode only.

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell.
    drop_inputs, drop_states, drop_outputs : float
        Probability that an element of the input, of the first state (h), and of the output is
        zeroed.

    Examples
    --------
    >>> cell = gluon.rnn.VariationalDropoutCell(gluon.rnn.LSTMCell(3), drop_inputs=0.5)
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(4, np.ones((2, 4, 3)), merge_outputs=True)
    >>> outputs.shape
    (2, 4, 3)
    """

    def __init__(
        self,
        base_cell: RecurrentCell,
        drop_inputs: float = 0.0,
        drop_states: float = 0.0,
        drop_outputs: float = 0.0,
    ) -> None:
        super().__init__(base_cell)
        self._rates = {
            name: _rate("VariationalDropoutCell", f"drop_{name}", rate)
            for name, rate in (
                ("inputs", drop_inputs),
                ("states", drop_states),
                ("outputs", drop_outputs),
            )
        }
        if drop_states and _reads_backwards(base_cell):
            raise TypeError(
                "VariationalDropoutCell: drop_states needs single steps, but base_cell reads "
                "backwards; put it into that cell"
            )

    def _dropped(self, name: str, x: Any) -> Any:
        """Multiply an array by the mask of a name, which is drawn at its first use."""
        rate = self._rates[name]
        if not rate or not modes.current().training:
            return x
        mask = self._load(name)
        if mask is None:
            mask = npx.dropout(np.ones_like(x), rate)
            self._store(name, mask)
        return x * mask

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """Compute one step of the cell, with dropout."""
        first, *others = states
        output, following = self.base_cell(
            self._dropped("inputs", inputs), [self._dropped("states", first), *others]
        )
        return self._dropped("outputs", output), following

    def _unroll(self, steps: list[Any], states: States, lengths: Any) -> tuple[list[Any], States]:
        if self._rates["states"]:
            return super()._unroll(steps, states, lengths)
        dropped = [self._dropped("inputs", step) for step in steps]
        outputs, last = self.base_cell.unroll(None, dropped, states, "TNC", False, lengths)
        return [self._dropped("outputs", output) for output in outputs], last

    def __repr__(self) -> str:
        rates = ", ".join(f"p_{name[:-1]}={rate}" for name, rate in self._rates.items())
        return f"VariationalDropoutCell({rates}, {self.base_cell!r})"


def dynamic_unroll(
    cell: RecurrentCell,
    inputs: Any,
    begin_state: Sequence[Any],
    drop_inputs: float = 0.0,
    drop_outputs: float = 0.0,
    layout: str = "TNC",
    valid_length: Any = None,
) -> tuple[Any, Any]:
    """Unroll a recurrent cell over all steps of its inputs, with variational dropout if asked.

    Parameters
    ----------
    cell : RecurrentCell
        The cell.
    inputs : ndarray
        The sequences.
    begin_state : sequence of ndarray
        States before the first step.
    drop_inputs, drop_outputs : float
        Probabilities of variational dropout.
    layout : {'TNC', 'NTC'}
        Axes of the inputs: T of steps, N of sequences.
    valid_length : ndarray, optional
        Lengths of the sequences.

    Returns
    -------
    outputs : ndarray
        Outputs of all steps, in the layout of the inputs.
    states : list of ndarray
        States after the last step.

    Examples
    --------
    >>> cell = gluon.rnn.LSTMCell(3)
    >>> cell.initialize()
    >>> outputs, states = gluon.rnn.dynamic_unroll(cell, np.ones((4, 2, 5)), cell.begin_state(2))
    >>> outputs.shape
    (4, 2, 3)
    """
    if drop_inputs or drop_outputs:
        cell = VariationalDropoutCell(cell, drop_inputs, 0.0, drop_outputs)
    return cell.unroll(None, inputs, begin_state, layout, True, valid_length)


__all__ = [
    "DropoutCell",
    "ModifierCell",
    "ResidualCell",
    "VariationalDropoutCell",
    "ZoneoutCell",
    "dynamic_unroll",
]
