"""Adapter for grain: its batches as npcompat arrays."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as onp

from npcompat.gluon.data._loader import mapped
from npcompat.numpy._creation import array


class GrainLoader:
    """Loader of grain's batches: NumPy arrays become npcompat arrays.

    grain is not imported: any iterable works whose batches are NumPy arrays, or lists, tuples and
    dicts of them. The opposite direction needs no adapter: `grain.MapDataset.source` takes datasets
    of `gluon.data`, and `DataLoader` takes a `grain.MapDataset`.

    Parameters
    ----------
    dataset : grain.MapDataset, grain.IterDataset or grain.DataLoader
        Iterable of batches; each loop starts a new epoch.

    Examples
    --------
    >>> batches = [{"x": onp.ones((2, 3), "float32"), "y": onp.array([0, 1])}]
    >>> for batch in gluon.data.GrainLoader(batches):
    ...     print(batch["x"].sum(), batch["y"])
    6.0 [0 1]
    """

    def __init__(self, dataset: Iterable[Any]) -> None:
        if not hasattr(dataset, "__iter__"):
            raise TypeError(
                "GrainLoader: expected a grain dataset or loader, or another iterable, got "
                f"{type(dataset).__name__}"
            )
        if hasattr(dataset, "__next__"):
            raise TypeError(
                "GrainLoader: expected what can be iterated over again, not an iterator"
            )
        self._dataset = dataset

    def __len__(self) -> int:
        return len(self._dataset)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        for batch in self._dataset:
            yield mapped(_ours, batch)


def _ours(leaf: Any) -> Any:
    return array(leaf) if isinstance(leaf, onp.ndarray) else leaf


__all__ = ["GrainLoader"]
