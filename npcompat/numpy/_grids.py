"""Grids and concatenation by indexing: `np.mgrid[0:3, 0:2]`, `np.ogrid`, `np.r_`, `np.c_`."""

import inspect
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles
from npcompat.numpy._creation import array
from npcompat.numpy._joining import concatenate
from npcompat.numpy._logic import result_type
from npcompat.numpy._manipulation import ndim, swapaxes, transpose
from npcompat.numpy._ranges import arange, linspace

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

R_co = TypeVar("R_co", covariant=True)


def _bound(x: Any) -> Any:
    """Read the bound of a slice on the host, because a grid's shape depends on it."""
    if not isinstance(x, Handle):
        return x
    handles.check_reader(x)
    return handles.to_host(x)[()]


def _bounds(key: slice) -> slice:
    return slice(_bound(key.start), _bound(key.stop), _bound(key.step))


class _Grid(Generic[R_co]):
    """Coordinates of a grid, as ``grid[start:stop:step, ...]``.

    An imaginary step is the number of points, with the end included.
    """

    def __init__(self, numpys: Any, doc: str) -> None:
        self._numpys = numpys
        self.sparse: bool = numpys.sparse
        self.__doc__ = doc

    @overload
    def __getitem__(self, key: slice) -> "ndarray": ...
    @overload
    def __getitem__(self, key: tuple[slice, ...]) -> R_co: ...
    def __getitem__(self, key: Any) -> Any:
        slices = tuple(map(_bounds, key)) if isinstance(key, tuple) else _bounds(key)
        made = self._numpys[slices]
        carried = [
            b.dtype
            for s in (slices if isinstance(slices, tuple) else (slices,))
            for b in _given(s)
            if hasattr(b, "dtype")
        ]
        return (
            tuple([_narrowed(m, carried) for m in made])
            if isinstance(made, tuple)
            else _narrowed(made, carried)
        )


def _given(key: slice) -> tuple[Any, ...]:
    return key.start, key.stop, key.step


def _narrowed(made: onp.ndarray[Any, Any], carried: list[Any]) -> Any:
    return array_like.array_of(made.astype(dtypes.narrow(made.dtype, carried), copy=False))


mgrid: "_Grid[ndarray]" = _Grid(
    onp.mgrid,
    """Dense coordinate grid, one array per axis, stacked: ``np.mgrid[start:stop:step, ...]``.

    With an imaginary step such as ``5j`` there are that many, the end included.

    Examples
    --------
    >>> np.mgrid[0:2, 0:3][1]
    array([[0, 1, 2],
           [0, 1, 2]])
    >>> np.mgrid[0:1:3j]
    array([0. , 0.5, 1. ])
    """,
)
ogrid: "_Grid[tuple[ndarray, ...]]" = _Grid(
    onp.ogrid,
    """Open coordinate grid, a tuple of arrays that broadcast: ``np.ogrid[start:stop:step, ...]``.

    Examples
    --------
    >>> x, y = np.ogrid[0:2, 0:3]
    >>> y
    array([[0, 1, 2]])
    """,
)


# --- one after the other --------------------------------------------------------------------------

_SCALARS = (bool, int, float, complex, onp.generic)


class _Joiner:
    """Concatenation along an axis by indexing, as ``joiner[...]``.

    `axis` is the axis to join, `ndmin` the least number of axes of each entry, and `place` the
    position of an array's own axes among those added (-1: last).
    """

    def __init__(self, axis: int = 0, ndmin: int = 1, place: int = -1, doc: str = "") -> None:
        self._axis, self._ndmin, self._place = axis, ndmin, place
        self.__doc__ = doc

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> "ndarray":
        if isinstance(key, str):
            frame = inspect.currentframe()
            caller = None if frame is None else frame.f_back
            bmat: Any = onp.bmat
            return bmat(
                key, *((caller.f_globals, caller.f_locals) if caller is not None else ({}, {}))
            )
        items = list(key) if isinstance(key, tuple) else [key]
        how = self
        if items and isinstance(items[0], str):
            if items[0] in ("r", "c"):  # np.matrix is NumPy's own
                return onp.r_[(items[0], *map(_as_numpys, items[1:]))]
            how = self._directed(items.pop(0))
        if any(isinstance(i, str) for i in items):
            raise ValueError("special directives must be the first entry.")
        parts = [how._part(i) for i in items]
        if not parts:
            return concatenate(parts)  # raises the error for an empty list
        common = result_type(
            *[
                p if type(i) in (bool, int, float, complex) else p.dtype
                for p, i in zip(parts, items, strict=True)
            ]
        )
        return concatenate(
            [array(p, dtype=common, copy=None, ndmin=how._ndmin) for p in parts], how._axis
        )

    def _directed(self, directive: str) -> "_Joiner":
        """Parse a first entry such as `'0,2,1'`: axis, least number of axes, place."""
        words = directive.split(",")
        try:
            numbers = [int(w) for w in words]
        except ValueError:
            raise ValueError(
                f"unknown special directive {directive!r}"
                if len(words) > 1
                else "unknown special directive"
            ) from None
        if len(numbers) > 3:
            numbers = numbers[:2]
        axis, ndmin, place = [*numbers, *[self._axis, self._ndmin, self._place][len(numbers) :]]
        return _Joiner(axis, ndmin, place)

    def _part(self, item: Any) -> Any:
        if isinstance(item, slice):
            made = _range(item)
            if self._ndmin > 1:
                made = array(made, copy=None, ndmin=self._ndmin)
                made = made if self._place == -1 else swapaxes(made, -1, self._place)
            return made
        if isinstance(item, _SCALARS):
            return item
        own = ndim(item)
        made = array(item, copy=None if isinstance(item, Handle) else True, ndmin=self._ndmin)
        missing = self._ndmin - own
        if self._place == -1 or missing <= 0:
            return made
        place = self._place + missing + 1 if self._place < 0 else self._place
        axes = list(range(self._ndmin))
        return transpose(made, axes[:place] + axes[missing:] + axes[place:missing])


def _range(key: slice) -> Any:
    start, stop, step = _given(_bounds(key))
    start, step = 0 if start is None else start, 1 if step is None else step
    if isinstance(step, complex | onp.complexfloating):
        return linspace(start, stop, int(onp.abs(step)))
    return arange(start, stop, step)


def _as_numpys(item: Any) -> Any:
    return (
        _bounds(item)
        if isinstance(item, slice)
        else handles.to_host(item)
        if isinstance(item, Handle)
        else item
    )


r_ = _Joiner(
    doc="""Concatenate ranges, scalars and arrays along the first axis: ``np.r_[1:4, 0, a]``.

    A first entry ``'axis,ndmin,place'`` sets the axis, the least number of axes of each part, and
    the position of its own axes among those.  ``'r'`` and ``'c'`` create NumPy's own matrix.

    Examples
    --------
    >>> np.r_[1:4, 0, np.array([7, 8])]
    array([1, 2, 3, 0, 7, 8])
    >>> np.r_['0,2', [1, 2], [3, 4]]
    array([[1, 2],
           [3, 4]])
    """
)
c_ = _Joiner(
    -1,
    2,
    0,
    """Concatenate arrays along the last axis; a 1-d array becomes a column.

    Examples
    --------
    >>> np.c_[np.array([1, 2]), np.array([3, 4])]
    array([[1, 3],
           [2, 4]])
    """,
)

__all__ = ["c_", "mgrid", "ogrid", "r_"]
