"""Placement of values on XLA's devices: transfers to and from the host, Python scalars, waiting."""

import importlib.metadata
import importlib.util
import math
import os
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
from npcompat._internal.core.dtypes import check_dtype, on_devices

_current_mode, _default_mode = modes._MODE.get, modes._process_default
LARGE, _ALIGNED = 2**19, 64
"""Bytes from which an array is copied on the host, and the alignment of buffers that XLA takes
without a copy of its own.
"""


def _empty_for_xla(shape: tuple[int, ...], dtype: onp.dtype[Any]) -> onp.ndarray[Any, Any]:
    """Return an uninitialized array whose buffer is aligned for zero-copy transfer to XLA."""
    bytes_ = onp.empty(math.prod(shape) * dtype.itemsize + _ALIGNED, onp.uint8)
    return onp.ndarray(shape, dtype, bytes_, -bytes_.__array_interface__["data"][0] % _ALIGNED)


def asarray(array: Any, device: Any = None) -> Any:
    """Copy a host array to XLA.

    Arrays on the default device are left uncommitted. If only some inputs were committed, jit would
    compile twice: once for the mixed inputs, and again for its own outputs, which are committed.

    A large array is copied here into an aligned buffer, which XLA takes without a second copy.
    `jax.device_put` is not used: it may alias the host's memory, and takes ten times as long for a
    small array.
    """
    check_dtype(array.dtype)
    if device is not None and sharding.is_layout(device):
        return sharding.laid_out(array, device)
    is_large, is_bool = array.nbytes >= LARGE, array.dtype == onp.bool_
    buffer = _empty_for_xla(array.shape, array.dtype) if is_large or is_bool else array
    if is_bool:  # NumPy's True may be any byte but 0; XLA computes with the byte
        onp.logical_and(array, True, out=buffer)
    elif is_large:
        onp.copyto(buffer, array)
    return _transferred(
        buffer, _aval(array.shape, array.dtype), device, ZERO_COPY if is_large else COPY_DURING_CALL
    )


ZERO_COPY, COPY_DURING_CALL = (
    (False, HostBufferSemantics.ZERO_COPY),
    (True, HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL),
)


def can_lend(array: onp.ndarray[Any, Any]) -> bool:
    """Return True if XLA's CPU can read a host array in place, and a copy would cost more.

    The array owns its memory, so no other array of NumPy writes it. `native/aligned_memory.h` aligns
    large arrays.
    """
    return (
        array.nbytes >= LARGE
        and on_devices(array.dtype)
        and array.base is None
        and array.flags.owndata
        and array.flags.c_contiguous
        and array.dtype != onp.bool_
        and not array.__array_interface__["data"][0] % _ALIGNED
    )


def lend(array: onp.ndarray[Any, Any], device: Any = None) -> Any:
    """Lend a host array to XLA, which reads it in place and holds a reference until it is done.

    XLA copies the memory if it is to overwrite it. The owner must not write it meanwhile.
    """
    return _transferred(array, aval(array), device, ZERO_COPY)


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


def aval(array: onp.ndarray[Any, Any]) -> ShapedArray:
    """Return the aval of a host array on XLA: the same object for all of its shape and dtype."""
    return _aval(array.shape, array.dtype)


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
    ):  # `in_range` has checked that it fits uint64, or becomes a float
        x = onp.uint64(x) if 0 < x < 2**64 else float(x)
    array = onp.asarray(x)
    return _transferred(array, _aval((), array.dtype, type(x) in (int, float, complex)), None)


@lru_cache(maxsize=2)
def _zero(sign: float) -> Any:
    return _scalar.__wrapped__(math.copysign(0.0, sign))


def scalar(x: complex) -> Any:
    """Return a Python scalar as a weak 64-bit array, from a cache.

    Float zeros have a cache of their own by sign, since 0.0 equals -0.0. Complex numbers are not
    cached.
    """
    if type(x) is float and not x:
        return _zero(math.copysign(1.0, x))
    return _scalar.__wrapped__(x) if type(x) is complex else _scalar(x)


def to_host(payload: Any, moving: bool = False) -> onp.ndarray[Any, Any]:
    """Wait for a payload, and return its values as a NumPy array, a read-only view if possible.

    `moving` tells the audit that the values become an array on the host, rather than being read.
    """
    audit = _current_mode(_default_mode[0]).audit
    if sharding.several[0]:
        sharding.progress[0] += 1
        if sharding.lies_elsewhere(payload):
            raise sharding.remote_values(payload)
    if type(payload) is Array and (shape := payload.aval.shape) and math.prod(shape) > _MANY:
        _wait_for_memory(payload)
    if audit is None or type(payload) is not Array:
        return onp.asarray(payload)
    return audit.record_read(payload, partial(onp.asarray, payload), moving)


_MANY = 2**22
"""Elements from which the allocation of an array is checked before it is read."""


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
    """Return the devices of this process of a kind (`cpu`, `gpu`); none without such a backend."""
    try:
        return list(jax.local_devices(backend=kind))
    except RuntimeError:
        return []


def all_devices() -> list[Any]:
    """Devices of all processes, of the default kind."""
    return list(jax.devices())


def moved(payload: Any, device: Any) -> Any:
    """Move a payload to a device or a layout; one that is there is returned unchanged, not
    committed.
    """
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
    """Return the device of JAX's configuration: a device, a platform's first one, or None's."""
    return chosen if hasattr(chosen, "platform") else jax.local_devices(backend=chosen)[0]


@lru_cache(maxsize=1)
def first_cpu() -> Any:
    """Return the device that stands for the host."""
    return jax.local_devices(backend="cpu")[0]


config = jax.config
"""JAX's configuration; its `jax_default_device` is the device of new values, None the first one."""


def default_is_cpu() -> bool:
    """Return True if the default device is a CPU; XLA is not started if there is no other."""
    if jax.config.jax_default_device is None:  # type: ignore[attr-defined]
        if _only_cpus:
            return True
        chosen = jax.config.jax_platforms  # type: ignore[attr-defined]
        if not chosen and _no_plugin():
            _only_cpus.append(True)
        if _only_cpus or chosen == "cpu":
            return True
    return bool(default_device().platform == "cpu")


_only_cpus: list[bool] = []
"""Holds True once it is known that JAX finds no other devices than CPUs."""


@lru_cache(maxsize=1)
def _no_plugin() -> bool:
    """Return True if nothing is installed by which JAX finds other devices than CPUs."""
    return (
        not (os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS") or os.environ.get("TPU_LIBRARY_PATH"))
        and importlib.util.find_spec("libtpu") is None
        and importlib.util.find_spec("jax_plugins") is None
        and not importlib.metadata.entry_points(group="jax_plugins")
    )


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


def is_on_one_cpu(payload: Any) -> bool:
    """True for an array of XLA's on one CPU, whose memory the host can look into."""
    if type(payload) is not Array:
        return False
    place = device_of(payload)
    return not sharding.is_layout(place) and platform_of(place) == "cpu"


def platform_of(place: Any) -> str:
    """Return the platform (`cpu`, `gpu`) of a device, or of the devices of a layout."""
    if sharding.is_layout(place):
        place = next(iter(place.device_set))
    return str(place.platform)
