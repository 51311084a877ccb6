"""Sections that Ctrl-C does not cut in two.

A program that was given the memory of an array returns the new one; an interrupt between the two
would leave an array without memory. Python raises KeyboardInterrupt between any two instructions,
so a handler that waits for the end of such sections takes the place of Python's own, at the first
of them. A handler of the user's, who decides by it what an interrupt does, stays.
"""

import signal
import threading
from typing import Any

_main = threading.main_thread().ident


class _Uninterrupted:
    """Context in which an interrupt waits; contexts may be nested."""

    __slots__ = ("depth", "installed", "waiting")

    def __init__(self) -> None:
        self.depth, self.installed, self.waiting = 0, False, False

    def __enter__(self) -> None:
        if threading.get_ident() == _main:  # no other thread is interrupted
            if not self.installed:
                self._install()
            self.depth += 1

    def __exit__(self, *error: object) -> None:
        if threading.get_ident() == _main:
            self.depth -= 1
            if self.waiting and not self.depth:
                self.waiting = False
                signal.default_int_handler(signal.SIGINT, None)

    def _install(self) -> None:
        self.installed = True
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        if self.depth:
            self.waiting = True
        else:
            signal.default_int_handler(number, frame)


uninterrupted = _Uninterrupted()

__all__ = ["uninterrupted"]
