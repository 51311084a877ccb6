"""Steps of optimizers: a rule, or a user's optax transformation, for all parameters in one program.

The state of a rule is kept as plain arrays. The counts of optax are kept for all parameters
together. The rest is kept by parameter, in the order of the transformation's leaves.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
import optax

from npcompat._internal.backend.jax.optim.rules import RULES, Hyper
from npcompat._internal.support.kernel_table import register_kernel


@register_kernel("optimizer_memory", backend="jax")
@cache
def optimizer_memory(
    rule: str, hyper: tuple[tuple[str, Any], ...], shape: tuple[int, ...], dtype: Any
) -> list[tuple[Any, Any]]:
    """Return shapes and dtypes of a rule's state for a parameter; its arrays begin as zeros."""
    with jax.enable_x64(True):
        state = jax.eval_shape(
            RULES[rule](dict(hyper), 0.0, None).init, jax.ShapeDtypeStruct(shape, dtype)
        )
    return [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(state) if not _is_count(leaf)]


@dataclass(eq=False)
class _Bucket:
    """Parameters that share all scalars, the dtype and the mark: optax updates them together."""

    count: Any
    lr: Any
    wd: Any
    mark: Hashable
    members: list[int] = field(default_factory=list)


def _is_count(leaf: Any) -> bool:
    return not jnp.issubdtype(leaf.dtype, jnp.inexact)


def _updated(
    rule: str,
    hyper: Hyper,
    bucket: _Bucket,
    weights: list[Any],
    grads: list[Any],
    states: list[Any],
) -> tuple[list[Any], list[Any]]:
    """Compute new values and states of the parameters of a bucket."""
    dtype = weights[0].dtype
    wd = None if bucket.wd is None else bucket.wd.astype(dtype)
    transformation = RULES[rule]({**hyper, "mark": bucket.mark}, bucket.lr.astype(dtype), wd)
    leaves, structure = jax.tree.flatten(transformation.init(weights[0]))
    # optax has one tree for each kind of memory: a leaf for one weight, a list for several
    remaining = zip(*states, strict=True)
    before = jax.tree.unflatten(
        structure,
        [
            bucket.count.astype(leaf.dtype) if _is_count(leaf) else list(next(remaining))
            for leaf in leaves
        ],
    )
    updates, after = transformation.update(grads, before, weights)
    kept = [leaf for leaf in jax.tree.leaves(after) if not _is_count(leaf)]
    size = len(weights)
    return optax.apply_updates(weights, updates), [kept[i::size] for i in range(size)]


def _pick(values: Sequence[Any], place: tuple[int, int]) -> tuple[Any, Any]:
    """Return the entry of a parameter, and a key of the parameters that share it.

    An empty array gives (None, None). A scalar is shared by the group; an entry of a vector belongs
    to one parameter.
    """
    which, at = place
    array = values[which]
    if array.ndim == 0:
        return array, which
    return (None, None) if array.shape == (0,) else (array[at], place)


def _scaled(
    grads: Sequence[Any], weights: Sequence[Any], rescale: Any, clip: float | None
) -> list[Any]:
    """Cast gradients to the dtypes of what they update, rescale and clip them."""
    factors = {dtype: rescale.astype(dtype) for dtype in {w.dtype for w in weights}}
    found = [
        grad.astype(w.dtype) * factors[w.dtype] for grad, w in zip(grads, weights, strict=True)
    ]
    return found if clip is None else [jnp.clip(grad, -clip, clip) for grad in found]


@register_kernel("optimizer_step", backend="jax")
def optimizer_step(
    lr: Any,
    rescale: Any,
    counts: Sequence[Any],
    factors: Sequence[Any],
    decays: Sequence[Any],
    weights: Sequence[Any],
    grads: Sequence[Any],
    states: Sequence[Sequence[Any]],
    places: tuple[tuple[int, int], ...],
    rule: str,
    hyper: tuple[tuple[str, Any], ...],
    clip: float | None,
    masters: tuple[bool, ...],
    marks: tuple[Hashable, ...],
) -> list[Any]:
    """Compute new weights, new states (flat) and new counts.

    `counts`, `factors` (of the learning rate) and `decays` have an entry for each group of
    parameters: a scalar for the whole group, or a vector. `places` has the group of each parameter
    and its position in the vector. Empty factors and decays mean none. Where `masters` is True, the
    first array of a state is the parameter in float32. `marks` are handed to the rule.
    """
    buckets: dict[Any, _Bucket] = {}
    full = [
        state[0] if master else weight
        for weight, state, master in zip(weights, states, masters, strict=True)
    ]
    scaled = _scaled(grads, full, rescale, clip)
    for i, place in enumerate(places):
        (count, a), (factor, b) = _pick(counts, place), _pick(factors, place)
        decay, c = _pick(decays, place)
        key = (a, b, c, full[i].dtype, marks[i])
        if key not in buckets:
            buckets[key] = _Bucket(count, lr if factor is None else lr * factor, decay, marks[i])
        buckets[key].members.append(i)
    new: list[Any] = [None] * len(weights)
    memory: list[Any] = [None] * len(weights)
    for bucket in buckets.values():
        rest = [states[i][masters[i] :] for i in bucket.members]
        found = _updated(
            rule,
            dict(hyper),
            bucket,
            [full[i] for i in bucket.members],
            [scaled[i] for i in bucket.members],
            rest,
        )
        for i, value, after in zip(bucket.members, *found, strict=True):
            new[i] = value.astype(weights[i].dtype)
            memory[i] = [value, *after] if masters[i] else after
    return [
        *new,
        *[a for after in memory for a in after],
        *[_counted(c, i, places) for i, c in enumerate(counts)],
    ]


def _counted(counts: Any, which: int, places: tuple[tuple[int, int], ...]) -> Any:
    stepped = onp.zeros(counts.shape, counts.dtype)
    touched = [at for group, at in places if group == which]
    stepped[() if counts.ndim == 0 else touched] = 1 if touched else 0
    return counts + stepped


# --- a user's transformation ----------------------------------------------------------------------


def _stored(leaf: Any) -> Any:
    """Convert a leaf of a state to a plain array."""
    return (
        jax.random.key_data(leaf)
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        else jnp.asarray(leaf)
    )


def _restored(array: Any, like: Any) -> Any:
    """Convert a plain array to a leaf of a state."""
    if jnp.issubdtype(like.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(array, impl=jax.random.key_impl(like))
    return array.astype(like.dtype)


@register_kernel("optax_state", backend="jax")
def optax_state(
    transformation: Any, names: Sequence[str], weights: Sequence[Any]
) -> tuple[list[str], list[Any]]:
    """Return the initial state of a transformation: paths and arrays."""
    with jax.enable_x64(True):
        state = transformation.init(
            {name: jnp.asarray(w) for name, w in zip(names, weights, strict=True)}
        )
        leaves = jax.tree_util.tree_leaves_with_path(state)
        return [jax.tree_util.keystr(path) for path, _ in leaves], [
            _stored(leaf) for _, leaf in leaves
        ]


@register_kernel("optax_step", backend="jax")
def optax_step(
    lr: Any,
    rescale: Any,
    counts: Sequence[Any],
    factors: Sequence[Any],
    weights: Sequence[Any],
    grads: Sequence[Any],
    masters: Sequence[Any],
    state: Sequence[Any],
    places: tuple[tuple[int, int], ...],
    transformation: Any,
    names: tuple[str, ...],
    clip: float | None,
) -> list[Any]:
    """Compute new weights, new copies in float32, new state and new counts.

    There are copies of the parameters whose entry of `masters` is not None.
    """
    full = [w if m is None else m for w, m in zip(weights, masters, strict=True)]
    params = dict(zip(names, full, strict=True))
    # only the structure is needed: XLA removes what computes the values
    leaves, structure = jax.tree.flatten(transformation.init(params))
    before = jax.tree.unflatten(
        structure, [_restored(a, leaf) for a, leaf in zip(state, leaves, strict=True)]
    )
    updates, after = transformation.update(
        dict(zip(names, _scaled(grads, full, rescale, clip), strict=True)), before, params
    )
    new = []
    for name, w, place in zip(names, full, places, strict=True):
        factor = _pick(factors, place)[0]
        rate = (lr if factor is None else lr * factor).astype(w.dtype)
        new.append((w + rate * updates[name]).astype(w.dtype))
    kept = [_stored(a).astype(b.dtype) for a, b in zip(jax.tree.leaves(after), state, strict=True)]
    copies = [n for n, m in zip(new, masters, strict=True) if m is not None]
    narrow = [n.astype(w.dtype) for n, w in zip(new, weights, strict=True)]
    return [*narrow, *copies, *kept, *[_counted(c, i, places) for i, c in enumerate(counts)]]
