"""Arrays outside of the running traces: make them, tell them apart, and their values before."""

from collections.abc import Iterator
from contextlib import contextmanager

from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value


@contextmanager
def outside() -> Iterator[None]:
    """A context for making arrays that no trace knows, although one may be running: it finds them
    when they are read.
    """
    with modes.changed(trace=None, recording=False), tracing.eagerly():
        yield


def in_trace(handle: Handle) -> bool:
    """Whether a running trace has read or written the handle."""
    trace = modes.current().trace
    while trace is not None:
        if id(handle._value) in trace.born:
            return True
        trace = trace.outer
    return False


def value_outside(handle: Handle) -> Value:
    """The value that a handle had before the running traces began."""
    trace, value = modes.current().trace, handle._value
    while trace is not None:
        _, value = trace.before.get(id(handle), (handle, value))
        trace = trace.outer
    return value
