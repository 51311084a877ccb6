"""NumPy's `ctypeslib`, with pointers that take npcompat's arrays, too."""

import functools
from typing import Any

import numpy as onp
from numpy.ctypeslib import as_array, as_ctypes, as_ctypes_type, c_intp, load_library

from npcompat._internal.core.handle import Handle


class _TakesOurs:
    """Mixin of NumPy's classes of pointers."""

    @classmethod
    def from_param(cls, obj: Any) -> Any:
        """Convert an argument of a function in C: an array, whose memory the function may write."""
        if isinstance(obj, Handle):
            memory: Any = obj
            memory.ctypes  # noqa: B018  # raise if its memory may not be written
            obj = onp.asarray(memory)
        return super().from_param(obj)  # type: ignore[misc]


@functools.cache
def _taking_ours(kind: Any) -> Any:
    return type(kind.__name__, (_TakesOurs, kind), {})


def ndpointer(dtype: Any = None, ndim: Any = None, shape: Any = None, flags: Any = None) -> Any:
    """Return a class for `argtypes` of ctypes that takes arrays, of npcompat or NumPy.

    Arguments are checked, and the function in C gets the address of the array's own memory. As a
    `restype`, it gives NumPy's arrays.

    Parameters
    ----------
    dtype : dtype, optional
        Dtype that arrays must have.
    ndim : int, optional
        Number of axes that they must have.
    shape : tuple of int, optional
        Shape that they must have.
    flags : str or tuple of str, optional
        Flags that they must have, such as ``"C_CONTIGUOUS"``.

    Raises
    ------
    AddressNotImplementedError
        At the call, if an array is recorded or on XLA: what C writes can't be refused.

    Examples
    --------
    >>> import ctypes
    >>> fill = ctypes.CDLL(None).memset
    >>> kind = np.ctypeslib.ndpointer(np.int32, flags="C_CONTIGUOUS")
    >>> fill.argtypes = [kind, ctypes.c_int, ctypes.c_size_t]
    >>> a = np.zeros(2, dtype="int32")
    >>> _ = fill(a, 1, a.nbytes)
    >>> a
    array([16843009, 16843009], dtype=int32)
    """
    return _taking_ours(onp.ctypeslib.ndpointer(dtype, ndim, shape, flags))


__all__ = ["as_array", "as_ctypes", "as_ctypes_type", "c_intp", "load_library", "ndpointer"]
