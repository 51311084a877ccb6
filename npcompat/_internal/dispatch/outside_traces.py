"""Arrays outside the running traces: make and recognize them, and find their earlier values."""

from collections.abc import Iterator
from contextlib import contextmanager

from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value, extra
from npcompat._internal.core.retained_outputs import version_of
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.execution import run


@contextmanager
def outside() -> Iterator[None]:
    """Make arrays outside the running traces, if any, inside the context.

    Such an array becomes an input of a trace when it is read there.
    """
    with modes.changed(trace=None, recording=False), tracing.eagerly():
        yield


def in_trace(handle: Handle) -> bool:
    """True if a running trace has read or written the handle, so that its value is the trace's."""
    trace = modes.current().trace
    while trace is not None:
        if id(handle._value) in trace.born:
            return True
        trace = trace.outer
    return False


def value_outside(handle: Handle) -> Value:
    """Return the value that a handle had before the running traces began."""
    if (view := handle._view) is not None:
        parent, lens = value_outside(view.parent), view.lens
        with outside():
            made: Value = run(
                lens.get, [parent, *map(handles.lens_operand, lens.operands)], lens.attrs
            )
        return made
    trace, value = modes.current().trace, handle._value
    while trace is not None:
        _, value = trace.before.get(id(handle), (handle, value))
        trace = trace.outer
    return value


def versions_outside(handle: Handle) -> tuple[int, int]:
    """Version of a handle before the running traces began, and the one at which it was cleared."""
    trace = modes.current().trace
    found = version_of(handle), extra(handle).blank
    while trace is not None:
        found = trace.versions.get(id(handle)) or found
        trace = trace.outer
    return found


def written_in_trace(handle: Handle) -> Value | None:
    """Value that a running trace has given a root handle; None if it is the one from outside."""
    trace, value = modes.current().trace, handle._value
    while trace is not None:
        if id(value) in trace.born:
            if trace.lifted.get(id(handle)) is not value:
                return value
            value = trace.before[id(handle)][1]
        trace = trace.outer
    return None
