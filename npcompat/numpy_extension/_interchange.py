"""Conversion from NumPy arrays, and DLPack exchange with other libraries."""

from typing import Any

import numpy as onp

from npcompat import numpy as np
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch.pending_errors import raise_pending
from npcompat._internal.dispatch.placement import on_host
from npcompat._internal.native import fast_path
from npcompat.numpy._ndarray import ndarray


class _Capsule:
    """DLPack capsule with the two methods of the DLPack protocol."""

    def __init__(self, capsule: Any, device: tuple[int, int]) -> None:
        self._capsule, self._device = capsule, device

    def __dlpack__(self, **options: Any) -> ndarray:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def from_numpy(ndarray: onp.ndarray[Any, Any], zero_copy: bool = True) -> ndarray:
    """Convert a NumPy array, keeping its values and dtype.

    Parameters
    ----------
    ndarray : numpy.ndarray
        The array.
    zero_copy : bool
        In MXNet True means shared memory that NumPy must not write. Here the values are always
        copied, and both arrays may be written.

    Examples
    --------
    >>> npx.from_numpy(onp.arange(3.0)).dtype
    dtype('float64')
    """
    if not isinstance(ndarray, onp.ndarray):
        raise TypeError(f"from_numpy: expected a numpy.ndarray, got {type(ndarray).__name__}")
    return np.array(ndarray)


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
        with modes.changed(backend="numpy"):
            found = np.from_dlpack(_Capsule(dlpack, (1, 0)))
        return found if on_host(modes.current()) else np.array(found)
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
    return memory.__dlpack__()


def _checked(name: str, data: Any) -> Any:
    if not isinstance(data, Handle):
        raise TypeError(f"{name}: expected an npcompat ndarray, got {type(data).__name__}")
    raise_pending()
    return data


__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]
