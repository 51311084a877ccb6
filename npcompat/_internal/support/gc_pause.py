"""Pause of the garbage collector while a function is traced.

Nearly all objects that tracing makes are kept, and collections take a twentieth of its time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_pauses: list[bool] = []  # for each running context: True if the collector was on before it


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector inside the context.

    When the last of several such contexts ends, the collector is restored to its state before the
    first.
    """
    with _lock:
        _pauses.append(gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            was_on = _pauses.pop()
            if not _pauses and was_on:
                gc.enable()


__all__ = ["gc_paused"]
