"""Floating-point error handling.

NumPy reports errors of operators on the host. XLA reports none, so by default neither do operators
on it. If a mode is requested, the host runs each operator as well and reports. A compiled function
reports nothing, and refuses modes that it can't implement.
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
    """Set floating-point error handling within a context.

    Parameters
    ----------
    all, divide, over, under, invalid : {'ignore', 'warn', 'raise', 'call', 'print', 'log'},
    optional
        Reaction to each kind of error. Outside of such contexts operators on XLA don't
        warn. For any mode but 'ignore', the host runs them, too, and reports as NumPy does.
        Compiled functions report nothing: in one, modes other than 'ignore' and 'warn'
        raise NotImplementedError.
    call : callable or object with a method `write`, optional
        Target of 'call' and 'log'.

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
    """Set floating-point error handling, and return the previous settings.

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
        checks_fp_errors=_asks(now)
        and now != _INITIAL
        and (_asks(chosen) or modes.current().checks_fp_errors)
    )
    return before


def geterr() -> dict[str, Any]:
    """Return the floating-point error handling.

    Examples
    --------
    >>> np.geterr()["under"]
    'ignore'
    """
    return {**onp.geterr()}


class _Reporting(ContextDecorator):
    """Context of NumPy in which operators on XLA report, too."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._errors = onp.errstate(**options)

    def _recreate_cm(self) -> "_Reporting":
        return _Reporting(self._options)

    def __enter__(self) -> None:
        self._errors.__enter__()
        self._modes = modes.changed(checks_fp_errors=True)
        self._modes.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._modes.__exit__(*exception)
        self._errors.__exit__(*exception)


def _asks(chosen: dict[str, str]) -> bool:
    """Return True if any error is to be reported."""
    return any([how != "ignore" for how in chosen.values()])


def _supported(function: str, chosen: dict[str, str | None]) -> dict[str, str]:
    """Return the given modes; raise an error for an unsupported one."""
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
