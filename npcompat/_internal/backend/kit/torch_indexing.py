"""Positions, views and writes of tensors: what operators do in the memory of torch's tensors."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from npcompat._internal.backend.kit.torch_namespace import torch
from npcompat._internal.core.index_spec import host_index


def placed(x: Any, axis: int, at: Any, new: Any) -> Any:
    """Array with parts put at positions; of several for one position, the last one.

    GPUs would keep any of these: there, the last one is found first.
    """
    if x.device.type == "cpu" or not at.numel():
        return torch.index_copy(x, axis, at, new)
    count = torch.arange(len(at), device=x.device)
    last = torch.full((x.shape[axis],), -1, device=x.device).scatter_reduce(0, at, count, "amax")
    written = (last >= 0).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return torch.where(written, new.index_select(axis, last.clamp(min=0)), x)


def permutation(pivots: Any, rows: int) -> Any:
    order = torch.arange(rows, dtype=torch.int32).expand(*pivots.shape[:-1], rows).clone()
    flat = order.reshape(-1, rows)
    for row, exchanges in enumerate(pivots.reshape(-1, pivots.shape[-1]).tolist()):
        for i, other in enumerate(exchanges):
            flat[row, [i, other]] = flat[row, [other, i]]
    return flat.reshape(order.shape).to(pivots.device)


def _forwards(key: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[int, ...]] | None:
    """A key without negative steps, and the axes that are turned; None if it has none."""
    if not any([isinstance(k, slice) and (k.step or 1) < 0 for k in key]):
        return None
    found: list[Any] = []
    turned: list[int] = []
    axis = 0
    for k in key:
        if isinstance(k, slice) and (k.step or 1) < 0:
            last = k.start % -k.step if k.stop is None else k.stop - k.step
            if k.stop is not None:
                last = k.stop + (k.start - k.stop) % -k.step
                last = last if (k.start - k.stop) % -k.step else k.stop - k.step
            k = slice(last, k.start + 1, -k.step)
            turned.append(axis)
        found.append(k)
        axis += not isinstance(k, int)
    return tuple(found), tuple(turned)


def _look(x: Any, *starts: int, spec: Any) -> Any:
    key = host_index(starts, spec)
    forwards = _forwards(key)
    if forwards is None:
        return x[(*key, ...)]
    return torch.flip(x[(*forwards[0], ...)], forwards[1])  # torch has no negative strides


def _write(x: Any, new: Any, *starts: int, spec: Any) -> None:
    key = host_index(starts, spec)
    forwards = _forwards(key)
    if forwards is None:
        x[(*key, ...)] = new
        return
    part = x[(*forwards[0], ...)]
    part[...] = torch.flip(new.expand(part.shape), forwards[1])


def _transposed(x: Any, axes: Any) -> Any:
    return torch.permute(x, tuple(range(x.ndim))[::-1] if axes is None else axes)


VIEWS: Mapping[str, Callable[..., Any]] = {
    "_npi_index_get": _look,
    "_npi_transpose": _transposed,
    "_npi_reshape": lambda x, shape: torch.reshape(x, shape),
}
WRITES: Mapping[str, Callable[..., Any]] = {"_npi_index_put": _write}

__all__ = ["VIEWS", "WRITES", "permutation", "placed"]
