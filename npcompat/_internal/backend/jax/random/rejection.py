"""Rejection sampling on XLA: whole arrays at once, until each element is accepted."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import gammaln

from npcompat._internal.backend.jax.random import random_bits as noise


def accepted(key: Any, shape: tuple[int, ...], dtype: Any, attempt: Any, wanted: Any = None) -> Any:
    """Repeat `attempt(key)`, which returns proposals and a mask of those to accept.

    It is repeated until all elements that are `wanted` (None: all) are accepted.
    """

    def step(state: Any) -> Any:
        i, found, pending = state
        proposed, good = attempt(jax.random.fold_in(key, i))
        return i + 1, jnp.where(pending, proposed, found), pending & ~good

    start = (
        jnp.uint32(0),
        jnp.zeros(shape, dtype),
        jnp.ones(shape, bool) if wanted is None else wanted,
    )
    return lax.while_loop(lambda state: state[2].any(), step, start)[1]


@jax.custom_jvp
def _differentiable(sample: Any, alpha: Any) -> Any:
    """Gamma variate with its implicit derivative by the shape."""
    return sample


@_differentiable.defjvp
def _derivative(primals: Any, tangents: Any) -> Any:
    sample, alpha = primals
    return sample, lax.random_gamma_grad(alpha, sample) * tangents[1]


def gamma_factors(key: Any, alpha: Any) -> tuple[Any, Any]:
    """Gamma variates as `x * exp(y)`.

    So variates of small shapes have a logarithm even if the product underflows. Marsaglia and
    Tsang, "A simple method for generating gamma variables" (2000), for shapes from 1 on. A variate
    of a smaller shape is one of that shape plus 1, times a power of a uniform number.
    """
    loop, boosts = jax.random.split(key)
    small = alpha < 1
    larger = jnp.where(small, alpha + 1, alpha)
    d = lax.stop_gradient(larger) - 1 / 3
    c = 1 / jnp.sqrt(9 * d)

    def attempt(key: Any) -> tuple[Any, Any]:
        normals, uniforms = jax.random.split(key)
        x = noise.normal(normals, alpha.shape, alpha.dtype)
        u = noise.uniform(uniforms, alpha.shape, alpha.dtype)
        v = (1 + c * x) ** 3
        good = (v > 0) & (jnp.log(u) < x * x / 2 + d * (1 - v + jnp.log(jnp.maximum(v, 1e-30))))
        return d * v, good | ~(d > 0)

    x = _differentiable(
        lax.stop_gradient(accepted(loop, alpha.shape, alpha.dtype, attempt)), larger
    )
    e = noise.exponential(boosts, alpha.shape, alpha.dtype)
    exponent = jnp.where(small, -e / jnp.where(small & (alpha > 0), alpha, 1), 0)
    return x, jnp.where(alpha == 0, -jnp.inf, exponent)


def gamma(key: Any, alpha: Any) -> Any:
    """Gamma variates of scale 1."""
    x, y = gamma_factors(key, alpha)
    return x * jnp.exp(y)


def shares(key: Any, alpha: Any) -> Any:
    """Gamma variates along the last axis, divided by their sum.

    As shapes approach 0, one share approaches 1, and its index is distributed as the shapes are.
    Where all variates underflow, that index is the winner of an exponential race.
    """
    x, y = gamma_factors(key, alpha)
    largest = lax.stop_gradient(y.max(-1, keepdims=True))
    least = jnp.finfo(alpha.dtype).tiny  # type: ignore[no-untyped-call]
    rates = jnp.where(alpha > 0, alpha / jnp.maximum(alpha.max(-1, keepdims=True), least), 1)
    first = jnp.argmin(lax.stop_gradient(x / rates), -1, keepdims=True)
    winner = first == jnp.arange(alpha.shape[-1])
    weights = jnp.where(
        largest == -jnp.inf, winner, x * jnp.exp(y - jnp.where(jnp.isfinite(largest), largest, 0))
    )
    return weights / weights.sum(-1, keepdims=True)


def _by_inversion(u: Any, first: Any, next_term: Any) -> Any:
    """Least k whose probabilities add up to more than u, for means below 10.

    The probabilities are `first` and then `next_term(term, k)`.
    """

    def step(state: Any) -> Any:
        k, term, total, count = state
        k = k + 1
        term = next_term(term, k)
        return k, term, total + term, jnp.where(u >= total, k, count)

    start = (jnp.float64(0), first, first, jnp.zeros(u.shape, jnp.float64))
    return lax.while_loop(lambda s: ((u >= s[2]) & (s[1] > 0)).any() & (s[0] < 200), step, start)[3]


def poisson(key: Any, lam: Any) -> Any:
    """Poisson variates as floats.

    Small means are drawn by inversion, term by term; others by transformed rejection. Hörmann, "The
    transformed rejection method for generating Poisson random variables" (1993), algorithm PTRS.
    """
    direct, loop = jax.random.split(key)
    small = ~(lam >= 10)
    mean = jnp.where(small, jnp.maximum(jnp.nan_to_num(lam), 0), 0)
    u = noise.uniform(direct, lam.shape, jnp.float64)
    by_inversion = _by_inversion(u, jnp.exp(-mean), lambda term, k: term * mean / k)

    mean = jnp.where(small, 10, lam)
    b = 0.931 + 2.53 * jnp.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    squeeze = 0.9277 - 3.6224 / (b - 2)

    def attempt(key: Any) -> tuple[Any, Any]:
        u, v = noise.uniform_pairs(key, lam.shape, jnp.float64)
        u = u - 0.5
        us = 0.5 - abs(u)
        k = jnp.floor((2 * a / us + b) * u + mean + 0.43)
        quickly = (us >= 0.07) & (v <= squeeze)
        never = (k < 0) | ((us < 0.013) & (v > us))
        height = jnp.log(v) + jnp.log(inverse_alpha) - jnp.log(a / (us * us) + b)
        return k, quickly | (~never & (height <= k * jnp.log(mean) - mean - gammaln(k + 1)))

    return jnp.where(small, by_inversion, accepted(loop, lam.shape, jnp.float64, attempt, ~small))


def _beyond_stirling(k: Any) -> Any:
    """Error of Stirling's formula for the logarithm of k!."""
    x = 1 / (k + 1)
    return x * (1 / 12 - x * x * (1 / 360 - x * x / 1260))


def binomial(key: Any, n: Any, p: Any) -> Any:
    """Binomial variates as floats.

    Small means are drawn by inversion, term by term; others by transformed rejection. Hörmann, "The
    generation of binomial random variates" (1993), algorithm BTRS. The quotient of a probability
    and that of the mode is computed from their difference, so that its logarithm is accurate for
    large n.
    """
    direct, loop = jax.random.split(key)
    possible = (n >= 0) & (p >= 0) & (p <= 1)
    rarer = jnp.where(possible, jnp.minimum(p, 1 - p), 0)
    trials = jnp.where(possible, n, 0)
    small = trials * rarer < 10
    share = jnp.where(small, rarer, 0)
    u = noise.uniform(direct, n.shape, jnp.float64)
    none = jnp.exp(trials * jnp.log1p(-share))
    by_inversion = _by_inversion(
        u, none, lambda term, k: term * jnp.maximum(trials - k + 1, 0) / k * (share / (1 - share))
    )

    share, total = jnp.where(small, 0.5, rarer), jnp.where(small, 100, trials)
    deviation = jnp.sqrt(total * share * (1 - share))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * share
    alpha = (2.83 + 5.1 / b) * deviation
    peak = jnp.floor((total + 1) * share)
    slope = jnp.log((total - peak + 1) / (peak + 1) * share / (1 - share))
    at_peak = _beyond_stirling(peak) + _beyond_stirling(total - peak)

    def attempt(key: Any) -> tuple[Any, Any]:
        u, v = noise.uniform_pairs(key, n.shape, jnp.float64)
        u = u - 0.5
        us = 0.5 - abs(u)
        k = jnp.floor((2 * a / us + b) * u + total * share + 0.5)
        inside = (k >= 0) & (k <= total)
        k = jnp.clip(k, 0, total)
        away, rest = k - peak, total - k
        height = (
            (rest + 0.5) * jnp.log1p(away / (rest + 1))
            - (k + 0.5) * jnp.log1p(away / (peak + 1))
            + away * slope
        )
        height = height + at_peak - _beyond_stirling(k) - _beyond_stirling(rest)
        quickly = (us >= 0.07) & (v <= 0.92 - 4.2 / b)
        return k, inside & (quickly | (jnp.log(v * alpha / (a / (us * us) + b)) <= height))

    found = jnp.where(
        small,
        jnp.minimum(by_inversion, trials),
        accepted(loop, n.shape, jnp.float64, attempt, ~small),
    )
    return jnp.where(p > 0.5, trials - found, found)
