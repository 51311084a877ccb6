"""Watcher of a process that waits for others: it ends the process where they do not come.

The transport sees a process that died; one that is alive and takes another way is seen by nobody:
all others would wait for ever.
"""

import atexit
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

from npcompat._internal.backend.jax import processes, sharding
from npcompat._internal.support.errors import is_user_code

LOST = 75
"""Exit code of a process that has waited too long: `EX_TEMPFAIL`, start the job again."""


class Watcher(threading.Thread):
    """Thread that tells the others at which line the program is, and ends it when it has waited for
    them longer than `patience` seconds.
    """

    def __init__(self, patience: float) -> None:
        super().__init__(daemon=True, name="npcompat.distributed")
        self.patience = patience
        self._main = threading.main_thread().ident
        self._board = processes.Board()
        self._rank, self._count = processes.rank(), processes.count()
        self._writing = threading.Lock()
        self._leaves = False

    def start(self) -> None:
        """Start to look."""
        atexit.register(self.leave)
        super().start()

    def leave(self) -> None:
        """Write no more notes: an interpreter that ends while a thread is inside of the transport,
        which is C++, aborts.
        """
        with self._writing:
            self._leaves = True
            self._board.write(f"at/{self._rank}", "at its end")

    def run(self) -> None:
        """Look at the main thread again and again."""
        seen: object = None
        since = time.monotonic()
        while True:
            time.sleep(min(1.0, self.patience / 8))
            frames = _stack(self._main)
            now = sharding.progress[0], [(id(f), f.f_lasti) for f in frames]
            if now != seen:
                seen, since = now, time.monotonic()
            here, still = _line(frames), time.monotonic() - since
            if not self._tell(f"{here}, since {still:.0f} s"):
                return
            if still > self.patience and _waits(frames):
                self._end(here)

    def _tell(self, text: str) -> bool:
        """Write where this process is; False if nobody can be told any more."""
        with self._writing:
            return self._leaves or self._board.write(f"at/{self._rank}", text)

    def _end(self, here: str) -> None:
        others = [
            f"process {i} is {self._board.read(f'at/{i}') or 'not to be reached'}"
            for i in range(self._count)
            if i != self._rank
        ]
        _quit(
            f"npcompat: process {self._rank} of {self._count} has waited for the others for "
            f"{self.patience:g} s, {here}; {'; '.join(others)}. Do all processes run the same "
            "steps, and have as many batches?"
        )


_exit_codes: list[int] = []
"""Codes with which this process ends."""


class _Exit(SystemExit):
    """Exception of `sys.exit`: the interpreter drops it below all frames if nobody caught it."""

    def __del__(self) -> None:
        in_main = threading.get_ident() == threading.main_thread().ident
        if in_main and sys._getframe().f_back is None and self.code not in (None, 0):
            _exit_codes.append(self.code & 0xFF if type(self.code) is int else 1)

    def __reduce__(self) -> Any:
        return SystemExit, self.args


_Exit.__name__ = _Exit.__qualname__ = "SystemExit"


def end_at_errors() -> None:
    """Let this process end at once after an exception that nobody has caught, or by `sys.exit` with
    a code that is not zero.

    JAX waits at the end of a process for the others, which wait for this one in their next step.
    """

    def leave(status: Any = None, /) -> NoReturn:
        raise _Exit(status)

    def noting(kind: Any, error: BaseException, traceback: Any) -> None:
        _exit_codes.append(128 + signal.SIGINT if issubclass(kind, KeyboardInterrupt) else 1)
        previous(kind, error, traceback)

    def end() -> None:
        if _exit_codes:
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):  # nobody may read it any more
                    stream.flush()
            os._exit(_exit_codes[0])

    previous, sys.excepthook = sys.excepthook, noting
    leave.__doc__, leave.__name__, sys.exit = sys.exit.__doc__, "exit", leave
    atexit.register(end)  # before JAX's own function, which was registered earlier


def end_with_launcher() -> None:
    """Let this process end soon after `python -m npcompat.launch`, if that is its parent.

    A launcher that is killed can't end its processes itself.
    """
    if processes.has_lost_launcher():
        _quit("npcompat: the launcher of this process has died.")
    if processes.is_launched_by(os.getppid()):
        watch = threading.Thread(
            target=_await_end, args=(os.getppid(),), daemon=True, name="npcompat.launch"
        )
        watch.start()


def _await_end(launcher: int) -> None:
    while os.getppid() == launcher:
        time.sleep(1.0)
    _quit(f"npcompat: process {processes.environment_address()[2]}: its launcher has died.")


def _quit(why: str) -> NoReturn:
    try:
        print(f"{why} It ends with code {LOST}.", file=sys.stderr, flush=True)
    finally:  # nobody may read it any more
        os._exit(LOST)


def _stack(thread: int | None) -> list[FrameType]:
    """Frames of a thread, innermost first."""
    frames, frame = [], sys._current_frames().get(thread or 0)
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _line(frames: list[FrameType]) -> str:
    for frame in frames:
        if is_user_code(frame.f_code.co_filename):
            return f"at {frame.f_code.co_filename}:{frame.f_lineno}"
    return "at its end"


def _waits(frames: list[FrameType]) -> bool:
    """Return True if the thread waits in XLA for results: it neither compiles nor runs the user's
    own code.
    """
    if not frames or is_user_code(frames[0].f_code.co_filename):
        return False
    return not any(["compile" in f.f_code.co_name for f in frames[:12]])


__all__ = ["LOST", "Watcher", "end_at_errors", "end_with_launcher"]
