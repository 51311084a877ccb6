"""Classes of other libraries: which have a meaning of their own, and our arrays as theirs."""

import functools
import inspect
import sys
import types
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles, late_bound
from npcompat._internal.dispatch.backends import XLA_ARRAY
from npcompat._internal.dispatch.borrowed_buffers import over_memory
from npcompat._internal.dispatch.subclasses import is_subclass

_PLAIN = (onp.generic, int, float, complex, str, bytes, list, tuple, type(None))
_MEANING_MORE = (onp.ma.MaskedArray, onp.matrix)
_NUMPYS = onp.ndarray.__array_ufunc__


# --- which classes --------------------------------------------------------------------------------


def means_more(x: Any) -> bool:
    """Return True for arrays of NumPy's that are no plain elements, which NumPy's functions know.

    They are masked arrays, matrices, and instances of classes that override NumPy's protocols, as
    quantities of Astropy.
    """
    kind: Any = type(x)
    return kind is not onp.ndarray and isinstance(x, onp.ndarray) and _has_own_meaning(kind)


@functools.cache
def _has_own_meaning(kind: Any) -> bool:
    return (
        issubclass(kind, _MEANING_MORE)
        or kind.__array_ufunc__ is not _NUMPYS
        or kind.__array_function__ is not onp.ndarray.__array_function__
    )


def names_class(x: Any) -> bool:
    """Return True for instances of other subclasses of NumPy's array, as columns of Astropy.

    NumPy's functions give their class to results; beside what is recorded they count as elements.
    Arrays over files compute as plain ones.
    """
    return (
        type(x) is not onp.ndarray
        and isinstance(x, onp.ndarray)
        and not isinstance(x, onp.memmap)
        and not means_more(x)
    )


def is_jaxs(x: Any) -> bool:
    """Return True for arrays and tracers of a program's own JAX."""
    return type(x) is XLA_ARRAY or language.is_tracer(x)


@functools.cache
def _is_container(kind: Any) -> bool:
    """Return True for classes of other libraries that hold arrays in a way of their own.

    Series and frames of pandas, labelled arrays of xarray and sparse matrices are such: what
    NumPy's functions make of them is theirs. Arrays that speak DLPack are taken as arrays, and so
    are classes that become one by `__array__` and have no say in results.
    """
    return (
        not issubclass(kind, (Handle, onp.ndarray, *_PLAIN))
        and hasattr(kind, "__array_priority__")
        and not hasattr(kind, "__dlpack__")
        and (not hasattr(kind, "__array__") or any([hasattr(kind, name) for name in _RULES]))
    )


_RULES = ("__array_function__", "__array_ufunc__", "__array_wrap__")
"""Methods by which a class decides what NumPy's functions make of it."""


@functools.cache
def _answers_functions(kind: Any) -> bool:
    if issubclass(kind, Handle):
        return (
            is_subclass(kind)
            and kind.__array_function__ is not late_bound.ndarray.__array_function__
        )
    return _is_container(kind) or (
        hasattr(kind, "__array_function__") and not issubclass(kind, onp.ndarray | onp.generic)
    )


def is_foreign(x: Any) -> bool:
    """Return True if an object's class has a say in what functions make of it.

    Those are arrays that mean more, containers, and classes with `__array_function__`, among them
    users' subclasses of our array that override it.
    """
    kind: Any = type(x)
    return means_more(x) or names_class(x) or _answers_functions(kind)


def any_foreign(operands: Sequence[Any]) -> bool:
    """Return True if the class of one of some operands has a say."""
    return not late_bound.ordinary.issuperset(map(type, operands)) and any(
        map(is_foreign, operands)
    )


def overrides(x: Any) -> bool:
    """Return True if the class of an operand overrides ufuncs."""
    if isinstance(x, Handle):
        return (
            is_subclass(type(x))
            and getattr(type(x), "__array_ufunc__", None) is not late_bound.ndarray.__array_ufunc__
        )
    if isinstance(x, _PLAIN):
        return False
    if means_more(x) or names_class(x):
        return True
    return getattr(type(x), "__array_ufunc__", _NUMPYS) is not _NUMPYS


@functools.cache
def knows_ours(kind: Any, protocol: str) -> bool:
    """Return True if a class may compare functions with ours, and False if it knows NumPy's only.

    The module that defines the method tells: it imports numpy, and nothing of npcompat.
    """
    names = getattr(inspect.unwrap(getattr(kind, protocol)), "__globals__", {}).values()
    modules = [getattr(x, "__name__", "") for x in names if isinstance(x, types.ModuleType)]
    homes = [*modules, *[str(getattr(x, "__module__", "")) for x in names]]
    return "numpy" not in modules or any([m.partition(".")[0] == "npcompat" for m in homes])


def is_sparse(x: Any) -> bool:
    """Return True for sparse arrays and matrices of SciPy's, whose operators know NumPy's only."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and isinstance(x, sparse.sparray | sparse.spmatrix)


_OF_METHODS = frozenset((
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "compress", "cumprod",
    "cumsum", "diagonal", "max", "mean", "min", "nonzero", "partition", "prod", "ptp", "put", "repeat",
    "reshape", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose",
    "var",
))  # fmt: skip
"""Functions of NumPy that call the method of their name if the operand has one."""


def has_method_for(x: Any, name: str) -> bool:
    """Return True for an object with a method that NumPy's function of this name calls.

    Arrays of other libraries, which speak DLPack, are taken as arrays.
    """
    kind = type(x)
    return (
        name in _OF_METHODS
        and not isinstance(x, (Handle, onp.ndarray, *_PLAIN))
        and not hasattr(kind, "__dlpack__")
        and callable(getattr(kind, name, None))
    )


# --- our arrays as NumPy's, and back --------------------------------------------------------------


def items_of(nested: Iterable[Any]) -> Iterable[Any]:
    """Yield the items of nested lists and tuples."""
    for x in nested:
        if type(x) in (list, tuple):
            yield from items_of(x)
        else:
            yield x


def to_numpys(x: Any, other: Any = None) -> Any:
    """Return an operand for NumPy's function: an array of ours as NumPy's over the same memory.

    Lists and tuples are looked through. `other` is the operand that has the function.

    Raises
    ------
    TypeError
        If an array is recorded: the derivative would be lost.
    """
    if type(x) in (list, tuple):
        return type(x)([to_numpys(item, other) for item in x])
    if not isinstance(x, Handle):
        return x
    if modes.current().recording and handles.read(x).node is not None:
        raise TypeError(
            f"an array that is recorded meets a {type(other).__name__} of SciPy's, whose functions "
            "have no derivatives: take its elements as an array, as c.toarray()"
            if is_sparse(other)
            else "an array that is recorded meets a masked array or a matrix of NumPy's, whose "
            "functions have no derivatives: take its elements and its mask as arrays, as m.filled(0) "
            "and ~numpy.ma.getmaskarray(m)"
            if isinstance(other, _MEANING_MORE)
            else f"an array that is recorded meets a {type(other).__name__}, whose functions have "
            "no derivatives here: take its elements as an array, by np.asarray"
        )
    return onp.asarray(x)


def from_numpys(made: Any, met: Any) -> Any:
    """Return a result of NumPy's function: its plain arrays, made of a container's, as ours."""
    if means_more(met):
        return made
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return type(made)(*[from_numpys(x, met) for x in made])
    if type(made) in (list, tuple):
        return type(made)([from_numpys(x, met) for x in made])
    return over_memory(made) if type(made) is onp.ndarray else made


__all__ = [
    "any_foreign",
    "from_numpys",
    "has_method_for",
    "is_foreign",
    "is_jaxs",
    "is_sparse",
    "items_of",
    "knows_ours",
    "means_more",
    "names_class",
    "overrides",
    "to_numpys",
]
