"""Updaters: optimizers with the states of their parameters."""

import pickle
from collections.abc import Sequence
from typing import Any

from npcompat._internal.core import modes
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.outside_traces import outside, value_outside
from npcompat.optimizer._optimizer import Optimizer, is_narrow


class Updater:
    """Updater: an optimizer with the states of its parameters.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.

    Examples
    --------
    >>> update = optimizer.get_updater(optimizer.SGD(learning_rate=0.5))
    >>> weight, grad = np.ones(2), np.ones(2)
    >>> update(0, grad, weight)
    >>> weight
    array([0.5, 0.5])
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Any, Any] = {}
        self._hyper: Any = None

    def prepare(self, indices: Sequence[Any], weights: Sequence[Any]) -> None:
        """Create states that are missing, or that fit no more since a hyperparameter was changed.

        SGD keeps the last update only with momentum, for example.
        """
        hyper = self.optimizer._hyper()
        changed, self._hyper = self._hyper is not None and hyper != self._hyper, hyper
        for i, w in zip(indices, weights, strict=True):
            if i not in self.states:
                self.states[i] = self._created(i, w)
            elif changed and self.optimizer.rule is not None:
                self.states[i] = self._fitting(i, w)

    def _created(self, index: Any, weight: Any) -> Any:
        """Create the state of a parameter, outside the running traces: it lasts longer than they."""
        if modes.current().trace is None:
            return self.optimizer.create_state_multi_precision(index, weight)
        before = handles.wrap(value_outside(weight))
        with outside():
            return self.optimizer.create_state_multi_precision(index, before)

    def _fitting(self, index: Any, weight: Any) -> Any:
        """Return the state of a parameter as the rule needs it, with the arrays it already has."""
        before: Any = self.states[index] or ()
        new: Any = self._created(index, weight) or ()
        if [(a.shape, a.dtype) for a in before] == [(a.shape, a.dtype) for a in new]:
            return self.states[index]
        kept = 1 if self.optimizer.multi_precision and is_narrow(weight.dtype) else 0
        return (*before[:kept], *new[kept:])

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Update one parameter, or lists of them."""
        if not isinstance(index, list | tuple):
            index, grad, weight = [index], [grad], [weight]
        self.prepare(index, weight)
        self.optimizer.update_multi_precision(index, weight, grad, [self.states[i] for i in index])

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """Serialize the states; with `dump_optimizer` also the optimizer, with counts and rates."""
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer else self.states)

    def set_states(self, states: bytes) -> None:
        """Load states that `get_states` returned.

        The format is pickle, so loading can run code: only load data that you trust.
        """
        found = pickle.loads(states)
        self.states, self.optimizer = found if isinstance(found, tuple) else (found, self.optimizer)


def get_updater(optimizer: Optimizer) -> Updater:
    """Return an updater of an optimizer.

    Examples
    --------
    >>> type(optimizer.get_updater(optimizer.Adam())).__name__
    'Updater'
    """
    return Updater(optimizer)


__all__ = ["Updater", "get_updater"]
