"""What XLA compiles and how long it takes, told as it happens."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax.monitoring

Spans = list[tuple[float, float]]
Tell = Callable[[str, Spans], None]
"""Called in the thread that compiled a program, with its name and when that was done: stretches of
`time.time()`, one after the other.
"""

_STAGES = "/jax/core/compile/"
_LAST = "/jax/core/compile/backend_compile_duration"
_listening: list[Tell] = []
_lock = threading.Lock()
_stages = threading.local()


@contextmanager
def told_of_compilations(tell: Tell) -> Iterator[None]:
    """A context in which `tell` is called after each compilation, once however many contexts ask
    for it.
    """
    with _lock:
        if not _listening:
            jax.monitoring.register_event_time_span_listener(_heard)
        _listening.append(tell)
    _stages.__dict__.clear()  # those of what failed
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
        for tell in dict.fromkeys(_listening):
            tell(name, spans)


__all__ = ["Spans", "Tell", "told_of_compilations"]
