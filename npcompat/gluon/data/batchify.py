"""Functions that collate samples into a batch."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core import modes
from npcompat._internal.core.dtypes import canonical, narrow
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import DTypeLike

_Arrays = Handle | onp.ndarray


def is_recorded(sample: Any) -> bool:
    """Return True for an array that is being recorded, or that belongs to a running trace."""
    if not isinstance(sample, Handle):
        return False
    mode = modes.current()
    return mode.trace is not None or (mode.recording and handles.read(sample).node is not None)


def _arrays(samples: Sequence[Any]) -> tuple[list[Any], bool]:
    """Return samples as arrays of NumPy's; as npcompat's, and True, if some are recorded."""
    mode = modes.current()
    if mode.recording or mode.trace is not None:
        found = [s if isinstance(s, _Arrays) else np.array(s) for s in samples]
        if any(map(is_recorded, found)):
            return [np.asarray(a) for a in found], True
    return [_on_host(s) for s in samples], False


def _on_host(sample: Any) -> onp.ndarray[Any, Any]:
    if isinstance(sample, _Arrays):
        return handles.to_host(sample) if isinstance(sample, Handle) else sample
    found = array_like.host_array([sample])  # a list, whose floats are of the default dtype
    return found.reshape(found.shape[1:])


def _common_dtype(arrays: Sequence[Any]) -> onp.dtype[Any]:
    """Return the dtype of a batch: that of `np.array` for a list of the samples."""
    found = {a.dtype for a in arrays}
    if len(found) == 1:
        return found.pop()
    return narrow(onp.result_type(*found), [*found])


def _not_shared(use_shared_mem: bool, what: str) -> None:
    if use_shared_mem:
        raise NotImplementedError(f"{what}(use_shared_mem=True): workers send batches as they are")


class Stack:
    """Stack samples of equal shape along a new first axis.

    Parameters
    ----------
    use_shared_mem : bool
        Not supported: True raises NotImplementedError.

    Examples
    --------
    >>> gluon.data.batchify.Stack()([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """

    def __init__(self, use_shared_mem: bool = False) -> None:
        _not_shared(use_shared_mem, "Stack")

    def __call__(self, data: Sequence[Any]) -> ndarray:
        """Collate the samples."""
        if not any([isinstance(sample, _Arrays) for sample in data]):
            with suppress(ValueError):
                return np.array(list(data))
        arrays, recorded = _arrays(data)
        shapes = sorted({a.shape for a in arrays})
        if len(shapes) > 1:
            raise ValueError(
                "samples of a batch must have one shape to be stacked, got "
                f"{', '.join(map(str, shapes))}; batchify.Pad pads them"
            )
        dtype = _common_dtype(arrays)
        if recorded:
            return np.stack([a.astype(dtype, copy=False) for a in arrays])
        return np.array(onp.stack(arrays), dtype)


class Pad:
    """Pad samples to the largest shape among them, and stack them.

    Parameters
    ----------
    val : float, optional
        Padding value; 0 if not given. It must be one of the dtype of the batch.
    dtype : dtype, optional
        Dtype of the batch, also of the padding; that of the samples if not given.
    round_to : int, optional
        Lengths are rounded up to a multiple of it, so that fewer different shapes occur.
    use_shared_mem : bool
        Not supported: True raises NotImplementedError.

    Examples
    --------
    >>> gluon.data.batchify.Pad(val=-1)([[1, 2, 3], [4]])
    array([[ 1,  2,  3],
           [ 4, -1, -1]])
    """

    def __init__(
        self,
        val: float | None = None,
        dtype: DTypeLike = None,
        round_to: int | None = None,
        use_shared_mem: bool = False,
    ) -> None:
        _not_shared(use_shared_mem, "Pad")
        self._value, self._dtype, self._round_to = 0 if val is None else val, dtype, round_to

    def __call__(self, data: Sequence[Any]) -> ndarray:
        """Collate the samples."""
        arrays, recorded = _arrays(data)
        if len({a.ndim for a in arrays}) > 1:
            raise ValueError(
                "Pad: samples must have the same number of axes, got shapes "
                f"{', '.join(str(a.shape) for a in arrays)}"
            )
        shape = [max(lengths) for lengths in zip(*[a.shape for a in arrays], strict=True)]
        if self._round_to is not None:
            shape = [-(-n // self._round_to) * self._round_to for n in shape]
        dtype = _common_dtype(arrays) if self._dtype is None else canonical(self._dtype)
        _check_value(self._value, dtype)
        if recorded:
            return np.stack([self._padded(a.astype(dtype), shape) for a in arrays])
        batch = onp.full((len(arrays), *shape), self._value, dtype)
        for i, sample in enumerate(arrays):
            place: Any = (i, *[slice(n) for n in sample.shape])
            batch[place] = sample
        return np.array(batch)

    def _padded(self, sample: Any, shape: Sequence[int]) -> Any:
        widths = [(0, n - m) for n, m in zip(shape, sample.shape, strict=True)]
        return np.pad(sample, widths, constant_values=self._value)


def _check_value(value: Any, dtype: onp.dtype[Any]) -> None:
    """Raise if a padding value is none of a dtype: NumPy would round it, or wrap it."""
    if dtype.kind in "biu":
        low, high = (0, 1) if dtype.kind == "b" else (onp.iinfo(dtype).min, onp.iinfo(dtype).max)
        if not low <= value <= high or value != int(value):
            raise ValueError(
                f"Pad: val: {value} is not a value of {dtype}, the dtype of the batch; give another "
                "dtype="
            )


class Append:
    """Collate samples into a list of arrays, each with a new axis for the batch.

    Parameters
    ----------
    expand : bool
        Whether the axis is added.
    batch_axis : int
        Position of the axis.
    use_shared_mem : bool
        Not supported: True raises NotImplementedError.

    Examples
    --------
    >>> gluon.data.batchify.Append()([[1, 2], [3]])
    [array([[1, 2]]), array([[3]])]
    """

    def __init__(
        self, expand: bool = True, batch_axis: int = 0, use_shared_mem: bool = False
    ) -> None:
        _not_shared(use_shared_mem, "Append")
        self._expand, self._batch_axis = expand, batch_axis

    def __call__(self, data: Sequence[Any]) -> list[ndarray]:
        """Collate the samples."""
        arrays, recorded = _arrays(data)
        axis = self._batch_axis
        if recorded:
            return [np.expand_dims(a, axis) if self._expand else a.copy() for a in arrays]
        return [np.array(onp.expand_dims(a, axis) if self._expand else a) for a in arrays]


class Group:
    """Collate tuples with one function for each element.

    Parameters
    ----------
    fn : callable or sequence of callable
        The function for the first element, or all functions.
    *args : callable
        The functions for the others.

    Examples
    --------
    >>> batchify = gluon.data.batchify
    >>> batchify.Group(batchify.Pad(), batchify.Stack())([([1, 2], 0), ([3], 1)])
    (array([[1, 2],
           [3, 0]]), array([0, 1]))
    """

    def __init__(self, fn: Any, *args: Callable[..., Any]) -> None:
        self._functions: list[Callable[..., Any]] = [fn, *args] if callable(fn) else list(fn)
        if not all(map(callable, self._functions)) or (args and not callable(fn)):
            raise TypeError("Group: expected functions, or one sequence of them")

    def __call__(self, data: Sequence[Any]) -> tuple[Any, ...]:
        """Collate the samples into a tuple."""
        if any(len(sample) != len(self._functions) for sample in data):
            raise ValueError(
                f"Group: {len(self._functions)} functions need samples of as many elements, got "
                f"{sorted({len(s) for s in data})}"
            )
        return tuple(
            [function([sample[i] for sample in data]) for i, function in enumerate(self._functions)]
        )


class AsList:
    """Return the samples as a list.

    Examples
    --------
    >>> gluon.data.batchify.AsList()(["a", "b"])
    ['a', 'b']
    """

    def __call__(self, data: Sequence[Any]) -> list[Any]:
        """Collate the samples."""
        return list(data)


def default_batchify_fn(data: Sequence[Any]) -> ndarray | list[Any] | dict[Any, Any]:
    """Stack samples; elements of tuples and values of dicts are stacked separately.

    Raises
    ------
    TypeError
        If samples are objects of which no array can be made.

    Examples
    --------
    >>> gluon.data.batchify.default_batchify_fn([([1, 2], 0), ([3, 4], 1)])
    [array([[1, 2],
           [3, 4]]), array([0, 1])]
    >>> gluon.data.batchify.default_batchify_fn([{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    {'x': array([1, 3]), 'y': array([2, 4])}
    """
    first = data[0]
    if isinstance(first, tuple):
        return [default_batchify_fn(elements) for elements in zip(*data, strict=True)]
    if isinstance(first, Mapping):
        if not all(
            isinstance(sample, Mapping) and sample.keys() == first.keys() for sample in data
        ):
            raise ValueError(
                f"samples of a batch that are dicts must have the same keys, {list(first)}"
            )
        return {key: default_batchify_fn([sample[key] for sample in data]) for key in first}
    batch = Stack()(data)
    if batch.dtype == object and not isinstance(first, Handle | onp.ndarray | onp.generic):
        raise TypeError(
            f"no array can be made of samples of type {type(first).__name__}; pass a batchify_fn "
            "that says what a batch of them is"
        )
    return batch


__all__ = ["Append", "AsList", "Group", "Pad", "Stack", "default_batchify_fn"]
