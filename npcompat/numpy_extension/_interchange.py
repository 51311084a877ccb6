"""Conversion from NumPy arrays, and DLPack exchange with other libraries."""

import ctypes
from typing import Any

import numpy as onp

from npcompat import numpy as np
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch.borrowed_buffers import over_memory
from npcompat._internal.dispatch.pending_errors import raise_pending
from npcompat._internal.dispatch.placement import on_host
from npcompat._internal.native import fast_path
from npcompat.numpy._ndarray import ndarray


class _Capsule:
    """DLPack capsule with the two methods of the DLPack protocol."""

    def __init__(self, capsule: Any, device: tuple[int, int]) -> None:
        self._capsule, self._device = capsule, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


_get_context = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(
    ("PyCapsule_GetContext", ctypes.pythonapi)
)
_set_context = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(
    ("PyCapsule_SetContext", ctypes.pythonapi)
)

_WRITABLE = id(_Capsule)
"""Context of a capsule whose memory may be written; a DLPack capsule without version can't say it,
and NumPy takes each of them for read-only."""


class _Writable:
    """Memory of a NumPy array that others may write, by the array interface."""

    def __init__(self, memory: onp.ndarray[Any, Any]) -> None:
        self._memory = memory
        interface = dict(memory.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def from_numpy(ndarray: onp.ndarray[Any, Any], zero_copy: bool = True) -> ndarray:
    """Convert a NumPy array, keeping its dtype and, on the host, its memory.

    Parameters
    ----------
    ndarray : numpy.ndarray
        The array.
    zero_copy : bool
        True, the default: the result shares the memory of `ndarray`, which must be contiguous in C
        order, and which NumPy can't write any more, as in MXNet; it sees what is written into the
        result, which takes no recorded write and no other shape meanwhile. Of a read-only array the
        result is read-only. Values on XLA never share memory that is written: they are copied.
        False: both arrays are independent.

    Raises
    ------
    TypeError
        If `ndarray` is not a NumPy array.
    ValueError
        With ``zero_copy=True``, if it is not contiguous in C order.

    Examples
    --------
    >>> npx.from_numpy(onp.arange(3.0)).dtype
    dtype('float64')
    """
    if not isinstance(ndarray, onp.ndarray):
        raise TypeError(f"from_numpy: expected a numpy.ndarray, got {type(ndarray).__name__}")
    if not zero_copy:
        return np.array(ndarray)
    if not ndarray.flags.c_contiguous:
        raise ValueError(
            "from_numpy(zero_copy=True): the array must be contiguous in C order; use "
            "zero_copy=False"
        )
    if dtypes.on_devices(ndarray.dtype) and not on_host(modes.current()):
        return np.array(ndarray)
    shared: Any = over_memory(ndarray.view(onp.ndarray))
    ndarray.flags.writeable = False
    return shared


def from_dlpack(dlpack: Any) -> ndarray:
    """Import an array of another library by DLPack, without a copy if possible.

    Parameters
    ----------
    dlpack : object with ``__dlpack__``, or a capsule
        An array of another library; or a capsule, as from `to_dlpack_for_read`, which can be used
        once, and must be of CPU memory.

    Examples
    --------
    >>> npx.from_dlpack(npx.to_dlpack_for_read(np.arange(3)))
    array([0, 1, 2])
    """
    if type(dlpack).__name__ == "PyCapsule":
        writable = _get_context(dlpack) == _WRITABLE
        memory = onp.from_dlpack(_Capsule(dlpack, (1, 0)))
        made: ndarray = over_memory(onp.asarray(_Writable(memory)) if writable else memory)
        return made
    return np.from_dlpack(dlpack)


def to_dlpack_for_read(data: Any) -> object:
    """Export an array as a DLPack capsule whose memory must not be written.

    Parameters
    ----------
    data : ndarray
        The array.

    Examples
    --------
    >>> type(npx.to_dlpack_for_read(np.arange(3))).__name__
    'PyCapsule'
    """
    return _checked("to_dlpack_for_read", data).__dlpack__()


def to_dlpack_for_write(data: Any) -> object:
    """Export an array as a writable DLPack capsule.

    Each side sees the other's writes for as long as the capsule, or what was made of it, lives.
    Only for arrays on the host: values on XLA are immutable, and raise NotImplementedError.

    Parameters
    ----------
    data : ndarray
        The array.

    Examples
    --------
    >>> with npx.backend("numpy"):
    ...     x = np.zeros(3)
    ...     npx.from_dlpack(npx.to_dlpack_for_write(x))
    array([0., 0., 0.])
    """
    memory = fast_path.export(_checked("to_dlpack_for_write", data))
    if not memory.flags.writeable:
        raise NotImplementedError(
            "to_dlpack_for_write: the array is on XLA, recorded or read-only, so that others can't "
            "write it; use npx.backend('numpy'), or to_dlpack_for_read"
        )
    capsule: object = memory.__dlpack__()
    _set_context(capsule, _WRITABLE)
    return capsule


def _checked(name: str, data: Any) -> Any:
    if not isinstance(data, Handle):
        raise TypeError(f"{name}: expected an npcompat ndarray, got {type(data).__name__}")
    raise_pending()
    return data


__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]
