"""Random streams: a key and a counter, both arrays, so that a trace finds them as it finds any state.

Draw `n` of a stream uses `fold_in(key, n)`: eager and compiled programs draw the same numbers.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, modes
from npcompat._internal.handle import Handle, Value
from npcompat._internal.op import Attrs, Op
from npcompat._internal.trace import outside


class Stream:
    """A stream of random numbers.  Its arrays are made at the first draw, so that importing costs nothing."""

    __slots__ = ("_counter", "_key", "_seed")

    def __init__(self, seed: int | None = None) -> None:
        self.seed(seed)

    def seed(self, seed: int | None = None) -> None:
        """Begin again, from a seed or (None) from the system's entropy."""
        self._seed = secrets.randbits(63) if seed is None else int(seed.__index__())
        words = [(self._seed >> 32) & 0xFFFFFFFF, self._seed & 0xFFFFFFFF]
        if self._seed < 0 or self._seed >= 2**64:
            raise ValueError(f"seed: expected an integer in [0, 2**64), got {seed}")
        if hasattr(self, "_key"):
            dispatch.write(self._key, dispatch.constant(onp.array(words, onp.uint32)))
            dispatch.write(self._counter, dispatch.constant(onp.array(0)))

    @contextmanager
    def elsewhere(self, seed: int) -> Iterator[None]:
        """A context in which the stream draws from another seed, and after which it goes on as if nothing had been drawn."""
        aside = {name: getattr(self, name) for name in self.__slots__ if hasattr(self, name)}
        for name in aside:
            delattr(self, name)
        self.seed(seed)
        try:
            yield
        finally:
            for name in self.__slots__:
                if hasattr(self, name):
                    delattr(self, name)
            for name, value in aside.items():
                setattr(self, name, value)

    def _state(self) -> tuple[Handle, Handle]:
        if not hasattr(self, "_key"):
            with outside(), modes.changed(device=None):
                self._key = dispatch.array_of(onp.array([(self._seed >> 32) & 0xFFFFFFFF, self._seed & 0xFFFFFFFF], onp.uint32))
                self._counter = dispatch.array_of(onp.array(0))
        return self._key, self._counter

    def draw(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Value:
        """Run an operator `f(key, counter, *operands) -> (sample, next counter)`, and count."""
        key, counter = self._state()
        values = [dispatch.read(key), dispatch.read(counter), *map(dispatch.as_value, operands)]
        sample, following = dispatch.run(op, values, attrs)
        dispatch.write(counter, following)
        return dispatch.settled(sample)


default = Stream()
