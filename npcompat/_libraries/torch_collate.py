"""Batches of npcompat's arrays by torch's `DataLoader`, as of NumPy's."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils.data._utils.collate import default_collate_fn_map

from npcompat._internal.core.handle import Handle


def collate_arrays(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Stack arrays of npcompat to one tensor.

    Parameters
    ----------
    batch : sequence of ndarray
        Arrays of one shape.
    collate_fn_map : dict, optional
        Functions of other classes, which torch passes to each.
    """
    return torch.stack([torch.as_tensor(array) for array in batch])


default_collate_fn_map[Handle] = collate_arrays

__all__ = ["collate_arrays"]
