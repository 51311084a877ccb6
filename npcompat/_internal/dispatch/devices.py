"""Devices: where arrays live.

The host and XLA's CPU are both `cpu(0)`: users never see which of them holds an array.
"""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax import sharding
from npcompat._internal.core import modes
from npcompat._internal.core.graph_node import Node, PythonPullback
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import handles
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

    Examples
    --------
    >>> with npx.cpu(0):
    ...     a = np.zeros(2)
    >>> a.device
    cpu(0)
    """

    __slots__ = ("_entered", "index", "kind")

    def __init__(self, device_type: str, device_id: int = 0) -> None:
        if device_type not in _KINDS:
            raise ValueError(f"device kind {device_type!r}: expected one of {', '.join(_KINDS)}")
        self.kind, self.index = _KINDS[device_type], int(device_id)
        self._entered: list[Any] = []

    @property
    def device_type(self) -> str:
        """The kind, under MXNet's name."""
        return self.kind

    @property
    def device_id(self) -> int:
        """The number, under MXNet's name."""
        return self.index

    def resolve(self) -> Any:
        """Return JAX's object for the device; raise ValueError if the process has no such one."""
        found = xla.devices(self.kind)
        if not 0 <= self.index < len(found):
            raise ValueError(
                f"device {self!r} does not exist: this process has {len(found)} of kind "
                f"{self.kind!r}"
            )
        if self.index:
            sharding.several[0] = True
        return found[self.index]

    def __repr__(self) -> str:
        return f"{self.kind}({self.index})"

    @property
    def _name(self) -> str:
        """The string that equals the device; the first device of a kind has the kind's name.

        NumPy's arrays have the device `"cpu"`, a string.
        """
        return self.kind if self.index == 0 else repr(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self._name == other
        return isinstance(other, Device) and (self.kind, self.index) == (other.kind, other.index)

    def __hash__(self) -> int:
        return hash(self._name)

    def __enter__(self) -> "Device":
        context = modes.changed(device=self.resolve())
        context.__enter__()
        self._entered.append(context)
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.pop().__exit__(None, None, None)


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
        kind, _, number = device.replace(")", "").replace("(", ":").partition(":")
        return Device(kind, int(number or 0))
    raise TypeError(
        "device: expected a Device, a name such as 'gpu(0)', a Mesh or a Sharding, got "
        f"{type(device).__name__}"
    )


def current_device() -> Place:
    """Return the device or layout on which new arrays are placed."""
    found = modes.current().device
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
    found = xla.device_of(payload)
    return current_device() if found is None else _described(found, payload.ndim)


def devices_of(place: Place) -> list[Place]:
    """Devices of this process that a place has, one for a device."""
    if isinstance(place, Device):
        return [place]
    return [_described(device) for device in local_devices(place)]


def _described(device: Any, ndim: int = 0) -> Place:
    if sharding.is_layout(device):
        return described(device, ndim)
    kind = _KINDS[device.platform]
    return Device(kind, xla.devices(kind).index(device))


def _on_device(xp: Any, a: Any, *, device: Any) -> Any:
    """Copy of an array on another device."""
    return xp.to_device(a, device.resolve())


_to_device = operator("_npi_to_device", order="K", kernels={"jax": _on_device})(_on_device)


def moved(handle: Handle, device: Any) -> Any:
    """Return the array on a device: the same handle if it is there, else a copy."""
    wanted = as_device(device)
    if isinstance(wanted, Sharding):
        wanted.check(handle.shape, "an array")
    value, mode = handles.read(handle), modes.current()
    if mode.trace is None or isinstance(wanted, Device):
        if device_of(handle) == wanted:
            return handle
    if mode.trace is not None or isinstance(value.payload, xla.Unknown):
        return apply(_to_device, (handle,), (wanted,))
    if value.node is None or not mode.recording:
        return handles.wrap(Value(_copied(value.payload, wanted)))
    node = Node(_to_device, (wanted,), (value,), (True,), PythonPullback(_move_back(value)), 1)
    return handles.wrap(Value(_copied(value.payload, wanted), node))


def _copied(payload: Any, device: Place) -> Any:
    """Copy a payload to a device or a layout.

    No program can do that: XLA runs each program on the device of its operands.
    """
    target, on_xla = device.resolve(), not isinstance(payload, onp.ndarray)
    if target is xla.first_cpu() and modes.current().backend != "jax":
        return xla.to_host(payload, True) if on_xla else payload.copy()
    return xla.moved(payload, target) if on_xla else xla.asarray(payload, target)


def _move_back(value: Value) -> Any:
    """Return the pullback of moving an array, which moves the gradient back."""
    device = Device("cpu") if isinstance(value.payload, onp.ndarray) else None
    where: Place = _described(xla.device_of(value.payload)) if device is None else device

    def pull(cotangents: Sequence[Value | None], create_graph: bool) -> Sequence[Value]:
        (given,) = cotangents
        assert given is not None
        if create_graph:
            return [handles.read(moved(handles.wrap(given), where))]
        return [Value(_copied(given.payload, where))]

    return pull


__all__ = ["Device", "Place", "as_device", "current_device", "device_of", "devices_of", "moved"]
