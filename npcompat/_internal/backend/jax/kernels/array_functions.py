"""Array functions on XLA that `jax.numpy` lacks, or that differ from NumPy's there."""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax
from jax.sharding import Sharding

from npcompat._internal.backend.jaxpr import loop_bodies
from npcompat._internal.core.index_spec import FULL, INTEGER, NEWAXIS, indexed_shape
from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("astype", backend="jax")
def astype(x: Any, dtype: Any) -> Any:
    """Cast as NumPy does: complex to real drops the imaginary part, without a warning."""
    x = jnp.asarray(x)
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not jnp.issubdtype(
        dtype, jnp.complexfloating
    ):
        if dtype == onp.bool_:
            return x != 0
        x = x.real
    if x.dtype == onp.float64 and dtype == onp.float16:
        x = _halfway_apart(x)
    if jnp.issubdtype(x.dtype, jnp.floating) and jnp.issubdtype(dtype, jnp.integer):
        x = _truncated(x, onp.dtype(dtype))
    if x.dtype == onp.bool_ and jnp.issubdtype(dtype, jnp.inexact):
        # XLA turns a product with a bool into a selection, in which False * nan is 0
        x = lax.convert_element_type(x, onp.uint8)
    return lax.convert_element_type(x, dtype)


def in_singles(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of half floats compute in single precision and round once, as NumPy does.

    XLA would round after each step.
    """

    def computed(*arrays: Any) -> Any:
        if all([getattr(a, "dtype", None) == onp.float16 for a in arrays]):
            return function(*[a.astype(onp.float32) for a in arrays]).astype(onp.float16)
        return function(*arrays)

    return computed


def _truncated(x: Any, dtype: onp.dtype[Any]) -> Any:
    """Convert floats to integers that XLA casts to a dtype by dropping bits, as C does.

    XLA alone would take the nearest integer of the dtype. Numbers that don't fit into the integers
    between, and nan, become their smallest number, as on processors (x86-64).
    """
    if x.dtype.itemsize < 4:
        x = lax.convert_element_type(x, onp.float32)
    if dtype == onp.uint64:
        x = jnp.where(x >= 2.0**64, 0, x)
        high = lax.convert_element_type(jnp.where(x >= 2.0**63, x, 0), dtype)
        return jnp.where(
            x >= 2.0**63, high, lax.convert_element_type(_truncated(x, onp.dtype(onp.int64)), dtype)
        )
    between, least = (
        (onp.int64, -(2.0**63)) if dtype in (onp.int64, onp.uint32) else (onp.int32, -(2.0**31))
    )
    return lax.convert_element_type(jnp.where((x > least - 1) & (x < -least), x, least), between)


def _halfway_apart(x: Any) -> Any:
    """Round doubles to singles that XLA then rounds to the half floats next to the doubles.

    XLA converts by way of singles. A single that differs from the double is replaced by the odd one
    of the two around it, which is not halfway between two half floats.
    """
    single = lax.convert_element_type(x, onp.float32)
    back = lax.convert_element_type(single, onp.float64)
    bits = lax.bitcast_convert_type(single, onp.int32)
    odd = lax.bitcast_convert_type((bits - (abs(back) > abs(x))) | 1, onp.float32)
    return single + lax.stop_gradient(
        jnp.where((back != x) & jnp.isfinite(single), odd - single, -0.0)
    )


# --- basic indexing: start positions are operands, sizes and steps are not ------------------------


def _window(
    shape: Sequence[int], starts: Sequence[Any], spec: tuple[tuple[int, ...], ...]
) -> tuple[list[Any], list[int], list[int]]:
    """Start, span and step of a basic index per axis; spans count downwards for negative steps."""
    remaining = iter(starts)
    begin, span, step = [], [], []
    axis = 0
    for kind, *rest in spec:
        if kind == NEWAXIS:
            continue
        if kind == FULL:
            begin.append(0)
            span.append(shape[axis])
            step.append(1)
        elif kind == INTEGER:
            begin.append(next(remaining))
            span.append(1)
            step.append(1)
        else:
            length, stride = rest
            extent = max(length - 1, 0) * abs(stride) + (length > 0)
            start = next(remaining)
            begin.append(start if stride > 0 else start - (extent - 1 if extent else 0))
            span.append(extent)
            step.append(stride)
        axis += 1
    return begin, span, step


def _strided(window: Any, step: Sequence[int]) -> Any:
    if all(s == 1 for s in step):
        return window
    return window[tuple(slice(None, None, s) for s in step)]


@register_kernel("index_get", backend="jax")
def index_get(a: Any, starts: Sequence[Any], spec: tuple[tuple[int, ...], ...]) -> Any:
    """Read `a[index]` of basic indexing."""
    begin, span, step = _window(a.shape, starts, spec)
    if tuple(span) != a.shape or any(s != 1 for s in step):
        a = lax.optimization_barrier(a)  # XLA must not move a reshape behind this; see `index_put`
    if tuple(span) != a.shape:
        begin = [jnp.asarray(b, jnp.int64) for b in begin]
        a = (
            lax.dynamic_slice(a, begin, span, allow_negative_indices=False)
            if 0 not in span
            else jnp.zeros(span, a.dtype)
        )
    a = _strided(a, step)
    return a.reshape(indexed_shape(a.shape, spec))


@register_kernel("index_put", backend="jax")
def index_put(a: Any, new: Any, starts: Sequence[Any], spec: tuple[tuple[int, ...], ...]) -> Any:
    """Return a new array after `a[index] = new` of basic indexing."""
    begin, span, step = _window(a.shape, starts, spec)
    if 0 in span:
        return a
    shape = tuple((s + abs(t) - 1) // abs(t) for s, t in zip(span, step, strict=True))
    new = jnp.broadcast_to(new, shape) if jnp.ndim(new) == 0 else new.reshape(shape)
    begin = [jnp.asarray(b, jnp.int64) for b in begin]
    if any(s != 1 for s in step):
        window = lax.dynamic_slice(a, begin, span, allow_negative_indices=False)
        if window.size > _FEW_OF * new.size + _SMALL:
            new = window.at[tuple(slice(None, None, s) for s in step)].set(new)
        else:
            new = _interleaved(window, new, step)
    written = loop_bodies.put(a, new, begin)
    # XLA writes in place while it reads `new`, which may be another part of `a`. It notices that
    # only if both have one shape, so it must not move a reshape before the update
    # (openxla/xla#49176).
    return written if new.size == 1 else lax.optimization_barrier(written)


_FEW_OF, _SMALL = 16, 10_000
"""Strided parts with less than 1/16 of the window's elements are scattered one by one.

A selection takes time for the whole window, but compiles in a fraction of the time.
"""


def _interleaved(window: Any, new: Any, step: Sequence[int]) -> Any:
    """Replace every `step`-th element of a window along each axis; negative steps go backwards."""
    spread = lax.pad(
        lax.rev(new, [axis for axis, s in enumerate(step) if s < 0]),
        jnp.zeros((), new.dtype),
        [(0, 0, abs(s) - 1) for s in step],
    )
    written = [
        lax.broadcasted_iota(onp.int32, window.shape, axis) % abs(s) == 0
        for axis, s in enumerate(step)
        if abs(s) != 1
    ]
    return (
        jnp.where(functools.reduce(operator.and_, written), spread, window) if written else spread
    )


# --- advanced indexing ----------------------------------------------------------------------------


@register_kernel("known", backend="jax")
def known(x: Any) -> Any:
    """Return a NumPy array if the values are known when the program is made."""
    return x if isinstance(x, jax.core.Tracer) else onp.asarray(x)


def _known_together(
    shape: Sequence[int], index: tuple[Any, ...]
) -> tuple[tuple[int, ...], Any, tuple[int, ...]] | None:
    """Merge known positions on several adjacent axes: axes, positions, and the axes of the rest.

    XLA would concatenate constants in each run. None if the positions are not known, or not
    adjacent.
    """
    axes = tuple([i for i, part in enumerate(index) if type(part) is not slice])
    arrays = [index[i] for i in axes]
    if (
        len(axes) < 2
        or axes[-1] - axes[0] >= len(axes)
        or any([type(i) is not onp.ndarray for i in arrays])
    ):
        return None
    arrays = [*onp.broadcast_arrays(*arrays)]
    places = onp.stack(arrays, axis=-1).astype(onp.int32 if max(shape) < 2**31 else onp.int64)
    after = axes[0] + arrays[0].ndim
    window = (*range(axes[0]), *range(after, after + len(shape) - axes[-1] - 1))
    return axes, places, window


@register_kernel("take_at", backend="jax")
def take_at(a: Any, index: tuple[Any, ...]) -> Any:
    """Read `a[index]` with integer arrays among the index; positions are in range."""
    together = _known_together(a.shape, index)
    if together is not None:
        axes, places, window = together
        numbers = lax.GatherDimensionNumbers(window, axes, axes)
        sizes = [1 if i in axes else n for i, n in enumerate(a.shape)]
        return lax.gather(a, places, numbers, sizes, mode="promise_in_bounds")
    return a.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)


@register_kernel("put_at", backend="jax")
def put_at(a: Any, index: tuple[Any, ...], new: Any) -> Any:
    """Return a new array after `a[index] = new` with integer arrays among the index, none negative.

    Of equal positions the last wins, as in NumPy.
    """
    index = _last_of_equal_positions(a.shape, index)
    together = _known_together(a.shape, index)
    if together is not None:
        axes, places, window = together
        shape = (*a.shape[: axes[0]], *places.shape[:-1], *a.shape[axes[-1] + 1 :])
        numbers = lax.ScatterDimensionNumbers(window, axes, axes)
        new = lax.convert_element_type(jnp.broadcast_to(new, shape), a.dtype)
        return lax.scatter(a, places, new, numbers, mode="drop")
    return a.at[index].set(new, mode="drop", wrap_negative_indices=False)


def _last_of_equal_positions(shape: tuple[int, ...], index: tuple[Any, ...]) -> tuple[Any, ...]:
    """Move all but the last of equal positions out of range, where the scatter drops them.

    XLA's CPU scatters in order. A GPU writes equal positions in any order.
    """
    axes = [i for i, part in enumerate(index) if type(part) is not slice]
    arrays = [index[i] for i in axes]
    if jax.default_backend() == "cpu" or not any([jnp.size(p) > 1 for p in arrays]):
        return index
    places = jnp.broadcast_shapes(*[jnp.shape(p) for p in arrays])
    flat: Any = 0
    for i, part in zip(axes, arrays, strict=True):
        flat = flat * shape[i] + jnp.asarray(part, jnp.int64)
    flat = jnp.broadcast_to(flat, places).reshape(-1)

    def dropped(first: Any, flat: Any) -> Any:
        order = jnp.argsort(flat, stable=True)
        ordered = flat[order]
        repeated = jnp.concatenate([ordered[1:] == ordered[:-1], jnp.zeros(1, bool)])
        repeated = jnp.zeros(flat.shape, bool).at[order].set(repeated, unique_indices=True)
        return jnp.where(repeated.reshape(places), shape[axes[0]], first)

    first = jnp.broadcast_to(jnp.asarray(arrays[0], jnp.int64), places)
    first = lax.platform_dependent(first, flat, cpu=lambda first, _: first, default=dropped)
    return (*index[: axes[0]], first, *index[axes[0] + 1 :])


@register_kernel("put_selected", backend="jax")
def put_selected(a: Any, index: tuple[Any, ...], new: Any, mask: Any) -> Any:
    """Return a new array after `a[index] = new` at those of the positions that a mask selects.

    The others are moved out of range, where the scatter drops them.
    """
    first = next(i for i, part in enumerate(index) if type(part) is not slice)
    moved = jnp.where(mask, index[first], a.shape[first])
    return put_at(a, (*index[:first], moved, *index[first + 1 :]), new)


@register_kernel("add_at", backend="jax")
def add_at(a: Any, index: Any, new: Any) -> Any:
    """Add values at non-negative positions; values at equal positions are all added."""
    return a.at[index].add(new, mode="drop", wrap_negative_indices=False)


@register_kernel("set_static", backend="jax")
def set_static(a: Any, index: Any, new: Any) -> Any:
    """Return a new array after `a[index] = new`, for a constant index."""
    return a.at[index].set(lax.convert_element_type(new, a.dtype))


@register_kernel("set_real", backend="jax")
def set_real(a: Any, new: Any) -> Any:
    """Replace the real part."""
    return lax.complex(new, a.imag) if jnp.iscomplexobj(a) else new


@register_kernel("set_imag", backend="jax")
def set_imag(a: Any, new: Any) -> Any:
    """Replace the imaginary part."""
    return lax.complex(a.real, new)


@register_kernel("kron", backend="jax")
def kron(a: Any, b: Any) -> Any:
    """Kronecker product, of bool, too."""
    if a.dtype == onp.bool_:
        return jnp.kron(a.astype(onp.int8), b.astype(onp.int8)) != 0
    return jnp.kron(a, b)


@register_kernel("unsqueeze", backend="jax")
@functools.partial(jax.jit, static_argnums=1, inline=True)
def unsqueeze(a: Any, axes: tuple[int, ...]) -> Any:
    """Insert axes of length 1 at these places.

    XLA reads a broadcast operand directly, but a reshaped one through its linear index.
    """
    return lax.expand_dims(a, axes)


@register_kernel("about", backend="jax")
@functools.partial(jax.jit, inline=True)
def about(mean: Any) -> tuple[Any, Any]:
    """Return the value as a constant, and the difference from it: 0, but with the derivative."""
    constant = lax.stop_gradient(mean)
    return constant, mean - constant


@register_kernel("stop_gradient", backend="jax")
def stop_gradient(x: Any) -> Any:
    """Detach the value from differentiation."""
    return lax.stop_gradient(x)


@register_kernel("on_platform", backend="jax")
def on_platform(
    chosen: Mapping[str, Callable[..., Any]], default: Callable[..., Any], arrays: Sequence[Any]
) -> Any:
    """Call the function for the platform of the program, which contains no other one."""
    names = {"cpu": ("cpu",), "gpu": ("cuda", "rocm"), "tpu": ("tpu",)}
    return lax.platform_dependent(
        *arrays,
        default=default,
        **{name: f for platform, f in chosen.items() for name in names[platform]},
    )


@register_kernel("shaped_back", backend="jax")
def shaped_back(x: Any, shape: Sequence[int]) -> Any:
    """Reshape an array that was written, behind a barrier.

    XLA writes the next part in place. If it knows the array in two shapes, it overwrites elements
    that it still has to read (`a.reshape(-1)[4] = 2; a[0] = a[0, ::-1]` on the CPU).
    """
    return lax.optimization_barrier(jnp.reshape(x, shape))


@register_kernel("to_device", backend="jax")
def to_device(x: Any, device: Any) -> Any:
    """Copy the values to another device; in a program, a layout on several is a constraint."""
    if isinstance(device, Sharding):
        return jax.lax.with_sharding_constraint(x, device)
    return jax.device_put(x, device)


__all__ = [
    "about",
    "add_at",
    "astype",
    "in_singles",
    "index_get",
    "index_put",
    "known",
    "kron",
    "on_platform",
    "put_at",
    "set_imag",
    "set_real",
    "set_static",
    "shaped_back",
    "stop_gradient",
    "take_at",
    "to_device",
    "unsqueeze",
]
