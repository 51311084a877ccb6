"""The lock held while a function is traced, and while a program with captured arrays is run.

A trace puts tracers into the arrays that the function reads, and a program takes the buffers of the
arrays that it writes by donation. No other thread may trace or run such a program meanwhile.
Programs without captured arrays, and operators, need no lock.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

lock = threading.RLock()
"""The lock itself; the C fast path tries it without waiting."""
_PATIENCE = 0.1
_thread = threading.local()


class _Held:
    """Context that holds the lock.

    A callback of a program may run while another thread holds the lock and waits for that very
    program. So callbacks wait for at most `_PATIENCE` seconds, and then go on without the lock.
    """

    def __enter__(self) -> None:
        if getattr(_thread, "in_callback", False):
            taken = _thread.taken
            taken.append(lock.acquire(timeout=_PATIENCE))
        else:
            lock.acquire()

    def __exit__(self, *_: object) -> None:
        if not getattr(_thread, "in_callback", False) or _thread.taken.pop():
            lock.release()


held = _Held()


@contextmanager
def in_callback() -> Iterator[None]:
    """Context of a Python function that a compiled program calls."""
    before = getattr(_thread, "in_callback", False)
    _thread.in_callback = True
    if not before:
        _thread.taken = []
    try:
        yield
    finally:
        _thread.in_callback = before


__all__ = ["held", "in_callback", "lock"]
