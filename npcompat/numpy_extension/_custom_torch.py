"""Functions of torch's tensors as custom operators, with torch's own derivative.

Arrays reach the function as tensors on the CPU, and results go back. It is the one place where the
automatic differentiation of another library is asked: for functions that only it knows.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as onp


def _torch() -> Any:
    return import_module("npcompat._internal.support.optional_torch").torch


def _tensors(torch: Any, arrays: Any) -> list[Any]:
    return [torch.from_numpy(onp.array(a, order="C")) for a in arrays]


def _results(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list | tuple) else [found]


def on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of tensors as one of NumPy's arrays."""
    torch = _torch()

    def call(*arrays: Any, **attrs: Any) -> list[onp.ndarray[Any, Any]]:
        with torch.no_grad():
            found = _results(function(*_tensors(torch, arrays), **attrs))
        for i, one in enumerate(found):
            if not isinstance(one, torch.Tensor):
                raise TypeError(
                    f"output {i} of a 'torch' operator: expected a tensor, got {type(one).__name__}"
                )
        return [one.detach().cpu().resolve_conj().numpy() for one in found]

    call.__name__ = getattr(function, "__name__", type(function).__name__)
    return call


def pullback(
    operator: Callable[[Callable[..., Any], int], Callable[..., Any]],
    function: Callable[..., Any],
) -> Callable[..., Any]:
    """Return the `bprop` of a function of tensors, by torch's automatic differentiation.

    Parameters
    ----------
    operator : callable
        Function that makes a custom operator of a function of NumPy's arrays and a number of inputs.
    function : callable
        Function of tensors.
    """
    torch = _torch()
    operators: dict[tuple[int, Any], Callable[..., Any]] = {}

    def gradients(inputs: int, attrs: Any) -> Callable[..., Any]:
        def compute(*arrays: Any) -> Any:
            tensors = _tensors(torch, arrays)
            leaves, cotangents = tensors[:inputs], tensors[inputs:]
            wanted = [t for t in leaves if t.is_floating_point() or t.is_complex()]
            for tensor in wanted:
                tensor.requires_grad_(True)
            with torch.enable_grad():
                outs = _results(function(*leaves, **dict(attrs)))
            pairs = [(o, c) for o, c in zip(outs, cotangents, strict=True) if o.requires_grad]
            found = iter(
                torch.autograd.grad(
                    [o for o, _ in pairs], wanted, [c for _, c in pairs], allow_unused=True
                )
                if pairs
                else [None] * len(wanted)
            )
            grads = [next(found) if t.requires_grad else None for t in leaves]
            return [
                onp.zeros(a.shape, a.dtype) if g is None else g.numpy()
                for g, a in zip(grads, arrays, strict=False)
            ]

        return compute

    def bprop(*arguments: Any, **attrs: Any) -> tuple[Any, ...]:
        *xs, _, douts = arguments
        key = len(xs), tuple(sorted(attrs.items()))
        if key not in operators:
            operators[key] = operator(gradients(*key), len(xs))
        found = operators[key](*xs, *_results(douts))
        return tuple(_results(found))

    return bprop


__all__ = ["on_arrays", "pullback"]
