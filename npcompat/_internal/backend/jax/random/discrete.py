"""Discrete distributions on XLA, as functions of the key and the counter of a stream.

They compute with 64 bits.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax
from jax.scipy.special import gammaln

from npcompat._internal.backend.jax.random import random_bits as noise
from npcompat._internal.backend.jax.random.keyed_draws import at, rolled_at, spread
from npcompat._internal.backend.jax.random.rejection import accepted, binomial, gamma, poisson
from npcompat._internal.support.kernel_table import register_kernel

_LARGEST = 2**63 - 1


def _whole(x: Any) -> Any:
    """Convert floats with integer values to int64; too large numbers become the largest."""
    return jnp.where(x >= 2.0**63, _LARGEST, jnp.minimum(x, 2.0**62 * 1.9).astype(jnp.int64))


def _uniform(key: Any, shape: Any) -> Any:
    """Uniform on (0, 1]: its logarithm is finite."""
    return 1 - noise.uniform(key, shape, jnp.float64)


# --- counts of events -----------------------------------------------------------------------------


@register_kernel("random_poisson", backend="jax")
def random_poisson(key: Any, counter: Any, lam: Any, size: Any) -> Any:
    """Poisson distribution with a mean."""
    return _whole(poisson(rolled_at(key, counter), spread(size, lam)[1]))


@register_kernel("random_binomial", backend="jax")
def random_binomial(key: Any, counter: Any, n: Any, p: Any, size: Any) -> Any:
    """Binomial distribution: the number of successes in n trials."""
    _, n, p = spread(size, n.astype(jnp.float64), p)
    return _whole(binomial(rolled_at(key, counter), n, p))


@register_kernel("random_negative_binomial", backend="jax")
def random_negative_binomial(key: Any, counter: Any, n: Any, p: Any, size: Any) -> Any:
    """Negative binomial distribution: the number of failures before n successes.

    It is a Poisson distribution whose mean is gamma distributed.
    """
    _, n, p = spread(size, n, p)
    gammas, counts = jax.random.split(rolled_at(key, counter))
    return _whole(poisson(counts, gamma(gammas, n.astype(jnp.float64)) * (1 - p) / p))


@register_kernel("random_geometric", backend="jax")
def random_geometric(key: Any, counter: Any, p: Any, size: Any) -> Any:
    """Geometric distribution: the number of the first trial that succeeds."""
    shape, p = spread(size, p)
    trials = jnp.ceil(noise.exponential(at(key, counter), shape, jnp.float64) / -jnp.log1p(-p))
    return _whole(jnp.maximum(trials, 1))


# --- drawing without replacement ------------------------------------------------------------------

_HAT_SLOPE, _HAT_OFFSET = 2 * onp.sqrt(2 / onp.e), 3 - 2 * onp.sqrt(3 / onp.e)


def _hypergeometric(key: Any, good: Any, bad: Any, sample: Any) -> Any:
    """Draw by the ratio of uniforms, on the smaller halves of the population and of the sample.

    Stadlober, "The ratio of uniforms approach for generating discrete random variates" (1990),
    algorithm HRUA.
    """
    total = good + bad
    fewer, more = jnp.minimum(good, bad), jnp.maximum(good, bad)
    m = jnp.minimum(sample, total - sample)
    possible = (fewer >= 0) & (m >= 0)
    share = fewer / jnp.maximum(total, 1)
    centre = m * share + 0.5
    deviation = jnp.sqrt((total - m) * m * share * (1 - share) / jnp.maximum(total - 1, 1) + 0.5)
    width = _HAT_SLOPE * deviation + _HAT_OFFSET
    end = jnp.minimum(jnp.minimum(m, fewer) + 1, jnp.floor(centre + 16 * deviation))

    def height(k: Any) -> Any:
        return -(
            gammaln(k + 1) + gammaln(fewer - k + 1) + gammaln(m - k + 1) + gammaln(more - m + k + 1)
        )

    peak = height(jnp.floor((m + 1) * (fewer + 1) / (total + 2)))

    def attempt(key: Any) -> tuple[Any, Any]:
        x, y = [1 - u for u in noise.uniform_pairs(key, good.shape, jnp.float64)]
        w = centre + width * (y - 0.5) / x
        inside = (w >= 0) & (w < end)
        k = jnp.where(inside, jnp.floor(w), 0)
        return k, (inside & (2 * jnp.log(x) <= height(k) - peak)) | ~possible

    k = accepted(key, good.shape, jnp.float64, attempt)
    k = jnp.where(good > bad, m - k, k)
    return jnp.where(m < sample, good - k, k)


@register_kernel("random_hypergeometric", backend="jax")
def random_hypergeometric(
    key: Any, counter: Any, good: Any, bad: Any, sample: Any, size: Any
) -> Any:
    """Hypergeometric distribution: the number of good items in a sample."""
    _, good, bad, sample = spread(size, *[x.astype(jnp.float64) for x in (good, bad, sample)])
    return _whole(_hypergeometric(rolled_at(key, counter), good, bad, sample))


# --- counts of several kinds ----------------------------------------------------------------------


@register_kernel("random_multinomial", backend="jax")
def random_multinomial(key: Any, counter: Any, n: Any, p: Any, size: Any) -> Any:
    """Multinomial distribution: the counts of outcomes in n trials.

    One outcome follows the other, each binomial among the trials that are left.
    """
    shape = jnp.broadcast_shapes(n.shape, p.shape[:-1]) if size is None else size
    before = jnp.cumsum(p, -1) - p
    ratios = jnp.clip(p / jnp.maximum(1 - before, 1e-300), 0, 1)
    ratios = jnp.moveaxis(jnp.broadcast_to(ratios, (*shape, p.shape[-1])), -1, 0)

    def step(left: Any, kind: Any) -> tuple[Any, Any]:
        key, ratio = kind
        count = binomial(key, left, ratio)
        return left - count, count

    keys = jax.random.split(rolled_at(key, counter), p.shape[-1])[:-1]
    left, counts = lax.scan(
        step, jnp.broadcast_to(n.astype(jnp.float64), shape), (keys, ratios[:-1])
    )
    return _whole(jnp.concatenate([jnp.moveaxis(counts, 0, -1), left[..., None]], -1))


@register_kernel("random_multivariate_hypergeometric", backend="jax")
def random_multivariate_hypergeometric(
    key: Any, counter: Any, colors: Any, sample: Any, size: Any
) -> Any:
    """Multivariate hypergeometric distribution: the counts of colours in a sample.

    One colour follows the other, each hypergeometric among what is left.
    """
    colors = colors.astype(jnp.float64)
    later = colors.sum() - jnp.cumsum(colors)

    def step(left: Any, kind: Any) -> tuple[Any, Any]:
        key, good, bad = kind
        count = _hypergeometric(
            key, jnp.broadcast_to(good, size), jnp.broadcast_to(bad, size), left
        )
        return left - count, count

    keys = jax.random.split(rolled_at(key, counter), colors.shape[0])[:-1]
    start = jnp.broadcast_to(sample.astype(jnp.float64), size)
    left, counts = lax.scan(step, start, (keys, colors[:-1], later[:-1]))
    return _whole(jnp.concatenate([jnp.moveaxis(counts, 0, -1), left[..., None]], -1))


# --- power laws -----------------------------------------------------------------------------------


@register_kernel("random_zipf", backend="jax")
def random_zipf(key: Any, counter: Any, a: Any, size: Any) -> Any:
    """Zipf distribution, by rejection from a discretized Pareto distribution that ends at 2**63.

    Devroye, "Non-uniform random variate generation" (1986), X.6.1.
    """
    shape, a = spread(size, a)
    valid = (a > 1) & (a < 1025)
    power = jnp.where(valid, a, 2) - 1
    b = 2.0**power
    least = (2.0**63) ** -power

    def attempt(key: Any) -> tuple[Any, Any]:
        u, v = noise.uniform_pairs(key, shape, jnp.float64)
        x = jnp.floor((u * least + (1 - u)) ** (-1 / power))
        t = (1 + 1 / x) ** power
        good = (x < 2.0**63) & (x >= 1) & (v * x * (t - 1) / (b - 1) <= t / b)
        return x, good | ~valid

    return _whole(
        jnp.where(valid, accepted(rolled_at(key, counter), shape, jnp.float64, attempt), 1)
    )


@register_kernel("random_logseries", backend="jax")
def random_logseries(key: Any, counter: Any, p: Any, size: Any) -> Any:
    """Logarithmic series distribution: geometric, of a random probability.

    Kemp, "Efficient generation of logarithmically distributed pseudo-random variables" (1981),
    algorithm LK.
    """
    shape, p = spread(size, p)
    first, second = jax.random.split(rolled_at(key, counter))
    u, v = _uniform(first, shape), _uniform(second, shape)
    q = -jnp.expm1(jnp.log1p(-p) * u)
    many = jnp.floor(1 + jnp.log(v) / jnp.log(jnp.where(q > 0, q, 0.5)))
    return _whole(jnp.where(v >= q, 1, jnp.maximum(many, 1)))
