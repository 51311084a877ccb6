"""Several processes that compute together, on one host or many.

Each runs the same script; `initialize` is its first line. Alone, nothing changes.
"""

import secrets

import numpy as onp

from npcompat._internal.backend.jax import processes as joined
from npcompat._internal.observe.waiting import Watcher
from npcompat._internal.random import stream


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
    alone. The default random stream begins alike in all.

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
        If XLA has been used already, or the others do not come.

    Examples
    --------
    >>> npx.distributed.initialize()
    >>> npx.distributed.process_count()
    1
    """
    if not patience > 0:
        raise ValueError(f"initialize: patience: expected positive seconds, got {patience}")
    if address is None:
        given = joined.environment_address()
        if given[0] is not None:
            address, processes, rank = given
    elif processes is None or rank is None:
        raise TypeError("initialize: an address needs processes and rank, too")
    if joined.join(address, processes, rank, timeout, heartbeat):
        Watcher(patience).start()
        seed = joined.broadcast(onp.array(secrets.randbits(31)))
        stream.default.seed(int(seed))


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


__all__ = ["barrier", "initialize", "process_count", "rank"]
