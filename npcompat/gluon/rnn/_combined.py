"""Cells composed of cells: sequential and bidirectional."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import npcompat.numpy as np
from npcompat.gluon.block import Block
from npcompat.gluon.rnn._cell import HybridRecurrentCell, RecurrentCell, States
from npcompat.gluon.rnn._sequences import turned


class _Cells(RecurrentCell):
    """Base class of composed cells; their states are those of all parts, in order."""

    @property
    def _parts(self) -> list[RecurrentCell]:
        return [cell for cell in self._children.values() if isinstance(cell, RecurrentCell)]

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Describe the states of all cells, in order."""
        return [info for cell in self._parts for info in cell.state_info(batch_size)]

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = np.zeros, **kwargs: Any
    ) -> States:
        """Return the initial states of all cells, in order."""
        return [
            state for cell in self._parts for state in cell.begin_state(batch_size, func, **kwargs)
        ]

    def _width(self) -> int:
        widths = [cell._width() for cell in self._parts]
        return next((width for width in reversed(widths) if width), 0)

    def _infer_from(self, width: int) -> int:
        for cell in self._parts:
            width = cell._infer_from(width)
        return width

    def _each(self, states: States) -> Iterator[tuple[RecurrentCell, States]]:
        """Iterate over the cells with their states."""
        cells = self._parts
        ends = [0]
        for cell in cells:
            ends.append(ends[-1] + len(cell.state_info()))
        if len(states) != ends[-1]:
            raise ValueError(
                f"{type(self).__name__}: states: expected a list of {ends[-1]}, got {len(states)}"
            )
        for cell, (begin, end) in zip(cells, pairwise(ends), strict=True):
            yield cell, list(states[begin:end])


class SequentialRNNCell(_Cells):
    """Sequential cell: each cell is called with the output of the previous one.

    Examples
    --------
    >>> stack = gluon.rnn.SequentialRNNCell()
    >>> stack.add(gluon.rnn.LSTMCell(4), gluon.rnn.GRUCell(2))
    >>> stack.initialize()
    >>> output, states = stack(np.ones((1, 3)), stack.begin_state(1))
    >>> output.shape, len(states)
    ((1, 2), 3)
    """

    def add(self, cell: RecurrentCell, *cells: RecurrentCell) -> None:
        """Append cells."""
        for added in (cell, *cells):
            self.register_child(added)

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Register a cell as a child."""
        if not isinstance(block, RecurrentCell):
            raise TypeError(
                f"{type(self).__name__}: expected a RecurrentCell, got {type(block).__name__}"
            )
        super().register_child(block, name)

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """Compute one step of each cell."""
        following: States = []
        for cell, own in self._each(states):
            inputs, after = cell(inputs, own)
            following += after
        return inputs, following

    def _unroll(self, steps: list[Any], states: States, lengths: Any) -> tuple[list[Any], States]:
        last: States = []
        for cell, own in self._each(states):
            steps, after = cell.unroll(None, steps, own, "TNC", False, lengths)
            last += after
        return steps, last

    def __getitem__(self, key: int) -> RecurrentCell:
        return self._parts[key]

    def __len__(self) -> int:
        return len(self._children)

    def __bool__(self) -> bool:
        return True


class HybridSequentialRNNCell(SequentialRNNCell, HybridRecurrentCell):
    """Sequential cell that can be compiled.

    Examples
    --------
    >>> stack = gluon.rnn.HybridSequentialRNNCell()
    >>> stack.add(gluon.rnn.RNNCell(4), gluon.rnn.DropoutCell(0.5))
    >>> stack.initialize()
    >>> stack.hybridize()
    >>> stack(np.ones((1, 3)), stack.begin_state(1))[0].shape
    (1, 4)
    """


class BidirectionalCell(_Cells, HybridRecurrentCell):
    """Bidirectional cell: two cells, one of which reads the sequence backwards.

    Outputs of both are concatenated. It can only be unrolled, since a step of the second cell
    depends on later inputs.

    Parameters
    ----------
    l_cell, r_cell : RecurrentCell
        The cell that reads forwards, and the one that reads backwards.

    Examples
    --------
    >>> cell = gluon.rnn.BidirectionalCell(gluon.rnn.GRUCell(4), gluon.rnn.GRUCell(4))
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(3, np.ones((2, 3, 5)), merge_outputs=True)
    >>> outputs.shape
    (2, 3, 8)
    """

    def __init__(self, l_cell: RecurrentCell, r_cell: RecurrentCell) -> None:
        super().__init__()
        self.l_cell, self.r_cell = l_cell, r_cell

    def _width(self) -> int:
        return self.l_cell._width()

    def _infer_from(self, width: int) -> int:
        return self.l_cell._infer_from(width) + self.r_cell._infer_from(width)

    def forward(self, inputs: Any, states: States) -> tuple[Any, States]:
        """Raise NotImplementedError, since a step depends on later ones."""
        raise NotImplementedError(
            "BidirectionalCell can't be called for one step, as the second cell reads backwards; "
            "use unroll"
        )

    def _unroll(self, steps: list[Any], states: States, lengths: Any) -> tuple[list[Any], States]:
        (forth, first), (back, second) = self._each(states)
        outputs, last = forth.unroll(None, steps, first, "TNC", False, lengths)
        others, other_last = back.unroll(
            None, turned(steps, lengths), second, "TNC", False, lengths
        )
        return [
            np.concatenate(both, axis=1)
            for both in zip(outputs, turned(others, lengths), strict=True)
        ], [*last, *other_last]


__all__ = ["BidirectionalCell", "HybridSequentialRNNCell", "SequentialRNNCell"]
