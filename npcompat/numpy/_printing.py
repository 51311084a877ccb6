"""Text of arrays, formatted by NumPy's own printing.

In the default policy the default float is not named and float64 is.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

import numpy as onp
from numpy import (
    base_repr,
    binary_repr,
    format_float_positional,
    format_float_scientific,
    get_printoptions,
    printoptions,
    set_printoptions,
)

from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.subclasses import is_subclass
from npcompat.numpy._overrides import defers_to_classes

_SHOWN: set[tuple[int, int]] = set()
"""Object arrays being printed, by identity and thread."""


class _Dots:
    def __repr__(self) -> str:
        return "..."


@contextmanager
def _values(a: Any) -> Iterator[onp.ndarray[Any, Any]]:
    """Return the values to print; an object array that contains itself shows dots there."""
    host = handles.to_host(a) if isinstance(a, Handle) else onp.asarray(a)
    key = id(a), get_ident()
    if host.dtype.kind != "O":
        yield host
    elif key in _SHOWN:
        dots = onp.empty((), object)
        dots[()] = _Dots()
        yield dots
    else:
        _SHOWN.add(key)
        try:
            yield host
        finally:
            _SHOWN.discard(key)


_IMPLIED = ("float32", "complex64")
_SAID = ("float64", "complex128")


@defers_to_classes
def array_repr(
    arr: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Return the text of `repr`: the values and, if it is not the default, the dtype.

    Examples
    --------
    >>> np.array_repr(np.ones(2))
    'array([1., 1.])'
    """
    return text_of_repr(arr, max_line_width, precision, suppress_small)


def text_of_repr(arr: Any, max_line_width: int | None = None, *options: Any) -> str:
    """Return the text of `repr`, without asking the class of the array."""
    if modes.current().trace is not None and isinstance(arr, Handle):
        return f"array(<traced>, shape={arr.shape}, dtype={arr.dtype})"
    with _values(arr) as host:
        if isinstance(arr, Handle) and is_subclass(type(arr)):
            # NumPy starts with the name of the class, and aligns lines with it.
            host = host.view(type(type(arr).__name__, (onp.ndarray,), {}))
        text = onp.array_repr(host, max_line_width, *options)
    if modes.current().numpy_dtypes or not host.size:
        return text
    if host.dtype.name in _IMPLIED:
        return re.sub(r",\s*dtype=\w+\)$", ")", text)
    if host.dtype.name in _SAID and "dtype=" not in text:
        said = f"dtype={host.dtype.name})"
        width = max_line_width or onp.get_printoptions()["linewidth"]
        last = len(text) - 1 - (text.rfind("\n") + 1)
        return (
            f"{text[:-1]}, {said}"
            if last + len(said) + 1 <= width
            else f"{text[:-1]},\n      {said}"
        )
    return text


@defers_to_classes
def array_str(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Return the text of `str`: the values only.

    Examples
    --------
    >>> np.array_str(np.arange(3))
    '[0 1 2]'
    """
    return text_of_str(a, max_line_width, precision, suppress_small)


def text_of_str(a: Any, *options: Any) -> str:
    """Return the text of `str`, without asking the class of the array."""
    if modes.current().trace is not None and isinstance(a, Handle):
        return text_of_repr(a)
    with _values(a) as host:
        return onp.array_str(host, *options)


@defers_to_classes
def array2string(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
    separator: str = " ",
    prefix: str = "",
    *,
    formatter: Any = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sign: Any = None,
    floatmode: Any = None,
    suffix: str = "",
    legacy: Any = None,
) -> str:
    """Format the values as text.

    Parameters
    ----------
    a : array_like
        The values.
    max_line_width, precision, suppress_small, threshold, edgeitems, sign, floatmode, formatter,
    legacy
        As for `set_printoptions`, whose values hold for what is None; `max_line_width` is
        `linewidth` there.
    separator : str
        Text between elements.
    prefix, suffix : str
        Text around the result: lines are wrapped and indented for it. It is not part of the
        result.

    Examples
    --------
    >>> np.array2string(np.arange(3), separator=";")
    '[0;1;2]'
    """
    host = handles.to_host(a) if isinstance(a, Handle) else onp.asarray(a)
    return onp.array2string(
        host, max_line_width, precision, suppress_small, separator, prefix, formatter=formatter,
        threshold=threshold, edgeitems=edgeitems, sign=sign, floatmode=floatmode, suffix=suffix,
        legacy=legacy,
    )  # fmt: skip


__all__ = [
    "array2string", "array_repr", "array_str", "base_repr", "binary_repr",
    "format_float_positional", "format_float_scientific", "get_printoptions", "printoptions",
    "set_printoptions",
]  # fmt: skip
