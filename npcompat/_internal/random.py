"""Random streams: a key and a counter, both arrays, so that a trace finds them as it finds any state.

Draw `n` of a stream uses `fold_in(key, n)`: eager and compiled programs draw the same numbers.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, execution, modes
from npcompat._internal.handle import Handle, Value
from npcompat._internal.op import Attrs, Op
from npcompat._internal.trace import outside


class Stream:
    """A stream of random numbers.  Its arrays are made at the first draw, so that importing costs nothing."""

    __slots__ = ("_counter", "_key", "_start")

    def __init__(self, seed: int | None = None) -> None:
        self.seed(seed)

    def seed(self, seed: int | None = None) -> None:
        """Begin again, from a seed or (None) from the system's entropy."""
        key = secrets.randbits(63) if seed is None else int(seed.__index__())
        if key < 0 or key >= 2**64:
            raise ValueError(f"seed: expected an integer in [0, 2**64), got {seed}")
        self.begin(key)

    def begin(self, key: int, counter: int = 0) -> None:
        """Go on at a draw of the stream of a key; both are taken modulo 2**64."""
        self._start = key % 2**64, counter % 2**64
        if not hasattr(self, "_key"):
            if modes.current().trace is not None:  # a stream of the function that is compiled: it begins again in each call
                self._key, self._counter = map(dispatch.array_of, self._words())
        else:
            for handle, words in zip((self._key, self._counter), self._words(), strict=True):
                dispatch.write(handle, execution.constant(words))

    def position(self) -> tuple[int, int]:
        """The key, and the number of the next draw."""
        if not hasattr(self, "_key"):
            return self._start
        key, counter = dispatch.to_host(self._key), dispatch.to_host(self._counter)
        return int(key[0]) << 32 | int(key[1]), int(counter) % 2**64

    def _words(self) -> tuple[onp.ndarray[Any, Any], onp.ndarray[Any, Any]]:
        key, counter = self._start
        return onp.array([key >> 32, key & 0xFFFFFFFF], onp.uint32), onp.array(counter, onp.uint64).astype(onp.int64)

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
            with outside(), modes.changed(device=None, backend="jax"):
                self._key, self._counter = map(dispatch.array_of, self._words())
        return self._key, self._counter

    def draw(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Value:
        """Run an operator `f(key, counter, *operands) -> (sample, next counter)`, and count."""
        key, counter = self._state()
        values = [dispatch.read(key), dispatch.read(counter), *map(dispatch.as_value, operands)]
        sample, following = execution.run(op, values, attrs)
        if type(following.payload) is dispatch.symbolic:
            raise NotImplementedError("random numbers in a graph of symbols: build it in prediction mode, or compile the function instead")
        dispatch.write(counter, following)
        return execution.settled(sample)


default = Stream()
