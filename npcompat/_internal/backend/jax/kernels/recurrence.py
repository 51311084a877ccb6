"""Recurrent networks on XLA: loops over time that carry a state.

A recurrence is one `lax.scan` forward and one backward. The loops contain only computations that
depend on the step before. The products of inputs are computed before the loop, and the gradients of
weights after it, each as one product over all steps.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.jax.kernels.linalg import HIGHEST, matmul
from npcompat._internal.support.kernel_table import register_kernel

Combine = Callable[[Any, Any], Any]
Step = Callable[[Any, Any, Any], tuple[Any, Any, Any]]
Cell = Callable[[Any, Any, Any], tuple[Any, Any]]


@register_kernel("scan", backend="jax")
def scan(
    step: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any, reverse: bool = False
) -> tuple[Any, Any]:
    """Run `carry, out = step(carry, x)` over the leading axis of an array, or of a tuple of arrays.

    Returns the last carry, and the outputs stacked.
    """
    return lax.scan(step, carry, xs, reverse=reverse)


def _scan_rows(step: Step, carry: Any, rows: Any, xs: Any, reverse: bool) -> tuple[Any, Any, Any]:
    """Run `carry, row, out = step(carry, row, x)` over the leading axis."""

    def stepped(carry: Any, at: Any) -> tuple[Any, Any]:
        carry, row, out = step(carry, *at)
        return carry, (row, out)

    carry, (rows, outs) = lax.scan(stepped, carry, (rows, xs), reverse=reverse)
    return carry, rows, outs


def _scan_over_rows(
    step: Step, carry: Any, rows: Any, xs: Any, reverse: bool
) -> tuple[Any, Any, Any]:
    """Run `_scan_rows`, and overwrite the rows that were read with the new ones.

    A scan that stacks its outputs would fill another buffer with zeros and copy it into the loop.
    The derivative of this loop would add up an array of all rows at each step.
    """

    def stepped(state: Any, at: Any) -> tuple[Any, Any]:
        (carry, rows), (i, x) = state, at
        carry, row, out = step(carry, lax.dynamic_index_in_dim(rows, i, keepdims=False), x)
        return (carry, lax.dynamic_update_index_in_dim(rows, row, i, 0)), out

    places = onp.arange(len(rows), dtype="int32")
    (carry, rows), outs = lax.scan(stepped, (carry, rows), (places, xs), reverse=reverse)
    return carry, rows, outs


@register_kernel("recurrence", backend="jax")
@partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def recurrence(
    combine: Combine,
    cell: Cell,
    reverse: bool,
    x: Any,
    h: Any,
    c: Any,
    weight: Any,
    bias: Any,
    projection: Any,
) -> tuple[Any, Any, Any, Any]:
    """Compute the states of a recurrent layer.

    At each step, `z = combine(x, h @ weight.T + bias)` gives the arguments of the gates from the
    input's and the state's part; `combine` is linear. `cell(z, h, c)` is elementwise. It returns
    the output, which the projection maps to the next `h`, and the next `c`. `c`, `bias` and
    `projection` may be None.

    Returns all `h`, all `c`, and the last of each.
    """
    found: tuple[Any, Any, Any, Any] = _forward(
        combine, cell, reverse, x, h, c, weight, bias, projection
    )[0]
    return found


def _forward(
    combine: Combine,
    cell: Cell,
    reverse: bool,
    x: Any,
    h: Any,
    c: Any,
    weight: Any,
    bias: Any,
    projection: Any,
) -> tuple[Any, Any]:
    turned = weight.T  # a product in the loop would transpose it at each step

    def step(state: Any, x: Any) -> tuple[Any, Any]:
        h, c = state
        u = matmul(h, turned)
        z = combine(x, u if bias is None else u + bias)
        h, c = cell(z, h, c)
        if projection is not None:
            h = matmul(h, projection.T)
        return (h, c), (h, c, z)

    last, (hs, cs, zs) = lax.scan(step, (h, c), x, reverse=reverse)
    return (hs, cs, *last), (x, h, c, weight, bias, projection, hs, cs, zs)


def _before(first: Any, states: Any, reverse: bool) -> Any:
    """States that the steps began with, from those that they ended with."""
    if first is None:
        return None
    return (
        jnp.concatenate([states, first[None]])[1:]
        if reverse
        else jnp.concatenate([first[None], states])[:-1]
    )


def _gradients(
    loop: Callable[..., Any],
    combine: Combine,
    cell: Cell,
    reverse: bool,
    kept: Any,
    cotangents: Any,
) -> tuple[Any, ...]:
    x, h, c, weight, bias, projection, hs, cs, zs = kept
    given_h, given_c, last_h, last_c = cotangents
    before_h, before_c = _before(h, hs, reverse), _before(c, cs, reverse)
    step_shape = jax.ShapeDtypeStruct(x.shape[1:], x.dtype)
    parts_of_step = jax.linear_transpose(combine, step_shape, step_shape)

    def step(state: Any, z: Any, at: Any) -> tuple[Any, Any, Any]:
        h_bar, c_bar = state
        given_h, given_c, h, c = at
        h_bar = h_bar + given_h
        c_bar = None if c is None else c_bar + given_c
        pull = jax.vjp(cell, z, h, c)[1]
        z_bar, before_h, before_c = pull(
            (h_bar if projection is None else matmul(h_bar, projection), c_bar)
        )
        before_h = before_h + matmul(parts_of_step(z_bar)[1], weight)
        return (before_h, before_c), z_bar, h_bar if projection is not None else None

    every = (given_h, given_c, before_h, before_c)
    (h_bar, c_bar), z_bar, projected_bar = loop(step, (last_h, last_c), zs, every, not reverse)
    x_bar, u_bar = jax.linear_transpose(combine, x, x)(z_bar)
    weight_bar = jnp.einsum("tng,tnh->gh", u_bar, before_h, precision=HIGHEST)
    bias_bar = None if bias is None else u_bar.sum((0, 1))
    projection_bar = None
    if projection is not None:
        projection_bar = jnp.einsum(
            "tnp,tnh->ph", projected_bar, cell(zs, before_h, before_c)[0], precision=HIGHEST
        )
    return x_bar, h_bar, c_bar, weight_bar, bias_bar, projection_bar


@partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2))
def _backward(
    combine: Combine, cell: Cell, reverse: bool, kept: Any, cotangents: Any
) -> tuple[Any, ...]:
    """Compute the gradients in place.

    If they are differentiated again, a scan that stacks its outputs computes them.
    """
    steps = len(kept[0])
    return _gradients(
        _scan_over_rows if steps else _scan_rows, combine, cell, reverse, kept, cotangents
    )


@_backward.defjvp
def _tangents_of_gradients(
    combine: Combine, cell: Cell, reverse: bool, primals: Any, tangents: Any
) -> Any:
    return jax.jvp(partial(_gradients, _scan_rows, combine, cell, reverse), primals, tangents)


recurrence.defvjp(_forward, _backward)

__all__ = ["recurrence", "scan"]
