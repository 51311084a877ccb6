"""How floating-point errors are handled: as NumPy does on the host; XLA computes on without a word.

Where arrays are placed on XLA, ways of handling that it can't keep to are refused.
"""

import inspect
from contextlib import AbstractContextManager
from typing import Any

import numpy as onp

from npcompat._internal import execution, modes

_UNSPECIFIED: Any = inspect.signature(onp.errstate).parameters["call"].default


def errstate(
    *,
    call: Any = _UNSPECIFIED,
    all: str | None = None,
    divide: str | None = None,
    over: str | None = None,
    under: str | None = None,
    invalid: str | None = None,
) -> AbstractContextManager[Any]:
    """A context in which floating-point errors are handled otherwise.

    Parameters
    ----------
    all, divide, over, under, invalid : {'ignore', 'warn', 'raise', 'call', 'print', 'log'}, optional
        What to do.  XLA never warns; ways other than 'ignore' and 'warn' work where arrays are placed on the host, and raise
        NotImplementedError where they are placed on XLA, and in compiled functions.
    call : callable or object with a method `write`, optional
        What 'call' and 'log' use.

    Examples
    --------
    >>> with np.errstate(divide="ignore"):
    ...     np.array([1.0]) / 0
    array([inf])
    """
    chosen = _supported("errstate", {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid})
    return onp.errstate(call=call, **chosen)  # type: ignore[arg-type]


def seterr(
    all: str | None = None, divide: str | None = None, over: str | None = None, under: str | None = None, invalid: str | None = None
) -> dict[str, str]:
    """Set how floating-point errors are handled, until further notice; returns what held before.

    The parameters are those of `errstate`.

    Examples
    --------
    >>> before = np.seterr(divide="ignore")
    >>> np.seterr(**before)["divide"]
    'ignore'
    """
    chosen = _supported("seterr", {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid})
    return dict(onp.seterr(**chosen))  # type: ignore[arg-type]


def geterr() -> dict[str, Any]:
    """How floating-point errors are handled.

    Examples
    --------
    >>> np.geterr()["under"]
    'ignore'
    """
    return {**onp.geterr()}


def _supported(function: str, chosen: dict[str, str | None]) -> dict[str, str]:
    """The ways of handling that were given, all of them supported."""
    given = {kind: how for kind, how in chosen.items() if how is not None}
    mode = modes.current()
    silent = mode.trace is not None or not execution.on_host(mode)
    for kind, how in given.items():
        if silent and how not in ("ignore", "warn"):
            raise NotImplementedError(
                f"{function}({kind}={how!r}): XLA does not report errors; use the numpy backend, or 'ignore' or 'warn'"
            )
    return given


__all__ = ["errstate", "geterr", "seterr"]
