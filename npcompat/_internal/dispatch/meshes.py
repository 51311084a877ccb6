"""Meshes of devices, and the layouts of arrays on them; a `Sharding` stands where a `Device` does."""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax import sharding
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, payload_now

Part = str | tuple[str, ...] | None


class Mesh:
    """Mesh: devices arranged in a grid whose axes have names.

    Called with names of its axes, it gives a layout of arrays (`Sharding`), which stands wherever a
    device does.

    Parameters
    ----------
    devices : sequence of Device, or jax.sharding.Mesh, optional
        The devices; all devices of all processes if not given.
    **axes : int
        Lengths of the axes by name; one may be -1, for all devices that are left. One axis
        ``data`` if none is given.

    Examples
    --------
    >>> mesh = npx.Mesh([npx.cpu(0)], data=1)
    >>> mesh
    Mesh(data=1)
    >>> mesh("data", None)
    Mesh(data=1)('data', None)
    """

    __slots__ = ("jax",)
    jax: Any

    def __init__(self, devices: Any = None, /, **axes: int) -> None:
        if isinstance(devices, Mesh):
            devices = devices.jax
        if sharding.is_grid(devices):
            if axes:
                raise TypeError("Mesh: a mesh has axes already; give no others")
            self.jax = devices
        else:
            found = xla.all_devices() if devices is None else _resolved(devices)
            lengths = {name: _as_int(n, axes) for name, n in axes.items()} or {"data": -1}
            self.jax = sharding.grid(found, _lengths(lengths, len(found)), list(lengths))
        if self.jax.size > 1:
            sharding.several[0] = True

    @property
    def axes(self) -> dict[str, int]:
        """Lengths of the axes, by name."""
        return dict(self.jax.shape)

    @property
    def size(self) -> int:
        """Number of devices."""
        return int(self.jax.size)

    def __call__(self, *spec: Part) -> "Sharding":
        """Return the layout that cuts axes of arrays along these axes of the mesh; None, and axes
        that are not mentioned, stay whole.
        """
        return Sharding(self, spec)

    def __enter__(self) -> "Mesh":
        first = next(iter(self.axes))
        raise TypeError(
            f"with {self!r}: call the mesh with the axes that cut new arrays, as in "
            f"with mesh({first!r}):; with mesh(): puts a copy on each device"
        )

    def __exit__(self, *error: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and bool(self.jax == other.jax)

    def __hash__(self) -> int:
        return hash(self.jax)

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{name}={n}' for name, n in self.axes.items())})"

    def __deepcopy__(self, memo: Any) -> "Mesh":
        return self

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Mesh holds devices of this process and can't be pickled: pickle its axes, and make "
            "it again"
        )


class Sharding:
    """Layout of arrays on a mesh: the axes along which each axis of an array is cut.

    A mesh that is called gives one. It stands wherever a device does: as `device=` or `ctx=`, in
    `to_device`, in ``with``, and `x.device` returns it.

    Parameters
    ----------
    mesh : Mesh
        The devices.
    spec : sequence of str, tuple of str, or None
        For each axis of an array the axes of the mesh along which it is cut; None leaves it whole.

    Examples
    --------
    >>> mesh = npx.Mesh([npx.cpu(0)], data=1)
    >>> npx.Sharding(mesh, ("data",)) == mesh("data")
    True
    """

    __slots__ = ("_layout", "mesh", "spec")

    def __init__(self, mesh: Mesh, spec: Sequence[Part] = ()) -> None:
        check_mesh(mesh, "Sharding")
        if not isinstance(spec, tuple | list):
            raise TypeError(
                f"Sharding: spec: expected a tuple of axes of the mesh, got {spec!r}; as in "
                "npx.Sharding(mesh, ('data', None))"
            )
        self.mesh, self.spec = mesh, tuple(spec)
        for part in self.spec:
            _check_part(part, mesh)
        used = [name for part in self.spec for name in sharding.names_of(part)]
        for name in used:
            if name not in mesh.axes:
                raise ValueError(
                    f"{name!r} is no axis of {mesh!r}: expected one of "
                    f"{', '.join(map(repr, mesh.axes))}, or None"
                )
            if used.count(name) > 1:
                raise ValueError(
                    f"{name!r} cuts two axes of an array: {self.spec}; each axis of a mesh cuts one"
                )
        self._layout = sharding.layout(mesh.jax, self.spec)

    @property
    def kind(self) -> str:
        """Kind of the devices: 'cpu', 'gpu' or 'tpu'."""
        platform = str(self.mesh.jax.devices.flat[0].platform)
        return {"cuda": "gpu"}.get(platform, platform)

    @property
    def device_type(self) -> str:
        """The kind, under MXNet's name."""
        return self.kind

    def resolve(self) -> Any:
        """The backend's own object for the layout."""
        return self._layout

    def check(self, shape: Sequence[int], what: str) -> None:
        """Raise ValueError if arrays of a shape can't be cut so."""
        self.check_axes(shape, what)
        for axis, (length, part) in enumerate(zip(shape, self.spec, strict=False)):
            if not sharding.divides(self.mesh.jax, part, length):
                pieces = math.prod([self.mesh.axes[name] for name in sharding.names_of(part)])
                raise ValueError(
                    f"{what} of shape {tuple(shape)} can't be cut evenly by {self!r}: axis {axis} "
                    f"has {length} elements for {pieces} pieces; pad it, or leave it whole (None)"
                )

    def check_axes(self, shape: Sequence[int], what: str) -> None:
        """Raise ValueError if arrays of a shape have fewer axes."""
        if len(self.spec) > len(shape):
            raise ValueError(
                f"{what} of shape {tuple(shape)} has fewer axes than the layout {self!r}"
            )

    def fits(self, shape: Sequence[int]) -> bool:
        """Return True if arrays of a shape can be cut so."""
        return len(self.spec) <= len(shape) and all(
            sharding.divides(self.mesh.jax, part, length)
            for length, part in zip(shape, self.spec, strict=False)
        )

    def _key(self) -> tuple[Mesh, tuple[Part, ...]]:
        spec = [
            names[0] if len(names := sharding.names_of(part)) == 1 else names or None
            for part in self.spec
        ]
        while spec and spec[-1] is None:
            spec.pop()
        return self.mesh, tuple(spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sharding) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"{self.mesh!r}({', '.join(map(repr, self.spec))})"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Sharding holds devices of this process and can't be pickled: pickle the axes of its "
            "mesh and its spec, and make it again"
        )

    def __deepcopy__(self, memo: Any) -> "Sharding":
        return self

    def __enter__(self) -> "Sharding":
        modes.enter(self, {"device": self.resolve()})
        return self

    def __exit__(self, *error: object) -> None:
        modes.leave(self)


def check_mesh(mesh: Any, owner: str) -> None:
    """Raise TypeError for what is no mesh of ours."""
    if not isinstance(mesh, Mesh):
        ours = "a mesh of JAX's; npx.Mesh(mesh) makes one of it"
        given = ours if sharding.is_grid(mesh) else type(mesh).__name__
        raise TypeError(f"{owner}: mesh: expected a Mesh, got {given}")


def _check_part(part: Any, mesh: Mesh) -> None:
    """Raise TypeError if a part of a layout is not made of names."""
    if part is None or isinstance(part, str):
        return
    if not isinstance(part, tuple) or not all(isinstance(name, str) for name in part):
        first = next(iter(mesh.axes))
        raise TypeError(
            f"layout on {mesh!r}: expected for each axis of an array the name of an axis of the "
            f"mesh, a tuple of names, or None, got {part!r}; as in mesh({first!r}, None)"
        )


def _resolved(devices: Any) -> list[Any]:
    """The backend's own objects for the devices of a mesh."""
    if not isinstance(devices, Iterable) or isinstance(devices, str | Mapping):
        raise TypeError(
            "Mesh: devices: expected a list of devices, or a mesh of JAX's, got "
            f"{type(devices).__name__}; axes are named: npx.Mesh(data=8)"
        )
    given = list(devices)
    found = [d.resolve() if hasattr(d, "resolve") else d for d in given]
    for device, resolved in zip(given, found, strict=True):
        if not hasattr(resolved, "platform"):
            raise TypeError(f"Mesh: devices: expected devices as npx.cpu(0), got {device!r}")
        if found.count(resolved) > 1:
            raise ValueError(f"Mesh: devices: {device!r} is there twice")
    if not found:
        raise ValueError("Mesh: devices: expected at least one device, got none")
    return found


def _as_int(length: Any, axes: dict[str, Any]) -> int:
    try:
        return operator.index(length)
    except TypeError:
        raise TypeError(f"Mesh: lengths of axes must be integers; got {axes}") from None


def _lengths(axes: dict[str, int], devices: int) -> list[int]:
    """Lengths of the axes, of which one that is -1 takes the devices that are left."""
    lengths = list(axes.values())
    if any(n < 1 and n != -1 for n in lengths) or lengths.count(-1) > 1:
        raise ValueError(f"Mesh: lengths of axes must be positive, one may be -1; got {axes}")
    known = math.prod([n for n in lengths if n != -1])
    if -1 in lengths:
        lengths[lengths.index(-1)] = devices // known
    if math.prod(lengths) != devices:
        given = ", ".join(f"{name}={n}" for name, n in axes.items())
        raise ValueError(
            f"Mesh({given}): {devices} devices can't be arranged so; the product of the lengths "
            "must be the number of devices (give the list of devices to use a part of them)"
        )
    return lengths


def described(place: Any, ndim: int | None = None) -> Sharding:
    """A layout of JAX's as one of ours."""
    found = sharding.named(place, ndim or 0)
    if not hasattr(found, "spec"):
        raise NotImplementedError(
            f"device: XLA chose a layout without names, {found}; lay the array out by to_device"
        )
    return Sharding(Mesh(found.mesh), tuple(found.spec))


def lies_on_all(handle: Handle) -> bool:
    """Return True if an array lies on devices of several processes."""
    place = sharding.spread(payload_now(handle._value))
    return place is not None and not place.is_fully_addressable


def local_devices(place: Sharding) -> Iterable[Any]:
    """Devices of this process, as the backend knows them."""
    return list(place.mesh.jax.local_devices)


__all__ = ["Mesh", "Part", "Sharding", "check_mesh", "described", "lies_on_all", "local_devices"]
