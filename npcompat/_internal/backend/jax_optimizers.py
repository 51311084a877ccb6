"""Update rules of optimizers: optax's, applied to all parameters in one program.

A rule is a function of its hyperparameters, and of learning rate and weight decay, which are values known only when the
program runs; it gives an optax transformation.  Its state is kept as plain arrays: what optax counts is kept for all
parameters together, and what it accumulates stands, for each parameter, in the order of the transformation's leaves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
import optax

Hyper = Mapping[str, Any]


def _decayed(wd: Any) -> list[optax.GradientTransformation]:
    """The addition of `wd` times the parameters; nothing for None."""
    return [] if wd is None else [optax.add_decayed_weights(wd)]


def _sgd(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    steps = [*_decayed(wd), optax.scale(-lr)]  # the rate comes first: what has momentum keeps the rate it was made with
    if h["momentum"]:
        steps.append(optax.trace(h["momentum"], nesterov=h["nesterov"]))
    return optax.chain(*steps)


def _adam(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    return optax.chain(*_decayed(wd), optax.scale_by_adam(h["beta1"], h["beta2"], h["epsilon"]), optax.scale(-lr))


def _adamw(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    moments = optax.scale_by_adam if h["correct_bias"] else _scale_by_uncorrected_adam
    return optax.chain(moments(h["beta1"], h["beta2"], h["epsilon"]), *_decayed(wd), optax.scale(-lr))


def _scale_by_uncorrected_adam(b1: float, b2: float, eps: float) -> optax.GradientTransformation:
    """Adam's scaling with moments that are taken as they are."""

    def init(params: Any) -> Any:
        return optax.tree.zeros_like(params), optax.tree.zeros_like(params)

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        mean = optax.tree.update_moment(updates, state[0], b1, 1)
        square = optax.tree.update_moment_per_elem_norm(updates, state[1], b2, 2)
        return jax.tree.map(lambda m, v: m / (jnp.sqrt(v) + eps), mean, square), (mean, square)

    return optax.GradientTransformation(init, update)


def _rmsprop(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    if not h["centered"]:
        return optax.chain(*_decayed(wd), optax.scale_by_rms(h["rho"], h["epsilon"], eps_in_sqrt=False), optax.scale(-lr))
    return optax.chain(*_decayed(wd), optax.scale_by_stddev(h["rho"], h["epsilon"]), optax.scale(-lr), optax.trace(h["momentum"]))


def _adagrad(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    return optax.chain(*_decayed(wd), optax.scale_by_rss(0.0, h["epsilon"] ** 2), optax.scale(-lr))


RULES = {"sgd": _sgd, "adam": _adam, "adamw": _adamw, "rmsprop": _rmsprop, "adagrad": _adagrad}


def optimizer_state_size(rule: str, hyper: tuple[tuple[str, Any], ...]) -> int:
    """How many arrays of a parameter's shape the rule keeps for each; they begin as zeros."""
    state = jax.eval_shape(RULES[rule](dict(hyper), 0.0, None).init, jax.ShapeDtypeStruct((), jnp.float32))
    return sum(leaf.dtype.kind == "f" for leaf in jax.tree.leaves(state))


@dataclass(eq=False)
class _Bucket:
    """Parameters that share all scalars and the dtype: optax updates them together."""

    count: Any
    lr: Any
    wd: Any
    members: list[int] = field(default_factory=list)


def _is_count(leaf: Any) -> bool:
    return not jnp.issubdtype(leaf.dtype, jnp.inexact)


def _updated(
    rule: str, hyper: Hyper, bucket: _Bucket, weights: list[Any], grads: list[Any], states: list[Any]
) -> tuple[list[Any], list[Any]]:
    """New values and states of the parameters of a bucket."""
    dtype = weights[0].dtype
    wd = None if bucket.wd is None else bucket.wd.astype(dtype)
    transformation = RULES[rule](hyper, bucket.lr.astype(dtype), wd)
    leaves, structure = jax.tree.flatten(transformation.init(weights))
    given = iter([array for arrays in zip(*states, strict=True) for array in arrays])  # optax has one tree for each kind of memory
    before = jax.tree.unflatten(structure, [bucket.count.astype(leaf.dtype) if _is_count(leaf) else next(given) for leaf in leaves])
    updates, after = transformation.update(grads, before, weights)
    kept = [leaf for leaf in jax.tree.leaves(after) if not _is_count(leaf)]
    size = len(weights)
    return optax.apply_updates(weights, updates), [kept[i::size] for i in range(size)]


def _pick(values: Sequence[Any], place: tuple[int, int]) -> tuple[Any, Any]:
    """One parameter's entry, and what it is shared by: all (no entries: None), a group (one entry), nobody."""
    which, at = place
    array = values[which]
    if array.ndim == 0:
        return array, which
    return (None, None) if array.shape == (0,) else (array[at], place)


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
) -> list[Any]:
    """New weights, new states (flat), new counts.

    `counts`, `factors` (of the learning rate) and `decays` have an entry for each group of parameters: a scalar for all of
    the group, or a vector, in which `places` says where each stands; empty factors and decays mean none.  Where `masters`
    is True, the first array of a state is the parameter in float32.
    """
    buckets: dict[Any, _Bucket] = {}
    full: list[Any] = []
    scaled: list[Any] = []
    for i, (weight, grad, state, place) in enumerate(zip(weights, grads, states, places, strict=True)):
        full.append(state[0] if masters[i] else weight)
        dtype = full[i].dtype
        grad = grad.astype(dtype) * rescale.astype(dtype)
        scaled.append(grad if clip is None else jnp.clip(grad, -clip, clip))
        (count, a), (factor, b), (decay, c) = _pick(counts, place), _pick(factors, place), _pick(decays, place)
        key = (a, b, c, dtype)
        if key not in buckets:
            buckets[key] = _Bucket(count, lr if factor is None else lr * factor, decay)
        buckets[key].members.append(i)
    new: list[Any] = [None] * len(weights)
    memory: list[Any] = [None] * len(weights)
    for bucket in buckets.values():
        rest = [states[i][masters[i] :] for i in bucket.members]
        found = _updated(rule, dict(hyper), bucket, [full[i] for i in bucket.members], [scaled[i] for i in bucket.members], rest)
        for i, value, after in zip(bucket.members, *found, strict=True):
            new[i] = value.astype(weights[i].dtype)
            memory[i] = [value, *after] if masters[i] else after
    return [*new, *[a for after in memory for a in after], *[_counted(c, i, places) for i, c in enumerate(counts)]]


def _counted(counts: Any, which: int, places: tuple[tuple[int, int], ...]) -> Any:
    stepped = onp.zeros(counts.shape, counts.dtype)
    touched = [at for group, at in places if group == which]
    stepped[() if counts.ndim == 0 else touched] = 1 if touched else 0
    return counts + stepped
