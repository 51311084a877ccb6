"""Derivatives of operators and of graphs, by JAX's vjp of their computes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as onp

from npcompat._internal.backend.jax.namespace import name
from npcompat._internal.backend.jax.programs import (
    _exact_first,
    _logged,
    compiled,
    enter_x64_scope,
    exit_x64_scope,
    function,
    optimized,
    x64_scopes,
)
from npcompat._internal.backend.jaxpr.compat import Zero
from npcompat._internal.core import modes
from npcompat._internal.core.dtypes import is_inexact
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.program_cache import RECORDED


class Pullback(NamedTuple):
    """Pullback of a recorded call: `pull(arrays, cotangents)` returns gradients of its inputs."""

    pull: Callable[..., Any]
    arrays: tuple[Any, ...]


class _Residuals:
    """Residuals of a recorded program: values that backward needs, besides its outputs.

    A residual that is an input or an output of the program is not copied out again; `sources` of
    the recipe says which one it is.
    """

    __slots__ = ("kept", "recipe")

    def __init__(self, kept: Sequence[Any], recipe: "_Recipe") -> None:
        self.kept, self.recipe = kept, recipe


class _Recipe:
    __slots__ = ("pull", "sources")

    def __init__(self, sources: list[tuple[str, int]], pull: Callable[..., Any]) -> None:
        self.sources, self.pull = sources, pull


jax.tree_util.register_pytree_node(
    _Residuals, lambda r: (r.kept, r.recipe), lambda recipe, kept: _Residuals(kept, recipe)
)


def _vjp(
    apply: Callable[..., Any], arrays: Sequence[Any], mask: tuple[bool, ...]
) -> tuple[Any, Callable[..., Any]]:
    """Return the outputs, and the pullback to the inputs in the mask."""
    chosen = [a for a, wanted in zip(arrays, mask, strict=True) if wanted]

    def of_chosen(*some: Any) -> Any:
        rest = iter(some)
        return apply(*[next(rest) if wanted else a for a, wanted in zip(arrays, mask, strict=True)])

    outs, vjp = jax.vjp(of_chosen, *chosen)
    return outs, vjp


def _fill(outs: Any, cotangents: Sequence[Any], separate: bool) -> Any:
    """Return cotangents in the structure and dtypes that JAX expects for these outputs.

    A missing cotangent (None) is zeros, or JAX's symbolic zero if the outputs are `separate` (see
    `Op.separate_outputs`): an array of zeros times an infinite derivative would be nan. Not all
    operators get symbolic zeros, because JAX's loops can't omit outputs that they stack.
    """

    def one(out: Any, given: Any) -> Any:
        aval = jax.typeof(out)
        if not is_inexact(aval.dtype):
            return onp.zeros(aval.shape, jax.dtypes.float0)
        if given is not None:
            return given.astype(aval.dtype)
        return Zero(aval.to_ct_aval()) if separate else jnp.zeros(aval.shape, aval.dtype)

    if isinstance(outs, tuple):
        return tuple([one(o, c) for o, c in zip(outs, cotangents, strict=True)])
    return one(outs, cotangents[0])


def forward_and_pullback(
    op: Op, attrs: Attrs, mask: tuple[bool, ...]
) -> Callable[..., tuple[Any, Pullback]]:
    """Return the compiled operator that also returns its pullback; backward recomputes nothing."""
    apply = function(op, attrs)

    def recorded(*arrays: Any) -> Any:
        with jax.enable_x64(True):
            outs, vjp = _vjp(apply, arrays, mask)
            leaves, tree = jax.tree.flatten(vjp)
            known = {id(a): ("input", i) for i, a in enumerate(arrays)}
            flat_outs = outs if isinstance(outs, tuple) else (outs,)
            known |= {id(o): ("output", i) for i, o in enumerate(flat_outs) if id(o) not in known}
            sources: list[tuple[str, int]] = []
            kept: list[Any] = []
            for leaf in leaves:
                source = known.get(id(leaf))
                if source is None:
                    source = ("kept", len(kept))
                    kept.append(leaf)
                sources.append(source)
            shapes = jax.tree.map(lambda o: jax.ShapeDtypeStruct(o.shape, o.dtype), outs)

        def gradients(residuals: Sequence[Any], cotangents: Sequence[Any]) -> Any:
            return jax.tree.unflatten(tree, residuals)(
                _fill(shapes, cotangents, op.separate_outputs)
            )

        def pull(residuals: Sequence[Any], cotangents: Sequence[Any]) -> Any:
            enter_x64_scope()
            remaining = iter(_exact_first([c for c in cotangents if c is not None]))
            return optimized(op, gradients)(
                residuals, [None if c is None else next(remaining) for c in cotangents]
            )

        pull.__name__ = f"{op.name}_pullback"
        return outs, _Residuals(kept, _Recipe(sources, compiled(pull)))

    program = compiled(_logged(op, recorded))

    def call(*payloads: Any) -> tuple[Any, Pullback]:
        try:
            outs, residuals = program(*payloads)
        finally:
            if x64_scopes:
                exit_x64_scope()
        kept, recipe = residuals.kept, residuals.recipe
        arrays = []
        for where, i in recipe.sources:
            if where == "input":
                arrays.append(payloads[i])
            elif where == "kept":
                arrays.append(kept[i])
            else:
                arrays.append(outs[i] if type(outs) is tuple else outs)
        return outs, Pullback(recipe.pull, tuple(arrays))

    return call


def _traced(op: Op, attrs: Attrs) -> Callable[..., Any]:
    """Return the function of an operator that is differentiated in a trace.

    An opaque operator, which has many equations, is a jitted function: JAX traces and
    differentiates it once for all calls with operands of the same types.
    """
    if op.pattern != "opaque" or op.prefers_xla:
        return function(op, attrs)
    programs = op.programs.table(RECORDED, name, modes.current().numpy_dtypes)
    key = ("traced", attrs)
    if key not in programs:
        programs[key] = jax.jit(function(op, attrs), inline=True)
    found: Callable[..., Any] = programs[key]
    return found


def traced_forward_and_pullback(
    op: Op, attrs: Attrs, mask: tuple[bool, ...]
) -> Callable[..., tuple[Any, Pullback]]:
    """Return the operator with its pullback for use in a trace, which gets their equations."""
    apply = _traced(op, attrs)

    def call(*payloads: Any) -> tuple[Any, Pullback]:
        with jax.enable_x64(True):
            outs, vjp = _vjp(apply, payloads, mask)

        def pull(_: Any, cotangents: Sequence[Any]) -> Any:
            with jax.enable_x64(True):
                return vjp(_fill(outs, cotangents, op.separate_outputs))

        return outs, Pullback(pull, ())

    return call


def lazy_pullback(
    op: Op, attrs: Attrs, mask: tuple[bool, ...], payloads: Sequence[Any]
) -> Pullback:
    """Return a pullback that differentiates when it is called.

    For traces that record a tape which seldom runs backward.
    """

    def pull(_: Any, cotangents: Sequence[Any]) -> Any:
        with jax.enable_x64(True):
            outs, vjp = _vjp(function(op, attrs), payloads, mask)
            return vjp(_fill(outs, cotangents, op.separate_outputs))

    return Pullback(pull, ())


def pullback_op(op: Op, attrs: Attrs, mask: tuple[bool, ...], given: tuple[bool, ...]) -> Op:
    """Return the pullback of an operator as an operator of (inputs, given cotangents).

    `create_graph` records it.
    """
    apply = function(op, attrs)
    arity = len(mask)

    def compute(_: Any, *arrays: Any) -> Any:
        outs, vjp = _vjp(apply, arrays[:arity], mask)
        rest = iter(arrays[arity:])
        grads = vjp(_fill(outs, [next(rest) if g else None for g in given], op.separate_outputs))
        return tuple(grads) if len(grads) > 1 else grads[0]

    return _derived(f"{op.name}_pullback", compute, sum(mask))


def _derived(name: str, compute: Callable[..., Any], outputs: int) -> Op:
    """Return a variadic operator that computes gradients, on XLA if it can."""
    return Op(
        name,
        compute,
        ("inputs",),
        variadic=True,
        outputs=outputs,
        kernels={"jax": compute},
        prefers_xla=True,
    )


Step = tuple[Op, Attrs, tuple[Any, ...]]
"""One operator of a graph with the sources of its operands.

A source is the number of an input, or the pair (earlier step, output).
"""


def graph_gradient_op(
    steps: Sequence[Step],
    inputs: int,
    leaves: Sequence[int],
    heads: Sequence[tuple[int, int]],
    given: Sequence[bool],
) -> Op:
    """Return the gradients of a graph as one operator of its inputs and the given cotangents.

    The cotangents of the other heads are ones.
    """
    functions = [(function(op, attrs), op.outputs, operands) for op, attrs, operands in steps]

    def forward(*arrays: Any) -> Any:
        made: list[Any] = []
        for apply, outputs, operands in functions:
            out = apply(*[arrays[o] if type(o) is int else made[o[0]][o[1]] for o in operands])
            made.append((out,) if outputs == 1 else out)
        return tuple([made[step][index] for step, index in heads])

    mask = tuple([i in leaves for i in range(inputs)])

    def compute(_: Any, *arrays: Any) -> Any:
        outs, vjp = _vjp(forward, arrays[:inputs], mask)
        rest = iter(arrays[inputs:])
        grads = vjp(
            _fill(
                outs,
                [
                    next(rest) if g else jnp.ones_like(out)
                    for g, out in zip(given, outs, strict=True)
                ],
                False,
            )
        )
        return tuple(grads) if len(grads) > 1 else grads[0]

    return _derived("_npi_backward", compute, len(leaves))
