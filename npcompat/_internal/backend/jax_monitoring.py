"""What XLA compiles and how long it takes, told as it happens."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax.monitoring

Tell = Callable[[str, float], None]
"""Called with the name of a program and the seconds that compiling it took, in the thread that compiled it."""

_STAGES = "/jax/core/compile/"
_LAST = "/jax/core/compile/backend_compile_duration"
_listening: list[Tell] = []
_lock = threading.Lock()
_spans = threading.local()


@contextmanager
def told_of_compilations(tell: Tell) -> Iterator[None]:
    """A context in which `tell` is called after each compilation, once however many contexts ask for it."""
    with _lock:
        if not _listening:
            jax.monitoring.register_event_time_span_listener(_heard)
        _listening.append(tell)
    _spans.__dict__.clear()  # of what failed
    try:
        yield
    finally:
        with _lock:
            _listening.remove(tell)
            if not _listening:
                jax.monitoring.unregister_event_time_span_listener(_heard)


def _heard(event: str, start_time: float, end_time: float, **kwargs: Any) -> None:
    """JAX has traced, lowered or compiled something; stages may lie within each other."""
    if not event.startswith(_STAGES):
        return
    spans = _spans.__dict__.setdefault("found", [])
    spans.append((start_time, end_time))
    if event == _LAST:
        seconds, covered = 0.0, 0.0
        for begin, stop in sorted(spans):
            seconds += max(0.0, stop - max(begin, covered))
            covered = max(covered, stop)
        spans.clear()
        name = str(kwargs.get("fun_name", "")).removeprefix("jit(").removesuffix(")")
        for tell in dict.fromkeys(_listening):
            tell(name, seconds)


__all__ = ["Tell", "told_of_compilations"]
