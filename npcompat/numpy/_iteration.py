"""Iterators over elements: `ndenumerate`, `broadcast`, `nditer`."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as onp

from npcompat._internal.core.handle import BorrowedValue, Handle, root_of
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.borrowed_buffers import (
    borrow_buffer,
    borrowed_array,
    release_buffer,
)
from npcompat.numpy._checks import is_recorded
from npcompat.numpy._creation import asarray
from npcompat.numpy._flags import Flat
from npcompat.numpy._manipulation import broadcast_to
from npcompat.numpy._typing import ArrayLike, Casting, Order
from npcompat.numpy._unbound import unbound

if TYPE_CHECKING:
    from npcompat.numpy._flags import Flat
    from npcompat.numpy._ndarray import ndarray

flatiter = Flat
iterable = onp.iterable


class ndenumerate:
    """Iterate over pairs of index and element in C order.

    Parameters
    ----------
    arr : array_like
        The array.

    Examples
    --------
    >>> for position, value in np.ndenumerate([[5, 6]]):
    ...     print(position, int(value))
    (0, 0) 5
    (0, 1) 6
    """

    def __init__(self, arr: ArrayLike) -> None:
        found = asarray(arr)
        self.iter = found.flat
        self._places = onp.ndindex(found.shape)

    def __next__(self) -> "tuple[tuple[int, ...], ndarray]":
        return next(self._places), next(self.iter)

    def __iter__(self) -> "ndenumerate":
        return self


class broadcast:
    """Broadcast arrays against each other: the common shape, and an iterator over tuples.

    Parameters
    ----------
    *arrays : array_like
        The arrays, at most 64; other `broadcast` objects stand for theirs.

    Examples
    --------
    >>> together = np.broadcast(np.array([1, 2]), np.array([[3], [4]]))
    >>> together.shape
    (2, 2)
    >>> [int(x + y) for x, y in together]
    [4, 5, 5, 6]
    """

    _arrays: list[Any]

    def __init__(self, *arrays: ArrayLike) -> None:
        parts: list[Any] = []
        for a in arrays:
            parts += a._arrays if isinstance(a, broadcast) else [asarray(a)]
        self._arrays = parts
        self._numpys = onp.broadcast(*[handles.layout(p) for p in parts])
        self.reset()

    @property
    def shape(self) -> tuple[int, ...]:
        """Broadcast shape."""
        return self._numpys.shape

    @property
    def ndim(self) -> int:
        """Number of axes of the broadcast shape."""
        return len(self.shape)

    nd = ndim

    @property
    def size(self) -> int:
        """Number of elements of the broadcast shape."""
        return self._numpys.size

    @property
    def numiter(self) -> int:
        """Number of arrays."""
        return len(self._arrays)

    @property
    def iters(self) -> "tuple[Flat, ...]":
        """Flat iterators over the broadcast arrays."""
        return tuple([Flat._over(broadcast_to(a, self.shape), a) for a in self._arrays])

    @property
    def index(self) -> int:
        """Number of tuples taken so far."""
        return self._index

    def reset(self, /) -> None:
        """Restart the iteration."""
        self._index = 0
        self._running: tuple[Any, ...] | None = None

    def __iter__(self) -> "Iterator[tuple[ndarray, ...]]":
        return self

    def __next__(self) -> "tuple[ndarray, ...]":
        if self._index >= self.size:
            raise StopIteration
        if self._running is None:
            self._running = self.iters
        self._index += 1
        return tuple([next(i) for i in self._running])


# --- nditer ---------------------------------------------------------------------------------------


class _Operands:
    """Operands of `nditer`: the arrays given, their host arrays, and arrays it allocated."""

    def __init__(self, op: Any, op_flags: Any) -> None:
        self.several = isinstance(op, list | tuple)
        self.given: list[Any] = list(op) if self.several else [op]
        self.iterators = 0
        self._borrowed: list[tuple[Handle, BorrowedValue]] = []
        # Keyed by the id of the array that owns the memory.
        self._memory: dict[int, onp.ndarray[Any, Any]] = {}
        self._made: dict[int, Any] = {}
        flags = list(op_flags or ())
        each = [flags] * len(self.given) if not flags or isinstance(flags[0], str) else flags
        places = [i for i, g in enumerate(self.given) if isinstance(g, Handle)]
        written = [
            i
            for i in places
            if i < len(each) and ("readwrite" in each[i] or "writeonly" in each[i])
        ]
        if any([is_recorded(self.given[i]) and "readwrite" in each[i] for i in written]):
            raise ValueError(
                "nditer: op_flags=['readwrite'] of an array that is being recorded: what is computed "
                "element by element has no gradient. Iterate over a.detach(), or outside of record()"
            )
        self.changes = bool(written)
        copied = [i for i in written if self._copied(root_of(self.given[i]))]
        for i in places:
            self._memory.setdefault(
                id(root_of(self.given[i])), handles.to_host(root_of(self.given[i]))
            )
        self.hosts = [
            self._host(g, i in written) if isinstance(g, Handle) else g
            for i, g in enumerate(self.given)
        ]
        self.written = [(self.given[i], self.hosts[i]) for i in copied]

    def _copied(self, root: Handle) -> bool:
        """Find host memory for a written array; return True if it is a copy.

        It is a copy if the array's own memory can't be borrowed.
        """
        if id(root) not in self._memory:
            borrowed = borrow_buffer(root)
            if borrowed is not None:
                self._borrowed.append((root, borrowed))
            self._memory[id(root)] = (
                onp.array(handles.to_host(root)) if borrowed is None else borrowed.buffer
            )
        return all([root is not owner for owner, _ in self._borrowed])

    def _host(self, handle: Handle, written: bool) -> onp.ndarray[Any, Any]:
        """Return a host view laid out as the array, writeable if the array is to be written.

        Only the array's own read-only flag counts, not that of its base.
        """
        found = self._place(handle)
        if not written or (handle._extra is not None and handle._extra.readonly):
            found.flags.writeable = False
        return found

    def _place(self, handle: Handle) -> onp.ndarray[Any, Any]:
        """Return the part of the memory that an array covers, so that views share one memory."""
        if handle._view is None:
            return self._memory[id(handle)][...]
        found: onp.ndarray[Any, Any] = handle._view.lens.on_host(self._place(handle._view.parent))
        return found

    def iterated(self, make: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Create NumPy's iterator over the operands."""
        try:
            return make(self.hosts if self.several else self.hosts[0], *args, **options)
        except BaseException:
            self.close()
            raise

    def write_back(self) -> None:
        """Copy what the iterator wrote into host copies back to the arrays."""
        for target, host in self.written:
            cast("Any", target)[...] = host

    def close(self) -> None:
        """Write copies back; after the last iterator, release the borrowed memory."""
        self.write_back()
        self.iterators -= 1
        if self.iterators <= 0:
            for root, borrowed in self._borrowed:
                release_buffer(root, borrowed)

    def result(self, i: int, host: onp.ndarray[Any, Any]) -> Any:
        """Return an operand: the given array, NumPy's stand-in, or an allocated one."""
        given = self.given[i]
        if isinstance(given, Handle) or host is given:
            return given if host is self.hosts[i] else host
        if i not in self._made:
            made = self._made[i] = borrowed_array(host, escaped=True)
            self._borrowed.append((made, made._value))
        return self._made[i]


class nditer:
    """Iterate over several arrays in step with NumPy's nditer, on the host.

    It yields NumPy arrays that share memory with npcompat's, so both see writes. Arrays on XLA,
    and those whose writes are recorded, are copied. Writes to these copies reach the arrays
    when the iteration ends: at its end, at `close`, at the end of a ``with`` block, or when the
    iterator is deleted. The results are in `operands`.

    Parameters
    ----------
    op : array_like or sequence of array_like
        The arrays; None for one that the iterator makes.
    flags, op_flags, op_dtypes, order, casting, op_axes, itershape, buffersize
        As in NumPy.

    Raises
    ------
    TracedValueError
        In a compiled function.
    ValueError
        If an array that is being recorded is read and written.

    Examples
    --------
    >>> a = np.arange(4).reshape(2, 2)
    >>> with np.nditer(a, op_flags=["readwrite"]) as it:
    ...     for x in it:
    ...         x[...] = 2 * x
    >>> a
    array([[0, 2],
           [4, 6]])
    """

    def __init__(
        self,
        op: Any,
        flags: Any = None,
        op_flags: Any = None,
        op_dtypes: Any = None,
        order: Order = "K",
        casting: Casting = "safe",
        op_axes: Any = None,
        itershape: Any = None,
        buffersize: int = 0,
    ) -> None:
        operands = _Operands(op, op_flags)
        options = {
            "op_axes": op_axes,
            "itershape": itershape,
            "op_flags": op_flags,
            "op_dtypes": op_dtypes,
        }
        given = {name: option for name, option in options.items() if option is not None}
        self._adopt(
            operands.iterated(
                onp.nditer, flags, order=order, casting=casting, buffersize=buffersize, **given
            ),
            operands,
        )

    def _adopt(self, numpys: onp.nditer, operands: _Operands) -> None:
        operands.iterators += 1
        self.__dict__.update(_numpys=numpys, _operands=operands, _ended=False)

    @property
    def operands(self) -> "tuple[ndarray, ...]":
        """Arrays iterated over, including those that the iterator allocated."""
        self._operands.write_back()
        return tuple(
            [self._operands.result(i, host) for i, host in enumerate(self._numpys.operands)]
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._numpys, name)

    def __setattr__(self, name: str, new: Any) -> None:
        setattr(self._numpys, name, new)

    def __getitem__(self, key: Any) -> Any:
        return self._numpys[key]

    def __setitem__(self, key: Any, new: Any) -> None:
        self._numpys[key] = new

    def __delitem__(self, key: Any) -> None:
        raise TypeError("Cannot delete iterator elements")

    def __len__(self) -> int:
        return len(self._numpys)

    def __iter__(self) -> "nditer":
        return self

    def __next__(self) -> Any:
        try:
            return next(self._numpys)
        except StopIteration:
            self._operands.write_back()
            raise

    def iternext(self, /) -> bool:
        """Advance to the next elements; return False if there are none."""
        going_on: bool = self._numpys.iternext()
        if not going_on:
            self._operands.write_back()
        return going_on

    def copy(self, /) -> "nditer":
        """Return an iterator at the same position, over the same copies."""
        made = object.__new__(nditer)
        made._adopt(self._numpys.copy(), self._operands)
        return made

    __copy__ = copy

    def close(self, /) -> None:
        """End the iteration and write copies back to the arrays."""
        if "_numpys" in self.__dict__:
            self._numpys.close()
            self._leave()

    def _leave(self) -> None:
        if not self._ended:
            self.__dict__["_ended"] = True
            self._operands.close()

    def __enter__(self) -> "nditer":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        if "_operands" not in self.__dict__:
            return
        if self._operands.changes:
            self.close()
        else:  # yielded arrays may still view NumPy's buffers
            self._leave()


@unbound
def nested_iters(
    op: Any,
    axes: Sequence[Sequence[int]],
    flags: Any = None,
    op_flags: Any = None,
    op_dtypes: Any = None,
    order: Order = "K",
    casting: Casting = "safe",
    buffersize: int = 0,
) -> tuple[nditer, ...]:
    """Create nested iterators, the first over the first group of axes; see `nditer`.

    Examples
    --------
    >>> rows, columns = np.nested_iters(np.arange(4).reshape(2, 2), [[0], [1]])
    >>> [[int(x) for x in columns] for _ in rows]
    [[0, 1], [2, 3]]
    """
    operands = _Operands(op, op_flags)
    options = {"op_flags": op_flags, "op_dtypes": op_dtypes}
    given = {name: option for name, option in options.items() if option is not None}
    found: Any = operands.iterated(
        onp.nested_iters, axes, flags, order=order, casting=casting, buffersize=buffersize, **given
    )
    made = []
    for numpys in found:
        one = object.__new__(nditer)
        one._adopt(numpys, operands)
        made.append(one)
    return tuple(made)


__all__ = ["broadcast", "flatiter", "iterable", "ndenumerate", "nditer", "nested_iters"]
