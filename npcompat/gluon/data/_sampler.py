"""Samplers: the order of the indices of samples."""

from collections.abc import Callable, Iterator
from typing import Any

from npcompat._internal.support.argument_errors import count
from npcompat.numpy import random


class Sampler:
    """Base class of samplers; a subclass defines `__iter__()` and `__len__()`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} must define __iter__()")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define __len__()")


class SequentialSampler(Sampler):
    """Sampler of consecutive indices.

    Parameters
    ----------
    length : int
        Number of indices.
    start : int
        The first index.

    Examples
    --------
    >>> list(gluon.data.SequentialSampler(3))
    [0, 1, 2]
    """

    def __init__(self, length: int, start: int = 0) -> None:
        self._length, self._start = length, start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """Sampler of shuffled indices; `np.random` shuffles them differently in each epoch.

    Parameters
    ----------
    length : int
        Number of indices.

    Examples
    --------
    >>> sorted(gluon.data.RandomSampler(3))
    [0, 1, 2]
    """

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        return iter(random.permutation(self._length).tolist())

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """Sampler of the indices of samples for which a function is true.

    The function is called on all samples now.

    Parameters
    ----------
    fn : callable
        The function.
    dataset : Dataset
        The samples.

    Examples
    --------
    >>> list(gluon.data.FilterSampler(lambda x: x > 1, gluon.data.SimpleDataset([1, 2, 3])))
    [1, 2]
    """

    def __init__(self, fn: Callable[[Any], bool], dataset: Any) -> None:
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class BatchSampler(Sampler):
    """Sampler of batches: lists of the indices of another sampler.

    Parameters
    ----------
    sampler : Sampler
        The other sampler.
    batch_size : int
        Numbers in each list.
    last_batch : {'keep', 'discard', 'rollover'}
        Whether an incomplete last list is returned, dropped, or begins the next epoch.

    Examples
    --------
    >>> list(gluon.data.BatchSampler(gluon.data.SequentialSampler(5), 2, "discard"))
    [[0, 1], [2, 3]]
    """

    def __init__(self, sampler: Any, batch_size: int, last_batch: str = "keep") -> None:
        if last_batch not in ("keep", "discard", "rollover"):
            raise ValueError(
                f"last_batch must be 'keep', 'discard' or 'rollover', got {last_batch!r}"
            )
        self._sampler, self._batch_size, self._last_batch = (
            sampler,
            count("BatchSampler", "batch_size", batch_size),
            last_batch,
        )
        self._left: list[int] = []

    def __iter__(self) -> Iterator[list[int]]:
        batch, self._left = self._left, []
        for number in self._sampler:
            batch.append(number)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._left = batch

    def __len__(self) -> int:
        count = len(self._sampler) + len(self._left)
        return (
            -(-count // self._batch_size)
            if self._last_batch == "keep"
            else count // self._batch_size
        )


class IntervalSampler(Sampler):
    """Sampler of indices at a constant interval.

    Parameters
    ----------
    length : int
        Upper bound of the indices (exclusive).
    interval : int
        Difference between indices.
    rollover : bool
        Whether it restarts at 1, 2, ... until all indices were used.

    Examples
    --------
    >>> list(gluon.data.IntervalSampler(5, 2))
    [0, 2, 4, 1, 3]
    >>> list(gluon.data.IntervalSampler(5, 2, rollover=False))
    [0, 2, 4]
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if not 1 <= interval <= length:
            raise ValueError(f"IntervalSampler: interval must be in [1, {length}], got {interval}")
        self._length, self._interval, self._rollover = length, interval, rollover

    def __iter__(self) -> Iterator[int]:
        for begin in range(self._interval if self._rollover else 1):
            yield from range(begin, self._length, self._interval)

    def __len__(self) -> int:
        return self._length if self._rollover else -(-self._length // self._interval)


__all__ = [
    "BatchSampler",
    "FilterSampler",
    "IntervalSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
]
