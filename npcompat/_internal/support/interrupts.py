"""Sections that Ctrl-C does not cut in two.

A program to which an array's buffer was donated returns a new one; an interrupt between the two
would leave the array without memory. Python raises KeyboardInterrupt between any two instructions.
So at the first such section Python's handler is replaced by one that waits for the end of the
section. A handler that the user has set is kept.
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
