"""Symbolic dimensions of JAX, and inference of types for arguments that are known by type.

All symbols of a process are of one scope, so that equal names mean equal lengths.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import export

from npcompat._internal.backend.jaxpr.cpu_rewrites import for_cpu

_scope = export.SymbolicScope()
Inconclusive = jax.errors.InconclusiveDimensionOperation
"""Error for a comparison with a symbolic dimension that is neither certainly true nor false."""


def broadcast_shapes(*shapes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Broadcast shapes, in which lengths may be symbols."""
    return jnp.broadcast_shapes(*shapes)


def parse(text: str) -> Any:
    """Parse a dimension: a name such as `batch`, an expression such as `2*batch + 1`, or an int."""
    (dim,) = export.symbolic_shape(text, scope=_scope)
    return dim


def is_symbolic(dim: Any) -> bool:
    """Return True if a dimension, or an attribute, is an expression of symbols."""
    return export.is_symbolic_dim(dim)


def symbols(dim: Any) -> frozenset[str]:
    """Return the names in a dimension."""
    return frozenset(dim._get_vars()) if is_symbolic(dim) else frozenset()


def substituted(dim: Any, lengths: Mapping[str, int]) -> Any:
    """Replace some symbols of a dimension by lengths."""
    names = symbols(dim)
    if not names & lengths.keys():
        return dim
    return dim._evaluate(
        {name: lengths[name] if name in lengths else parse(name) for name in names}
    )


def output_types(
    function: Callable[..., Any], arguments: Sequence[Any]
) -> list[tuple[tuple[Any, ...], onp.dtype[Any]]]:
    """Return the shapes and dtypes of the results of a function of arrays.

    Arguments are (shape, dtype) pairs, or Python scalars. Nothing is computed; the function's own
    errors pass.
    """
    arrays = [jax.ShapeDtypeStruct(*a) if isinstance(a, tuple) else None for a in arguments]

    def of_arrays(*given: Any) -> Any:
        rest = iter(given)
        return function(*[next(rest) if isinstance(a, tuple) else a for a in arguments])

    with jax.enable_x64(True):
        found = jax.eval_shape(of_arrays, *[a for a in arrays if a is not None])
    outs = found if isinstance(found, tuple | list) else (found,)
    return [(tuple(o.shape), onp.dtype(o.dtype)) for o in outs]


def exported(function: Callable[..., Any], arguments: Sequence[Any]) -> bytes:
    """Serialise a function as a StableHLO program, which `jax.export` reads.

    Arguments are (shape, dtype) pairs, or dicts of them.
    """
    types = jax.tree.map(
        lambda a: jax.ShapeDtypeStruct(*a), list(arguments), is_leaf=lambda a: isinstance(a, tuple)
    )
    with jax.enable_x64(True):
        content: bytearray = export.export(jax.jit(for_cpu(function)))(*types).serialize()
    return bytes(content)
