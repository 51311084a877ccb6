"""Array functions on the host that NumPy lacks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core.index_spec import host_index
from npcompat._internal.support.kernel_table import register_kernel

Array = onp.ndarray[Any, Any]


@register_kernel("astype", backend="numpy")
def astype(x: Any, dtype: Any) -> Array:
    """Cast; complex to real drops the imaginary part, without a warning."""
    array: Array = onp.asarray(x)
    if array.dtype.kind == "c" and onp.dtype(dtype).kind not in "cbOSUT":
        array = array.real
    return array.astype(dtype)


@register_kernel("clipped", backend="numpy")
def clipped(a: Array, low: Any, high: Any) -> Array:
    """Clip values from below and above."""
    found: Array = onp.minimum(onp.maximum(a, low), high)
    return found


@register_kernel("index_get", backend="numpy")
def index_get(a: Array, starts: Sequence[Any], spec: tuple[tuple[int, ...], ...]) -> Array:
    """Read `a[index]` of basic indexing."""
    found: Array = a[(*host_index(starts, spec), ...)]
    return found


@register_kernel("index_put", backend="numpy")
def index_put(
    a: Array, new: Any, starts: Sequence[Any], spec: tuple[tuple[int, ...], ...]
) -> Array:
    """Return a new array after `a[index] = new` of basic indexing."""
    out = a.copy()
    out[host_index(starts, spec)] = new
    return out


@register_kernel("take_at", backend="numpy")
def take_at(a: Array, index: tuple[Any, ...]) -> Array:
    """Read `a[index]` with integer arrays among the index."""
    found: Array = a[index]
    return found


@register_kernel("put_at", backend="numpy")
def put_at(a: Array, index: tuple[Any, ...], new: Any) -> Array:
    """Return a new array after `a[index] = new` with integer arrays among the index."""
    out = a.copy()
    out[index] = new
    return out


@register_kernel("put_selected", backend="numpy")
def put_selected(a: Array, index: tuple[Any, ...], new: Any, mask: Array) -> Array:
    """Return a new array after `a[index] = new` at those of the positions that a mask selects.

    The others write beyond the end of an axis, which is cut off.
    """
    first = next(i for i, part in enumerate(index) if type(part) is not slice)
    length = a.shape[first]
    out = onp.concatenate(
        [a, onp.zeros_like(a, shape=(*a.shape[:first], 1, *a.shape[first + 1 :]))], first
    )
    out[(*index[:first], onp.where(mask, index[first], length), *index[first + 1 :])] = new
    return out[(*[slice(None)] * first, slice(length))].copy()


@register_kernel("add_at", backend="numpy")
def add_at(a: Array, index: Any, new: Any) -> Array:
    """Add values at positions; values at equal positions are all added."""
    out = a.copy()
    onp.add.at(out, index, new)
    return out


@register_kernel("set_static", backend="numpy")
def set_static(a: Array, index: Any, new: Any) -> Array:
    """Return a new array after `a[index] = new`."""
    return put_at(a, index, new)


@register_kernel("set_real", backend="numpy")
def set_real(a: Array, new: Any) -> Array:
    """Replace the real part."""
    out = a.copy()
    out.real = new
    return out


@register_kernel("set_imag", backend="numpy")
def set_imag(a: Array, new: Any) -> Array:
    """Replace the imaginary part."""
    out = a.copy()
    out.imag = new
    return out


@register_kernel("known", backend="numpy")
def known(x: Any) -> Array:
    """Return an array; on the host all values are known."""
    return onp.asarray(x)


@register_kernel("shaped_back", backend="numpy")
def shaped_back(x: Array, shape: Sequence[int]) -> Array:
    """Reshape an array that was written."""
    return x.reshape(shape)


@register_kernel("on_platform", backend="numpy")
def on_platform(
    chosen: Mapping[str, Callable[..., Any]], default: Callable[..., Any], arrays: Sequence[Any]
) -> Any:
    """Call the function for the host."""
    return chosen.get("cpu", default)(*arrays)


@register_kernel("unsqueeze", backend="numpy")
def unsqueeze(a: Array, axes: Sequence[int]) -> Array:
    """Insert axes of length 1 at these places, which are not negative.

    `expand_dims` takes five times as long.
    """
    rest = iter(a.shape)
    return a.reshape([1 if i in axes else next(rest) for i in range(a.ndim + len(axes))])


@register_kernel("about", backend="numpy")
def about(mean: Array) -> tuple[Array, None]:
    """Return the value, which is not differentiated."""
    return mean, None


@register_kernel("stop_gradient", backend="numpy")
def stop_gradient(x: Array) -> Array:
    """Return the value, which is not differentiated."""
    return x


@register_kernel("sort", backend="numpy")
def sort(a: Array, axis: int = -1) -> Array:
    """Sort along an axis.

    For half floats NumPy's kernel for AVX-512 leaves signalling nans, with which every computation
    warns.
    """
    out = onp.sort(a, axis)
    if out.dtype == onp.float16:
        onp.copyto(out, onp.float16(onp.nan), where=onp.isnan(out))
    return out


_MANY, _LONG = 1024, 64
"""Minimum elements of an array, and of its axis, for which NumPy's fast sort pays.

With some more passes, it takes less time then than NumPy's stable sort.
"""


@register_kernel("argsort", backend="numpy")
def argsort(a: Array, axis: int = -1, stable: bool = False) -> Array:
    """Positions that sort along an axis; if stable, equal elements and nans keep their order.

    Of NumPy's two sorts only the one that isn't stable is vectorised: for numbers in no order, it
    takes a tenth to a quarter of the time. Then only the positions of equal elements have to be
    sorted.
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
        return a.argsort(axis, "stable")  # fast for sorted rows
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
