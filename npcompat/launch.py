"""Launch several processes of a script on this machine, which compute together.

Run as ``python -m npcompat.launch -n 2 script.py ...``; if one process fails, the others are ended,
and its code is returned. A request to end (SIGTERM, SIGHUP, Ctrl-C) ends them all. Process 0 reads
the standard input; for the others it is empty.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from npcompat._internal.observe.waiting import LOST

_GRACE = 5.0
"""Seconds that the others have to say what they know, after one has failed."""

_GRACE_OF_LOST = 0.5
"""The same, after a watcher has ended one: its line says where each of them stands."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the processes, and wait for them; returns the code of the first that fails."""
    parser = argparse.ArgumentParser(prog="python -m npcompat.launch", description=__doc__)
    parser.add_argument("-n", type=int, required=True, metavar="N", help="number of processes")
    parser.add_argument("-m", action="store_true", help="the script is a module's name")
    parser.add_argument("script", help="what each of them runs")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")
    options = parser.parse_args(arguments)
    if options.n < 1:
        parser.error(f"-n: expected a positive number of processes, got {options.n}")
    begin = [sys.executable, "-u", *(["-m"] if options.m else [])]
    command = [*begin, options.script, *options.args]
    address = f"127.0.0.1:{_free_port()}"
    running: list[subprocess.Popen[bytes]] = []
    previous = _raise_at_requests_to_end()
    try:
        for rank in range(options.n):
            of = {
                "NPCOMPAT_COORDINATOR": address,
                "NPCOMPAT_PROCESSES": str(options.n),
                "NPCOMPAT_RANK": str(rank),
                "NPCOMPAT_LAUNCHER": str(os.getpid()),
            }
            read = None if rank == 0 else subprocess.DEVNULL
            running.append(subprocess.Popen(command, env={**os.environ, **of}, stdin=read))
        return _awaited(running)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except _EndRequestedError as request:
        return 128 + request.number
    finally:
        _end(running)
        for number, handler in previous.items():
            signal.signal(number, handler)


class _EndRequestedError(BaseException):
    """A signal asks the launcher to end, whose processes would go on without it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _raise_at_requests_to_end() -> dict[int, Any]:
    """Handle signals that ask to end by an exception; returns the handlers that were there."""

    def raise_request(number: int, frame: object) -> None:
        raise _EndRequestedError(number)

    names = ["SIGTERM", "SIGHUP"]  # the second is unknown on Windows
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    ignored = [n for n in numbers if signal.getsignal(n) == signal.SIG_IGN]  # as nohup asks
    return {n: signal.signal(n, raise_request) for n in numbers if n not in ignored}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _awaited(running: list["subprocess.Popen[bytes]"]) -> int:
    """Wait until all have ended, or one has failed and its time of grace is over."""
    while True:
        codes = [process.poll() for process in running]
        failed = next((i for i, code in enumerate(codes) if code), None)
        if failed is not None:
            break
        if None not in codes:
            return 0
        time.sleep(0.01)  # the others may fail right after the first
    code = codes[failed] or 0
    cause = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
    print(
        f"npcompat.launch: process {failed} of {len(running)} {cause}; the others are ended",
        file=sys.stderr,
        flush=True,
    )
    end = time.monotonic() + (_GRACE_OF_LOST if code == LOST else _GRACE)
    while time.monotonic() < end and None in [process.poll() for process in running]:
        time.sleep(0.05)
    return 128 - code if code < 0 else code


def _end(running: list["subprocess.Popen[bytes]"]) -> None:
    """Kill what still runs: a process that waits for one that is gone does not heed a request."""
    for process in running:
        if process.poll() is None:
            process.kill()
    for process in running:
        process.wait()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the modules of JAX would be taken apart first, which takes seconds under load
