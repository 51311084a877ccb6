"""Language in which programs are written: what the core traces, differentiates and nests.

Operators compute with its namespace `xp`, compiled functions are traced into its equations, and
gradients are programs of it. A backend executes such programs: XLA (`runtime`), or an engine of a
plug-in. Nothing here says where.
"""

from npcompat._internal.backend.jax.differentiation import (
    Pullback,
    Step,
    graph_gradient_op,
    lazy_pullback,
    pullback_op,
    traced_forward_and_pullback,
)
from npcompat._internal.backend.jax.interop import (
    flatten,
    flatten_with_paths,
    stop_gradient,
    unflatten,
)
from npcompat._internal.backend.jax.namespace import Unknown, is_tracer, type_of, xp
from npcompat._internal.backend.jax.programs import (
    enter_x64_scope,
    exit_x64_scope,
    function,
    operations,
    x64_scopes,
)

__all__ = [
    "Pullback",
    "Step",
    "Unknown",
    "enter_x64_scope",
    "exit_x64_scope",
    "flatten",
    "flatten_with_paths",
    "function",
    "graph_gradient_op",
    "is_tracer",
    "lazy_pullback",
    "operations",
    "pullback_op",
    "stop_gradient",
    "traced_forward_and_pullback",
    "type_of",
    "unflatten",
    "x64_scopes",
    "xp",
]
