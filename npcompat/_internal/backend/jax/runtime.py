"""XLA as a backend: its arrays, devices and programs.

It has the functions of `backend/numpy/runtime.py` (a name, programs of operators and of their
pullbacks, copies from and to the host), and those that only XLA has. What programs are written in
is `language`.
"""

from npcompat._internal.backend.jax.differentiation import forward_and_pullback
from npcompat._internal.backend.jax.interop import copied, from_dlpack
from npcompat._internal.backend.jax.namespace import Array, is_payload, name
from npcompat._internal.backend.jax.placement import (
    LARGE,
    all_devices,
    asarray,
    aval,
    can_lend,
    config,
    default_device,
    default_is_cpu,
    device_of,
    devices,
    first_cpu,
    is_on_one_cpu,
    lend,
    moved,
    platform_of,
    scalar,
    to_host,
    wait,
    wait_all,
)
from npcompat._internal.backend.jax.programs import (
    compile_ahead,
    forward,
)
from npcompat._internal.backend.jaxpr.compat import collect_garbage

__all__ = [
    "LARGE",
    "Array",
    "all_devices",
    "asarray",
    "aval",
    "can_lend",
    "collect_garbage",
    "compile_ahead",
    "config",
    "copied",
    "default_device",
    "default_is_cpu",
    "device_of",
    "devices",
    "first_cpu",
    "forward",
    "forward_and_pullback",
    "from_dlpack",
    "is_on_one_cpu",
    "is_payload",
    "lend",
    "moved",
    "name",
    "platform_of",
    "scalar",
    "to_host",
    "wait",
    "wait_all",
]
