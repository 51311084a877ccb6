"""Backends of payloads and of modes: who holds an array, and who computes with it.

The core asks here, and not for a class: arrays of a plug-in say themselves whose they are.
"""

from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.backend.plugin import registry
from npcompat._internal.backend.plugin.backend import Plugin
from npcompat._internal.core import modes
from npcompat._internal.core.engine_array import EngineArray

XLA, XLA_ARRAY = xla, xla.Array
ON_DEVICES = frozenset((XLA_ARRAY, EngineArray))
"""Classes of payloads that are on devices: XLA's and those of plug-ins."""
_engines: dict[str, Plugin] = {}


def engine_of(mode: modes.Mode) -> Plugin | None:
    """The plug-in that a mode computes with; None where that is XLA or the host, and while a
    function is traced, whose equations are JAX's.
    """
    if mode.backend in modes.BACKENDS or mode.trace is not None:
        return None
    return engine_named(mode.backend)


def engine_named(backend: str) -> Plugin:
    """The plug-in of a placement, such as `torch` or `auto:torch`."""
    name = registry.engine_name(backend)
    assert name is not None
    return registry.get(name)


def backend_of(payload: Any) -> Any:
    """The backend that holds a payload; None for a number, a tracer or a symbol."""
    kind = type(payload)
    if kind is XLA_ARRAY:
        return xla
    if kind is onp.ndarray:
        return host
    return payload.backend if kind is EngineArray else None


def to_host(payload: Any, moving: bool = False) -> onp.ndarray[Any, Any]:
    """The values on the host: a read-only view where memory allows. Waits for the computation."""
    if type(payload) is EngineArray:
        found: onp.ndarray[Any, Any] = payload.backend.to_host(payload, moving)
        return found
    return xla.to_host(payload, moving)


def copied(payload: Any) -> Any:
    """The value in a buffer of its own."""
    return payload.backend.copied(payload) if type(payload) is EngineArray else xla.copied(payload)


def wait(payload: Any) -> None:
    """Wait until the value is computed; errors of its computation surface here."""
    if type(payload) is EngineArray:
        payload.backend.wait(payload)
    else:
        xla.wait(payload)


def wait_all() -> None:
    """Wait until everything that was dispatched has run."""
    xla.wait_all()
    for plugin in registry.loaded():
        plugin.wait_all()


def device_of(payload: Any) -> Any:
    """The backend's device of the values; None for a tracer."""
    if type(payload) is EngineArray:
        return payload.backend.device_of(payload)
    return xla.device_of(payload)


def moved(payload: Any, device: Any) -> Any:
    """The value on a device of its backend; itself, if it is there."""
    if type(payload) is EngineArray:
        return payload.backend.moved(payload, payload.backend.device(device))
    return xla.moved(payload, device)


def placed(array: Any, mode: modes.Mode) -> Any:
    """A copy of a host array on the device of a mode, by its plug-in or by XLA."""
    engine = engine_of(mode)
    return (xla if engine is None else engine).asarray(array, mode.device)


def asarray_like(array: onp.ndarray[Any, Any], payload: Any) -> Any:
    """A copy of a host array on the device of a payload."""
    if type(payload) is EngineArray:
        return payload.backend.asarray(array, device_of(payload))
    return xla.asarray(array, None if payload is None else device_of(payload))


__all__ = [
    "ON_DEVICES",
    "XLA",
    "XLA_ARRAY",
    "asarray_like",
    "backend_of",
    "copied",
    "device_of",
    "engine_named",
    "engine_of",
    "moved",
    "placed",
    "to_host",
    "wait",
    "wait_all",
]  # fmt: skip
