"""DataLoader: batches of a dataset, made in this thread, in threads, or in processes.

Processes are spawned, never forked, as XLA does not survive a fork. They receive the dataset when
they start, and at the start of an epoch if it has changed. They work on the host, and send batches
back as NumPy arrays. Each batch draws from a random stream of its own, so that it does not depend
on the worker that makes it.
"""

import contextvars
import multiprocessing
import pickle
import random as python_random
import signal
import weakref
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import processes
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.devices import Place, as_device
from npcompat._internal.dispatch.meshes import Sharding
from npcompat._internal.random import stream
from npcompat._internal.support.interrupts import uninterrupted
from npcompat.gluon._parameter import draw_seed
from npcompat.gluon.data._dataset import ArrayDataset
from npcompat.gluon.data._sampler import BatchSampler, RandomSampler, SequentialSampler
from npcompat.gluon.data._sent import Sent
from npcompat.gluon.data.batchify import default_batchify_fn
from npcompat.numpy._creation import array, asarray
from npcompat.numpy_extension._sharding import check_alike, joined

# --- in worker processes --------------------------------------------------------------------------

_APART = 2**40
"""Distance of the random streams of batches between processes, which make different samples."""
_work: list[Any] = []  # in a worker: the number of what it was sent, the dataset, the function


def _begin(content: bytes, number: int) -> None:
    # Ctrl-C is sent to all processes of a terminal; the main process decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _take(number, pickle.loads(content))


def _take(number: int, sent: Any) -> None:
    dataset, batchify, numpy_dtypes = sent
    modes.set_default(backend="numpy", numpy_dtypes=numpy_dtypes)
    _work[:] = number, dataset, batchify


def _make(indices: Sequence[int], seed: int, number: int, path: str) -> Any:
    if _work[0] < number:
        with open(path, "rb") as file:
            _take(pickle.load(file), pickle.load(file))
    python_random.seed(seed)
    onp.random.seed(seed % 2**32)
    _, dataset, batchify = _work
    with stream.default.elsewhere(seed):
        return mapped(_as_host, batchify([dataset[i] for i in indices]))


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Let processes start with SIGINT blocked, so that it does not end them before they ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _HostArray:
    """Marks an npcompat array that a worker sends as a NumPy array."""

    __slots__ = ("values",)

    def __init__(self, values: onp.ndarray[Any, Any]) -> None:
        self.values = values


def mapped(change: Callable[[Any], Any], batch: Any) -> Any:
    """Apply a function to the leaves of a batch: the items of its lists, tuples and dicts."""
    if isinstance(batch, dict):
        return type(batch)({key: mapped(change, part) for key, part in batch.items()})
    if isinstance(batch, list | tuple):
        parts = [mapped(change, part) for part in batch]
        return batch._make(parts) if hasattr(batch, "_make") else type(batch)(parts)
    return change(batch)


def _as_host(leaf: Any) -> Any:
    return _HostArray(onp.asarray(handles.to_host(leaf))) if isinstance(leaf, Handle) else leaf


def _from_host(leaf: Any) -> Any:
    return array(leaf.values) if isinstance(leaf, _HostArray) else leaf


# --- here -----------------------------------------------------------------------------------------


class DataLoader:
    """DataLoader: iterates over the batches of a dataset.

    Draws from `np.random` while a batch is made are determined by `np.random.seed` before the loop:
    batches are the same, in the same order, for any number of workers of either kind. An error in a
    worker is raised in the loop. So is the death of a worker, or a timeout; the next loop starts
    new workers then. A stuck thread, unlike a process, can't be terminated.

    Parameters
    ----------
    dataset : Dataset
        The samples; anything with `__getitem__` and `__len__`.
    batch_size : int, optional
        Samples in a batch; needed unless `batch_sampler` is given.
    shuffle : bool
        Whether samples are shuffled with `np.random`, differently in each epoch.
    sampler : Sampler, optional
        Order of the samples, instead of `shuffle`.
    last_batch : {'keep', 'discard', 'rollover'}, optional
        Whether an incomplete last batch is returned (the default), dropped, or begins the next
        epoch.
    batch_sampler : Sampler, optional
        Yields lists of indices, instead of the four previous arguments.
    batchify_fn : callable, optional
        Collates a list of samples into a batch; stacks them if not given.
    num_workers : int
        Number of processes, or threads, that prefetch batches; 0 makes each batch on demand.
        Since processes are spawned, the dataset must be picklable, and a script needs `if
        __name__ == "__main__":`.
    pin_memory, pin_device_id
        Hints to MXNet's loader, without effect: the next batch is always transferred to the device
        while the current one is used.
    prefetch : int, optional
        Number of batches made ahead; twice the number of workers if not given.
    thread_pool : bool
        Whether workers are threads.
    timeout : float
        Seconds to wait for a batch.
    device : Device, Sharding or Mesh, optional
        Place of the batches, such as ``mesh("data")``. Of several processes each makes the rows
        that its devices hold; the order of samples and the number of batches are those of all.
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
        *,
        device: Any = None,
    ) -> None:
        if try_nopython:
            raise NotImplementedError(
                "DataLoader(try_nopython=True): samples are always made by Python"
            )
        if num_workers < 0 or timeout <= 0 or (prefetch is not None and prefetch < 0):
            raise ValueError(
                f"DataLoader: num_workers={num_workers} and prefetch={prefetch} must not be "
                f"negative, timeout={timeout} be positive"
            )
        self._dataset, self._batchify = dataset, batchify_fn or default_batchify_fn
        self._batch_sampler = _batches(
            dataset, batch_size, shuffle, sampler, last_batch, batch_sampler
        )
        self._workers, self._threads, self._timeout = int(num_workers), bool(thread_pool), timeout
        if num_workers:
            uninterrupted.install()  # an interrupt in the collector's callbacks must not be lost
        self._ahead = max(1, 2 * self._workers if prefetch is None else int(prefetch))
        self._pool: Executor | None = None
        self._sent = Sent()
        self._place = None if device is None else as_device(device)
        self._given, self._begin = 0, (0, 0)  # batches of this epoch, and where its draws began
        self._resumed: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        resumed, self._resumed = self._resumed, None
        if resumed is not None:
            now = stream.default.position()
            stream.default.begin(resumed["key"], resumed["counter"])
        self._begin, self._given = stream.default.position(), 0
        if self._place is not None and processes.count() > 1:
            self._check_streams()
        seed = (
            draw_seed()
        )  # also without workers, so that later draws do not depend on their number
        batches: Iterator[tuple[int, Sequence[int]]] = enumerate(iter(self._batch_sampler), seed)
        left = None
        if resumed is not None:
            left = self._number() - resumed["batches"]
            for self._given in range(1, resumed["batches"] + 1):
                next(batches, None)
            stream.default.begin(*now)
        orders: deque[int] = deque()
        if self._place is not None:
            batches = self._rows_here(batches, self._place, orders)
        made: Iterator[Any]
        if self._workers == 0:
            made = (self._batch(indices, number % 2**64) for number, indices in batches)
        else:
            made = self._ahead_of(batches, left)
        return self._counted(made, orders)

    def _number(self) -> int:
        """Return the number of batches of an epoch; -1 if the sampler does not know it."""
        try:
            return len(self._batch_sampler)
        except TypeError:
            return -1

    def _counted(self, batches: Iterator[Any], orders: "deque[int]") -> Iterator[Any]:
        """Yield batches, in their place, and count them."""
        for batch in batches:
            self._given += 1
            yield batch if self._place is None else self._in_place(batch, orders)
        self._given = 0

    def _in_place(self, batch: Any, orders: "deque[int]") -> Any:
        """Put the arrays of a batch in their place, and compare processes."""
        types: list[str] = []

        def placed(leaf: Any) -> Any:
            found = self._placed(leaf)
            if found is not leaf:
                types.append(f"{found.shape} {found.dtype}")
            return found

        made = mapped(placed, batch)
        if processes.count() > 1 and isinstance(self._place, Sharding):
            what = f"a batch of {', '.join(types)}, from samples whose numbers have the sum "
            check_alike("DataLoader", f"{what}{orders.popleft()}", self._place)
        return made

    def state_dict(self) -> dict[str, int]:
        """Return the position in the epoch, from which a loader alike can go on.

        Examples
        --------
        >>> loader = gluon.data.DataLoader(np.arange(6), batch_size=2, shuffle=True)
        >>> _ = next(iter(loader))
        >>> loader.state_dict()["batches"]
        1
        """
        key, counter = self._begin
        return {"key": key, "counter": counter, "batches": self._given}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go on from a position: the next loop yields what was left of that epoch."""
        wanted = {name: int(state[name]) for name in ("key", "counter", "batches")}
        self._resumed = wanted if wanted["batches"] else None

    def _check_streams(self) -> None:
        """Raise RuntimeError if the processes would draw different orders of samples."""
        if not processes.agree(onp.array(stream.default.position(), onp.uint64)):
            raise RuntimeError(
                "DataLoader: the random streams of the processes differ, and so would the order of "
                "samples: call np.random.seed with the same number in all of them"
            )

    def _rows_here(
        self,
        batches: Iterator[tuple[int, Sequence[int]]],
        place: Place,
        orders: "deque[int]",
    ) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield of each batch the samples that this process makes; note a sum of all of them."""
        rank = processes.rank()
        for number, indices in batches:
            whole = list(indices)
            if not isinstance(place, Sharding):
                yield number, whole
                continue
            rows = place.mesh(*place.spec[:1])
            if any(place.spec[1:]) and processes.count() > 1:
                raise NotImplementedError(
                    f"DataLoader(device={place!r}): several processes cut batches along their first "
                    f"axis only: give {rows!r}, and npx.shard the batches further"
                )
            if not rows.fits((len(whole),)):
                raise ValueError(
                    f"DataLoader: a batch of {len(whole)} samples can't be cut evenly by {place!r}; "
                    "use another batch_size, or last_batch='discard'"
                )
            parts = rows.resolve().addressable_devices_indices_map((len(whole),)).values()
            if processes.count() > 1:
                orders.append(zlib.crc32(repr([str(i) for i in whole]).encode()))
            spans = sorted({part[0].indices(len(whole))[:2] for part in parts})
            yield number + rank * _APART, [i for b, e in spans for i in whole[b:e]]

    def _placed(self, leaf: Any) -> Any:
        """Put an array of a batch in its place."""
        if not isinstance(leaf, Handle | onp.ndarray):
            return leaf
        if isinstance(self._place, Sharding):
            array = asarray(leaf)
            return joined(array, self._place.mesh(*self._place.spec[: array.ndim]))
        return asarray(leaf).to_device(self._place)

    def _batch(self, indices: Sequence[int], seed: int) -> Any:
        dataset = self._dataset
        if (
            self._batchify is default_batchify_fn
            and type(dataset) is ArrayDataset
            and dataset._has_batches()
        ):
            return dataset._batch(indices)
        with stream.default.elsewhere(seed):
            return self._batchify([dataset[i] for i in indices])

    def _ahead_of(
        self, batches: Iterator[tuple[int, Sequence[int]]], left: int | None
    ) -> Iterator[Any]:
        """Yield batches in order, while later ones are prefetched.

        Samplers may keep something for the next epoch when they end. So their end is not looked
        for before the loop has all `left` batches: as many as the sampler says, if not given.
        """
        if left is None:
            left = self._number()
        waiting: deque[Future[Any]] = deque()
        placed: deque[Any] = deque()  # the next batch, if its transfer has started
        if self._pool is not None and not self._threads:
            self._sent.update(self._content())
        try:
            for number, indices in batches:
                waiting.append(self._submitted(indices, number % 2**64))
                left -= 1
                if len(waiting) > self._ahead:
                    yield self._next(waiting, placed)
                while left == 0 and (waiting or placed):
                    yield self._next(waiting, placed)
            while waiting or placed:
                yield self._next(waiting, placed)
        except KeyboardInterrupt:
            # A terminal interrupts the workers, too, after which their pool is of no use.
            self._end_workers()
            raise
        finally:
            for future in waiting:
                future.cancel()

    def _next(self, waiting: "deque[Future[Any]]", placed: deque[Any]) -> Any:
        """Return the next batch; start the transfer of the one after it, if it is ready."""
        batch = placed.popleft() if placed else self._received(waiting.popleft())
        if waiting and waiting[0].done() and waiting[0].exception() is None:
            placed.append(self._received(waiting.popleft()))
        return batch

    def _submitted(self, indices: Sequence[int], seed: int) -> "Future[Any]":
        if self._pool is None:
            self._pool = self._started()
            weakref.finalize(self, self._pool.shutdown, wait=False, cancel_futures=True)
        try:
            if self._threads:
                return self._pool.submit(contextvars.copy_context().run, self._batch, indices, seed)
            with _interrupts_blocked():
                sent = self._sent
                return self._pool.submit(_make, list(indices), seed, sent.number, sent.path)
        except BrokenProcessPool as error:
            raise self._worker_died() from error

    def _started(self) -> Executor:
        if self._threads:
            return ThreadPoolExecutor(self._workers, thread_name_prefix="DataLoader")
        content = self._sent.first(self._content())
        return ProcessPoolExecutor(
            self._workers,
            multiprocessing.get_context("spawn"),
            _begin,
            (content, self._sent.number),
        )

    def _content(self) -> tuple[Any, ...]:
        """Return what worker processes are sent."""
        return self._dataset, self._batchify, modes.current().numpy_dtypes

    def _received(self, future: "Future[Any]") -> Any:
        try:
            return mapped(_from_host, future.result(self._timeout))
        except FutureTimeout:
            if future.done():  # the sample's own code raised it
                raise
            self._end_workers()
            raise TimeoutError(
                f"DataLoader: no batch came within {self._timeout} seconds; is a worker stuck? "
                "A script that uses num_workers needs `if __name__ == '__main__':` around what it "
                "does, as each worker imports it; timeout= sets how long to wait"
            ) from None
        except BrokenProcessPool as error:
            raise self._worker_died() from error

    def _worker_died(self) -> RuntimeError:
        self._end_workers()
        return RuntimeError(
            "DataLoader: a worker process died. Was it killed, as when memory runs out? Does the "
            "script lack "
            "`if __name__ == '__main__':` around what it runs, or can't a worker import what the "
            "dataset needs?"
        )

    def _end_workers(self) -> None:
        """Drop the workers, and terminate processes; the next loop starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            processes = (
                list((pool._processes or {}).values())
                if isinstance(pool, ProcessPoolExecutor)
                else []
            )
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()


def _batches(
    dataset: Any,
    batch_size: int | None,
    shuffle: bool,
    sampler: Any,
    last_batch: str | None,
    batch_sampler: Any,
) -> Any:
    if batch_sampler is not None:
        if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError(
                "DataLoader: batch_sampler comes instead of batch_size, shuffle, sampler and "
                "last_batch"
            )
        return batch_sampler
    if batch_size is None:
        raise ValueError("DataLoader: batch_size is needed, unless batch_sampler is given")
    if sampler is None:
        sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
    elif shuffle:
        raise ValueError("DataLoader: sampler comes instead of shuffle")
    return BatchSampler(sampler, batch_size, last_batch or "keep")


__all__ = ["DataLoader"]
