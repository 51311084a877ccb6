"""The loader: batches of a dataset, made here, in threads, or in processes.

Processes are spawned, never forked, as XLA does not survive a fork.  They get the dataset once, work on the host, and
send batches back as NumPy arrays.
"""

import contextvars
import multiprocessing
import pickle
import random as python_random
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, modes, random
from npcompat._internal.handle import Handle
from npcompat.gluon.data._dataset import ArrayDataset
from npcompat.gluon.data._sampler import BatchSampler, RandomSampler, SequentialSampler
from npcompat.gluon.data.batchify import default_batchify_fn
from npcompat.gluon.parameter import draw_seed
from npcompat.numpy._creation import array

# --- in worker processes -----------------------------------------------------------------------------------------

_work: list[Any] = []  # in a worker: the dataset and the batchify function


def _begin(content: bytes) -> None:
    modes.set_default(backend="numpy")
    _work[:] = pickle.loads(content)


def _make(indices: Sequence[int], seed: int) -> Any:
    random.default.seed(seed)
    python_random.seed(seed)
    onp.random.seed(seed % 2**32)
    dataset, batchify = _work
    return _as_host(batchify([dataset[i] for i in indices]))


class _HostArray:
    """Marks what was an array of npcompat on its way from a worker."""

    __slots__ = ("values",)

    def __init__(self, values: onp.ndarray[Any, Any]) -> None:
        self.values = values


def _as_host(batch: Any) -> Any:
    if isinstance(batch, Handle):
        return _HostArray(onp.asarray(dispatch.to_host(batch)))
    if isinstance(batch, list | tuple):
        return type(batch)([_as_host(b) for b in batch])
    return {k: _as_host(b) for k, b in batch.items()} if isinstance(batch, dict) else batch


def _from_host(batch: Any) -> Any:
    if isinstance(batch, _HostArray):
        return array(batch.values)
    if isinstance(batch, list | tuple):
        return type(batch)([_from_host(b) for b in batch])
    return {k: _from_host(b) for k, b in batch.items()} if isinstance(batch, dict) else batch


# --- here --------------------------------------------------------------------------------------------------------


class DataLoader:
    """Batches of a dataset.

    Parameters
    ----------
    dataset : Dataset
        The samples; anything with `__getitem__` and `__len__`.
    batch_size : int, optional
        Samples in a batch; needed unless `batch_sampler` is given.
    shuffle : bool
        Whether samples come in random order, another one each time; `np.random` gives it.
    sampler : Sampler, optional
        In which order samples come, instead of `shuffle`.
    last_batch : {'keep', 'discard', 'rollover'}, optional
        Whether an incomplete batch at the end is given (if not said otherwise), left out, or begins the next round.
    batch_sampler : Sampler, optional
        Gives the lists of samples' numbers, instead of the four arguments before.
    batchify_fn : callable, optional
        Makes a batch of a list of samples; stacks them if not given.
    num_workers : int
        Number of processes, or threads, that make batches ahead; with 0 they are made when they are asked for.  As
        processes are spawned, the dataset must be picklable, and a script needs `if __name__ == "__main__":`.
    pin_memory, pin_device_id
        Hints to MXNet's loader, which change nothing: XLA stages its transfers itself.
    prefetch : int, optional
        How many batches are made ahead; twice the number of workers if not given.
    thread_pool : bool
        Whether workers are threads.
    timeout : float
        Seconds to wait for a batch.
    try_nopython : bool, optional
        Loaders without Python are not supported: True raises NotImplementedError.

    Examples
    --------
    >>> data = gluon.data.ArrayDataset(np.arange(5.0), np.arange(5))
    >>> for x, y in gluon.data.DataLoader(data, batch_size=2):
    ...     print(x, y)
    [0. 1.] [0 1]
    [2. 3.] [2 3]
    [4.] [4]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Any = None,
        batchify_fn: Callable[[Sequence[Any]], Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        try_nopython: bool | None = None,
    ) -> None:
        if try_nopython:
            raise NotImplementedError("DataLoader(try_nopython=True): samples are always made by Python")
        if num_workers < 0 or timeout <= 0 or (prefetch is not None and prefetch < 0):
            raise ValueError(
                f"DataLoader: num_workers={num_workers} and prefetch={prefetch} must not be negative, timeout={timeout} be positive"
            )
        self._dataset, self._batchify = dataset, batchify_fn or default_batchify_fn
        self._batch_sampler = _batches(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler)
        self._workers, self._threads, self._timeout = int(num_workers), bool(thread_pool), timeout
        self._ahead = max(1, 2 * self._workers if prefetch is None else int(prefetch))
        self._pool: Executor | None = None

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        seed = draw_seed()  # also without workers, so that what is drawn later does not depend on their number
        batches = iter(self._batch_sampler)
        if self._workers == 0:
            return map(self._batch, batches)
        return self._ahead_of(batches, seed)

    def _batch(self, indices: Sequence[int]) -> Any:
        dataset = self._dataset
        if self._batchify is default_batchify_fn and type(dataset) is ArrayDataset and dataset._has_batches():
            return dataset._batch(indices)
        return self._batchify([dataset[i] for i in indices])

    def _ahead_of(self, batches: Iterator[Sequence[int]], seed: int) -> Iterator[Any]:
        """Batches in order, some of them being made while others are used."""
        waiting: deque[Future[Any]] = deque()
        number = 0
        try:
            for indices in batches:
                waiting.append(self._submitted(indices, seed + number))
                number += 1
                if len(waiting) > self._ahead:
                    yield self._received(waiting.popleft())
            while waiting:
                yield self._received(waiting.popleft())
        finally:
            for future in waiting:
                future.cancel()

    def _submitted(self, indices: Sequence[int], seed: int) -> "Future[Any]":
        if self._pool is None:
            self._pool = self._started()
            weakref.finalize(self, self._pool.shutdown, wait=False, cancel_futures=True)
        if self._threads:
            return self._pool.submit(contextvars.copy_context().run, self._batch, indices)
        return self._pool.submit(_make, list(indices), seed)

    def _started(self) -> Executor:
        if self._threads:
            return ThreadPoolExecutor(self._workers, thread_name_prefix="DataLoader")
        content = pickle.dumps((self._dataset, self._batchify))
        return ProcessPoolExecutor(self._workers, multiprocessing.get_context("spawn"), _begin, (content,))

    def _received(self, future: "Future[Any]") -> Any:
        try:
            return _from_host(future.result(self._timeout))
        except FutureTimeout:
            raise TimeoutError(
                f"DataLoader: no batch came within {self._timeout} seconds; is a worker stuck? timeout= sets how long to wait"
            ) from None


def _batches(dataset: Any, batch_size: int | None, shuffle: bool, sampler: Any, last_batch: str | None, batch_sampler: Any) -> Any:
    if batch_sampler is not None:
        if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError("DataLoader: batch_sampler comes instead of batch_size, shuffle, sampler and last_batch")
        return batch_sampler
    if batch_size is None:
        raise ValueError("DataLoader: batch_size is needed, unless batch_sampler is given")
    if sampler is None:
        sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
    elif shuffle:
        raise ValueError("DataLoader: sampler comes instead of shuffle")
    return BatchSampler(sampler, batch_size, last_batch or "keep")


__all__ = ["DataLoader"]
