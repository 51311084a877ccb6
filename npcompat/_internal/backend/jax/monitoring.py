"""Monitoring of JAX's compilations and their durations."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax.monitoring

Spans = list[tuple[float, float]]
Listener = Callable[[str, Spans], None]
"""Function that is called in the thread that compiled a program.

It gets the program's name and the time that it took: spans of `time.time()`, one after the other.
"""

_STAGES = "/jax/core/compile/"
_LAST = "/jax/core/compile/backend_compile_duration"
_listeners: list[Listener] = []
_lock = threading.Lock()
_stages = threading.local()


@contextmanager
def on_compile(listener: Listener) -> Iterator[None]:
    """Call a function after each compilation inside the context.

    It is called once for a compilation, however many contexts name it.
    """
    with _lock:
        if not _listeners:
            jax.monitoring.register_event_time_span_listener(_record_stage)
        _listeners.append(listener)
    _stages.__dict__.clear()  # drop the stages of a compilation that failed
    try:
        yield
    finally:
        with _lock:
            _listeners.remove(listener)
            if not _listeners:
                jax.monitoring.unregister_event_time_span_listener(_record_stage)


def _record_stage(event: str, start_time: float, end_time: float, **kwargs: Any) -> None:
    """Record that JAX has traced, lowered or compiled a program; stages may be nested."""
    if not event.startswith(_STAGES):
        return
    stages = _stages.__dict__.setdefault("found", [])
    stages.append((start_time, end_time))
    if event == _LAST:
        spans: Spans = []
        for start, end in sorted(stages):
            if not spans or start > spans[-1][1]:
                spans.append((start, end))
            else:
                spans[-1] = spans[-1][0], max(spans[-1][1], end)
        stages.clear()
        name = str(kwargs.get("fun_name", "")).removeprefix("jit(").removesuffix(")")
        for listener in dict.fromkeys(_listeners):
            listener(name, spans)


__all__ = ["Listener", "Spans", "on_compile"]
