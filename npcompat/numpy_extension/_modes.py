"""The modes that users switch: dtype policy, backend, device."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import modes
from npcompat._internal.dispatch.devices import Device, as_device, current_device, device_of
from npcompat._internal.dispatch.pending_errors import raise_pending


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """Choose NumPy's semantics, for the whole process.

    Parameters
    ----------
    shape, array : bool
        0-d and zero-size arrays, and arrays as parameters: always on, False raises.
    dtype : bool
        Whether the default float is NumPy's float64 (True) or float32.

    Examples
    --------
    >>> npx.set_np(dtype=True)
    >>> np.ones(2).dtype
    dtype('float64')
    >>> npx.reset_np()
    """
    if not shape or not array:
        raise NotImplementedError(
            "set_np(shape=False) and set_np(array=False): there are no other semantics than NumPy's"
        )
    modes.set_default(numpy_dtypes=int(bool(dtype)))


def reset_np() -> None:
    """Go back to the default semantics: float32 is the default float.

    Examples
    --------
    >>> npx.reset_np()
    >>> np.ones(2).dtype
    dtype('float32')
    """
    set_np(dtype=False)


def is_np_shape() -> bool:
    """Whether 0-d and zero-size arrays are supported: always.

    Examples
    --------
    >>> npx.is_np_shape()
    True
    """
    return True


def is_np_array() -> bool:
    """Whether arrays have NumPy's semantics: always.

    Examples
    --------
    >>> npx.is_np_array()
    True
    """
    return True


def is_np_default_dtype() -> bool:
    """Whether the default float is float64.

    Examples
    --------
    >>> npx.is_np_default_dtype()
    False
    """
    return bool(modes.current().numpy_dtypes)


def set_np_default_dtype(is_np_default_dtype: bool = True) -> bool:
    """Choose the default float, for the whole process: NumPy's float64, or float32.

    Parameters
    ----------
    is_np_default_dtype : bool
        Whether it is float64.

    Returns
    -------
    bool
        Whether it was float64.

    Examples
    --------
    >>> npx.set_np_default_dtype(True)
    False
    >>> npx.set_np_default_dtype(False)
    True
    """
    before = bool(modes.current().numpy_dtypes)
    modes.set_default(numpy_dtypes=int(bool(is_np_default_dtype)))
    return before


def np_default_dtype(active: bool = True) -> AbstractContextManager[None]:
    """A context in which the default float is NumPy's float64 (or, with False, float32).

    Examples
    --------
    >>> with npx.np_default_dtype():
    ...     np.ones(2).dtype
    dtype('float64')
    """
    return modes.changed(numpy_dtypes=int(bool(active)))


def use_np(func: Callable[..., Any]) -> Callable[..., Any]:
    """MXNet's decorator for functions and classes with NumPy's semantics, which are always on:
    returns its argument.

    Examples
    --------
    >>> @npx.use_np
    ... def f(x):
    ...     return x + 1
    >>> f(np.array(1))
    np.int64(2)
    """
    return func


def backend(name: str) -> AbstractContextManager[None]:
    """A context in which new arrays are placed on a backend.

    Parameters
    ----------
    name : {'auto', 'jax', 'numpy'}
        `auto`, the default: the host where the device is a CPU, but XLA for compiled functions and
        for what is convolved or pooled, whose results stay there; `jax`: XLA; `numpy`: the host.
        What an operation runs on follows from its operands.

    Examples
    --------
    >>> with npx.backend("numpy"):
    ...     a = np.ones(2)
    >>> a + 1
    array([2., 2.])
    """
    if name not in modes.BACKENDS:
        raise ValueError(f"backend: expected one of {', '.join(modes.BACKENDS)}, got {name!r}")
    return modes.changed(backend=name)


def current_backend() -> str:
    """The backend on which new arrays are placed.

    Examples
    --------
    >>> npx.current_backend() in ("auto", "jax", "numpy")
    True
    """
    return modes.current().backend


def cpu(device_id: int = 0) -> Device:
    """The CPU as a device.

    Examples
    --------
    >>> npx.cpu()
    cpu(0)
    """
    return Device("cpu", device_id)


def gpu(device_id: int = 0) -> Device:
    """A GPU as a device.

    Examples
    --------
    >>> npx.gpu(1)
    gpu(1)
    """
    return Device("gpu", device_id)


def cpu_pinned(device_id: int = 0) -> Device:
    """The CPU as a device: which of its memory is pinned, for faster copies to a GPU, XLA decides
    itself.

    Examples
    --------
    >>> npx.cpu_pinned()
    cpu(0)
    """
    return cpu(device_id)


def device(name: Any) -> Device:
    """A device from its name, such as `cpu`, `gpu` or `gpu(1)`.

    Examples
    --------
    >>> npx.device("cpu")
    cpu(0)
    """
    return as_device(name)


def num_gpus() -> int:
    """How many GPUs this process has.

    Examples
    --------
    >>> npx.num_gpus() >= 0
    True
    """
    return len(xla.devices("gpu"))


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """Free and total memory of a GPU in bytes, of what this process may use.

    Raises
    ------
    ValueError
        If there is no such GPU.

    Examples
    --------
    >>> npx.gpu_memory_info(1000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: device gpu(1000) does not exist: this process has ... of kind 'gpu'
    """
    memory = gpu(device_id).resolve().memory_stats()
    return memory["bytes_limit"] - memory["bytes_in_use"], memory["bytes_limit"]


def get_cuda_compute_capability(device: Any = None, *, ctx: Any = None) -> int:
    """The compute capability of an NVIDIA GPU, such as 90 for 9.0.

    Parameters
    ----------
    device, ctx : Device or str
        The device, under one of these names.

    Raises
    ------
    ValueError
        If it is no GPU, or does not exist.

    Examples
    --------
    >>> npx.get_cuda_compute_capability(npx.cpu())
    Traceback (most recent call last):
    ...
    ValueError: get_cuda_compute_capability: expected a GPU, got cpu(0)
    """
    found = as_device(ctx if device is None else device)
    if found.kind != "gpu":
        raise ValueError(f"get_cuda_compute_capability: expected a GPU, got {found!r}")
    major, _, minor = str(found.resolve().compute_capability).partition(".")
    return 10 * int(major) + int(minor or 0)


def waitall() -> None:
    """Wait until all computations have finished; their errors surface here.

    Examples
    --------
    >>> npx.waitall()
    """
    xla.wait_all()
    raise_pending()


__all__ = [
    "Device", "backend", "cpu", "cpu_pinned", "current_backend", "current_device", "device",
    "device_of", "get_cuda_compute_capability", "gpu", "gpu_memory_info", "is_np_array",
    "is_np_default_dtype", "is_np_shape", "np_default_dtype", "num_gpus", "reset_np", "set_np",
    "set_np_default_dtype", "use_np", "waitall",
]  # fmt: skip
