"""What NumPy lacks as a function, as operators' computes see it on the host."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core.index_spec import host_index

Array = onp.ndarray[Any, Any]


def astype(x: Any, dtype: Any) -> Array:
    """A cast; complex to real drops the imaginary part without a warning."""
    array: Array = onp.asarray(x)
    if array.dtype.kind == "c" and onp.dtype(dtype).kind not in "cbOSUT":
        array = array.real
    return array.astype(dtype)


def index_get(a: Array, starts: Sequence[Any], spec: tuple[tuple[int, ...], ...]) -> Array:
    """`a[index]` of basic indexing."""
    found: Array = a[(*host_index(starts, spec), ...)]
    return found


def index_put(
    a: Array, new: Any, starts: Sequence[Any], spec: tuple[tuple[int, ...], ...]
) -> Array:
    """`a[index] = new` of basic indexing, as a new array."""
    out = a.copy()
    out[host_index(starts, spec)] = new
    return out


def take_at(a: Array, index: tuple[Any, ...]) -> Array:
    """`a[index]` with integer arrays among the index."""
    found: Array = a[index]
    return found


def put_at(a: Array, index: tuple[Any, ...], new: Any) -> Array:
    """`a[index] = new` with integer arrays among the index, as a new array."""
    out = a.copy()
    out[index] = new
    return out


def add_at(a: Array, index: Any, new: Any) -> Array:
    """`a` with values added at positions; at equal positions all of them."""
    out = a.copy()
    onp.add.at(out, index, new)
    return out


def set_static(a: Array, index: Any, new: Any) -> Array:
    """`a` with `a[index] = new`."""
    return put_at(a, index, new)


def set_real(a: Array, new: Any) -> Array:
    """`a` with another real part."""
    out = a.copy()
    out.real = new
    return out


def set_imag(a: Array, new: Any) -> Array:
    """`a` with another imaginary part."""
    out = a.copy()
    out.imag = new
    return out


def known(x: Any) -> Array:
    """As an array, which is known."""
    return onp.asarray(x)


def shaped_back(x: Array, shape: Sequence[int]) -> Array:
    """What was written in another shape, in its own."""
    return x.reshape(shape)


def on_platform(
    chosen: Mapping[str, Callable[..., Any]], default: Callable[..., Any], arrays: Sequence[Any]
) -> Any:
    """The result of the function for the host."""
    return chosen.get("cpu", default)(*arrays)


def unsqueeze(a: Array, axes: Sequence[int]) -> Array:
    """With axes of length 1 at these places, which are not negative; `expand_dims` takes five times
    as long.
    """
    rest = iter(a.shape)
    return a.reshape([1 if i in axes else next(rest) for i in range(a.ndim + len(axes))])


def about(mean: Array) -> tuple[Array, None]:
    """The value, for what is not differentiated."""
    return mean, None


def stop_gradient(x: Array) -> Array:
    """The value."""
    return x


def sort(a: Array, axis: int = -1) -> Array:
    """The elements in order along an axis.

    For half floats NumPy's kernel for AVX-512 leaves signalling nans, which warn wherever they are
    computed with.
    """
    out = onp.sort(a, axis)
    if out.dtype == onp.float16:
        onp.copyto(out, onp.float16(onp.nan), where=onp.isnan(out))
    return out


_MANY, _LONG = 1024, 64
"""Elements of an array, and of its axis, from which NumPy's fast sort and some more passes take
less time than its stable sort.
"""


def argsort(a: Array, axis: int = -1, stable: bool = False) -> Array:
    """The positions that sort along an axis; if stable, equal elements keep their order, and so do
    those that are nan.

    Of NumPy's two sorts only the one that isn't stable has vectors: of numbers in no order, it
    takes a tenth to a quarter of the time. What it leaves to do is to sort the positions of those
    that are alike.
    """
    if (
        not stable
        or a.size < _MANY
        or a.shape[axis] < _LONG
        or a.dtype.kind not in "iuf"
        or a.dtype.itemsize not in (4, 8)
    ):
        return a.argsort(axis, "stable" if stable else None)
    rows = onp.swapaxes(a, axis, -1)
    if not (rows[..., :-1] > rows[..., 1:]).any():
        return a.argsort(axis, "stable")  # which is fast where all is in order
    order = rows.argsort(-1)
    values = onp.take_along_axis(rows, order, -1)
    alike = (values[..., :-1] == values[..., 1:]) | onp.isnan(values[..., :-1])
    if alike.any():
        groups = onp.zeros(rows.shape, order.dtype)
        onp.cumsum(~alike, -1, out=groups[..., 1:])
        groups *= rows.shape[-1]
        order += groups
        order.sort(-1)
        order -= groups
    return onp.ascontiguousarray(onp.swapaxes(order, axis, -1))
