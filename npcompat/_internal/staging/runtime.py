"""Runtime of converted functions: its functions replace Python's loops, branches and calls.

On Python values each behaves like Python. On traced values it adds to the program.
"""

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.staged_runs import is_staged, refuse
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch.symbolic_number import expect
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.source.conversion import mark
from npcompat._internal.staging import items
from npcompat._internal.staging.branches import RaisedError, staged_branch
from npcompat._internal.staging.calls import call
from npcompat._internal.staging.carried import Unbound, load, returned
from npcompat._internal.staging.context import Variables
from npcompat._internal.staging.items import getitem, setitem
from npcompat._internal.staging.iterators import iterated, made
from npcompat._internal.staging.loops import for_loop, while_loop
from npcompat._internal.staging.pure_functions import is_made_here
from npcompat._internal.staging.truths import (
    both,
    chosen,
    compared,
    contained,
    either,
    is_traced,
    negated,
    truth,
)

slice = builtins.slice


def branch(
    test: Any,
    then: Callable[[], None],
    otherwise: Callable[[], None],
    variables: Any,
    unused: tuple[int, ...],
) -> None:
    """Run `if test: then() else: otherwise()`; variables in `unused` are not read after it."""
    flag = truth(test)
    if isinstance(flag, bool):
        (then if flag else otherwise)()
    else:
        staged_branch(flag, then, otherwise, Variables(*variables), unused=unused)


def update_item(array: Any, key: Any, operation: str, value: Callable[[], Any]) -> None:
    """Compute `array[key] op= value()`."""
    items.update_item(array, key, getattr(operator, operation), value)


def updated(old: Any, operation: str, value: Callable[[], Any]) -> Any:
    """Return the result of `old op= value()` for a variable."""
    if is_staged() and not isinstance(
        old, Handle | TracedNumber | int | float | complex | str | tuple | bytes | onp.generic
    ):
        refuse(f"a {type(old).__name__} is changed in place")
    return getattr(operator, operation)(old, value())


def set_attribute(owner: Any, name: str, value: Any) -> None:
    """Set `owner.name = value`."""
    if is_staged():
        writes = isinstance(owner, Handle) and name in ("shape", "real", "imag")
        if not writes or (name == "shape" and not is_made_here(owner)):
            refuse(f"the attribute {name!r} of a {type(owner).__name__} is set")
    setattr(owner, name, value)


def update_attribute(owner: Any, name: str, operation: str, value: Callable[[], Any]) -> None:
    """Compute `owner.name op= value()`."""
    old = getattr(owner, name)
    new = updated(old, operation, value)
    if new is old and isinstance(old, Handle) and is_staged():
        return  # the array has been written in place
    set_attribute(owner, name, new)


def raise_error(error: Any) -> None:
    """Run `raise error`; in a staged run the program raises it."""
    if is_staged():
        if isinstance(error, type) and issubclass(error, BaseException):
            error = error()
        if not isinstance(error, Exception):
            refuse("what is raised is no Exception")
        error.args = tuple([_Unknown() if is_traced(a) else a for a in error.args])
        raise RaisedError(error)
    raise error


class _Unknown:
    """Argument of an error that only the program knows."""

    def __repr__(self) -> str:
        return "<known when the program runs>"


def check(test: Any, message: Callable[[], Any] | None) -> None:
    """Run `assert test, message()`; on a traced test the program raises the error."""
    flag = truth(test)
    if isinstance(flag, bool):
        if not flag:
            raise_error(AssertionError(*([] if message is None else [message()])))
        return
    text = "an assertion does not hold" if message is None else str(message())
    expect(numbers.negation(flag), AssertionError, text)


def entered(manager: Any) -> Any:
    """Return the context manager of a `with`; refuse foreign ones in staged runs."""
    if is_staged() and not type(manager).__module__.startswith(("npcompat", "contextlib")):
        refuse(f"a context of {type(manager).__name__} is entered")
    return manager


def trying() -> None:
    """Refuse a `try` in staged runs; converted code calls it first in the block."""
    if is_staged():
        refuse("try: the program can't catch errors")


__all__ = [
    "Unbound",
    "both",
    "branch",
    "call",
    "check",
    "chosen",
    "compared",
    "contained",
    "either",
    "entered",
    "for_loop",
    "getitem",
    "iterated",
    "load",
    "made",
    "mark",
    "negated",
    "raise_error",
    "returned",
    "set_attribute",
    "setitem",
    "slice",
    "trying",
    "update_attribute",
    "update_item",
    "updated",
    "while_loop",
]
