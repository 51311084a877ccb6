"""The lock held while a function is traced, and while a program with captured arrays is run.

A trace puts tracers into the arrays that the function reads, and a program takes the buffers of the
arrays that it writes by donation. No other thread may trace or run such a program meanwhile.
Programs without captured arrays, and operators, need no lock.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

lock = threading.RLock()
"""The lock itself; the C fast path tries it without waiting."""
PATIENCE = 0.1
"""Seconds that a callback or a finalizer waits for a lock, whose holder may wait for it."""
_thread = threading.local()


def is_in_callback() -> bool:
    """Return True in a Python function that a compiled program calls."""
    return getattr(_thread, "in_callback", False)


class Held:
    """Context that holds a lock.

    A callback of a program may run while another thread holds the lock and waits for that very
    program. So callbacks wait for at most `PATIENCE` seconds, and then go on without the lock.
    """

    __slots__ = ("_lock",)

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if is_in_callback():
            taken = _thread.taken
            taken.append(self._lock.acquire(timeout=PATIENCE))
        else:
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        if not is_in_callback() or _thread.taken.pop():
            self._lock.release()


held = Held(lock)


def run_held(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function while the lock is held, which costs least where no other thread holds it."""
    if not lock.acquire(False):
        with held:
            return function(*args)
    try:
        return function(*args)
    finally:
        lock.release()


@contextmanager
def in_callback() -> Iterator[None]:
    """Context of a Python function that a compiled program calls."""
    before = is_in_callback()
    _thread.in_callback = True
    if not before:
        _thread.taken = []
    try:
        yield
    finally:
        _thread.in_callback = before


__all__ = ["PATIENCE", "Held", "held", "in_callback", "is_in_callback", "lock", "run_held"]
