"""Datasets: sequences of samples."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles
from npcompat.gluon.data._sampler import Sampler
from npcompat.gluon.data.batchify import is_recorded
from npcompat.numpy._creation import array
from npcompat.recordio import MXIndexedRecordIO


class Dataset:
    """Base class of datasets; a subclass defines `__getitem__(idx)` and `__len__()`.

    A sample can be anything: an array, a number, or a tuple of them.
    """

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(idx)")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define __len__()")

    def filter(self, fn: Callable[[Any], bool]) -> "Dataset":
        """Return the samples for which a function is true; it is called on all of them now.

        Examples
        --------
        >>> list(gluon.data.SimpleDataset([1, 2, 3]).filter(lambda x: x > 1))
        [2, 3]
        """
        return _Selected(self, [i for i in range(len(self)) if fn(self[i])])

    def shard(self, num_shards: int, index: int) -> "Dataset":
        """Return one of several shards, whose sizes differ by at most one.

        Parameters
        ----------
        num_shards : int
            Number of parts.
        index : int
            Index of the shard.

        Examples
        --------
        >>> list(gluon.data.SimpleDataset([1, 2, 3]).shard(2, 0))
        [1, 2]
        """
        if not 0 <= index < num_shards:
            raise ValueError(f"shard: index must be in [0, {num_shards}), got {index}")
        size, larger = divmod(len(self), num_shards)
        begin = size * index + min(index, larger)
        return _Selected(self, range(begin, begin + size + (index < larger)))

    def take(self, count: int | None) -> "Dataset":
        """Return the first samples; all if `count` is None.

        Examples
        --------
        >>> list(gluon.data.SimpleDataset([1, 2, 3]).take(2))
        [1, 2]
        """
        return _Selected(self, range(len(self) if count is None else min(count, len(self))))

    def sample(self, sampler: Sampler) -> "Dataset":
        """Return the samples at the indices of a sampler, which is iterated now.

        Examples
        --------
        >>> sampler = gluon.data.SequentialSampler(2, start=1)
        >>> list(gluon.data.SimpleDataset([1, 2, 3]).sample(sampler))
        [2, 3]
        """
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sample: expected a Sampler, got {type(sampler).__name__}")
        return _Selected(self, list(sampler))

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> "Dataset":
        """Apply a function to each sample; tuples are passed as several arguments.

        Parameters
        ----------
        fn : callable
            The function.
        lazy : bool
            Whether it is called at each access to a sample, or for all samples now.

        Examples
        --------
        >>> list(gluon.data.SimpleDataset([1, 2]).transform(lambda x: 10 * x))
        [10, 20]
        """
        transformed = _Transformed(self, fn)
        return (
            transformed
            if lazy
            else SimpleDataset([transformed[i] for i in range(len(transformed))])
        )

    def transform_first(self, fn: Callable[..., Any], lazy: bool = True) -> "Dataset":
        """Apply a function to the first element of each sample; otherwise as `transform`.

        Examples
        --------
        >>> list(gluon.data.ArrayDataset([1, 2], [3, 4]).transform_first(lambda x: 10 * x))
        [(10, 3), (20, 4)]
        """
        return self.transform(_First(fn), lazy)


class _Selected(Dataset):
    """Subset of another dataset."""

    def __init__(self, dataset: Dataset, positions: Sequence[int]) -> None:
        self._dataset, self._positions = dataset, positions

    def __len__(self) -> int:
        return len(self._positions)

    def __getitem__(self, idx: int) -> Any:
        return self._dataset[self._positions[idx]]


class _Transformed(Dataset):
    """Dataset that applies a function to the samples of another one."""

    def __init__(self, dataset: Dataset, fn: Callable[..., Any]) -> None:
        self._dataset, self._fn = dataset, fn

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, idx: int) -> Any:
        sample = self._dataset[idx]
        return self._fn(*sample) if isinstance(sample, tuple) else self._fn(sample)


class _First:
    """Function that transforms the first of several arguments.

    A class, so that it can be pickled for worker processes.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn

    def __call__(self, first: Any, *rest: Any) -> Any:
        return (self._fn(first), *rest) if rest else self._fn(first)


class SimpleDataset(Dataset):
    """Dataset of a list, or of any object that can be indexed.

    Parameters
    ----------
    data : sequence
        The samples.

    Examples
    --------
    >>> gluon.data.SimpleDataset([1, 2, 3])[1]
    2
    """

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]


class ArrayDataset(Dataset):
    """Dataset of arrays of equal length: sample i is the tuple of their elements i.

    Parameters
    ----------
    *args : array or sequence
        The arrays.

    Raises
    ------
    ValueError
        If their lengths differ.

    Examples
    --------
    >>> data = gluon.data.ArrayDataset(np.array([[1.0], [2.0]]), [0, 1])
    >>> len(data)
    2
    >>> data[1]
    (array([2.]), 1)
    """

    def __init__(self, *args: Any) -> None:
        if not args:
            raise ValueError("ArrayDataset: expected at least one array")
        lengths = [len(a) for a in args]
        if len(set(lengths)) > 1:
            raise ValueError(
                "ArrayDataset: all arrays must have the same length, got "
                f"{', '.join(map(str, lengths))}"
            )
        self._length, self._data = lengths[0], args

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, idx: int) -> Any:
        return self._data[0][idx] if len(self._data) == 1 else tuple([a[idx] for a in self._data])

    def _batch(self, indices: Sequence[int]) -> Any:
        """Return a batch, the same as `default_batchify_fn` returns, but faster."""
        parts = [array(_on_host(a)[list(indices)]) for a in self._data]
        return parts[0] if len(parts) == 1 else parts

    def _has_batches(self) -> bool:
        return all(isinstance(a, Handle | onp.ndarray) and not is_recorded(a) for a in self._data)


class RecordFileDataset(Dataset):
    """Dataset of the records of a RecordIO file, as bytes.

    Parameters
    ----------
    filename : path
        The file, `name.rec`; its index `name.idx` must lie beside it.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "words")
    >>> with recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w") as file:
    ...     file.write_idx(0, b"one")
    >>> list(gluon.data.RecordFileDataset(path + ".rec"))
    [b'one']
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        self.filename = os.fspath(filename)
        self.idx_file = os.path.splitext(self.filename)[0] + ".idx"
        self._records = MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __len__(self) -> int:
        return len(self._records.keys)

    def __getitem__(self, idx: int) -> bytes:
        return self._records.read_idx(self._records.keys[idx])


def _on_host(data: Any) -> onp.ndarray[Any, Any]:
    return handles.to_host(data) if isinstance(data, Handle) else data


__all__ = ["ArrayDataset", "Dataset", "RecordFileDataset", "SimpleDataset"]
