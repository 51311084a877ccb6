"""Devices: where arrays live.

The host and XLA's CPU are both `cpu(0)`: users never see which of them holds an array.
"""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language, processes, sharding
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.kit.devices import EngineDevice
from npcompat._internal.backend.plugin import registry
from npcompat._internal.core import modes, trace_notes
from npcompat._internal.core.engine_array import EngineArray
from npcompat._internal.core.graph_node import Node, PythonPullback
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import backends, handles, pending_errors, placement
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.meshes import Mesh, Sharding, described, local_devices

_KINDS = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu", "tpu": "tpu"}


class Device:
    """Device given by kind and number; as a context manager it places new arrays.

    Parameters
    ----------
    device_type : {'cpu', 'gpu', 'tpu'}
        Kind of device; `cuda` is another name of `gpu`.
    device_id : int
        Number among the devices of that kind.
    backend : str, optional
        Name of the plug-in backend of the device; without one it is XLA's, or the host.

    Notes
    -----
    A device without a backend equals that of any backend: `npx.cpu()` is also the device of an
    array that torch holds in the memory of the host.

    Examples
    --------
    >>> with npx.cpu(0):
    ...     a = np.zeros(2)
    >>> a.device
    cpu(0)
    """

    __slots__ = ("backend", "index", "kind")

    def __init__(self, device_type: str, device_id: int = 0, *, backend: str | None = None) -> None:
        if device_type not in _KINDS:
            raise ValueError(f"device kind {device_type!r}: expected one of {', '.join(_KINDS)}")
        self.kind, self.index = _KINDS[device_type], int(device_id)
        self.backend = backend

    @property
    def device_type(self) -> str:
        """The kind, under MXNet's name."""
        return self.kind

    @property
    def device_id(self) -> int:
        """The number, under MXNet's name."""
        return self.index

    def resolve(self) -> Any:
        """Return the backend's object for the device; raise ValueError if this process has none."""
        found = self._all()
        if not 0 <= self.index < len(found):
            raise ValueError(
                f"device {self!r} does not exist: this process has {len(found)} of kind "
                f"{self.kind!r}"
            )
        device = found[self.index]
        if self.index or (self._plugin() is None and device is not xla.default_device()):
            sharding.several[0] = True
        return device

    def _plugin(self) -> Any:
        """The plug-in whose device it is: its own, or that of the running mode."""
        if self.backend is not None:
            return registry.get(self.backend)
        return backends.engine_of(modes.current())

    def _all(self) -> list[Any]:
        """All devices of the kind."""
        plugin = self._plugin()
        if plugin is None:
            return xla.devices(self.kind)
        return [d for d in plugin.devices if d.kind == self.kind]

    def __repr__(self) -> str:
        return f"{'' if self.backend is None else f'{self.backend}.'}{self.kind}({self.index})"

    @property
    def _name(self) -> str:
        """The string that equals the device; the first device of a kind has the kind's name.

        NumPy's arrays have the device `"cpu"`, a string.
        """
        return self.kind if self.index == 0 else f"{self.kind}({self.index})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self._name == other
        return (
            isinstance(other, Device)
            and (self.kind, self.index) == (other.kind, other.index)
            and (self.backend is None or other.backend in (None, self.backend))
        )

    def __hash__(self) -> int:
        return hash(self._name)

    def __enter__(self) -> "Device":
        changes = {} if self.backend is None else {"backend": self.backend}
        modes.enter(self, {"device": self.resolve(), **changes})
        return self

    def __exit__(self, *error: object) -> None:
        modes.leave(self)


Place = Device | Sharding
"""Place of an array: one device, or parts or copies on several."""


def as_device(device: Any) -> Place:
    """Return the `Device` of a Device, or of a name such as `gpu`, `gpu(1)` or `cuda:0`.

    A `Sharding`, a mesh, or a list of devices, each of which gets a copy, gives a `Sharding`.
    """
    if isinstance(device, Device | Sharding):
        return device
    if isinstance(device, Mesh):
        return device()
    if isinstance(device, list | tuple) and device:
        found = list(dict.fromkeys(map(as_device, device)))
        return found[0] if len(found) == 1 else Mesh(found)()
    if isinstance(device, str):
        backend, _, device = device.rpartition(".")
        kind, _, number = device.replace(")", "").replace("(", ":").partition(":")
        return Device(kind, int(number or 0), backend=backend or None)
    raise TypeError(
        "device: expected a Device, a name such as 'gpu(0)', a Mesh or a Sharding, got "
        f"{type(device).__name__}"
    )


def current_device() -> Place:
    """Return the device or layout on which new arrays are placed."""
    found, engine = modes.current().device, backends.engine_of(modes.current())
    if engine is not None and not placement.is_auto(modes.current()):
        return _of_engine(engine.device(found), engine.name)
    return _described(
        xla.devices("cpu")[0]
        if found is None and modes.current().backend == "numpy"
        else found or xla.default_device()
    )


def device_of(handle: Handle) -> Place:
    """Return the device or layout that holds an array's values."""
    payload = handles.read(handle).payload
    if isinstance(payload, onp.ndarray):
        return Device("cpu", 0)
    if type(payload) is EngineArray:
        return _of_engine(backends.device_of(payload), payload.backend.name)
    found = xla.device_of(payload)
    return current_device() if found is None else _described(found, payload.ndim)


def place_like(handle: Handle) -> Place | None:
    """Return the place of new arrays like another: its layout, or its device if that was chosen;
    None where new arrays go as usual.
    """
    if not sharding.several[0]:
        return None
    payload = handles.read(handle).payload
    if type(payload) is not backends.XLA_ARRAY or not payload.committed:
        return None
    found = xla.device_of(payload)
    return None if found is xla.default_device() else _described(found, payload.ndim)


def devices_of(place: Place) -> list[Place]:
    """Return the devices of this process that a place has."""
    if isinstance(place, Device):
        return [place]
    return [_described(device) for device in local_devices(place)]


def _of_engine(device: Any, backend: str) -> Device:
    return Device(device.kind, device.index, backend=backend)


def _described(device: Any, ndim: int = 0) -> Place:
    if sharding.is_layout(device):
        return described(device, ndim)
    kind = _KINDS[device.platform]
    return Device(kind, xla.devices(kind).index(device))


def _on_device(xp: Any, a: Any, *, device: Any) -> Any:
    """Copy of an array on another device."""
    target = device.resolve()
    if isinstance(target, EngineDevice):  # a program runs on one device
        if len(device._plugin().devices) > 1:
            raise NotImplementedError(
                f"to_device({device!r}) in a program of a plug-in, which runs on one device: move "
                "the array outside of it"
            )
        return a
    return xp.to_device(a, target)


_to_device = operator("_npi_to_device", order="K", kernels={"jax": _on_device})(_on_device)


def moved(handle: Handle, device: Any) -> Any:
    """Return the array on a device: the same handle if it is there, else a copy."""
    wanted = as_device(device)
    if isinstance(wanted, Sharding):
        wanted.check(handle.shape, "an array")
    value, mode = handles.read(handle), modes.current()
    if mode.trace is None or isinstance(wanted, Device):
        here = device_of(handle)
        backend = getattr(wanted, "backend", None)
        if here == wanted and backend in (None, getattr(here, "backend", None)):
            return handle
    if mode.trace is not None and isinstance(wanted, Sharding) and wanted.mesh.size > 1:
        trace_notes.runs_on(wanted.resolve())
    if mode.trace is not None or isinstance(value.payload, language.Unknown):
        return apply(_to_device, (handle,), (wanted,))
    if isinstance(wanted, Sharding) and processes.count() > 1:
        _check_same(value.payload, wanted)
    if value.node is None or not mode.recording:
        return handles.wrap(Value(_copied(value.payload, wanted)))
    node = Node(_to_device, (wanted,), (value,), (True,), PythonPullback(_move_back(value)), 1)
    return handles.wrap(Value(_copied(value.payload, wanted), node))


def _check_same(payload: Any, place: Sharding) -> None:
    """Raise RuntimeError, at the next read at the latest, if the processes move different arrays to
    a layout over all of them: each would go on with its own.
    """
    if type(payload) is EngineArray or not (
        type(payload) is onp.ndarray or payload.is_fully_addressable
    ):
        return
    array = onp.ascontiguousarray(payload)
    what = f"{array.shape} {array.dtype} {zlib.crc32(array.view(onp.uint8).reshape(-1).data)}"
    message = (
        f"process {processes.rank()} moves other elements to the devices of all processes than "
        "another one does: make the array of the same numbers everywhere, or give the rows of each "
        "process by npx.from_local"
    )
    pending_errors.expect(processes.differ(what, place.resolve()), [(RuntimeError, message)])
    if place.device_type == "cpu":
        pending_errors.raise_pending()


def _copied(payload: Any, device: Place) -> Any:
    """Copy a payload to a device or a layout.

    No program can do that: XLA runs each program on the device of its operands.
    """
    if (found := _across_backends(payload, device)) is not None:
        return found
    target, on_xla = device.resolve(), not isinstance(payload, onp.ndarray)
    if target is xla.first_cpu() and modes.current().backend != "jax":
        return xla.to_host(payload, True) if on_xla else payload.copy()
    return xla.moved(payload, target) if on_xla else xla.asarray(payload, target)


def _across_backends(payload: Any, device: Place) -> Any:
    """Copy a payload to a device if either of the two is a plug-in's; else return None."""
    plugin = device._plugin() if isinstance(device, Device) else None
    here = payload.backend if type(payload) is EngineArray else None
    if plugin is None and here is None:
        return None
    if plugin is here and plugin is not None:
        return plugin.moved(payload, device.resolve())
    array = payload if isinstance(payload, onp.ndarray) else backends.to_host(payload, True)
    if plugin is not None:
        return plugin.asarray(array, device.resolve())
    if device.resolve() is xla.first_cpu() and modes.current().backend != "jax":
        return onp.array(array)
    return xla.asarray(array, device.resolve())


def _move_back(value: Value) -> Any:
    """Return the pullback of moving an array, which moves the gradient back."""
    where = device_of(handles.wrap(value))

    def pull(cotangents: Sequence[Value | None], create_graph: bool) -> Sequence[Value]:
        (given,) = cotangents
        assert given is not None
        if create_graph:
            return [handles.read(moved(handles.wrap(given), where))]
        return [Value(_copied(given.payload, where))]

    return pull


__all__ = [
    "Device",
    "Place",
    "as_device",
    "current_device",
    "device_of",
    "devices_of",
    "moved",
    "place_like",
]
