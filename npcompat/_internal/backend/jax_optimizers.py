"""Update rules of optimizers: optax's, applied to all parameters in one program.

A rule is a function of its hyperparameters, and of learning rate and weight decay, which are values known only when the
program runs; it gives an optax transformation.  Its state is kept as plain arrays: what optax counts is one vector for
all parameters, and what it accumulates stands in the order of the transformation's leaves.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
import optax

Hyper = Mapping[str, Any]


def _sgd(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    steps = [optax.add_decayed_weights(wd), optax.scale(-lr)]  # the rate comes first: what has momentum keeps the rate it was made with
    if h["momentum"]:
        steps.append(optax.trace(h["momentum"], nesterov=h["nesterov"]))
    return optax.chain(*steps)


def _adam(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    return optax.chain(optax.add_decayed_weights(wd), optax.scale_by_adam(h["beta1"], h["beta2"], h["epsilon"]), optax.scale(-lr))


def _adamw(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    moments = optax.scale_by_adam if h["correct_bias"] else _scale_by_uncorrected_adam
    return optax.chain(moments(h["beta1"], h["beta2"], h["epsilon"]), optax.add_decayed_weights(wd), optax.scale(-lr))


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
        return optax.chain(optax.add_decayed_weights(wd), optax.scale_by_rms(h["rho"], h["epsilon"], eps_in_sqrt=False), optax.scale(-lr))
    return optax.chain(
        optax.add_decayed_weights(wd), optax.scale_by_stddev(h["rho"], h["epsilon"]), optax.scale(-lr), optax.trace(h["momentum"])
    )


def _adagrad(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    return optax.chain(optax.add_decayed_weights(wd), optax.scale_by_rss(0.0, h["epsilon"] ** 2), optax.scale(-lr))


RULES = {"sgd": _sgd, "adam": _adam, "adamw": _adamw, "rmsprop": _rmsprop, "adagrad": _adagrad}


def optimizer_state_size(rule: str, hyper: tuple[tuple[str, Any], ...]) -> int:
    """How many arrays of a parameter's shape the rule keeps for each; they begin as zeros."""
    state = jax.eval_shape(RULES[rule](dict(hyper), 0.0, 0.0).init, jax.ShapeDtypeStruct((), jnp.float32))
    return sum(leaf.dtype.kind == "f" for leaf in jax.tree.leaves(state))


def _counts(leaf: Any) -> bool:
    return not jnp.issubdtype(leaf.dtype, jnp.inexact)


def _updated(rule: str, hyper: Hyper, weight: Any, grad: Any, state: Sequence[Any], count: Any, lr: Any, wd: Any) -> tuple[Any, list[Any]]:
    """One parameter's new value and state."""
    transformation = RULES[rule](hyper, lr.astype(weight.dtype), wd.astype(weight.dtype))
    leaves, structure = jax.tree.flatten(transformation.init(weight))
    given = iter(state)
    before = jax.tree.unflatten(structure, [count.astype(leaf.dtype) if _counts(leaf) else next(given) for leaf in leaves])
    updates, after = transformation.update(grad, before, weight)
    return optax.apply_updates(weight, updates), [leaf for leaf in jax.tree.leaves(after) if not _counts(leaf)]


def optimizer_step(
    lr: Any,
    rescale: Any,
    counts: Sequence[Any],
    multipliers: Sequence[Any],
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

    `places` says in which vector, and where in it, a parameter's count, learning rate factor and weight decay stand.
    Where `masters` is True, the first array of the state is the parameter in float32.
    """
    new_weights, new_states = [], []
    for weight, grad, state, (which, at), has_master in zip(weights, grads, states, places, masters, strict=True):
        full, rest = (state[0], state[1:]) if has_master else (weight, state)
        grad = grad.astype(full.dtype) * rescale.astype(full.dtype)
        if clip is not None:
            grad = jnp.clip(grad, -clip, clip)
        factor, decay = multipliers[which][:, at]
        new, after = _updated(rule, dict(hyper), full, grad, rest, counts[which][at], lr * factor, decay)
        new_weights.append(new.astype(weight.dtype))
        new_states += [new, *after] if has_master else after
    return [*new_weights, *new_states, *[c + _increment(c, i, places) for i, c in enumerate(counts)]]


def _increment(counts: Any, which: int, places: tuple[tuple[int, int], ...]) -> Any:
    stepped = onp.zeros(counts.shape, counts.dtype)
    stepped[[at for group, at in places if group == which]] = 1
    return stepped
