"""Conversion of arguments and results for NumPy functions that run on the host."""

import contextlib
import functools
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as onp

from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles, late_bound

Function = TypeVar("Function", bound=Callable[..., Any])


def as_numpys(x: Any) -> Any:
    """Convert arrays to NumPy arrays, also in lists and tuples; return others unchanged."""
    if isinstance(x, Handle):
        if modes.current().recording and handles.read(x).node is not None:
            raise TypeError(
                "the derivative of a function that NumPy or another library runs on the host is "
                "not known; "
                "give it `x.detach()`, or write it as an autograd.Function"
            )
        return onp.array(handles.to_host(x))
    if type(x) is list or type(x) is tuple:
        return type(x)(map(as_numpys, x))
    return x


def given_back(found: Any, carried: Sequence[onp.dtype[Any]] | None = None) -> Any:
    """Convert NumPy's results to arrays; instances of subclasses stay NumPy's.

    If the operands' dtypes are `carried`, a float64 result becomes the default float unless an
    operand is float64.
    """
    if type(found) is tuple or type(found) is list:
        return type(found)([given_back(f, carried) for f in found])
    if type(found) is not onp.ndarray and not (
        isinstance(found, onp.generic) and dtypes.on_devices(found.dtype)
    ):
        return found
    made = array_like.array_of(
        onp.asarray(found, found.dtype if carried is None else dtypes.narrow(found.dtype, carried))
    )
    return handles.as_scalar(made) if isinstance(found, onp.generic) else made


def by_numpy(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    carried: Any = None,
) -> Any:
    """Call a NumPy function on the values of our arrays; `carried` as for `given_back`."""
    return given_back(
        function(*map(as_numpys, args), **{name: as_numpys(a) for name, a in kwargs.items()}),
        carried,
    )


_WRITTEN = ("dst", "out", "output")
"""Parameters of NumPy's functions that run on the host, into which they write."""


@functools.lru_cache(maxsize=1024)
def _written(function: Callable[..., Any]) -> Collection[int]:
    """Return the positions of the arguments that a NumPy function may write."""
    if isinstance(function, onp.ufunc):
        return range(function.nin, function.nargs)
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return range(sys.maxsize)  # it is unknown
    return [i for i, name in enumerate(parameters) if name in _WRITTEN]


def by_numpy_in_place(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Call a NumPy function that may write arguments, such as `out`; what it writes, ours get."""
    lent: list[tuple[Any, onp.ndarray[Any, Any], bytes | None]] = []

    def lend(x: Any, may_be_written: bool) -> Any:
        if type(x) is tuple or type(x) is list:
            return type(x)([lend(part, may_be_written) for part in x])
        copy = as_numpys(x)
        if isinstance(x, Handle) and type(x) not in late_bound.scalars:
            lent.append((x, copy, copy.tobytes() if may_be_written else None))
        return copy

    written = _written(function)
    found = function(
        *[lend(a, i in written) for i, a in enumerate(args)],
        **{name: lend(a, name in _WRITTEN) for name, a in kwargs.items()},
    )
    for ours, copy, before in lent:
        if before is not None and copy.tobytes() != before:
            ours[...] = copy
    for ours, copy, _ in lent:
        if found is copy:
            return ours
    return given_back(found)


def on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a NumPy function so that it takes and returns our arrays."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return by_numpy_in_place(function, args, kwargs)

    return call


def into_numpys(function: Function) -> Function:
    """Decorate a function that writes its first argument: into NumPy's arrays NumPy's function does."""
    numpys = getattr(onp, function.__name__)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], onp.ndarray):
            return by_numpy(numpys, args, kwargs)
        return function(*args, **kwargs)

    return cast("Function", call)


_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, onp.ufunc, type(onp.concatenate))


def attribute_on_host(module: Any, name: str) -> Any:
    """Return a public name of a NumPy module; functions are wrapped with `on_host`."""
    found = getattr(module, name)
    return on_host(found) if isinstance(found, _FUNCTIONS) else found


def functions_on_host(module: Any) -> dict[str, Any]:
    """Wrap all public functions of a NumPy module with `on_host`."""
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: on_host(f) for name, f in found.items() if isinstance(f, _FUNCTIONS)}


def current_attributes_on_host(module: Any) -> dict[str, Any]:
    """Return the public names of a NumPy module that it can give without a DeprecationWarning."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        for name in module.__all__:
            with contextlib.suppress(DeprecationWarning):
                found[name] = attribute_on_host(module, name)
    return found


__all__ = [
    "as_numpys",
    "attribute_on_host",
    "by_numpy",
    "current_attributes_on_host",
    "functions_on_host",
    "given_back",
    "into_numpys",
    "on_host",
]
