"""Several processes that compute together, on one host or many.

Each runs the same script; `initialize` is its first line. Alone, nothing changes.
"""

import io
import multiprocessing
import os
import re
import secrets
import sys

import numpy as onp

from npcompat._internal.backend.jax import processes as joined
from npcompat._internal.observe.waiting import Watcher, end_at_errors, end_with_launcher
from npcompat._internal.random import stream
from npcompat._internal.support.argument_errors import count, number

_HOST_AND_PORT = re.compile(r".+:\d+")


def initialize(
    address: str | None = None,
    processes: int | None = None,
    rank: int | None = None,
    *,
    timeout: float = 300,
    heartbeat: int = 20,
    patience: float = 600,
) -> None:
    """Initialize distributed training: join the other processes, before anything is computed.

    Who they are is said by `python -m npcompat.launch`, by the environment of SLURM, Kubernetes and
    others that `jax.distributed` knows, or by the arguments; where nothing says it, the process is
    alone. The default random stream begins alike in all. It does nothing in workers, such as those of
    a `DataLoader`, which run the first lines of a script again.

    Parameters
    ----------
    address : str, optional
        Host and port of process 0, such as ``"10.0.0.1:1234"``.
    processes : int, optional
        Number of processes.
    rank : int, optional
        Number of this one.
    timeout : float
        Seconds to wait for the others to join.
    heartbeat : int
        Seconds after which a process that shows no sign of life is taken for dead.
    patience : float
        Seconds that a process waits for the others, before it ends with code 75 and a line that
        says where each stands.

    Raises
    ------
    RuntimeError
        If it was called or XLA was used already, or the others do not come.
    TypeError
        If processes or rank are given, and neither an address nor the environment.
    ValueError
        If arguments are wrong, or contradict the launcher.

    Examples
    --------
    >>> npx.distributed.initialize()
    >>> npx.distributed.process_count()
    1
    """
    for name, seconds in (("patience", patience), ("timeout", timeout), ("heartbeat", heartbeat)):
        if not number("initialize", name, seconds) > 0:
            raise ValueError(f"initialize: {name}: expected positive seconds, got {seconds}")
    count("initialize", "heartbeat", heartbeat)
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        return  # a worker that imports the script, with the environment of its parent
    if address is None:
        address, processes, rank = _from_environment(processes, rank)
    else:
        _check_address(address, processes, rank)
    if joined.is_launched_by(os.getppid()):
        _write_whole_lines(sys.stdout)
    if joined.join(address, processes, rank, timeout, heartbeat):
        Watcher(patience).start()
        end_at_errors()
        seed = joined.broadcast(onp.array(secrets.randbits(31)))
        stream.default.seed(int(seed))


def _write_whole_lines(stream: object) -> None:
    """Let `print(a, b)` write its line at once, so that those of processes do not mix."""
    if isinstance(stream, io.TextIOWrapper) and not stream.closed:
        stream.reconfigure(line_buffering=True, write_through=False)


def _from_environment(
    processes: int | None, rank: int | None
) -> tuple[str | None, int | None, int | None]:
    """Address, processes and rank that the launcher gives, which arguments must not contradict."""
    found = joined.environment_address()
    if found[0] is not None:
        given = ("processes", processes, found[1]), ("rank", rank, found[2])
        for name, number, known in given:
            if number is not None and number != known:
                raise ValueError(
                    f"initialize: {name}: {number} was given, and the launcher says {known}; "
                    "leave it out"
                )
        return found
    if (processes is not None or rank is not None) and not joined.in_cluster():
        raise TypeError(
            "initialize: processes and rank need an address, too: host and port of process 0, as "
            "in initialize('10.0.0.1:1234', 2, 0); or start the script by python -m npcompat.launch"
        )
    return None, processes, rank


def _check_address(address: str, processes: int | None, rank: int | None) -> None:
    """Raise an error if arguments name no process among others."""
    if processes is None or rank is None:
        raise TypeError("initialize: an address needs processes and rank, too")
    if not isinstance(address, str) or not _HOST_AND_PORT.fullmatch(address):
        raise ValueError(
            f"initialize: address: expected 'host:port' of process 0, as '10.0.0.1:1234', got "
            f"{address!r}"
        )
    if processes < 1:
        raise ValueError(f"initialize: processes: expected at least 1, got {processes}")
    if not 0 <= rank < processes:
        raise ValueError(f"initialize: rank: expected 0 to {processes - 1}, got {rank}")


def rank() -> int:
    """Return the number of this process, from 0 on.

    Examples
    --------
    >>> npx.distributed.rank()
    0
    """
    return joined.rank()


def process_count() -> int:
    """Return the number of processes.

    Examples
    --------
    >>> npx.distributed.process_count()
    1
    """
    return joined.count()


def barrier(name: str = "barrier") -> None:
    """Wait until all processes are here; does nothing in a process that is alone.

    Parameters
    ----------
    name : str
        Name of the barrier, which must be the same in all processes.

    Examples
    --------
    >>> npx.distributed.barrier("end")
    """
    if joined.count() > 1:
        joined.barrier(name)


end_with_launcher()

__all__ = ["barrier", "initialize", "process_count", "rank"]
