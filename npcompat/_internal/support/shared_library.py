"""Functions of compiled shared libraries as functions of NumPy arrays.

The calling convention is MindSpore's: inputs first, then outputs, whose memory the caller owns, and
0 for success:

    int name(int nparam, void **params, int *ndims, int64_t **shapes, const char **dtypes, void
    *stream, void *extra)
"""

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as onp

Types = Sequence[tuple[tuple[int, ...], Any]]


def function(path: str) -> Callable[[Sequence[Any], Types], list[onp.ndarray[Any, Any]]]:
    """Load a function of a shared library, such as `./lib.so:name`.

    It is called as `f(arrays, types of the outputs) -> outputs`.

    Raises
    ------
    ValueError
        If the path names no function, or the library has none of that name.
    OSError
        If there is no such library, or it can't be loaded.
    """
    file, _, name = path.rpartition(":")
    if not file or not name:
        raise ValueError(
            "func of an 'aot' operator: expected a path and a function, such as './lib.so:add', "
            f"got {path!r}"
        )
    if not Path(file).exists():
        raise FileNotFoundError(f"func of an 'aot' operator: there is no file {file!r}")
    library = ctypes.CDLL(str(Path(file).resolve()))
    try:
        compiled = getattr(library, name)
    except AttributeError as error:
        raise ValueError(f"func of an 'aot' operator: {file} has no function {name!r}") from error
    compiled.restype = ctypes.c_int

    def call(arrays: Sequence[Any], types: Types) -> list[onp.ndarray[Any, Any]]:
        outs = [onp.zeros(shape, dtype) for shape, dtype in types]
        buffers = [*[onp.ascontiguousarray(a).reshape(onp.shape(a)) for a in arrays], *outs]
        count = len(buffers)
        shapes = [(ctypes.c_int64 * max(a.ndim, 1))(*a.shape) for a in buffers]
        failed = compiled(
            ctypes.c_int(count),
            (ctypes.c_void_p * count)(*[a.ctypes.data for a in buffers]),
            (ctypes.c_int * count)(*[a.ndim for a in buffers]),
            (ctypes.POINTER(ctypes.c_int64) * count)(
                *[ctypes.cast(s, ctypes.POINTER(ctypes.c_int64)) for s in shapes]
            ),
            (ctypes.c_char_p * count)(*[a.dtype.name.encode() for a in buffers]),
            None,
            None,
        )
        if failed:
            raise RuntimeError(f"{path} returned {failed}; 0 means success")
        return outs

    return call


__all__ = ["function"]
