"""How floating-point errors are handled: as NumPy does on the host; XLA computes on without a word,
unless a way of handling is asked for.

Then the host runs each operator, too, and reports. A compiled function reports nothing, and refuses
what it can't keep to.
"""

import inspect
from contextlib import AbstractContextManager, ContextDecorator
from typing import Any

import numpy as onp

from npcompat._internal.core import modes

_INITIAL = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
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
    all, divide, over, under, invalid : {'ignore', 'warn', 'raise', 'call', 'print', 'log'},
    optional
        What to do. Outside of such contexts operators on XLA don't warn; in those that ask for
        anything but 'ignore', the host runs them, too, and reports what NumPy does. Compiled
        functions report nothing: in one, ways other than 'ignore' and 'warn' raise
        NotImplementedError.
    call : callable or object with a method `write`, optional
        What 'call' and 'log' use.

    Examples
    --------
    >>> with np.errstate(divide="ignore"):
    ...     np.array([1.0]) / 0
    array([inf])
    """
    chosen = _supported(
        "errstate", {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
    )
    numpys: Any = onp.errstate
    return _Reporting({"call": call, **chosen}) if _asks(chosen) else numpys(call=call, **chosen)


def seterr(
    all: str | None = None,
    divide: str | None = None,
    over: str | None = None,
    under: str | None = None,
    invalid: str | None = None,
) -> dict[str, str]:
    """Set how floating-point errors are handled, until further notice; returns what held before.

    The parameters are those of `errstate`.

    Examples
    --------
    >>> before = np.seterr(divide="ignore")
    >>> np.seterr(**before)["divide"]
    'ignore'
    """
    chosen = _supported(
        "seterr", {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
    )
    before: dict[str, Any] = dict(onp.seterr(**chosen))  # type: ignore[arg-type]
    now: dict[str, Any] = dict(onp.geterr())
    modes.set_here(
        reports=_asks(now) and now != _INITIAL and (_asks(chosen) or modes.current().reports)
    )
    return before


def geterr() -> dict[str, Any]:
    """How floating-point errors are handled.

    Examples
    --------
    >>> np.geterr()["under"]
    'ignore'
    """
    return {**onp.geterr()}


class _Reporting(ContextDecorator):
    """NumPy's own context, in which operators on XLA report, too."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._errors = onp.errstate(**options)

    def _recreate_cm(self) -> "_Reporting":
        return _Reporting(self._options)

    def __enter__(self) -> None:
        self._errors.__enter__()
        self._modes = modes.changed(reports=True)
        self._modes.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._modes.__exit__(*exception)
        self._errors.__exit__(*exception)


def _asks(chosen: dict[str, str]) -> bool:
    """Whether something is to be reported."""
    return any([how != "ignore" for how in chosen.values()])


def _supported(function: str, chosen: dict[str, str | None]) -> dict[str, str]:
    """The ways of handling that were given, all of them supported."""
    given = {kind: how for kind, how in chosen.items() if how is not None}
    traced = modes.current().trace is not None
    for kind, how in given.items():
        if traced and how not in ("ignore", "warn"):
            raise NotImplementedError(
                f"{function}({kind}={how!r}): a compiled function does not report errors; do it "
                "outside, or give 'ignore' or 'warn'"
            )
    return given


__all__ = ["errstate", "geterr", "seterr"]
