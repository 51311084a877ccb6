"""Cells that change what another cell gets or gives: dropout, zoneout, residual connections."""

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
        """There are no states."""
        return []

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """What is left of the input."""
        return npx.dropout(inputs, self._rate, axes=self._axes), states

    def __repr__(self) -> str:
        return f"DropoutCell(rate={self._rate}, axes={self._axes})"


class ModifierCell(HybridRecurrentCell):
    """Base of cells that change what another cell does; the states, and the parameters, are those
    of that cell.

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
        """The parameters of the cell."""
        return self.base_cell.params

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """What the states are."""
        return self.base_cell.state_info(batch_size)

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = np.zeros, **kwargs: Any
    ) -> States:
        """The states to begin with."""
        return self.base_cell.begin_state(batch_size, func, **kwargs)


class ResidualCell(ModifierCell):
    """Adds the input to the output, as residual networks do (Wu et al., 2016).

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
        """One step of the cell, the input added."""
        output, states = self.base_cell(inputs, states)
        return output + inputs, states

    def _unroll(self, steps: list[Any], states: States, lengths: Any) -> tuple[list[Any], States]:
        outputs, last = self.base_cell.unroll(None, steps, states, "TNC", False, lengths)
        added = steps if lengths is None else masked(steps, lengths)
        return [output + step for output, step in zip(outputs, added, strict=True)], last


class _RememberingCell(ModifierCell):
    """Cells that remember arrays between steps, which are no states.

    They are not compiled step by step: a program has no place for what such a cell remembers. What
    contains the loop over the steps can be compiled; there, the cell must be unrolled or reset.
    """

    _remembered: dict[str, Any]
    _trace: Trace | None

    def __init__(self, base_cell: RecurrentCell) -> None:
        super().__init__(base_cell)
        self._forget()

    def _forget(self) -> None:
        self.__dict__.update(
            _remembered={}, _trace=modes.current().trace
        )  # (no attribute of the block: they mark it changed)

    def reset(self) -> None:
        """Forget what is remembered."""
        super().reset()
        self._forget()

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        return Block._run(self, *args, **kwargs)

    def _remember(self, name: str, array: Any) -> None:
        self._remembered[name] = array

    def _recalled(self, name: str) -> Any:
        """What is remembered under a name; None if nothing is."""
        if modes.current().trace is not self._trace:
            raise RuntimeError(
                f"{type(self).__name__} remembers arrays between steps, which can't enter or "
                "leave a compiled function: "
                "use unroll there, or call reset() before the first step"
            )
        return self._remembered.get(name)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_remembered": {}, "_trace": None}


class ZoneoutCell(_RememberingCell):
    """Keeps some numbers of the step before, in training mode (Krueger et al., 2016).

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell; it can't read backwards.
    zoneout_outputs, zoneout_states : float
        Probability of each number of the output, and of the states, to be the one of the step
        before (zero at the first).

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
        """One step of the cell, and some numbers of the step before."""
        output, following = self.base_cell(inputs, states)
        if not modes.current().training:
            return output, following
        if self._outputs:
            before = self._recalled("output")
            output = _zoned(
                output, np.zeros_like(output) if before is None else before, self._outputs
            )
            self._remember("output", output)
        if self._states:
            following = [
                _zoned(new, old, self._states) for new, old in zip(following, states, strict=True)
            ]
        return output, following

    def __repr__(self) -> str:
        return f"ZoneoutCell(p_out={self._outputs}, p_state={self._states}, {self.base_cell!r})"


def _zoned(new: Any, old: Any, rate: float) -> Any:
    return np.where(npx.dropout(np.ones_like(new), rate) != 0, new, old)


class VariationalDropoutCell(_RememberingCell):
    """Dropout with one choice for all steps of a sequence, in training mode (Gal and Ghahramani,
    2016).

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell.
    drop_inputs, drop_states, drop_outputs : float
        Probability of each number of the input, of the first state (h), and of the output to be
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
        """The array, times the mask of the name, which is drawn where it is first used."""
        rate = self._rates[name]
        if not rate or not modes.current().training:
            return x
        mask = self._recalled(name)
        if mask is None:
            mask = npx.dropout(np.ones_like(x), rate)
            self._remember(name, mask)
        return x * mask

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """One step of the cell."""
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


__all__ = ["DropoutCell", "ModifierCell", "ResidualCell", "VariationalDropoutCell", "ZoneoutCell"]
