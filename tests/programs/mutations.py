"""Faults that were mended, put back by switches, for the machine to find."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import jax.numpy as jnp
import numpy as onp

import npcompat
from npcompat._internal.backend.jax import differentiation, interop
from npcompat._internal.backend.jax.kernels import kinks
from npcompat._internal.backend.jaxpr import overlapping_writes, tracing
from npcompat._internal.compile import control_flow, guards, noted_state, snapshots, trace, watch
from npcompat._internal.core.graph_node import Node
from npcompat._internal.core.op import REGISTRY, Op
from npcompat._internal.dispatch import apply, array_like, writes
from npcompat.numpy import _manipulation, _ndarray, _ufunc
from npcompat.optimizer import _parameter_groups, _updater

_joined = array_like.joined_value
_replace = writes._replace
_note_owned = noted_state.NotedState.note_owned


def _not_recorded(x, dtype=None):
    """Lists of recorded arrays are constants."""
    return None if array_like.modes.current().trace is None else _joined(x, dtype)


def _by_strides(layout):
    return onp.argsort([-abs(s) for s in layout.strides], kind="stable").tolist()


def _unguarded(self, always, owned, stamp, forms=()):
    """Nothing that a program has read is looked at again."""
    self.always, self._owned, self.stamp = (), (), stamp
    self._forms, self._form_stamp = (), 0


def _zeros(outs, cotangents, separate):
    def one(out, given):
        aval = differentiation.jax.typeof(out)
        if not differentiation.is_inexact(aval.dtype):
            return onp.zeros(aval.shape, differentiation.jax.dtypes.float0)
        return jnp.zeros(aval.shape, aval.dtype) if given is None else given.astype(aval.dtype)

    if isinstance(outs, tuple):
        return tuple(one(o, c) for o, c in zip(outs, cotangents, strict=True))
    return one(outs, cotangents[0])


def _leaf_of(self, handle, outside):
    """Take a variable for one that was never written while recording."""
    return None if handle._extra is None else handle._extra.leaf


def _all_carry(self, given, data, states):
    """Take all that a loop writes as dependent on what is differentiated."""
    return (True,) * (self.outs + states + len(self.written))


def _note_plain(self, value):
    """Only numbers and texts among the attributes of npcompat's objects are looked at."""
    _note_owned(self, value)
    held, state = self.owned[id(value)]
    plain = {k: v for k, v in state.items() if isinstance(v, bool | int | float | str)}
    self.owned[id(value)] = held, plain


def _moved(handle, value, keeps_place=True):
    """Let a write leave the devices of the array."""
    _replace(handle, value, False)


def _created_in_the_trace(self, index, weight):
    """Users' functions make states within a trace."""
    return self.optimizer.create_state_multi_precision(index, weight)


def _entry(self, array, position, neutral):
    """An array of neutral factors is no operand."""
    if array.shape == (0,):
        return npcompat.np.array(neutral)
    return array if array.ndim == 0 else array[position]


MUTATIONS: dict[str, tuple[str, Callable[[], Any]]] = {
    "overlapping writes": (
        "compiled",
        lambda: mock.patch.object(
            overlapping_writes.Separator, "equations", lambda self, equation: [equation]
        ),
    ),
    "lists of recorded arrays": (
        "gradients",
        lambda: mock.patch.object(array_like, "joined_value", _not_recorded),
    ),
    "memory order of results": (
        "host",
        lambda: mock.patch.object(Op, "in_c_order", property(lambda op: False)),
    ),
    "ufuncs where nothing is computed": (
        "gradients",
        lambda: mock.patch.object(_ufunc, "_computed_where", lambda op, inputs, mask: inputs),
    ),
    "norms of zero": (
        "gradients",
        lambda: mock.patch.object(kinks, "root", lambda s, power=0.5: s**power),
    ),
    "powers at zero": (
        "gradients",
        lambda: mock.patch.object(kinks, "real_power", jnp.power),
    ),
    "arrays written in loops": (
        "state",
        lambda: mock.patch.object(control_flow._Loop, "_carries", _all_carry),
    ),
    "guards": (
        "state",
        lambda: mock.patch.object(guards.Guards, "__init__", _unguarded),
    ),
    "results of getters": (
        "state",
        lambda: mock.patch.object(watch.Watch, "_visit_result", return_value=None),
    ),
    "objects of npcompat": (
        "state",
        lambda: mock.patch.object(noted_state.NotedState, "note_owned", _note_plain),
    ),
    "hidden attributes": (
        "state",
        lambda: mock.patch.object(noted_state, "may_be_hidden", return_value=False),
    ),
    "classes of objects made while tracing": (
        "state",
        lambda: mock.patch.object(guards._Reach, "_add_noted_class", return_value=[]),
    ),
    "methods of Python's objects": (
        "state",
        lambda: mock.patch.object(snapshots, "_HOLDERS", snapshots._HOLDERS[:2]),
    ),
    "states of users' optimizers": (
        "state",
        lambda: mock.patch.object(_updater.Updater, "_created", _created_in_the_trace),
    ),
    "neutral factors of rates": (
        "state",
        lambda: mock.patch.object(_parameter_groups._Group, "at", _entry),
    ),
    "order of dicts": (
        "state",
        lambda: mock.patch.object(interop, "_has_dicts", return_value=False),
    ),
    "memory order of compiled results": (
        "compiled",
        lambda: mock.patch.object(apply, "lay_out_as_on_host", return_value=None),
    ),
    "order of broadcast arrays": (
        "host",
        lambda: mock.patch.object(_manipulation, "axes_as_in_memory", _by_strides),
    ),
    "places of written arrays": (
        "sharded",
        lambda: mock.patch.object(writes, "_replace", _moved),
    ),
    "writes while recording is paused": (
        "gradients",
        lambda: mock.patch.object(writes, "keeps_history", return_value=False),
    ),
    "views of an array with another shape": (
        "host",
        lambda: mock.patch.object(_ndarray, "views_of", return_value=[]),
    ),
    "buffers that are written again": (
        "host-gradients",
        lambda: mock.patch.object(array_like, "owned", side_effect=lambda array, given: array),
    ),
    "derivatives that a user defines": (
        "state",
        lambda: mock.patch.object(tracing, "_OWN_DERIVATIVES", frozenset()),
    ),
    "arrays that were recorded outside": (
        "state",
        lambda: mock.patch.object(trace.Trace, "node_inside", _leaf_of),
    ),
    "views that hold a released graph": (
        "state",
        lambda: mock.patch.object(Node, "released", False),
    ),
    "unused outputs": (
        "gradients",
        lambda: mock.patch.object(differentiation, "_fill", _zeros),
    ),
}
"""By name: the mode that can see it, and the switch."""


@contextmanager
def mutated(name: str) -> Iterator[None]:
    """Put a fault back; programs that were made without it, or with it, are forgotten."""
    _forget()
    try:
        with MUTATIONS[name][1]():
            yield
    finally:
        _forget()


def _forget() -> None:
    for op in REGISTRY.values():
        for table in op.programs.tables.values():
            table.clear()


__all__ = ["MUTATIONS", "mutated"]
