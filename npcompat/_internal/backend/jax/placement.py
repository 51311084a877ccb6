"""Values on XLA's devices: copies to and from the host, Python scalars, waiting, moving."""

import math
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as onp
from jax.core import Tracer
from jax.sharding import SingleDeviceSharding

from npcompat._internal.backend.jax import sharding
from npcompat._internal.backend.jax.namespace import Array
from npcompat._internal.backend.jaxpr.compat import (
    HostBufferSemantics,
    ShapedArray,
    batched_device_put,
)
from npcompat._internal.core import modes
from npcompat._internal.core.dtypes import check_dtype

_current_mode, _default_mode = modes._MODE.get, modes._process_default
_LARGE, _ALIGNED = 2**19, 64
"""Bytes from which on an array is copied on the host, and what the addresses of the buffers are
multiples of that XLA takes as they are.
"""


def _empty_for_xla(shape: tuple[int, ...], dtype: onp.dtype[Any]) -> onp.ndarray[Any, Any]:
    """An array whose buffer XLA takes as it is."""
    bytes_ = onp.empty(math.prod(shape) * dtype.itemsize + _ALIGNED, onp.uint8)
    return onp.ndarray(shape, dtype, bytes_, -bytes_.__array_interface__["data"][0] % _ALIGNED)


def asarray(array: Any, device: Any = None) -> Any:
    """A copy of a host array on XLA.

    What is where it should be is not committed: programs of arrays of which some are committed are
    compiled once more for their own results, which all are. Of a large array the copy is made here,
    where XLA can take it as it is; `jax.device_put`, which takes ten times as long for a small one,
    may alias the host's memory.
    """
    check_dtype(array.dtype)
    if device is not None and sharding.is_layout(device):
        return sharding.laid_out(array, device)
    is_large, is_bool = array.nbytes >= _LARGE, array.dtype == onp.bool_
    given = _empty_for_xla(array.shape, array.dtype) if is_large or is_bool else array
    if is_bool:  # any byte but 0 is True to NumPy, which XLA counts by their bytes
        onp.logical_and(array, True, out=given)
    elif is_large:
        onp.copyto(given, array)
    return _transferred(
        given, _aval(array.shape, array.dtype), device, ZERO_COPY if is_large else COPY_DURING_CALL
    )


ZERO_COPY, COPY_DURING_CALL = (
    (False, HostBufferSemantics.ZERO_COPY),
    (True, HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL),
)


def _transferred(
    array: Any,
    aval: ShapedArray,
    device: Any,
    way: tuple[bool, HostBufferSemantics] = COPY_DURING_CALL,
) -> Any:
    here = default_device()
    target = here if device is None else device
    return batched_device_put(
        aval, _sharding(target), [array], [target], target != here, *way, True
    )


@lru_cache(maxsize=4096)
def _aval(shape: tuple[int, ...], dtype: onp.dtype[Any], weak_type: bool = False) -> ShapedArray:
    return ShapedArray(shape, dtype, weak_type=weak_type)


@lru_cache(maxsize=64)
def _sharding(device: Any) -> SingleDeviceSharding:
    return SingleDeviceSharding(device)


@lru_cache(maxsize=16384, typed=True)
def _scalar(x: Any) -> Any:
    if (
        type(x) is int and not -(2**63) <= x < 2**63
    ):  # what it is cast to has been looked at: it fits, or is a float
        x = onp.uint64(x) if 0 < x < 2**64 else float(x)
    array = onp.asarray(x)
    return _transferred(array, _aval((), array.dtype, type(x) in (int, float, complex)), None)


@lru_cache(maxsize=2)
def _zero(sign: float) -> Any:
    return _scalar.__wrapped__(math.copysign(0.0, sign))


def scalar(x: complex) -> Any:
    """A Python scalar as a weak 64-bit array.

    Zeros are told apart by their sign, which a cache by equality does not.
    """
    if type(x) is float and not x:
        return _zero(math.copysign(1.0, x))
    return _scalar.__wrapped__(x) if type(x) is complex else _scalar(x)


def to_host(payload: Any, moving: bool = False) -> onp.ndarray[Any, Any]:
    """The values on the host: a read-only view where memory allows.  Waits for the computation.

    They are read, or, `moving`, put into an array there.
    """
    audit = _current_mode(_default_mode[0]).audit
    if sharding.several[0]:
        sharding.progress[0] += 1
        if sharding.lies_elsewhere(payload):
            raise sharding.remote_values(payload)
    if type(payload) is Array and (shape := payload.shape) and math.prod(shape) > _MANY:
        _wait_for_memory(payload)
    if audit is None or type(payload) is not Array:
        return onp.asarray(payload)
    return audit.record_read(payload, partial(onp.asarray, payload), moving)


_MANY = 2**22
"""Elements from which on an array is asked whether XLA had the memory, before it is read."""


def _wait_for_memory(payload: Any) -> None:
    """Raise MemoryError if XLA had no memory for an array; reading it would end the process."""
    try:
        payload.block_until_ready()
    except RuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error) and "Out of memory" not in str(error):
            raise
        raise MemoryError(
            f"XLA has no memory for an array of shape {payload.shape} and dtype {payload.dtype}: "
            f"{error}"
        ) from error


def wait(payload: Any) -> None:
    """Wait until the value is computed; errors of its computation surface here."""
    audit = modes.current().audit
    if audit is None:
        payload.block_until_ready()
    else:
        audit.record_read(payload, payload.block_until_ready, False)


def wait_all() -> None:
    """Wait until everything that was dispatched has run."""
    for array in jax.live_arrays():
        if not array.is_deleted():
            wait(array)


# --- devices --------------------------------------------------------------------------------------


def devices(kind: str) -> list[Any]:
    """Devices of this process of a kind (`cpu`, `gpu`); none if there is no such backend."""
    try:
        return list(jax.local_devices(backend=kind))
    except RuntimeError:
        return []


def all_devices() -> list[Any]:
    """Devices of all processes, of the default kind."""
    return list(jax.devices())


def moved(payload: Any, device: Any) -> Any:
    """The value on a device, or laid out on several; itself, and not committed, if it is there."""
    if sharding.is_layout(device):
        return sharding.placed(payload, device)
    if sharding.several[0] and sharding.lies_elsewhere(payload):
        raise sharding.remote_values(payload)
    if not isinstance(payload, Tracer) and payload.device == device:
        return payload
    with jax.enable_x64(True):
        return jax.device_put(payload, device)


@lru_cache(maxsize=16)
def _device(chosen: Any) -> Any:
    """A device that JAX's configuration names, by itself or by its platform; None is for the
    first.
    """
    return chosen if hasattr(chosen, "platform") else jax.local_devices(backend=chosen)[0]


@lru_cache(maxsize=1)
def first_cpu() -> Any:
    """Device that stands for the host."""
    return jax.local_devices(backend="cpu")[0]


config = jax.config
"""JAX's configuration, whose `jax_default_device` says where new values go; None is the first
device.
"""


def default_device() -> Any:
    """Return the device of new values, by JAX's configuration."""
    return _device(jax.config.jax_default_device)  # type: ignore[attr-defined]


def device_of(payload: Any) -> Any:
    """Return the device of the values, or their layout on several; None for a tracer."""
    if isinstance(payload, Tracer):
        return None
    if sharding.several[0] and (place := sharding.spread(payload)) is not None:
        return place
    return next(iter(payload.devices()))


def platform_of(place: Any) -> str:
    """Return the platform (`cpu`, `gpu`) of a device, or of the devices of a layout."""
    if sharding.is_layout(place):
        place = next(iter(place.device_set))
    return str(place.platform)
