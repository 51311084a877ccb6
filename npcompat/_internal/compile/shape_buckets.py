"""Shape buckets: compiled functions that pad arrays along one axis, so that few programs suffice.

Inside the function, an argument is the selection of its true rows, the first ones of the padded
array (`masked_array`). So each operation has the result that it has without padding, or is refused.
Results that depend on rows are cut to the true length outside.
"""

import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.compile.jit import Compiled
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch import array_like, backends, handles, late_bound, masked_array
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.placement import host_payload

Axes = int | Sequence[int | None] | Mapping[Any, int | None]


_COUNT = "how many rows there are"
"""Keyword of the true length for the padded function; no parameter can have that name."""


@dataclass(frozen=True)
class _Row:
    """Axis of the rows in an array of the result, or None."""

    axis: int | None


@dataclass(frozen=True)
class Buckets:
    """Lengths to which arrays are padded, and the axes that are padded.

    Parameters
    ----------
    lengths : int or tuple of int
        Lengths of the buckets; an int stands for its multiples.
    axes : int, sequence or mapping
        Axis for all arguments, by position, or by position and name. None stands for a fixed shape.
    """

    lengths: int | tuple[int, ...]
    axes: Axes


def requested(bucket: int | Sequence[int] | None, bucket_axis: Axes | None) -> Buckets | None:
    """Return the buckets for these arguments of `npx.jit` or `hybridize`, or None.

    Raise ValueError if they are wrong.
    """
    if bucket is not None:
        return Buckets(_checked(bucket), 0 if bucket_axis is None else bucket_axis)
    if bucket_axis is not None:
        raise ValueError(
            f"bucket_axis={bucket_axis!r}: expected bucket= beside it, the lengths to which that "
            "axis is padded"
        )
    return None


class Bucketed:
    """Compiled function of arrays with one varying length.

    Parameters
    ----------
    function : callable
        Function to compile, as for `Compiled`.
    buckets : Buckets
        Padding of its arguments.
    name, static_argnums, static_argnames, loops
        As for `Compiled`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        buckets: Buckets,
        name: str | None = None,
        static_argnums: Sequence[int] = (),
        static_argnames: Sequence[str] = (),
        loops: str | None = None,
    ) -> None:
        self.lengths, self.axes = buckets.lengths, buckets.axes
        self.function = function
        self.static = frozenset([*static_argnums, *static_argnames])
        self.compiled = Compiled(function, name, static_argnums, static_argnames, loops)
        self.compiled.function = self._on_rows
        self.name = self.compiled.name
        functools.update_wrapper(self, function, updated=())

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        mode = modes.current()
        if mode.trace is not None or (
            (observer := mode.observer) is not None and observer.needs_every_op
        ):
            return self.function(*args, **kwargs)
        count, args, kwargs = self._padded(args, kwargs)
        result, rows = self.compiled(
            *args, **kwargs, **{_COUNT: handles.wrap(Value(onp.asarray(count, "int32")))}
        )
        leaves, tree = language.flatten(result)
        return language.unflatten(
            tree, [_cut(a, row.axis, count) for a, row in zip(leaves, rows, strict=True)]
        )

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the program for the bucket of a call, as `Compiled.compile` does."""
        _, args, kwargs = self._padded(args, kwargs)
        self.compiled.compile(*args, **kwargs, **{_COUNT: TensorType((), "int32")})

    def clear(self) -> None:
        """Drop the compiled programs."""
        self.compiled.clear()

    def latest_inputs(self) -> list[tuple[tuple[int, ...], Any]]:
        """Return the types of `Compiled.latest_inputs`, which are padded, without the count."""
        return self.compiled.latest_inputs()[:-1]

    # --- before and after

    def _padded(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[int, tuple[Any, ...], dict[str, Any]]:
        """Return the true length, and the arguments with arrays padded to their bucket."""
        found = _Rows(self, args, kwargs)
        if not found.places:
            raise TypeError(
                f"{self.name}: bucket= expects an array among the arguments, with an axis to pad; "
                f"got {_kinds(args, kwargs)}"
            )
        lengths = {leaf.shape[axis] for leaf, axis in found.rows()}
        if len(lengths) > 1:
            of_each = ", ".join(
                f"{label}: {found.leaves[i].shape[axis]}"
                for i, (label, axis) in found.places.items()
            )
            raise ValueError(
                f"{self.name}: bucket= expects arrays of one length along the axis that is "
                f"padded, got {of_each}; with bucket_axis= an "
                "argument has another axis, or with None a fixed shape"
            )
        count = int(lengths.pop())
        whole = self._bucket(count)
        for i, (label, axis) in found.places.items():
            found.leaves[i] = _pad(found.leaves[i], axis, whole, label)
        return count, *found.arguments()

    def _bucket(self, count: int) -> int:
        if isinstance(self.lengths, int):
            return -(-count // self.lengths) * self.lengths
        if not count:
            return 0
        for length in self.lengths:
            if count <= length:
                return length
        raise ValueError(
            f"{self.name}: bucket= has lengths up to {self.lengths[-1]}, got arrays of {count}"
        )

    # --- while tracing

    def _on_rows(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function on selections of the padded arrays.

        Return its results in full shape, and a `_Row` for each of them.
        """
        count = kwargs.pop(_COUNT)
        found = _Rows(self, args, kwargs)
        length = next(leaf.shape[axis] for leaf, axis in found.rows())
        mask = run(
            REGISTRY["_npi_less"], [Value(onp.arange(length, dtype="int32")), handles.read(count)]
        )
        chosen = []
        for i, (label, axis) in found.places.items():
            value = masked_array.select(handles.read(found.leaves[i]), mask, axis, ordered=True)
            found.leaves[i] = handles.wrap(value)
            chosen.append((label, found.leaves[i], value))
        args, kwargs = found.arguments()
        function = late_bound.converted(self.function) if self.compiled.converts else self.function
        leaves, tree = language.flatten(function(*args, **kwargs))
        for label, handle, value in chosen:
            if handle._value is not value:
                raise NotImplementedError(
                    f"{self.name}: bucket=: {label} is written in place; return what it becomes "
                    "instead"
                )
        rows = [_Row(_rows_axis(leaf, mask)) for leaf in leaves]
        return language.unflatten(tree, [_padded_values(leaf) for leaf in leaves]), tuple(rows)


class _Rows:
    """Flattened arguments of a call, with the axis of the rows of each padded array."""

    def __init__(self, function: Bucketed, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.leaves: list[Any] = []
        self.places: dict[int, tuple[str, int]] = {}
        self.trees: list[tuple[Any, int]] = []
        self.positional, self.names = len(args), list(kwargs)
        for key, given in (*enumerate(args), *kwargs.items()):
            leaves, tree = ([given], None) if key in function.static else language.flatten(given)
            axis = None if tree is None else _axis_of(function.axes, key)
            for leaf in leaves:
                label = f"argument {key}"
                ndim = _ndim(leaf)
                if axis is not None and ndim:
                    self.places[len(self.leaves)] = (
                        label,
                        _normalized(axis, ndim, f"{function.name}: bucket_axis= of {label}"),
                    )
                self.leaves.append(
                    array_like.array_of(array_like.host_array(leaf))
                    if isinstance(leaf, onp.ndarray)
                    else leaf
                )
            self.trees.append((tree, len(leaves)))

    def rows(self) -> list[tuple[Any, int]]:
        """Return the arrays that have rows, with their axes."""
        return [(self.leaves[i], axis) for i, (_, axis) in self.places.items()]

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Rebuild the nested arguments from the current leaves."""
        found, start = [], 0
        for tree, length in self.trees:
            leaves = self.leaves[start : start + length]
            found.append(leaves[0] if tree is None else language.unflatten(tree, leaves))
            start += length
        return tuple(found[: self.positional]), dict(
            zip(self.names, found[self.positional :], strict=True)
        )


def _ndim(leaf: Any) -> int:
    """Return the number of axes of an argument, 0 if it is no array."""
    shape = (
        leaf.shape
        if isinstance(leaf, onp.ndarray | TensorType)
        else handles.read(leaf).payload.shape
        if isinstance(leaf, Handle)
        else ()
    )
    return len(shape or ())


def _checked(lengths: Any) -> int | tuple[int, ...]:
    try:
        found = (
            operator.index(lengths)
            if not isinstance(lengths, Iterable)
            else tuple(sorted(map(operator.index, lengths)))
        )
    except TypeError:
        found = 0
    if not found or (found if isinstance(found, int) else found[0]) < 1:
        raise ValueError(f"bucket=: expected a positive int, or several, got {lengths!r}")
    return found


def _axis_of(axes: Axes, key: Any) -> int | None:
    if isinstance(axes, Mapping):
        return axes.get(key)
    if isinstance(axes, Sequence):
        return axes[key] if isinstance(key, int) and key < len(axes) else None
    return axes


def _normalized(axis: int, ndim: int, what: str) -> int:
    if not -ndim <= axis < ndim:
        raise ValueError(f"{what}: expected an axis of an array of {ndim} dimensions, got {axis}")
    return axis % ndim


def _kinds(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    return ", ".join([type(a).__name__ for a in (*args, *kwargs.values())]) or "none"


def _apart_from_graphs(value: Value) -> bool:
    """True if an array is not recorded, and in the host's memory.

    Then NumPy pads and cuts it; XLA would compile a program for each length.
    """
    return value.node is None and (
        type(value.payload) is onp.ndarray
        or xla.platform_of(backends.device_of(value.payload)) == "cpu"
    )


def _pad(array: Any, axis: int, length: int, label: str) -> Any:
    shape = (*array.shape[:axis], length, *array.shape[axis + 1 :])
    if isinstance(array, TensorType):
        return TensorType(shape, array.dtype)
    if array._extra is not None and array._extra.leaf is not None and not modes.current().recording:
        raise NotImplementedError(
            f"bucket=: {label} is a variable (attach_grad was called on it), whose gradient a "
            "padded function can't write; record "
            "the call, and call backward outside"
        )
    value = handles.read(array)
    if not _apart_from_graphs(value):
        border = tuple([(0, length - n if i == axis else 0) for i, n in enumerate(array.shape)])
        return handles.wrap(
            run(REGISTRY["_npi_pad"], [value], REGISTRY["_npi_pad"].bind(pad_width=border))
        )
    whole = onp.zeros(shape, value.payload.dtype)
    whole[(slice(None),) * axis + (slice(array.shape[axis]),)] = host_payload(value)
    return handles.wrap(Value(whole))


def _cut(array: Any, axis: int | None, count: int) -> Any:
    if axis is None or array.shape[axis] == count:
        return array
    rows = (slice(None),) * axis + (slice(count),)
    value = handles.read(array)
    if not _apart_from_graphs(value):
        return array[rows].copy()
    payload = host_payload(value)[rows]
    return handles.wrap(
        Value(
            payload.copy()
            if type(value.payload) is onp.ndarray
            else backends.asarray_like(payload, value.payload)
        )
    )


def _rows_axis(leaf: Any, mask: Value) -> int | None:
    """Return the axis of an array along which this mask selects rows, or None."""
    payload = handles.read(leaf).payload if isinstance(leaf, Handle) else None
    if (
        type(payload) is masked_array.MaskedPayload
        and payload.ordered
        and payload.mask.payload is mask.payload
    ):
        return payload.axis
    return None


def _padded_values(leaf: Any) -> Any:
    payload = handles.read(leaf).payload if isinstance(leaf, Handle) else None
    return (
        handles.wrap(payload.values)
        if type(payload) is masked_array.MaskedPayload and payload.ordered
        else leaf
    )


__all__ = ["Axes", "Bucketed", "Buckets", "requested"]
