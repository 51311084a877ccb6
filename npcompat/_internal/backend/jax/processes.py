"""Several processes that compute together: `jax.distributed`, and what they tell each other."""

import os
import zlib
from typing import Any

import jax
import numpy as onp

from npcompat._internal.backend.jax import sharding
from npcompat._internal.backend.jaxpr.compat import private


def join(
    address: str | None, processes: int | None, rank: int | None, timeout: float, heartbeat: int
) -> bool:
    """Join the other processes; False if neither arguments nor the environment name any."""
    if address is None and not in_cluster():
        return False
    if jax.distributed.is_initialized():
        raise RuntimeError(
            "npx.distributed.initialize: it was called already, or jax.distributed.initialize was; "
            "call it once, in the first line"
        )
    if private("jax._src.xla_bridge", "backends_are_initialized")():
        raise RuntimeError(
            "npx.distributed.initialize: something was computed on XLA already, in this process "
            "alone; call it first, before arrays are made on XLA and before gluon is used"
        )
    jax.distributed.initialize(
        address,
        processes,
        rank,
        initialization_timeout=int(timeout),
        heartbeat_timeout_seconds=heartbeat,
    )
    if jax.process_count() > 1:
        sharding.several[0] = True
    return count() > 1


def in_cluster() -> bool:
    """Return True if the environment is one that JAX reads the processes of: SLURM, Kubernetes."""
    kinds = private("jax._src.clusters", "ClusterEnv")._cluster_types
    return bool(any(k.is_env_present() for k in kinds if not k.opt_in_only_method))


def count() -> int:
    """Number of processes; XLA is not asked where there is one."""
    return int(jax.process_count()) if jax.distributed.is_initialized() else 1


def rank() -> int:
    """Number of this process among them."""
    return int(jax.process_index()) if jax.distributed.is_initialized() else 0


def broadcast(array: onp.ndarray[Any, Any]) -> onp.ndarray[Any, Any]:
    """Values that process 0 has."""
    from jax.experimental import multihost_utils

    with jax.enable_x64(True):
        return onp.asarray(multihost_utils.broadcast_one_to_all(array))


def agree(array: onp.ndarray[Any, Any]) -> bool:
    """Return True if all processes have the same values; each of them must ask."""
    from jax.experimental import multihost_utils

    with jax.enable_x64(True):
        found = onp.asarray(multihost_utils.process_allgather(array))
    return bool((found == found[0]).all())


def differ(text: str, layout: Any) -> Any:
    """Flag that says if processes of a layout have other texts; each of them must ask.

    Nobody waits for it, but on CPUs, where programs are waited for.
    """
    everywhere = sharding.layout(layout.mesh, [layout.mesh.axis_names])
    word = onp.full(1, zlib.crc32(text.encode()), onp.uint32)
    words = jax.make_array_from_callback((layout.mesh.size,), everywhere, lambda _: word)
    return sharding.block_on_cpu_mesh(_vary(words))


@jax.jit
def _vary(words: Any) -> Any:
    most = jax.numpy.stack([words, ~words]).max(axis=1)  # one exchange for both ends
    return most[:1] != ~most[1:]


def barrier(name: str) -> None:
    """Wait until all processes are here."""
    from jax.experimental import multihost_utils

    multihost_utils.sync_global_devices(name)


class Board:
    """Notes that all processes read, kept by the coordinator, which does not wait for programs."""

    def __init__(self) -> None:
        self._client = private("jax._src.distributed", "global_state").client

    def write(self, name: str, text: str) -> bool:
        """Replace a note; False if the coordinator is gone."""
        try:
            self._client.key_value_set(f"npcompat/{name}", text, allow_overwrite=True)
        except RuntimeError:
            return False
        return True

    def read(self, name: str) -> str | None:
        """A note; None if there is none, or the coordinator is gone."""
        try:
            return str(self._client.key_value_try_get(f"npcompat/{name}"))
        except RuntimeError:
            return None


def environment_address() -> tuple[str | None, int | None, int | None]:
    """Address, number of processes and rank that `python -m npcompat.launch` gives."""
    of = os.environ.get
    address = of("NPCOMPAT_COORDINATOR")
    if address is None:
        return None, None, None
    return address, int(of("NPCOMPAT_PROCESSES", "1")), int(of("NPCOMPAT_RANK", "0"))


def is_launched_by(parent: int) -> bool:
    """Return True if `python -m npcompat.launch` is the parent of this process."""
    return os.environ.get("NPCOMPAT_LAUNCHER") == str(parent)


def has_lost_launcher() -> bool:
    """Return True if `python -m npcompat.launch`, which started this process, is gone already."""
    launcher = os.environ.get("NPCOMPAT_LAUNCHER", "")
    if not launcher.isdecimal() or launcher == "1" or os.getppid() != 1:
        return False
    try:
        os.kill(int(launcher), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


__all__ = [
    "Board",
    "agree",
    "barrier",
    "broadcast",
    "count",
    "differ",
    "environment_address",
    "has_lost_launcher",
    "in_cluster",
    "is_launched_by",
    "join",
    "rank",
]
