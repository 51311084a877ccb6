"""Random choices, permutations and shuffles."""

import builtins
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type, strong
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like, handles
from npcompat.numpy._creation import asarray
from npcompat.numpy._manipulation import squeeze
from npcompat.numpy._ranges import arange
from npcompat.numpy._selection import take
from npcompat.numpy._ufunc import finish, store
from npcompat.numpy.random._integers import integers
from npcompat.numpy.random._parameters import check
from npcompat.numpy.random._sampling import Sampler, int64, size_of


def _choice_rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return [None if isinstance(t, onp.dtype) else strong(t) for t in types], (int64, int64)


def _choice_compute(
    xp: Any,
    key: Any,
    counter: Any,
    *probabilities: Any,
    n: int = 1,
    size: Any = (),
    replace: bool = True,
    ordered: bool = False,
) -> Any:
    """Draw numbers below n; also return the counter of the next draw.

    Parameters
    ----------
    *probabilities : array
        One for each number; they are equal if not given.
    n : int
        Number of values to draw from.
    size : tuple of int
        Shape of the sample.
    replace : bool
        If True, draw with replacement.
    ordered : bool
        If True, numbers drawn without replacement ascend.
    """
    p = probabilities[0] if probabilities else None
    return xp.random_choice(key, counter, p, n, size, replace, ordered), xp.next_counter(counter)


def _permutation_compute(xp: Any, key: Any, counter: Any, *, n: int = 1) -> Any:
    """Permute the numbers below n; also return the counter of the next draw.

    Parameters
    ----------
    n : int
        Number of values to draw from.
    """
    return xp.random_permutation(key, counter, n), xp.next_counter(counter)


def _permuted_rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return [None, None, strong(types[2])], (strong(types[2]), int64)


def _permuted_compute(xp: Any, key: Any, counter: Any, a: Any, *, axis: Any = None) -> Any:
    """Permute each line along an axis; also return the counter of the next draw."""
    return xp.random_permuted(key, counter, a, axis), xp.next_counter(counter)


_declared: dict[str, Any] = {"rule": _choice_rule, "outputs": 2, "differentiable": False}
_choice = operator("_npi_random_choice", kernels={"jax": _choice_compute}, **_declared)(
    _choice_compute
)
_permutation = operator(
    "_npi_random_permutation", kernels={"jax": _permutation_compute}, **_declared
)(_permutation_compute)
_permuted = operator(
    "_npi_random_permuted", rule=_permuted_rule, outputs=2, kernels={"jax": _permuted_compute}
)(_permuted_compute)


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
        return self._draw(_permutation, (), (n,))

    def _permutation_of(self, x: Any, axis: int) -> Any:
        if isinstance(x, int | onp.integer):
            return self._positions(int(x))
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
        if dtypes.on_devices(x.dtype):
            drawn = self._draw(_permuted, (x,), (along,))
        # host dtypes: permute indices, then gather
        else:
            drawn = take(x, self._draw(_permuted, (arange(x.size).reshape(x.shape),), (along,)))
        if out is None:
            return drawn
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
        shape = size_of(size) or ()
        count = int(onp.prod(shape))
        legacy = self._legacy
        pool = _population(a, count, legacy)
        axis = onp.lib.array_utils.normalize_axis_index(axis, pool.ndim)
        n = pool.shape[axis]
        quote = "'" if legacy else ""
        if n == 0 and count:
            raise ValueError(f"{quote}a{quote} cannot be empty unless no samples are taken")
        operands: tuple[Any, ...] = ()
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
            operands = (p,)
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
            chosen = self._draw(
                _choice,
                operands,
                (n, shape, bool(replace), ordered and not replace),
                device,
                size is None,
            )
        if size is None and out is None and not dtypes.on_devices(pool.dtype):
            # Return the element itself, of any type.
            return pool[(*[slice(None)] * axis, int(chosen))]
        if size is None or shape:
            return finish(take(pool, chosen, axis=axis), out, "choice")
        return finish(squeeze(take(pool, chosen.reshape(1), axis=axis), axis), out, "choice")


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
