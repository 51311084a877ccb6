"""Replacement of functions of other libraries by ones that get NumPy's arrays for ours."""

import functools
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Collection
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle


def replace(
    module: str,
    path: str,
    outputs: Collection[str] | None = None,
    within: bool = False,
    result: bool = False,
) -> None:
    """Let a function or a method get NumPy's arrays, over the same memory, for ours.

    A function is replaced wherever its library has imported it.

    Parameters
    ----------
    module : str
        The module that defines it.
    path : str
        Its name there, with that of its class.
    outputs : collection of str, optional
        Parameters for which NumPy's arrays are handed over, since the function writes them; all
        if not given.
    within : bool
        If True, also for arrays within lists, dicts and arrays of objects, as keys, grids and
        rows of several lengths are given.
    result : bool
        If True, also for the array that the function returns.
    """
    place: Any = importlib.import_module(module)
    *classes, name = path.split(".")
    for c in classes:
        place = getattr(place, c, None)
    function = getattr(place, name, None)
    if function is None:
        warnings.warn(
            f"{module} has no {path}: this version may take npcompat's arrays for other objects; "
            "hand over numpy.asarray(a)",
            RuntimeWarning,
            stacklevel=2,
        )
        return
    replaced = (
        _with_numpys(
            function, with_numpys if within else as_numpys, as_numpys if result else _as_it_is
        )
        if outputs is None
        else _with_numpys_for(function, outputs)
    )
    setattr(place, name, replaced)
    if not classes:
        rebind(module.partition(".")[0], function, replaced)


def rebind(library: str, function: Any, replaced: Any) -> None:
    """Replace a function wherever its library has imported it, under whatever name."""
    for module in [m for n, m in sys.modules.items() if n.partition(".")[0] == library]:
        for name in [n for n, value in vars(module).items() if value is function]:
            setattr(module, name, replaced)


def _with_numpys(
    function: Callable[..., Any], convert: Callable[[Any], Any], finish: Callable[[Any], Any]
) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args = tuple([convert(x) for x in args])
        return finish(function(*args, **{name: convert(x) for name, x in kwargs.items()}))

    return call


def _with_numpys_for(function: Callable[..., Any], outputs: Collection[str]) -> Callable[..., Any]:
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args = (
            tuple(
                [
                    _written(name, x) if name in outputs else x
                    for name, x in zip(names, args, strict=False)
                ]
            )
            + args[len(names) :]
        )
        for name in outputs:
            if name in kwargs:
                kwargs[name] = _written(name, kwargs[name])
        return function(*args, **kwargs)

    return call


def _written(name: str, x: Any) -> Any:
    """Return NumPy's array for an output of ours; some functions in C don't ask if it is read-only.

    Raises
    ------
    ValueError
        If writes of others to the array would be lost: it is on XLA, recorded or read-only.
    """
    found = as_numpys(x)
    if isinstance(x, Handle) and not found.flags.writeable:
        raise ValueError(
            f"{name}: output array is read-only. Writes of other libraries can't reach arrays on "
            'XLA, recorded ones and read-only ones; give one of `with npx.backend("numpy")`'
        )
    return found


def _as_it_is(x: Any) -> Any:
    return x


def as_numpys(x: Any) -> Any:
    """Return NumPy's array or scalar, over the same memory, for ours; another object itself."""
    if not isinstance(x, Handle):
        return x
    return onp.asarray(x)[()] if isinstance(x, onp.generic) else onp.asarray(x)


def with_numpys(x: Any) -> Any:
    """Return NumPy's array for ours, and a list, tuple or dict with NumPy's arrays in place of ours.

    It is the object itself if none is there, as some compare it.
    """
    if type(x) is list or type(x) is tuple:
        if not any([_may_hold(kind) for kind in set(map(type, x))]):
            return x
        made: Any = type(x)(map(with_numpys, x))
        return made if any([a is not b for a, b in zip(made, x, strict=True)]) else x
    if type(x) is dict:
        made = {name: with_numpys(item) for name, item in x.items()}
        return made if any([made[name] is not item for name, item in x.items()]) else x
    found = as_numpys(x)
    if type(found) is onp.ndarray and found.dtype.kind == "O":
        items = list(found.flat)
        made = list(map(as_numpys, items))
        if any([a is not b for a, b in zip(made, items, strict=True)]):
            found = onp.empty(found.shape, found.dtype)
            for i, item in enumerate(made):
                found.reshape(-1)[i] = item
    return found


def _may_hold(kind: type) -> bool:
    return kind in (list, tuple, dict) or issubclass(kind, Handle | onp.ndarray)


__all__ = ["as_numpys", "rebind", "replace", "with_numpys"]
