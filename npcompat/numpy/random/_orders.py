"""Random choices, permutations and shuffles."""

import builtins
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.dispatch.placement import moved_to_default_device
from npcompat.numpy._creation import asarray, placed_on
from npcompat.numpy._manipulation import squeeze
from npcompat.numpy._memory_order import in_order
from npcompat.numpy._ranges import arange
from npcompat.numpy._running import cumsum
from npcompat.numpy._selection import take, take_along_axis, where
from npcompat.numpy._sorting import argsort, searchsorted, sort
from npcompat.numpy._ufunc import finish, store
from npcompat.numpy.random._continuous import _exponential, _uniform
from npcompat.numpy.random._integers import full_range, integers
from npcompat.numpy.random._parameters import check
from npcompat.numpy.random._sampling import Sampler, float64, int64, size_of


class Orders(Sampler):
    """Mixin of random choices, permutations and shuffles."""

    _legacy = False

    def bytes(self, length: int) -> builtins.bytes:
        """Return random bytes.

        Examples
        --------
        >>> len(np.random.bytes(4))
        4
        """
        drawn: builtins.bytes = integers(self, 0, 256, int(length), onp.uint8, False).tobytes()
        return drawn

    def _positions(self, n: int) -> Any:
        """Permute the numbers below n, by sorting random numbers.

        A few programs draw these for any n, and the host sorts them.
        """
        return argsort(full_range(self, n))

    def _permutation_of(self, x: Any, axis: int) -> Any:
        if isinstance(x, int | onp.integer):
            return _placed(self._positions(int(x)))
        x = asarray(x)
        axis = onp.lib.array_utils.normalize_axis_index(axis, x.ndim)
        return take(x, self._positions(x.shape[axis]), axis=axis)

    def _shuffle(self, x: Any, axis: int) -> None:
        if isinstance(x, Handle):
            if not x.shape:
                raise TypeError("len() of unsized object")
            x[...] = self._permutation_of(x, axis)  # type: ignore[index]
            return
        if isinstance(x, onp.ndarray):
            order = self._positions(x.shape[onp.lib.array_utils.normalize_axis_index(axis, x.ndim)])
            x[...] = onp.take(x, handles.to_host(order), axis)
            return
        length = len(x)
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        if not isinstance(x, Sequence):
            kind = (
                f"you are shuffling a '{type(x).__name__}' object which is not a subclass of "
                "'Sequence'"
            )
            text = (
                f"{kind}; `shuffle` is not guaranteed to behave correctly: where elements are "
                "views, some may be there twice."
            )
            warnings.warn(text, UserWarning, stacklevel=3)
        elements = [x[i] for i in range(length)]
        for i, place in enumerate(handles.to_host(self._positions(length))):
            x[i] = elements[place]

    def _permuted(self, x: Any, axis: int | None, out: Any) -> Any:
        x = asarray(x)
        if not x.ndim:
            raise TypeError("len() of unsized object")
        along = None if axis is None else onp.lib.array_utils.normalize_axis_index(axis, x.ndim)
        if out is not None:
            if not isinstance(out, Handle):
                raise TypeError("out must be a numpy array")
            if out.shape != x.shape:
                raise ValueError("out must have the same shape as x")
        flat = x.reshape(-1) if along is None else x
        order = argsort(full_range(self, flat.shape), axis=along or 0)
        drawn = take_along_axis(flat, order, axis=along or 0)
        if along is None and x.ndim > 1:
            drawn = drawn.reshape(x.shape).copy()
        if out is None:
            return in_order(drawn, "K", x)
        store(out, handles.read(drawn), what="permuted")
        return out

    def _chosen(
        self,
        a: Any,
        size: Any,
        replace: bool,
        p: Any,
        axis: int,
        ordered: bool,
        device: Any,
        out: Any,
    ) -> Any:
        wanted = size_of(size)
        shape = wanted or ()
        count = int(onp.prod(shape))
        legacy = self._legacy
        pool = _population(a, count, legacy)
        axis = onp.lib.array_utils.normalize_axis_index(axis, pool.ndim)
        n = pool.shape[axis]
        quote = "'" if legacy else ""
        if n == 0 and count:
            raise ValueError(f"{quote}a{quote} cannot be empty unless no samples are taken")
        if p is not None:
            p = asarray(p)
            if p.ndim != 1:
                if not p.ndim:
                    raise TypeError("object of type 'float' has no len()")
                raise ValueError(f"{quote}p{quote} must be 1-dimensional")
            if p.shape != (n,):
                raise ValueError(f"{quote}a{quote} and {quote}p{quote} must have same size")
            p = p if p.dtype.kind == "f" else p.astype(float)
            _check_probabilities(p, legacy)
        if not replace and count > n:
            condition = "'replace=False'" if legacy else "replace is False"
            raise ValueError(f"Cannot take a larger sample than population when {condition}")
        if not replace and p is not None:
            check(
                "Fewer non-zero entries in p than size", "distinct", ((p > 0).sum() < count) * 1, 1
            )
        if not count:
            chosen: Any = array_like.array_of(onp.zeros(shape, onp.int64))
        else:
            with placed_on(device):
                chosen = (
                    self._repeated(n, wanted, p) if replace else self._distinct(n, wanted, count, p)
                )
                if ordered and not replace:
                    chosen = sort(chosen, axis=None).reshape(chosen.shape)
                if not replace:
                    chosen = _placed(chosen)
        if size is None and out is None and not dtypes.on_devices(pool.dtype):
            # Return the element itself, of any type.
            return pool[(*[slice(None)] * axis, int(chosen))]
        if size is None or shape:
            return finish(take(pool, chosen, axis=axis), out, "choice")
        return finish(squeeze(take(pool, chosen.reshape(1), axis=axis), axis), out, "choice")

    def _repeated(self, n: int, shape: tuple[int, ...] | None, p: Any) -> Any:
        """Draw positions below n; with probabilities, by inverting their cumulative sums."""
        if p is None:
            return integers(self, 0, n, shape, int64, False)
        reached = cumsum(p.astype(float64))
        u = self._floats(_uniform, (0.0, 1.0), shape, float64)
        return searchsorted(reached, (1 - u) * reached[-1])

    def _distinct(self, n: int, shape: tuple[int, ...] | None, count: int, p: Any) -> Any:
        """Draw different positions below n; with probabilities, those of the first events.

        Efraimidis and Spirakis, "Weighted random sampling with a reservoir" (2006).
        """
        if p is None:
            order = self._positions(n)
        else:
            times = self._floats(_exponential, (1.0,), n, float64)
            p = p.astype(float64)
            order = argsort(where(p > 0, times / where(p > 0, p, 1.0), onp.inf))
        return order[0] if shape is None else order[:count].reshape(shape)


def _placed(positions: Any) -> Any:
    """Return positions, which the host has sorted, where new arrays are placed."""
    return handles.wrap(moved_to_default_device(handles.read(positions)))


def _population(a: Any, count: int, legacy: bool) -> Any:
    if isinstance(a, int | onp.integer):
        if a <= 0 and count:
            raise ValueError(
                f"a must be {'greater than 0' if legacy else 'a positive integer'} unless no "
                "samples are taken"
            )
        return arange(max(int(a), 0))
    pool = asarray(a)
    if not pool.ndim:
        if pool.dtype.kind in "iu":
            return _population(int(pool), count, legacy)
        kind = f"a must be a sequence or an integer, not {type(a)}"
        raise ValueError("a must be 1-dimensional or an integer" if legacy else kind)
    if legacy and pool.ndim != 1:
        raise ValueError("a must be 1-dimensional")
    return pool


def _check_probabilities(p: Any, legacy: bool) -> None:
    prefix = "p" if legacy else "P"
    check("", "no nan", p, prefix=prefix)
    check("", "no negative", p, prefix=prefix)
    notes = "" if legacy else ". See Notes section of docstring for more information."
    check(f"{prefix}robabilities do not sum to 1{notes}", "a sum of one", p)


__all__ = ["Orders"]
