"""Modes of the running context: recording, training, tracing, dtype policy, backend, device.

A `Mode` is immutable; entering a context replaces the whole record in one `ContextVar`, so that a
mode belongs to a thread or an asyncio task. Hot path: the dispatcher reads it once per call
(`current()`, 30 ns).
"""

import os
from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from npcompat._internal.core.observer import Observer
    from npcompat._internal.core.protocols import AuditLike, TraceLike


class Mode(NamedTuple):
    """Modes of one context.

    - `numpy_dtypes` is an int because it indexes tables on the hot path.
    - `observer` is called around each operation, `audit` at each hidden cost (copies, transfers,
      compilations).
    - `checks_fp_errors`: operators on XLA report floating-point errors, as those of the host do.
    - `is_default`: operations are only executed, neither recorded, traced, observed nor checked.
    - `only_recording`: operations are recorded, and neither traced, observed nor checked.
    - `may_touch_host_buffers`: host buffers may be accessed without running an operator. False
      while an observer needs to see every operator (`Observer.needs_every_op`).
    - `fallback`: the backend that computes operators which a plug-in lacks, or `error`.
    - `paused`: recording is on around a context that has turned it off.
    """

    recording: bool = False
    training: bool = False
    trace: "TraceLike | None" = None
    numpy_dtypes: int = 0
    backend: str = "auto"
    device: Any = None
    observer: "Observer | None" = None
    is_default: bool = True
    may_touch_host_buffers: bool = True
    checks_fp_errors: bool = False
    audit: "AuditLike | None" = None
    only_recording: bool = False
    fallback: str = "error"
    paused: bool = False


def _from_environment() -> Mode:
    backend = os.environ.get("NPCOMPAT_BACKEND", "auto")
    policy = os.environ.get("NPCOMPAT_DEFAULT_DTYPE", "float32")
    if policy not in ("float32", "numpy"):
        raise ValueError(f"NPCOMPAT_DEFAULT_DTYPE={policy!r}: expected float32 or numpy")
    fallback = os.environ.get("NPCOMPAT_FALLBACK", "error")
    if fallback not in FALLBACKS:
        raise ValueError(f"NPCOMPAT_FALLBACK={fallback!r}: expected {' or '.join(FALLBACKS)}")
    return Mode(backend=backend, numpy_dtypes=int(policy == "numpy"), fallback=fallback)


BACKENDS = ("auto", "jax", "numpy")
"""Placements of npcompat's own; others name a plug-in, or `auto:` and one."""
AUTO = "auto:"
FALLBACKS = ("error", "xla")
_MODE: ContextVar[Mode] = ContextVar("npcompat mode")
_process_default = [_from_environment()]


def current() -> Mode:
    """Return the mode of the running context."""
    return _MODE.get(_process_default[0])


def differentiated() -> bool:
    """Return True if what is computed now is recorded, or may be: by a trace, or around one."""
    mode = current()
    trace = mode.trace
    while trace is not None:
        if trace.recorded_outside:
            return True
        trace = trace.outer
    return mode.recording


def _replaced(mode: Mode, changes: dict[str, Any], is_left: bool = False) -> Mode:
    """Return a mode with changes; those of a context that is left again may interrupt recording."""
    of = changes.get
    recording, alone = of("recording", mode.recording), of("trace", mode.trace) is None
    executed = alone and not recording
    checks_fp_errors = (
        of("checks_fp_errors", mode.checks_fp_errors) and of("backend", mode.backend) != "numpy"
    )  # NumPy reports floating-point errors without this
    observer = of("observer", mode.observer)
    may_touch_host_buffers = executed and (observer is None or not observer.needs_every_op)
    unseen = observer is None and not checks_fp_errors
    paused = mode.paused
    if "recording" in changes:
        paused = is_left and not recording and (mode.recording or paused)
    return mode._replace(
        is_default=executed and unseen,
        only_recording=recording and alone and unseen,
        may_touch_host_buffers=may_touch_host_buffers,
        paused=paused,
        **changes,
    )


_ENTERED: ContextVar[Any] = ContextVar("npcompat objects entered", default=None)
"""What was entered last and not left: its owner, a token of `_MODE`, and what was entered before."""


def enter(owner: object, changes: dict[str, Any]) -> None:
    """Change some modes until `leave(owner)`; threads may share an owner, and enter it again."""
    mode = current()
    for name, value in changes.items():
        if getattr(mode, name) is not value:
            mode = _replaced(mode, changes, is_left=True)
            break
    _ENTERED.set((owner, _MODE.set(mode), _ENTERED.get()))


def leave(owner: object) -> None:
    """Undo the last `enter` of the owner in this thread or task."""
    found = _ENTERED.get()
    if found is not None and found[0] is owner:
        _ENTERED.set(found[2])
        _MODE.reset(found[1])
        return
    over = []
    while found is not None and found[0] is not owner:
        over.append(found)
        found = found[2]
    if found is None:
        raise RuntimeError("a change of modes is left where it was not entered: in another thread?")
    _, token, rest = found
    for later in reversed(over):
        rest = (*later[:2], rest)
    _ENTERED.set(rest)
    _MODE.reset(token)


class changed(ContextDecorator):
    """Change some modes inside the context, or inside the function that it decorates."""

    def __init__(self, **changes: Any) -> None:
        self._changes = changes

    def __enter__(self) -> None:
        enter(self, self._changes)

    def __exit__(self, *_: object) -> None:
        leave(self)


_UNCHANGED = nullcontext()


def recorded(recording: bool) -> AbstractContextManager[None]:
    """Return a context that turns recording on or off, which costs nothing where it is already."""
    return _UNCHANGED if current().recording is recording else changed(recording=recording)


def set_here(**changes: Any) -> None:
    """Change modes of the running context without restoring them."""
    _MODE.set(_replaced(current(), changes))


def set_default(**changes: Any) -> None:
    """Change modes of this context, and of every thread that has no mode of its own."""
    _process_default[0] = _replaced(_process_default[0], changes)
    if _MODE.get(None) is not None:
        set_here(**changes)
