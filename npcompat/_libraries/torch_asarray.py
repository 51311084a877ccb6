"""`torch.asarray` of npcompat's arrays: `torch.as_tensor`, which asks for DLPack.

Torch's own function would ask for the buffer first, and read its bytes as float32.
"""

import functools
from typing import Any

import torch

from npcompat._internal.core.handle import Handle

_of_torch = torch.asarray


@functools.wraps(_of_torch)
def asarray(obj: Any, **options: Any) -> Any:
    """Return a tensor of an array, a list, a number or a buffer; of npcompat's arrays, too."""
    return _of_torch(torch.as_tensor(obj) if isinstance(obj, Handle) else obj, **options)


torch.asarray = asarray

__all__ = ["asarray"]
