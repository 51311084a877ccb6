"""Random streams: a key and a counter, both arrays, which a trace captures like any state.

Draw `n` of a stream uses the key that Threefry makes of block `n`, so eager and compiled programs
draw the same numbers. In a graph of symbols each draw has a number, which counts from the state of
the default stream when the graph runs.
"""

import itertools
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax import sharding
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Attrs, Op, operator
from npcompat._internal.core.tensor_type import symbols_in
from npcompat._internal.dispatch import array_like, execution, handles, late_bound, writes
from npcompat._internal.dispatch.backends import engine_of
from npcompat._internal.dispatch.late_bound import symbols_exist
from npcompat._internal.dispatch.outside_traces import outside
from npcompat._internal.dispatch.placement import (
    constant,
    laid_out_by_context,
    moved_to_default_device,
    new_value,
)
from npcompat._internal.random import prefetched_draws, prefix_draws

_substitutes: ContextVar[Mapping[int, "Stream"]] = ContextVar(
    "streams that others draw from", default=MappingProxyType({})
)
"""By id: streams that replace others in the context of a thread or an asyncio task."""
_numbers: ContextVar[Iterator[int] | None] = ContextVar(
    "the numbers of the draws of the graph that is being built", default=None
)
_numbers_elsewhere = itertools.count()
_states: WeakValueDictionary[int, Handle] = WeakValueDictionary()
"""By id: keys and counters of streams. Nobody has placed them, they lie where numbers are drawn."""


@operator(
    "_npi_random_position",
    rule=lambda types, attrs: ([None], types[0]),
    pattern="elementwise",
    scalars=True,
    differentiable=False,
)
def position_of_draw(xp: Any, counter: Any, *, number: int = 0) -> Any:
    """Compute the counter of a later draw, such as one in a graph.

    Parameters
    ----------
    counter : array
        Number of the next draw of the stream.
    number : int
        Number of draws in between.
    """
    return counter + xp.asarray(number, counter.dtype)


@contextmanager
def graph() -> Iterator[None]:
    """Build a graph inside the context, which every draw joins."""
    token = _numbers.set(itertools.count())
    try:
        yield
    finally:
        _numbers.reset(token)


class Stream:
    """Stream of random numbers.

    Its arrays are made at the first draw, so that importing costs nothing.
    """

    __slots__ = ("_ahead", "_counter", "_key", "_start")
    _ahead: prefetched_draws.DrawPrefetcher
    _counter: Handle
    _key: Handle
    _start: tuple[int, int]

    def __init__(self, seed: int | None = None) -> None:
        self.seed(seed)

    def _here(self) -> "Stream":
        return _substitutes.get().get(id(self), self)

    def seed(self, seed: int | None = None) -> None:
        """Restart from a seed or, if it is None, from the system's entropy."""
        key = secrets.randbits(63) if seed is None else int(seed.__index__())
        if key < 0 or key >= 2**64:
            raise ValueError(f"seed: expected an integer in [0, 2**64), got {seed}")
        self.begin(key)

    def begin(self, key: int, counter: int = 0) -> None:
        """Continue at draw `counter` of the stream of a key; both are taken modulo 2**64."""
        here = self._here()
        here._start = key % 2**64, counter % 2**64
        here._ahead = prefetched_draws.DrawPrefetcher()
        if not hasattr(here, "_key"):
            if modes.current().trace is not None:
                # a stream that a traced function makes: it restarts in each call
                here._key, here._counter = map(array_like.array_of, here._words())
        else:
            # keys and counters are placed on XLA, where numbers are drawn
            with modes.changed(device=None, backend="jax"):
                for handle, words in zip((here._key, here._counter), here._words(), strict=True):
                    writes.write(handle, constant(words))

    def position(self) -> tuple[int, int]:
        """Return the key, and the number of the next draw."""
        here = self._here()
        if not hasattr(here, "_key"):
            return here._start
        key, counter = handles.to_host(here._key), handles.to_host(here._counter)
        return int(key[0]) << 32 | int(key[1]), int(counter) % 2**64

    def _words(self) -> tuple[onp.ndarray[Any, Any], onp.ndarray[Any, Any]]:
        key, counter = self._start
        return onp.array([key >> 32, key & 0xFFFFFFFF], onp.uint32), onp.array(
            counter, onp.uint64
        ).astype(onp.int64)

    @contextmanager
    def elsewhere(self, seed: int) -> Iterator[None]:
        """Draw from another seed inside the context, without advancing this stream.

        Other threads still draw from this stream.
        """
        token = _substitutes.set({**_substitutes.get(), id(self): Stream(seed)})
        try:
            yield
        finally:
            _substitutes.reset(token)

    def state(self) -> tuple[Handle, Handle]:
        """Return the key and the counter, as arrays."""
        here = self._here()
        if not hasattr(here, "_key"):
            with outside(), modes.changed(device=None, backend="jax"):
                here._key, here._counter = map(array_like.array_of, here._words())
            _states.update((id(handle), handle) for handle in (here._key, here._counter))
        elif sharding.several[0] and modes.current().trace is None:
            # earlier draws have taken them to their devices: these may be for others
            _release((here._key, here._counter))
        return here._key, here._counter

    def draw(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Value:
        """Draw a sample by an operator `f(key, counter, *operands) -> (sample, next counter)`."""
        values = [array_like.as_value(x) for x in operands]
        if symbols_exist() and (
            _numbers.get() is not None
            or symbols_in(attrs)
            or any([type(v.payload) is late_bound.symbolic for v in values])
        ):
            return self._draw_in_graph(op, values, attrs)
        key, counter = self.state()
        kind = prefetched_draws.kind_of(op, values, attrs)
        if kind is None:
            return self._drawn(op, values, attrs, key, counter)
        ahead = self._here()._ahead
        found = ahead.take(kind, key, counter)
        if found is None:
            number = ahead.position(counter)
            found = self._drawn(op, values, attrs, key, counter)
            ahead.note(kind, values, key, counter, number, found.payload.size)
        return found

    def _drawn(
        self, op: Op, given: list[Value], attrs: Attrs, key: Handle, counter: Handle
    ) -> Value:
        mode = modes.current()
        if sharding.is_layout(mode.device) and mode.trace is None and not _recorded(given, mode):
            payloads = [v.payload for v in (handles.read(key), handles.read(counter), *given)]
            numbers, following = sharding.run_in_pieces(
                op, attrs, [*map(_on_xla, payloads)], mode.device, mode.numpy_dtypes
            )
            writes.write(counter, Value(following))
            return Value(numbers)
        longer = (
            None
            if op.element_axes is None
            else prefix_draws.instead(op, op.element_axes, given, attrs)
        )
        operands, attributes, size = (given, attrs, None) if longer is None else longer
        sample, following = execution.run(
            op, [handles.read(key), handles.read(counter), *operands], attributes
        )
        writes.write(counter, following)
        if mode.trace is not None and sharding.several[0]:
            laid_out = laid_out_by_context(sample.payload, mode)
            if laid_out is not sample.payload:
                return new_value(laid_out, sample.node, sample.index)
        return moved_to_default_device(
            sample if size is None else prefix_draws.beginning(sample, size)
        )

    def _draw_in_graph(self, op: Op, given: list[Value], attrs: Attrs) -> Value:
        if self is not default:
            raise NotImplementedError(
                "a Generator draws for a graph of symbols, which knows the default stream only: "
                "draw by the functions of np.random"
            )
        key, counter = map(Value, late_bound.stream)
        number = next(_numbers.get() or _numbers_elsewhere)
        sample: Value = execution.run(
            op, [key, execution.run(position_of_draw, [counter], (number,)), *given], attrs
        )[0]
        return sample

    def advance(self, draws: int) -> None:
        """Advance the counter by the draws that a graph has made."""
        _, counter = self.state()
        writes.write(counter, execution.run(position_of_draw, [handles.read(counter)], (draws,)))


def is_state(handle: Handle) -> bool:
    """Return True for the key or the counter of a stream."""
    return _states.get(id(handle)) is handle


def release_all() -> None:
    """Take the states of all streams from the devices where numbers were drawn: a function that is
    compiled now may draw elsewhere.
    """
    _release(_states.values())


def bring_along(read: Iterable[Handle], beside: Iterable[Value]) -> bool:
    """Take the states of streams that a program reads to where its other operands lie; without any,
    to the device on which the context places new arrays.

    Return False if only arguments or the context say where: the next call may need them elsewhere.
    """
    others: list[Any] = []
    states = []
    for handle in read:
        if is_state(handle):
            states.append(handle)
        else:
            others.append(handle._value.payload)
    if not states:
        return True
    stays = sharding.common_place(others) is not None
    others += [v.payload for v in beside]
    mode = modes.current()
    place, device = sharding.common_place(others), mode.device
    alone = not others and device not in (None, xla.default_device()) and engine_of(mode) is None
    if alone and not sharding.is_layout(device):
        place = sharding.SingleDeviceSharding(device)
    for handle in states:
        if not sharding.lies_at(handle._value.payload, place):
            _release((handle,))
            if alone and place is not None:
                writes.relocate(handle, Value(sharding.chosen(handle._value.payload, place)))
    return stays or place is None


def _release(states: Iterable[Handle]) -> None:
    for handle in states:
        if sharding.is_chosen(payload := handle._value.payload):
            writes.relocate(handle, Value(sharding.local(payload)))


def _recorded(values: list[Value], mode: modes.Mode) -> bool:
    """Return True if draws with these parameters are differentiated."""
    return mode.recording and any([v.node is not None for v in values])


def _on_xla(payload: Any) -> Any:
    """A parameter of a distribution as a program takes it."""
    return payload if hasattr(payload, "dtype") else xla.scalar(payload)


default = Stream()
