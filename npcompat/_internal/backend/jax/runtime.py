"""Interface of the XLA backend to the rest of the core.

It has the functions of `backend/numpy/runtime.py` (a name, programs of operators, copies from and
to the host), and those that only XLA has: differentiation, tracing, devices.
"""

from npcompat._internal.backend.jax.differentiation import (
    Pullback,
    Step,
    forward_and_pullback,
    graph_gradient_op,
    lazy_pullback,
    pullback_op,
    traced_forward_and_pullback,
)
from npcompat._internal.backend.jax.interop import (
    copied,
    flatten,
    flatten_with_paths,
    from_dlpack,
    stop_gradient,
    unflatten,
)
from npcompat._internal.backend.jax.namespace import (
    Array,
    Unknown,
    is_payload,
    is_tracer,
    name,
    type_of,
    xp,
)
from npcompat._internal.backend.jax.placement import (
    all_devices,
    asarray,
    config,
    default_device,
    device_of,
    devices,
    first_cpu,
    moved,
    platform_of,
    scalar,
    to_host,
    wait,
    wait_all,
)
from npcompat._internal.backend.jax.programs import (
    compile_ahead,
    enter_x64_scope,
    exit_x64_scope,
    forward,
    function,
    operations,
    x64_scopes,
)

__all__ = [
    "Array",
    "Pullback",
    "Step",
    "Unknown",
    "all_devices",
    "asarray",
    "compile_ahead",
    "config",
    "copied",
    "default_device",
    "device_of",
    "devices",
    "enter_x64_scope",
    "exit_x64_scope",
    "first_cpu",
    "flatten",
    "flatten_with_paths",
    "forward",
    "forward_and_pullback",
    "from_dlpack",
    "function",
    "graph_gradient_op",
    "is_payload",
    "is_tracer",
    "lazy_pullback",
    "moved",
    "name",
    "operations",
    "platform_of",
    "pullback_op",
    "scalar",
    "stop_gradient",
    "to_host",
    "traced_forward_and_pullback",
    "type_of",
    "unflatten",
    "wait",
    "wait_all",
    "x64_scopes",
    "xp",
]
