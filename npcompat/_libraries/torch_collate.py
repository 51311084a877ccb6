"""Batches of npcompat's arrays by torch's `DataLoader`, as of NumPy's."""

from collections.abc import Sequence
from typing import Any

import numpy as onp
import torch
from torch.utils.data._utils.collate import default_collate_fn_map

from npcompat._internal.core.handle import Handle
from npcompat._libraries.replacing import with_numpys


def collate_arrays(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Stack arrays of npcompat to one tensor.

    Parameters
    ----------
    batch : sequence of ndarray
        Arrays of one shape.
    collate_fn_map : dict, optional
        Functions of other classes, which torch passes to each.
    """
    if isinstance(batch[0], onp.generic):  # those on XLA, too, are instances of NumPy's scalars
        return torch.as_tensor(with_numpys(list(batch)))
    return torch.stack([torch.as_tensor(array) for array in batch])


_others = dict(default_collate_fn_map)
default_collate_fn_map.clear()
default_collate_fn_map.update({Handle: collate_arrays, **_others})  # the first class that fits

__all__ = ["collate_arrays"]
