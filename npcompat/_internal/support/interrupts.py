"""Sections that Ctrl-C does not cut in two.

A program to which an array's buffer was donated returns a new one; an interrupt between the two
would leave the array without memory. Python raises KeyboardInterrupt between any two instructions.
So at the first such section Python's handler is replaced by one that waits for the end of the
section. A handler that the user has set is kept.
"""

import _thread
import gc
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
            self.install()
            self.depth += 1

    def __exit__(self, *error: object) -> None:
        if threading.get_ident() == _main:
            self.depth -= 1
            if self.waiting and not self.depth:
                self.waiting = False
                signal.default_int_handler(signal.SIGINT, None)

    def install(self) -> None:
        """Take the place of Python's own handler, once; only in the main thread."""
        if not self.installed and threading.get_ident() == _main:
            self.installed = True
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        if self.depth:
            self.waiting = True
        elif _drops_exceptions(frame):
            threading.Timer(_RETRY_SECONDS, _thread.interrupt_main).start()
        else:
            signal.default_int_handler(number, frame)


_RETRY_SECONDS = 0.01


def _drops_exceptions(frame: Any) -> bool:
    """Return True in a finalizer or a callback of the garbage collector, as JAX has one.

    Python prints an exception that leaves one of them, and goes on: the interrupt would be lost.
    """
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code in callbacks or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


uninterrupted = _Uninterrupted()

__all__ = ["uninterrupted"]
