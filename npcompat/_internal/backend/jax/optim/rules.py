"""Update rules of optimizers, as optax transformations.

A rule that optax has is optax's own; the others are written here. A rule is a function of its
hyperparameters, and of learning rate and weight decay, which are known only when the program runs.
The state of a transformation begins as zeros, in the shapes of the parameters or as scalars.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax

Hyper = Mapping[str, Any]


def _decayed(wd: Any) -> list[optax.GradientTransformation]:
    """Weight decay: the addition of `wd` times the parameters; nothing for None."""
    return [] if wd is None else [optax.add_decayed_weights(wd)]


def _sgd(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    # the rate comes first: momentum keeps the rates of the steps that it gathers
    steps = [*_decayed(wd), optax.scale(-lr)]
    if h["momentum"]:
        steps.append(optax.trace(h["momentum"], nesterov=h["nesterov"]))
    return optax.chain(*steps)


def _adam(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    return optax.chain(
        *_decayed(wd), _scale_by_adam(h["beta1"], h["beta2"], h["epsilon"]), optax.scale(-lr)
    )


def _adamw(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    moments = _scale_by_adam if h["correct_bias"] else _scale_by_uncorrected_adam
    return optax.chain(
        moments(h["beta1"], h["beta2"], h["epsilon"]), *_decayed(wd), optax.scale(-lr)
    )


def _scale_by_adam(b1: float, b2: float, eps: float) -> optax.GradientTransformation:
    """Adam's scaling as MXNet computes it: `eps` is added before the bias is corrected.

    That is the order at the end of section 2 of Kingma and Ba. Its state is optax's.
    """

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        mean = optax.tree.update_moment(updates, state.mu, b1, 1)
        square = optax.tree.update_moment_per_elem_norm(updates, state.nu, b2, 2)
        count = optax.safe_increment(state.count)
        correction = jnp.sqrt(1 - b2**count) / (1 - b1**count)
        scaled = jax.tree.map(
            lambda m, v: correction.astype(m.dtype) * m / (jnp.sqrt(v) + eps), mean, square
        )
        return scaled, optax.ScaleByAdamState(count=count, mu=mean, nu=square)

    return optax.GradientTransformation(optax.scale_by_adam(b1, b2, eps).init, update)


def _scale_by_uncorrected_adam(b1: float, b2: float, eps: float) -> optax.GradientTransformation:
    """Adam's scaling without the correction of the moments' bias."""

    def init(params: Any) -> Any:
        return optax.tree.zeros_like(params), optax.tree.zeros_like(params)

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        mean = optax.tree.update_moment(updates, state[0], b1, 1)
        square = optax.tree.update_moment_per_elem_norm(updates, state[1], b2, 2)
        return jax.tree.map(lambda m, v: m / (jnp.sqrt(v) + eps), mean, square), (mean, square)

    return optax.GradientTransformation(init, update)


def _rmsprop(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    if not h["centered"]:
        return optax.chain(
            *_decayed(wd),
            optax.scale_by_rms(h["rho"], h["epsilon"], eps_in_sqrt=False),
            optax.scale(-lr),
        )
    return optax.chain(
        *_decayed(wd),
        optax.scale_by_stddev(h["rho"], h["epsilon"]),
        optax.scale(-lr),
        optax.trace(h["momentum"]),
    )


def _adagrad(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    return optax.chain(*_decayed(wd), _scale_by_root(h["epsilon"]), optax.scale(-lr))


def _over_root(g: Any, squares: Any, eps: float) -> Any:
    return jnp.where(squares > 0, g / (jnp.sqrt(squares) + eps), 0)


def _scale_by_root(eps: float) -> optax.GradientTransformation:
    """Divide by the root of the sum of squares, to which `eps` is added. Its state is optax's."""

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        squares = jax.tree.map(lambda g, s: s + jnp.square(g), updates, state.sum_of_squares)
        scaled = jax.tree.map(lambda g, s: _over_root(g, s, eps), updates, squares)
        return scaled, optax.ScaleByRssState(sum_of_squares=squares)

    return optax.GradientTransformation(optax.scale_by_rss(0.0).init, update)


# --- rules that work on each array for itself -----------------------------------------------------


def _by_leaf(
    step: Callable[..., tuple[Any, ...]], *starts: Callable[[Any], Any]
) -> optax.GradientTransformation:
    """Make a transformation from a step on single arrays.

    `step(count, grad, weight, *memory)` returns the update and the new memory; `count` is 1 at the
    first step. `starts` are functions that make each kind of memory from a parameter.
    """

    def init(params: Any) -> Any:
        return jnp.zeros((), jnp.int32), tuple([jax.tree.map(start, params) for start in starts])

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        count, memory = state[0] + 1, state[1]
        grads, structure = jax.tree.flatten(updates)
        rows = zip(grads, *[jax.tree.leaves(tree) for tree in (params, *memory)], strict=True)
        new, *kept = [
            jax.tree.unflatten(structure, column)
            for column in zip(*[step(count, *row) for row in rows], strict=True)
        ]
        return new, (count, tuple(kept))

    return optax.GradientTransformation(init, update)


def _coupled(grad: Any, weight: Any, wd: Any) -> Any:
    return grad if wd is None else grad + wd * weight


def _left(decay: float, count: Any, like: Any) -> Any:
    """Weight of a running mean that began at zero, after some steps: `1 - decay ** count`."""
    return (1 - decay**count).astype(like.dtype)


def _mean(decay: float, before: Any, new: Any) -> Any:
    return decay * before + (1 - decay) * new


def _norm(array: Any) -> Any:
    """Compute the 2-norm of all elements, in at least float32."""
    return jnp.sqrt(jnp.sum(jnp.square(array.astype(jnp.promote_types(array.dtype, jnp.float32)))))


def _ratio(above: Any, below: Any) -> Any:
    """Quotient of two norms; 1 where one of them is zero or not finite."""
    usable = (above > 0) & (below > 0) & jnp.isfinite(above) & jnp.isfinite(below)
    return jnp.where(usable, above / jnp.where(usable, below, 1), 1)


def _adabelief(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    b1, b2, eps = h["beta1"], h["beta2"], h["epsilon"]

    def step(count: Any, g: Any, w: Any, m: Any, s: Any) -> tuple[Any, ...]:
        g = _coupled(g, w, wd)
        m = _mean(b1, m, g)
        s = _mean(b2, s, jnp.square(g - m)) + eps
        rate = lr * jnp.sqrt(_left(b2, count, g)) / _left(b1, count, g) if h["correct_bias"] else lr
        return -rate * m / (jnp.sqrt(s) + eps), m, s

    return _by_leaf(step, jnp.zeros_like, jnp.zeros_like)


def _groupadagrad(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    def start(weight: Any) -> Any:
        if weight.ndim != 2:
            raise ValueError(
                f"GroupAdaGrad: a parameter must have two axes, got shape {weight.shape}"
            )
        return jnp.zeros_like(weight[:, :1])

    def step(count: Any, g: Any, w: Any, squares: Any) -> tuple[Any, ...]:
        squares = squares + jnp.mean(jnp.square(g), axis=1, keepdims=True)
        return -lr * _over_root(g, squares, h["epsilon"]), squares

    return _by_leaf(step, start)


def _adadelta(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    return optax.chain(
        *_decayed(wd), optax.scale_by_adadelta(h["rho"], h["epsilon"]), optax.scale(-lr)
    )


def _adamax(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    return optax.chain(
        *_decayed(wd), optax.scale_by_adamax(h["beta1"], h["beta2"], h["epsilon"]), optax.scale(-lr)
    )


def _nadam(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    b1, b2 = h["beta1"], h["beta2"]

    def momentum(count: Any, like: Any) -> Any:
        return (b1 * (1 - 0.5 * 0.96 ** (count * h["schedule_decay"]))).astype(like.dtype)

    def step(count: Any, g: Any, w: Any, m: Any, v: Any, gathered: Any) -> tuple[Any, ...]:
        """`gathered` is 1 minus the product of all momenta so far."""
        g = _coupled(g, w, wd)
        m, v = _mean(b1, m, g), _mean(b2, v, jnp.square(g))
        now, after = momentum(count, g), momentum(count + 1, g)
        gathered = 1 - now * (1 - gathered)
        direction = (1 - now) * g / gathered + after * m / (1 - after * (1 - gathered))
        return -lr * direction / (jnp.sqrt(v / _left(b2, count, g)) + h["epsilon"]), m, v, gathered

    return _by_leaf(step, jnp.zeros_like, jnp.zeros_like, lambda w: jnp.zeros((), w.dtype))


def _ftml(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    b1, b2 = h["beta1"], h["beta2"]

    def step(count: Any, g: Any, w: Any, d: Any, v: Any, z: Any) -> tuple[Any, ...]:
        g = _coupled(g, w, wd)
        v = _mean(b2, v, jnp.square(g))
        new = _left(b1, count, g) / lr * (jnp.sqrt(v / _left(b2, count, g)) + h["epsilon"])
        z = _mean(b1, z, g) - (new - b1 * d) * w
        return -z / new - w, new, v, z

    return _by_leaf(step, jnp.zeros_like, jnp.zeros_like, jnp.zeros_like)


def _ftrl(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    def step(count: Any, g: Any, w: Any, z: Any, n: Any) -> tuple[Any, ...]:
        root = jnp.sqrt(n + jnp.square(g))
        z = z + g - (root - jnp.sqrt(n)) / lr * w
        shrunk = jnp.sign(z) * jnp.maximum(jnp.abs(z) - h["lamda1"], 0)
        return (
            -shrunk / ((h["beta"] + root) / lr + (0 if wd is None else wd)) - w,
            z,
            n + jnp.square(g),
        )

    return _by_leaf(step, jnp.zeros_like, jnp.zeros_like)


def _dcasgd(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    def step(count: Any, g: Any, w: Any, *memory: Any) -> tuple[Any, ...]:
        """Memory: the last change, if there is momentum, and the weight before it."""
        g = _coupled(g, w, wd)
        change = -lr * (g + h["lamda"] * jnp.square(g) * (w - memory[-1]))
        if not h["momentum"]:
            return change, w
        change = h["momentum"] * memory[0] + change
        return change, change, w

    return _by_leaf(step, *[jnp.zeros_like] * (2 if h["momentum"] else 1))


def _signum(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    decoupled = [optax.add_decayed_weights(h["wd_lh"])] if h["wd_lh"] else []
    if not h["momentum"]:
        return optax.chain(optax.scale_by_sign(), *_decayed(wd), *decoupled, optax.scale(-lr))
    averaged = optax.ema(h["momentum"], debias=False)
    return optax.chain(*_decayed(wd), averaged, optax.scale_by_sign(), *decoupled, optax.scale(-lr))


# --- rules that scale each layer's step by norms --------------------------------------------------


def _bounded_norm(weight: Any, h: Hyper) -> Any:
    return jnp.clip(_norm(weight), h["lower_bound"], h["upper_bound"])


def _lamb(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    moments = optax.scale_by_adam if h["bias_correction"] else _scale_by_uncorrected_adam

    def step(count: Any, g: Any, w: Any) -> tuple[Any, ...]:
        return ((_ratio(_bounded_norm(w, h), _norm(g)) * g).astype(g.dtype),)

    return optax.chain(
        moments(h["beta1"], h["beta2"], h["epsilon"]),
        *_decayed(wd),
        _by_leaf(step),
        optax.scale(-lr),
    )


def _lans(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    b1, b2, clip = h["beta1"], h["beta2"], h["clip"]

    def step(count: Any, g: Any, w: Any, m: Any, v: Any) -> tuple[Any, ...]:
        length = _norm(g)
        g = (g / jnp.where(length > 0, length, 1)).astype(g.dtype)
        g = g if clip is None else jnp.clip(g, -clip, clip)
        m, v = _mean(b1, m, g), _mean(b2, v, jnp.square(g))
        root = jnp.sqrt(v / _left(b2, count, g)) + h["epsilon"]
        size, total = _bounded_norm(w, h), 0
        for share, direction in ((b1, m / _left(b1, count, g)), (1 - b1, g)):
            part = _coupled(direction / root, w, wd)
            total = total + share * _ratio(size, _norm(part)) * part
        return (-lr * total).astype(g.dtype), m, v

    return _by_leaf(step, jnp.zeros_like, jnp.zeros_like)


def _lars(h: Hyper, lr: Any, wd: Any) -> optax.GradientTransformation:
    clip, decay = h["clip"], 0 if wd is None else wd

    def step(count: Any, g: Any, w: Any) -> tuple[Any, ...]:
        if h["mark"]:
            ratio: Any = 1
        else:
            size, length = _norm(w), _norm(g)
            ratio = jnp.where(
                (size > 0) & (length > 0),
                h["eta"] * size / (length + decay * size + h["epsilon"]),
                1,
            )
        g = g if clip is None else jnp.clip(g, -clip, clip)
        return ((ratio * _coupled(g, w, wd)).astype(g.dtype),)

    steps = [_by_leaf(step), optax.scale(-lr)]
    return optax.chain(*steps, optax.trace(h["momentum"])) if h["momentum"] else optax.chain(*steps)


RULES: dict[str, Callable[[Hyper, Any, Any], optax.GradientTransformation]] = {
    "adabelief": _adabelief,
    "adadelta": _adadelta,
    "adagrad": _adagrad,
    "adam": _adam,
    "adamax": _adamax,
    "adamw": _adamw,
    "dcasgd": _dcasgd,
    "ftml": _ftml,
    "ftrl": _ftrl,
    "groupadagrad": _groupadagrad,
    "lamb": _lamb,
    "lans": _lans,
    "lars": _lars,
    "nadam": _nadam,
    "rmsprop": _rmsprop,
    "sgd": _sgd,
    "signum": _signum,
}
