"""Places of parameters: on one device, with a copy on each of several, or in pieces on a mesh."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from numbers import Integral
from typing import Any
from weakref import WeakKeyDictionary

from npcompat._internal.core import modes
from npcompat._internal.core.handle import extra
from npcompat._internal.core.retained_outputs import version_of
from npcompat._internal.dispatch import writes
from npcompat._internal.dispatch.devices import Place, as_device, current_device, device_of
from npcompat._internal.dispatch.meshes import Mesh, Part, Sharding, check_mesh
from npcompat._internal.dispatch.placement import moved_to_default_device, new_value

Rules = Mapping[str, Any] | None


def place_of(device: Any) -> Place | None:
    """Return the place that an argument names: a device, a sharding, a mesh or a list of devices,
    each of which gets a copy then.
    """
    return None if device is None else as_device(device)


def one_of(device: Any, ctx: Any, what: str) -> Any:
    """Return the device that was passed as either `device` or `ctx`."""
    if device is not None and ctx is not None:
        raise TypeError(f"{what}: device and ctx are the same argument; give one of them")
    return device if device is not None else ctx


def on_device_of(handle: Any) -> AbstractContextManager[Any]:
    """Context manager that places new arrays on the device of an array."""
    here = device_of(handle)
    return nullcontext() if here == current_device() else here


def on_xla(value: Any) -> Any:
    """Move a value to XLA if the backend is `auto`.

    Layers run on XLA on every device then, since compiled functions would move the value there
    anyway.
    """
    backend = modes.current().backend
    if not backend.startswith("auto"):
        return value
    with modes.changed(backend=backend.removeprefix(modes.AUTO) if backend != "auto" else "jax"):
        return moved_to_default_device(value)


def replace(handle: Any, value: Any) -> None:
    """Replace the value of a handle; dtype and device may change."""
    with modes.changed(recording=False):
        writes.relocate(handle, new_value(value.payload))
    extra(handle).layout = None


def continue_gradient(before: Any, gradient: Any) -> None:
    """Give a new gradient the values of an earlier one, and its age: a stale one stays stale."""
    if before is None or gradient is None or version_of(before) == extra(before).blank:
        return
    with modes.changed(recording=False):
        gradient[...] = before.astype(gradient.dtype)
    extra(gradient).version, extra(gradient).blank = version_of(before), extra(before).blank


@dataclass(frozen=True, eq=False)
class Plan:
    """Layout of the parameters of a block on a mesh.

    A parameter lies by the first rule whose pattern is found in its name. Others are cut along
    `fsdp`, if they have at least `least` elements, at their longest axis that can be cut evenly;
    what is left lies whole on each device.
    """

    mesh: Mesh
    rules: Rules = None
    fsdp: str | None = None
    least: int = 2**14

    def __post_init__(self) -> None:
        check_mesh(self.mesh, "shard")
        if not isinstance(self.rules, Mapping | None):
            raise TypeError(
                "shard: rules: expected a dict of patterns, each with the axes of the mesh, got "
                f"{type(self.rules).__name__}"
            )
        if not isinstance(self.least, Integral):
            raise TypeError(f"shard: least: expected a number of elements, got {self.least!r}")
        if not isinstance(self.fsdp, str | None):
            raise TypeError(f"shard: fsdp: expected the name of an axis, got {self.fsdp!r}")
        if self.fsdp is not None and self.fsdp not in self.mesh.axes:
            raise ValueError(
                f"shard: fsdp={self.fsdp!r} is no axis of {self.mesh!r}: expected one of "
                f"{', '.join(map(repr, self.mesh.axes))}, or None"
            )
        for pattern, spec in (self.rules or {}).items():
            try:
                re.compile(pattern)
                self.mesh(*_parts(spec))
            except (re.error, TypeError, ValueError) as error:
                raise ValueError(f"shard: rule {pattern!r}: {error}") from error

    def check_names(self, names: Iterable[str]) -> None:
        """Raise ValueError if a rule is for no parameter: its pattern is found in none of the
        names.
        """
        known = list(names)
        for pattern in self.rules or {}:
            if not any([re.search(pattern, name) for name in known]):
                raise ValueError(
                    f"shard: rule {pattern!r} is found in the name of no parameter; there are "
                    f"{', '.join(map(repr, known)) or 'none'}"
                )

    def place(self, name: str, shape: Sequence[int]) -> Sharding:
        """Return the layout of a parameter."""
        for pattern, spec in (self.rules or {}).items():
            if re.search(pattern, name):
                chosen = self.mesh(*_parts(spec))
                chosen.check(shape, f"shard: rule {pattern!r}: parameter {name}")
                return chosen
        if self.fsdp is None or math.prod(shape) < self.least:
            return self.mesh()
        pieces = self.mesh.axes[self.fsdp]
        axes = [i for i, length in enumerate(shape) if length % pieces == 0]
        if not axes:
            return self.mesh()
        longest = max(axes, key=lambda i: shape[i])
        return self.mesh(*[None] * longest, self.fsdp)


def _parts(spec: Any) -> tuple[Part, ...]:
    return tuple(spec) if isinstance(spec, tuple | list) else () if spec is None else (spec,)


class Placements:
    """Devices on which parameters lie together; a batch that is cut for these stays one array."""

    def __init__(self) -> None:
        self._devices: WeakKeyDictionary[Any, frozenset[Any]] = WeakKeyDictionary()

    def note(self, parameter: Any, handle: Any) -> None:
        """Note where a parameter lies."""
        here = device_of(handle)
        if isinstance(here, Sharding):
            self._devices[parameter] = frozenset(here.mesh.jax.devices.flat)
        else:
            self._devices.pop(parameter, None)

    def together(self, devices: Sequence[Any]) -> bool:
        """Return True if a parameter lies on all of these devices, as the backend knows them."""
        return frozenset(devices) in self._devices.values()


placements = Placements()

__all__ = [
    "Plan",
    "Rules",
    "continue_gradient",
    "on_device_of",
    "on_xla",
    "one_of",
    "place_of",
    "placements",
    "replace",
]
