"""User-visible modes: dtype policy, backend, device."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.kit.devices import EngineDevice
from npcompat._internal.backend.plugin import registry
from npcompat._internal.core import modes
from npcompat._internal.dispatch import backends
from npcompat._internal.dispatch.devices import Device, as_device, current_device, device_of
from npcompat._internal.dispatch.meshes import Sharding
from npcompat._internal.dispatch.pending_errors import raise_pending


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """Set NumPy semantics for the whole process.

    Parameters
    ----------
    shape, array : bool
        0-d and zero-size arrays, and arrays as parameters: always on, False raises.
    dtype : bool
        Whether the default float is NumPy's float64 or float32.

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
    """Reset the default semantics: float32 is the default float.

    Examples
    --------
    >>> npx.reset_np()
    >>> np.ones(2).dtype
    dtype('float32')
    """
    set_np(dtype=False)


def is_np_shape() -> bool:
    """Return True: 0-d and zero-size arrays are always supported.

    Examples
    --------
    >>> npx.is_np_shape()
    True
    """
    return True


def is_np_array() -> bool:
    """Return True: arrays always have NumPy's semantics.

    Examples
    --------
    >>> npx.is_np_array()
    True
    """
    return True


def is_np_default_dtype() -> bool:
    """Return True if the default float is float64.

    Examples
    --------
    >>> npx.is_np_default_dtype()
    False
    """
    return bool(modes.current().numpy_dtypes)


def set_np_default_dtype(is_np_default_dtype: bool = True) -> bool:
    """Set the default float for the whole process: float64 (NumPy's) or float32.

    Parameters
    ----------
    is_np_default_dtype : bool
        Whether it is float64.

    Returns
    -------
    bool
        The previous setting.

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
    """Context manager that sets the default float: float64, or float32 with False.

    Examples
    --------
    >>> with npx.np_default_dtype():
    ...     np.ones(2).dtype
    dtype('float64')
    """
    return modes.changed(numpy_dtypes=int(bool(active)))


def use_np(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the argument: MXNet's decorator for NumPy semantics, which are always on.

    Examples
    --------
    >>> @npx.use_np
    ... def f(x):
    ...     return x + 1
    >>> f(np.array(1))
    np.int64(2)
    """
    return func


def backend(
    name: str, device: Any = None, fallback: str | None = None
) -> AbstractContextManager[None]:
    """Context manager that sets the backend of new arrays.

    Parameters
    ----------
    name : str
        `auto`, the default: the host if the device is a CPU, but XLA for compiled functions, and
        for convolution and pooling, whose results stay there; `jax`: XLA; `numpy`: the host; the
        name of a plug-in, such as `torch`; `auto:torch`: the host, and torch in the place of XLA.
        Operations run on the backend of their operands.
    device : str or Device, optional
        Device of the backend, such as `cuda:0`; by default its first.
    fallback : {'error', 'xla'}, optional
        What becomes of operators that a plug-in can't execute: they raise, or XLA computes them
        and their gradients; operands and results are carried, which `npx.audit` shows. By default
        as around the context, where the environment variable `NPCOMPAT_FALLBACK` may say it.

    Raises
    ------
    ValueError
        If there is no such backend, or no such device of it.
    BackendError
        If a plug-in can't be used.

    Examples
    --------
    >>> with npx.backend("numpy"):
    ...     a = np.ones(2)
    >>> a + 1
    array([2., 2.])
    """
    registry.check(name)
    changes: dict[str, Any] = {"backend": name}
    if fallback is not None:
        if fallback not in modes.FALLBACKS:
            raise ValueError(f"fallback: expected {' or '.join(modes.FALLBACKS)}, got {fallback!r}")
        changes["fallback"] = fallback
    plugin = None if name in modes.BACKENDS else backends.engine_named(name)
    if device is not None:
        chosen = as_device(device)
        owner = None if plugin is None else plugin.name
        if isinstance(chosen, Sharding) and plugin is not None:
            raise ValueError(f"device: the backend {name!r} has no meshes, got {chosen!r}")
        if isinstance(chosen, Device):
            if chosen.backend not in (None, owner):
                raise ValueError(f"device: expected one of the backend {name!r}, got {chosen!r}")
            chosen = Device(chosen.kind, chosen.index, backend=owner)
        with modes.changed(backend=name):
            changes["device"] = chosen.resolve()
    elif plugin is not None or isinstance(modes.current().device, EngineDevice):
        changes["device"] = None
    return modes.changed(**changes)


def current_backend() -> str:
    """Return the backend of new arrays.

    Examples
    --------
    >>> with npx.backend("numpy"):
    ...     npx.current_backend()
    'numpy'
    """
    return modes.current().backend


def cpu(device_id: int = 0) -> Device:
    """Return the CPU device.

    Examples
    --------
    >>> npx.cpu()
    cpu(0)
    """
    return Device("cpu", device_id)


def gpu(device_id: int = 0) -> Device:
    """Return a GPU device.

    Examples
    --------
    >>> npx.gpu(1)
    gpu(1)
    """
    return Device("gpu", device_id)


def cpu_pinned(device_id: int = 0) -> Device:
    """Return the CPU device; XLA decides itself which memory is pinned.

    Examples
    --------
    >>> npx.cpu_pinned()
    cpu(0)
    """
    return cpu(device_id)


def device(name: Any) -> Device | Sharding:
    """Return the device of a name, such as `cpu`, `gpu` or `gpu(1)`.

    Examples
    --------
    >>> npx.device("cpu")
    cpu(0)
    """
    return as_device(name)


def num_gpus() -> int:
    """Return the number of GPUs of this process.

    Examples
    --------
    >>> npx.num_gpus() >= 0
    True
    """
    return len(xla.devices("gpu"))


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """Return (free, total) memory of a GPU in bytes, of the part this process may use.

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
    """Return the compute capability of an NVIDIA GPU, such as 90 for 9.0.

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
    """Wait until all computations have finished; raises their errors.

    Examples
    --------
    >>> npx.waitall()
    """
    backends.wait_all()
    raise_pending()


__all__ = [
    "Device", "backend", "cpu", "cpu_pinned", "current_backend", "current_device", "device",
    "device_of", "get_cuda_compute_capability", "gpu", "gpu_memory_info", "is_np_array",
    "is_np_default_dtype", "is_np_shape", "np_default_dtype", "num_gpus", "reset_np", "set_np",
    "set_np_default_dtype", "use_np", "waitall",
]  # fmt: skip
