"""Functions of MXNet's `util`: semantics, environment variables, devices, decorators."""

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as onp

from npcompat import numpy as np
from npcompat import numpy_extension as npx
from npcompat._internal.core import dtypes
from npcompat._internal.dispatch.devices import as_device
from npcompat.numpy._host_arrays import on_host
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike, DTypeLike
from npcompat.numpy_extension import (
    get_cuda_compute_capability,
    is_np_array,
    is_np_default_dtype,
    is_np_shape,
    np_default_dtype,
    reset_np,
    set_np,
    set_np_default_dtype,
    use_np,
)

_T = TypeVar("_T", bound=Callable[..., Any])

# --- semantics ------------------------------------------------------------------------------------


def _only_numpys(active: bool) -> None:
    if not active:
        raise NotImplementedError(
            "np_shape(False), np_array(False) and set_np_shape(False): there are no other "
            "semantics than NumPy's"
        )


@contextmanager
def _unchanged() -> Iterator[None]:
    yield


def set_np_shape(active: bool) -> bool:
    """Enable NumPy shapes (0-d and zero-size), which are always on; False raises.

    Returns
    -------
    bool
        The previous setting: True.

    Examples
    --------
    >>> util.set_np_shape(True)
    True
    """
    _only_numpys(active)
    return True


def np_shape(active: bool = True) -> AbstractContextManager[None]:
    """Context manager for NumPy shapes, which are always on; False raises.

    Examples
    --------
    >>> with util.np_shape():
    ...     np.zeros((0, 2)).shape
    (0, 2)
    """
    _only_numpys(active)
    return _unchanged()


def np_array(active: bool = True) -> AbstractContextManager[None]:
    """Context manager for NumPy arrays, which are always on; False raises.

    Examples
    --------
    >>> with util.np_array():
    ...     np.zeros(()).shape
    ()
    """
    _only_numpys(active)
    return _unchanged()


use_np_shape = use_np_array = use_np


def use_np_default_dtype(func: _T) -> _T:
    """Decorate a function or class to run with NumPy's default float, float64.

    Examples
    --------
    >>> @util.use_np_default_dtype
    ... def ones():
    ...     return np.ones(2)
    >>> ones().dtype
    dtype('float64')
    """
    if inspect.isclass(func):
        for name, method in vars(func).copy().items():
            if inspect.isfunction(method):
                setattr(func, name, use_np_default_dtype(method))
        return func

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        with np_default_dtype(True):
            return func(*args, **kwargs)

    return call  # type: ignore[return-value]


# --- arrays ---------------------------------------------------------------------------------------


def default_array(
    source_array: ArrayLike, device: Any = None, dtype: DTypeLike = None, *, ctx: Any = None
) -> ndarray:
    """Convert an array-like to an array.

    Parameters
    ----------
    source_array : array_like
        The values.
    device, ctx : Device or str, optional
        Device of the array.
    dtype : dtype, optional
        Its dtype; that of the values if not given.

    Examples
    --------
    >>> util.default_array([1.0, 2.0])
    array([1., 2.])
    """
    if device is not None and ctx is not None:
        raise TypeError(
            "default_array: device and ctx are two names of one argument; give one of them"
        )
    chosen = ctx if device is None else device
    if chosen is None:
        return np.array(source_array, dtype=dtype)
    with as_device(chosen):
        return np.array(source_array, dtype=dtype)


def dtype_from_number(number: float) -> onp.dtype[Any]:
    """Return the dtype of arrays that are created from a Python number.

    Examples
    --------
    >>> util.dtype_from_number(1), util.dtype_from_number(1.0)
    (dtype('int64'), dtype('float32'))
    """
    if not isinstance(number, int | float):
        raise TypeError(
            f"dtype_from_number: expected an int or a float, got {type(number).__name__}"
        )
    return dtypes.narrow(onp.asarray(number).dtype, ())


def numpy_fallback(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of NumPy arrays to take and return npcompat arrays.

    It runs on the host and has no gradient.

    Examples
    --------
    >>> @util.numpy_fallback
    ... def middle(a):
    ...     return onp.partition(a, 1)[1:2]
    >>> middle(np.array([3, 1, 2]))
    array([2])
    """
    return on_host(func)


# --- devices --------------------------------------------------------------------------------------


def get_gpu_count() -> int:
    """Return the number of GPUs of this process.

    Examples
    --------
    >>> util.get_gpu_count() == npx.num_gpus()
    True
    """
    return npx.num_gpus()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """Return (free, total) memory of a GPU in bytes, as `npx.gpu_memory_info`."""
    return npx.gpu_memory_info(gpu_dev_id)


def wrap_ctx_to_device_func(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function with an argument `device` to accept `ctx`, its older name, too.

    Examples
    --------
    >>> @util.wrap_ctx_to_device_func
    ... def place(device=None):
    ...     return device
    >>> place(ctx=npx.cpu())
    cpu(0)
    """

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("ctx") is not None:
            if kwargs.get("device") is not None:
                raise TypeError(
                    f"{func.__name__}: device and ctx are two names of one argument; give one of "
                    "them"
                )
            kwargs["device"] = kwargs["ctx"]
        kwargs.pop("ctx", None)
        return func(*args, **kwargs)

    return call


# --- environment and modules ----------------------------------------------------------------------


def getenv(name: str) -> str | None:
    """Return the value of an environment variable; None if it is not set.

    Examples
    --------
    >>> util.getenv("A_VARIABLE_THAT_IS_NOT_SET") is None
    True
    """
    return os.environ.get(name)


def setenv(name: str, value: str | None) -> None:
    """Set an environment variable of this process; None removes it.

    Examples
    --------
    >>> util.setenv("A_VARIABLE", "1")
    >>> util.getenv("A_VARIABLE")
    '1'
    >>> util.setenv("A_VARIABLE", None)
    """
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def set_module(module: str) -> Callable[[_T], _T]:
    """Decorate a function or class to set its `__module__`.

    Examples
    --------
    >>> @util.set_module("my.tools")
    ... def f(): ...
    >>> f.__module__
    'my.tools'
    """

    def decorate(func: _T) -> _T:
        if module is not None:
            func.__module__ = module
        return func

    return decorate


__all__ = [
    "TemporaryDirectory",
    "default_array",
    "dtype_from_number",
    "get_cuda_compute_capability",
    "get_gpu_count",
    "get_gpu_memory",
    "getenv",
    "is_np_array",
    "is_np_default_dtype",
    "is_np_shape",
    "np_array",
    "np_default_dtype",
    "np_shape",
    "numpy_fallback",
    "reset_np",
    "set_module",
    "set_np",
    "set_np_default_dtype",
    "set_np_shape",
    "setenv",
    "use_np",
    "use_np_array",
    "use_np_default_dtype",
    "use_np_shape",
    "wrap_ctx_to_device_func",
]
