"""Updaters: optimizers with the states of their parameters."""

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from npcompat._internal.core import modes, trace_notes
from npcompat._internal.core.handle import Handle
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
        self._dtypes: dict[Any, Any] = {}  # of the weights when their states were made
        self._made = 0  # number of times that states were replaced

    def prepare(self, indices: Sequence[Any], weights: Sequence[Any]) -> None:
        """Create states that are missing, or that fit no more since a hyperparameter was changed,
        or the dtype of a weight.

        SGD keeps the last update only with momentum, for example.
        """
        hyper = self.optimizer.multi_precision, self.optimizer._hyper()
        before, self._hyper = self._hyper or hyper, hyper
        states, known, changed = self.states, self._dtypes, before != hyper
        for i, w in zip(indices, weights, strict=True):
            dtype = w.dtype
            if i not in states:
                states[i] = self._created(i, w)
            elif changed or known.get(i) is not dtype:
                self._fit(i, w, before[0])
            known[i] = dtype
        if modes.current().trace is not None:
            made = self._made
            trace_notes.guard(lambda: self._made == made, "states of the optimizer were replaced")

    def _created(self, index: Any, weight: Any) -> Any:
        """Create the state of a parameter, outside the running traces: it lasts longer than they."""
        if modes.current().trace is None:
            return self.optimizer.create_state_multi_precision(index, weight)
        before = handles.wrap(value_outside(weight))
        with outside():
            return self.optimizer.create_state_multi_precision(index, before)

    def _fit(self, index: Any, weight: Any, had_masters: bool) -> None:
        """Replace the state of a parameter by one as it is needed now, of the arrays it has."""
        new = self._created(index, weight)
        old, fresh = state_leaves(self.states[index]), state_leaves(new)
        has = self.optimizer._keeps_master(weight.dtype)
        had = had_masters and is_narrow(self._dtypes[index]) if index in self._dtypes else None
        if had is None:  # a state that was loaded
            had = has if len(old) == len(fresh) else len(old) > len(fresh) - has
        own, needed = old[had:], fresh[has:]
        if list(map(_shape, own)) == list(map(_shape, needed)):
            needed = [_cast(a, b) for a, b in zip(own, needed, strict=True)]
        elif self.optimizer.rule is None and len(own) != len(needed):
            return  # the optimizer's own affair
        leaves = [*(old if had else fresh)[:has], *needed]
        if len(leaves) != len(old) or any([a is not b for a, b in zip(leaves, old, strict=True)]):
            self.states[index] = _filled(new, iter(leaves))
            self._made += 1

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
        self._hyper, self._dtypes, self._made = None, {}, self._made + 1


def state_leaves(state: Any) -> list[Any]:
    """Return the arrays of a parameter's state: a tuple of them, or what a user's optimizer keeps."""
    if isinstance(state, list | tuple):
        return [leaf for part in state for leaf in state_leaves(part)]
    return [] if state is None else [state]


def _filled(state: Any, leaves: Iterator[Any]) -> Any:
    """Return a state of the same structure with other leaves."""
    if isinstance(state, list | tuple):
        return type(state)([_filled(part, leaves) for part in state])
    return None if state is None else next(leaves)


def _shape(leaf: Any) -> Any:
    return leaf.shape if isinstance(leaf, Handle) else None


def _cast(leaf: Any, like: Any) -> Any:
    """Return an array of a state in the dtype of another, outside the running traces."""
    if not isinstance(leaf, Handle) or leaf.dtype == like.dtype:
        return leaf
    now = value_outside(leaf)
    with outside():
        return handles.wrap(now).astype(like.dtype)


def get_updater(optimizer: Optimizer) -> Updater:
    """Return an updater of an optimizer.

    Examples
    --------
    >>> type(optimizer.get_updater(optimizer.Adam())).__name__
    'Updater'
    """
    return Updater(optimizer)


__all__ = ["Updater", "get_updater", "state_leaves"]
