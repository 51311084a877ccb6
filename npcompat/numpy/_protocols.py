"""NumPy's protocols: its functions and ufuncs, called with our arrays, are ours."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal import dispatch
from npcompat._internal.handle import Handle
from npcompat.numpy._host_arrays import as_numpys, given_back


class Protocols(Handle):
    """What `numpy.add(ours, theirs)` and `numpy.concatenate([ours])` ask for."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: onp.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Run the function of the ufunc's name; what it is to write into arrays of NumPy's is copied there."""
        ours = getattr(importlib.import_module("npcompat.numpy"), ufunc.__name__, None)
        if ours is None or getattr(onp, ufunc.__name__, None) is not ufunc:
            return NotImplemented
        if ours is ufunc:
            return _by_numpy(getattr(ufunc, method), inputs, kwargs)
        call = ours if method == "__call__" else getattr(ours, method)
        outs = kwargs.get("out", ())
        if not any([isinstance(o, onp.ndarray) for o in outs]):
            return call(*inputs, **kwargs)
        return _into_numpys(ufunc, call, inputs, outs, {k: v for k, v in kwargs.items() if k != "out"})

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run our function of the same name and module."""
        name = func.__module__.replace("numpy", "npcompat.numpy", 1)
        try:
            ours = getattr(importlib.import_module(name), func.__name__)
        except (ImportError, AttributeError):
            return NotImplemented
        return _by_numpy(func, args, kwargs) if ours is func else ours(*args, **kwargs)


def _by_numpy(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A function that is NumPy's own here, too, on the values of our arrays."""
    return given_back(function(*[as_numpys(a) for a in args], **{name: as_numpys(a) for name, a in kwargs.items()}))


def _into_numpys(ufunc: onp.ufunc, call: Any, inputs: Sequence[Any], outs: Sequence[Any], options: dict[str, Any]) -> Any:
    """A ufunc that writes into NumPy's arrays, some perhaps into ours."""
    if options.get("where", True) is not True:
        raise NotImplementedError(f"{ufunc.__name__}(out=, where=): with an `out` of NumPy's, where= is not supported; convert `out` first")
    casting = options.get("casting", "same_kind")
    found = call(*inputs, **options)
    results = found if isinstance(found, tuple) else (found,)
    for result, out in zip(results, outs, strict=True):
        if out is not None and not onp.can_cast(result.dtype, out.dtype, casting):
            raise TypeError(
                f"Cannot cast ufunc '{ufunc.__name__}' output from {result.dtype!r} to {out.dtype!r} with casting rule '{casting}'"
            )
        if out is not None and result.shape != out.shape and onp.broadcast_shapes(result.shape, out.shape) != out.shape:
            raise ValueError(f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast shape {result.shape}")
    written = []
    for result, out in zip(results, outs, strict=True):
        if out is not None:
            out[...] = dispatch.to_host(result) if isinstance(out, onp.ndarray) else result
        written.append(result if out is None else out)
    return tuple(written) if isinstance(found, tuple) else written[0]


__all__ = ["Protocols"]
