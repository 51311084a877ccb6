"""Arrays that lie on several devices: layouts, moves between them, pieces of the host's arrays.

XLA partitions every program by the layouts of its operands. Added here is what it leaves open: where
a written array lies afterwards, and how operands of different places come together.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as onp
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding

from npcompat._internal.backend.jax.namespace import Array
from npcompat._internal.backend.jax.programs import (
    compiled,
    exit_x64_scope,
    function,
    optimized,
)
from npcompat._internal.backend.jaxpr.compat import ShapedArray
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.support.errors import RemoteValuesError

several: list[bool] = [False]
"""Whether this process uses more than its first device: until then nobody asks how arrays lie."""


progress: list[int] = [0]
"""Number of programs and reads that this process has waited for, so that a watcher sees it go on.
"""


def spread(payload: Any) -> Any:
    """The layout of an array on several devices; None if it is on one, or no array of XLA's."""
    if type(payload) is not Array:
        return None
    sharding = payload.sharding
    if type(sharding) is SingleDeviceSharding or sharding.num_devices == 1:
        return None
    return sharding


def is_layout(place: Any) -> bool:
    """Return True for a layout on several devices, False for a device."""
    return isinstance(place, Sharding)


def grid(devices: Sequence[Any], lengths: Sequence[int], names: Sequence[str]) -> Mesh:
    """Arrange devices as a mesh of named axes."""
    return Mesh(onp.array(devices, object).reshape(lengths), tuple(names))


def is_grid(candidate: Any) -> bool:
    """Return True for a mesh of JAX's."""
    return isinstance(candidate, Mesh)


def layout(mesh: Mesh, spec: Sequence[Any]) -> NamedSharding:
    """The layout that cuts axes of arrays along axes of a mesh."""
    return NamedSharding(mesh, PartitionSpec(*spec))


def names_of(part: Any) -> tuple[str, ...]:
    """Axes of a mesh that one axis of an array is cut along."""
    return () if part is None else (part,) if isinstance(part, str) else tuple(part)


def divides(mesh: Any, part: Any, length: int) -> bool:
    """Return True if an axis of this length can be cut into equal pieces."""
    pieces = math.prod([int(mesh.shape[name]) for name in names_of(part)])
    return length % pieces == 0


def fitted(sharding: Any, shape: Sequence[int]) -> Any:
    """A layout for arrays of another shape: surplus axes are left out, and those that can't be cut
    evenly stay whole.
    """
    if not isinstance(sharding, NamedSharding):
        return sharding
    parts = [
        part if divides(sharding.mesh, part, length) else None
        for part, length in zip(sharding.spec, shape, strict=False)
    ]
    same = parts == list(sharding.spec)
    while parts and parts[-1] is None:
        parts.pop()
    return sharding if same else NamedSharding(sharding.mesh, PartitionSpec(*parts))


def replicated(sharding: Any) -> Any:
    """The layout of arrays of which each device of the same mesh holds a copy."""
    if isinstance(sharding, NamedSharding):
        return NamedSharding(sharding.mesh, PartitionSpec())
    devices = sorted(sharding.device_set, key=lambda d: d.id)
    return NamedSharding(grid(devices, [len(devices)], ["devices"]), PartitionSpec())


def named(sharding: Any, ndim: int) -> Any:
    """The same layout by names of a mesh's axes, also where XLA chose it."""
    if isinstance(sharding, NamedSharding):
        return sharding
    if sharding.is_fully_replicated:
        return replicated(sharding)
    spec = getattr(sharding, "spec", None)
    return sharding if spec is None else NamedSharding(sharding.mesh, spec)


def laid_out(array: onp.ndarray[Any, Any], sharding: Any) -> Any:
    """A copy of an array of the host, laid out; each process sends what its devices hold."""
    with jax.enable_x64(True):
        fits = fitted(sharding, array.shape)
        return jax.make_array_from_callback(
            array.shape, fits, lambda index: onp.array(array[index], order="C"), dtype=array.dtype
        )


def from_local_rows(array: onp.ndarray[Any, Any], sharding: Any) -> Any:
    """One array of the parts that the processes have of it."""
    with jax.enable_x64(True):
        return jax.make_array_from_process_local_data(sharding, array)


def placed(payload: Any, sharding: Any) -> Any:
    """An array laid out; in a program this is a constraint for the compiler."""
    if type(payload) is onp.ndarray:
        return laid_out(payload, sharding)
    with jax.enable_x64(True):
        fits = fitted(sharding, payload.shape)
        if isinstance(payload, Tracer):
            return jax.lax.with_sharding_constraint(payload, fits)
        if payload.sharding.is_equivalent_to(fits, payload.ndim):
            return payload if _has_names_of(payload.sharding, fits) else _renamed(payload, fits)
        if payload.is_fully_addressable and not fits.is_fully_addressable:
            return laid_out(onp.asarray(payload), fits)
        return block_on_cpu_mesh(jax.device_put(payload, fits))


def _has_names_of(sharding: Any, other: Any) -> bool:
    """Return True for an equivalent layout on the same mesh, whose axes have the same names."""
    return isinstance(sharding, NamedSharding) and (
        sharding.mesh is other.mesh or bool(sharding.mesh == other.mesh)
    )


def _renamed(payload: Any, sharding: Any) -> Any:
    """The same buffers under an equivalent layout, whose axes have names."""
    shards = [shard.data for shard in payload.addressable_shards]
    return jax.make_array_from_single_device_arrays(payload.shape, sharding, shards)


def kept_where(payload: Any, before: Any) -> Any:
    """Return a new value of an array on XLA in the layout of the old one."""
    there = before.sharding
    if payload.sharding == there:
        return payload
    if spread(before) is not None:
        return placed(payload, there)
    if payload.sharding.device_set == there.device_set:
        return payload
    if spread(payload) is not None and not payload.is_fully_addressable:
        payload = _copy_here(payload)
    with jax.enable_x64(True):
        moved = jax.device_put(payload, next(iter(there.device_set)))
    return moved if before.committed else uncommitted(moved)


def uncommitted(payload: Any) -> Any:
    """The same buffer as an array that nobody placed, which programs move as they need."""
    return Array(_type(payload), payload.sharding, [payload], committed=False)


def _type(payload: Any) -> ShapedArray:
    return ShapedArray(payload.shape, onp.dtype(payload.dtype), weak_type=payload.weak_type)


def _copy_here(payload: Any) -> Any:
    """The copy that a device of this process holds of a replicated array."""
    if not payload.is_fully_replicated:
        raise remote_values(payload)
    return payload.addressable_data(0)


def one_copy(payload: Any) -> Any:
    """A replicated array, or the copy that a device of this process holds of it: that is read in
    half of the time.
    """
    return payload if spread(payload) is None else _copy_here(payload)


def local(payload: Any) -> Any:
    """A replicated array as one of this process alone, on no chosen device."""
    return uncommitted(_copy_here(payload))


def is_chosen(payload: Any) -> bool:
    """Return True for an array on XLA whose place was chosen; others move as programs need them."""
    return type(payload) is Array and bool(payload.committed)


def chosen(payload: Any, place: Any) -> Any:
    """An array on XLA on a device that is chosen for it."""
    with jax.enable_x64(True):
        return jax.device_put(payload, place)


def common_place(payloads: Sequence[Any]) -> Any:
    """Return where a program of these operands runs: the layout of the first on a mesh, else that of
    the first on a chosen device; None if nobody has chosen.
    """
    chosen = [p.sharding for p in payloads if is_chosen(p)]
    return next((s for s in chosen if s.num_devices > 1), chosen[0] if chosen else None)


def lie_apart(payloads: Sequence[Any]) -> bool:
    """Return True if the chosen places of arrays are not all on the same devices."""
    return len({frozenset(p.sharding.device_set) for p in payloads if is_chosen(p)}) > 1


def lies_at(payload: Any, place: Any) -> bool:
    """Return True if a small array lies on a device, or on all devices of a mesh, or for None on
    none that was chosen.
    """
    if place is None or not is_chosen(payload):
        return place is None and not is_chosen(payload)
    if place.num_devices > 1:
        return bool(payload.sharding == replicated(place))
    return bool(payload.sharding.device_set == place.device_set)


def remote_values(payload: Any) -> RemoteValuesError:
    """The error for values that other processes hold."""
    processes = len({d.process_index for d in payload.sharding.device_set})
    return RemoteValuesError(
        f"the values of this array of shape {payload.shape} lie in {processes} processes, and this "
        "one has a part of them: npx.gather(x) brings them together; all processes must call it"
    )


def lies_elsewhere(payload: Any) -> bool:
    """Return True if other processes hold values that this one does not."""
    return type(payload) is Array and not (
        payload.is_fully_addressable or payload.is_fully_replicated
    )


def on_mesh(made: Any, sharding: Any) -> Sequence[Any]:
    """Results of a program without operands, laid out where the program leaves that open."""
    outs = made if type(made) in (tuple, list) else (made,)
    return [placed(out, sharding) if spread(out) is None else out for out in outs]


def on_common_mesh(payloads: Sequence[Any], context: Any = None) -> list[Any] | None:
    """Operands of which some lie on a mesh, and others on one device, or on a mesh of the same
    devices in another arrangement: each device of the mesh gets a copy of these. The mesh is that of
    the context if none lies on one. None if there is no mesh.
    """
    found = [s for p in payloads if (s := spread(p)) is not None]
    if not found and is_layout(context):
        found = [context]
    if not found:
        return None
    whole, devices = replicated(found[0]), found[0].device_set
    if any(s.device_set != devices for s in found):
        return None
    return [
        placed(p, whole) if type(p) is Array and not _is_on(p, whole.mesh) else p for p in payloads
    ]


def _is_on(payload: Any, mesh: Mesh) -> bool:
    place = spread(payload)
    return place is not None and getattr(place, "mesh", mesh) == mesh


def are_apart(error: Exception) -> bool:
    """Return True for JAX's errors about operands on different devices, or on meshes of the same
    devices of which one has no name for how a result lies.
    """
    return several[0] and any([text in str(error) for text in _APART])


def apart(payloads: Sequence[Any], layout: Any = None) -> str:
    """The text of the error about operands that lie apart, or apart from where their program lays
    arrays out; each set of devices is named once.
    """
    places = [(p.sharding, f"shape {p.shape}") for p in payloads if type(p) is Array]
    if layout is not None:
        places.append((layout, "what the function lays out"))
    found: dict[str, str] = {}
    for place, what in places:
        numbers = sorted([device.id for device in place.device_set])
        name = next(iter(place.device_set)).platform
        found.setdefault(f"{name} {numbers}", what)
    if len(found) < 2:
        return (
            "operands lie on meshes of the same devices in other arrangements, and one of them has "
            "no name for how a result lies: use one mesh for all"
        )
    where = " and ".join([f"{what} on {place}" for place, what in found.items()])
    return (
        f"operands lie on devices that have no mesh in common: {where}; move one of them, as by "
        "a.to_device(b.device)"
    )


_APART = "incompatible devices", "is incompatible with mesh_shape"


def pinned(payload: Any, sharding: Any) -> Any:
    """A result of a program, laid out as what it replaces."""
    return jax.lax.with_sharding_constraint(payload, sharding)


def parts_of(payload: Any) -> dict[tuple[tuple[int, int], ...], list[Any]]:
    """Pieces of an array, by where they begin and end along each axis, each with its devices."""
    found: dict[tuple[tuple[int, int], ...], list[Any]] = {}
    for device, index in payload.sharding.devices_indices_map(payload.shape).items():
        spans = [
            part.indices(length)[:2] for part, length in zip(index, payload.shape, strict=True)
        ]
        found.setdefault(tuple(spans), []).append(device)
    return dict(sorted(found.items()))


def gathered(payload: Any) -> onp.ndarray[Any, Any]:
    """The values of an array whose parts lie in several processes; all of them must ask."""
    if not lies_elsewhere(payload):
        return onp.asarray(payload)
    with jax.enable_x64(True):
        whole = _replicating(replicated(payload.sharding))(payload)
    return onp.asarray(whole.addressable_data(0))


@lru_cache(maxsize=64)
def _replicating(sharding: Any) -> Callable[[Any], Any]:
    return jax.jit(lambda x: x, out_shardings=sharding)


def run_in_pieces(
    op: Op, attrs: Attrs, payloads: Sequence[Any], sharding: Any, numpy_dtypes: int
) -> Any:
    """Results of an operator, the first of them laid out and never whole on one device."""
    operands = payloads
    if not sharding.is_fully_addressable:
        operands = [_of_all_processes(p) if type(p) is Array else p for p in payloads]
    types = tuple([(p.shape, onp.dtype(p.dtype)) for p in payloads])
    try:
        return block_on_cpu_mesh(_in_pieces(op, attrs, types, sharding, numpy_dtypes)(*operands))
    finally:
        exit_x64_scope()


def _of_all_processes(operand: Any) -> Any:
    """An operand that each process has, for a program of all: a number stays weak."""
    return operand.item() if operand.weak_type else onp.asarray(operand)


@lru_cache(maxsize=512)
def _in_pieces(
    op: Op, attrs: Attrs, types: tuple[Any, ...], sharding: Any, numpy_dtypes: int
) -> Callable[..., Any]:
    compute = optimized(op, function(op, attrs))
    with jax.enable_x64(True):
        outs = jax.eval_shape(compute, *[jax.ShapeDtypeStruct(*t) for t in types])
        shape = (outs if op.outputs == 1 else outs[0]).shape
        fits, whole = fitted(sharding, shape), replicated(sharding)
        where = fits if op.outputs == 1 else (fits, *[whole] * (op.outputs - 1))
        return partial(_exactly, compiled(compute, out_shardings=where))


def _exactly(program: Callable[..., Any], *arrays: Any) -> Any:
    with jax.enable_x64(True):
        return program(*arrays)


def block_on_cpu_mesh(made: Any) -> Any:
    """Results of a program, which has ended if it ran on a mesh of CPUs: XLA's threads dead-lock
    where several programs that talk between them wait for each other.
    """
    progress[0] += 1
    first = made
    while type(first) in (tuple, list):
        if not first:
            return made
        first = first[0]
    if (place := spread(first)) is not None:
        if next(iter(place.addressable_devices)).platform == "cpu":
            first.block_until_ready()
    return made


__all__ = [
    "SingleDeviceSharding",
    "apart",
    "are_apart",
    "block_on_cpu_mesh",
    "chosen",
    "common_place",
    "divides",
    "fitted",
    "from_local_rows",
    "gathered",
    "grid",
    "is_chosen",
    "is_grid",
    "is_layout",
    "kept_where",
    "laid_out",
    "layout",
    "lie_apart",
    "lies_at",
    "lies_elsewhere",
    "local",
    "named",
    "names_of",
    "on_common_mesh",
    "on_mesh",
    "one_copy",
    "parts_of",
    "pinned",
    "placed",
    "progress",
    "remote_values",
    "replicated",
    "run_in_pieces",
    "several",
    "spread",
    "uncommitted",
]  # fmt: skip
