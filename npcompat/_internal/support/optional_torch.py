"""PyTorch, an optional dependency: the module, or the error that says how to install it."""

from typing import Any

try:
    import torch as _torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "the torch backend needs PyTorch: pip install 'npcompat[torch]'", name="torch"
    ) from error

torch: Any = _torch

__all__ = ["torch"]
