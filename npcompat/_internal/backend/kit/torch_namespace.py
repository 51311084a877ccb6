"""torch's functions by the names of the array-API standard, without promotion, which equations have
done already.
"""

from typing import Any

from npcompat._internal.support.optional_torch import torch


def _axes(axis: Any) -> Any:
    return (axis,) if isinstance(axis, int) else tuple(axis)


_NAMES = {
    "concat": lambda arrays, axis=0: torch.cat(arrays, dim=axis),
    "stack": lambda arrays, axis=0: torch.stack(list(arrays), dim=axis),
    "permute_dims": torch.permute,
    "broadcast_to": lambda x, shape: x.expand(shape),
    "equal": torch.eq,
    "not_equal": torch.ne,
    "less": torch.lt,
    "less_equal": torch.le,
    "greater": torch.gt,
    "greater_equal": torch.ge,
    "bitwise_invert": torch.bitwise_not,
    "astype": lambda x, dtype: x.to(dtype),
    "flip": lambda x, axis: torch.flip(x, _axes(axis)),
    "divide": torch.div,
    "take": lambda x, at, axis: torch.index_select(x, axis, at),
    "take_along_axis": lambda x, at, axis: torch.gather(x, axis, at),
    "conj": torch.conj_physical,
    "sum": lambda x, axis, dtype=None: torch.sum(x, axis, dtype=dtype),
    "any": lambda x, axis: torch.any(x, dim=axis),
    "all": lambda x, axis: torch.all(x, dim=axis),
    "asarray": torch.as_tensor,
}


class Namespace:
    """torch's functions by the names of the standard."""

    def __getattr__(self, name: str) -> Any:
        found = _NAMES.get(name)
        found = getattr(torch, name) if found is None else found
        setattr(self, name, found)
        return found


__all__ = ["Namespace", "torch"]
