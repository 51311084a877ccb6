"""Random numbers on XLA.  Each takes the key and the counter of a stream; Threefry (Salmon et al., 2011) gives the bits."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def _at(key: Any, counter: Any) -> Any:
    return jax.random.fold_in(jax.random.wrap_key_data(key), counter.astype(jnp.uint32))


def _shape(size: Any, *operands: Any) -> tuple[int, ...]:
    return jnp.broadcast_shapes(*[o.shape for o in operands]) if size is None else size


def random_uniform(key: Any, counter: Any, low: Any, high: Any, size: Any, dtype: Any) -> Any:
    """Uniform on [low, high)."""
    shape = _shape(size, low, high)
    return jax.random.uniform(_at(key, counter), shape, dtype) * (high - low) + low


def random_normal(key: Any, counter: Any, loc: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Normal with a mean and a standard deviation."""
    return jax.random.normal(_at(key, counter), _shape(size, loc, scale), dtype) * scale + loc


def random_integers(key: Any, counter: Any, low: Any, high: Any, size: Any, dtype: Any) -> Any:
    """Uniform integers in [low, high)."""
    low, high = low.astype(jnp.int64), high.astype(jnp.int64)
    return jax.random.randint(_at(key, counter), _shape(size, low, high), low, high, jnp.int64).astype(dtype)


def random_choice(key: Any, counter: Any, probabilities: Any, n: int, size: Any, replace: bool) -> Any:
    """Positions below n, with or without replacement; the probabilities may be None."""
    return jax.random.choice(_at(key, counter), n, size, replace, probabilities).astype(jnp.int64)


def random_permutation(key: Any, counter: Any, n: int) -> Any:
    """The positions below n in random order."""
    return jax.random.permutation(_at(key, counter), n).astype(jnp.int64)


def random_exponential(key: Any, counter: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Exponential with a mean."""
    return jax.random.exponential(_at(key, counter), _shape(size, scale), dtype) * scale


def random_gamma(key: Any, counter: Any, shape: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Gamma with a shape and a scale; differentiable in both."""
    out = _shape(size, shape, scale)
    return jax.random.gamma(_at(key, counter), jnp.broadcast_to(shape, out), out, dtype) * scale


def random_beta(key: Any, counter: Any, a: Any, b: Any, size: Any, dtype: Any) -> Any:
    """Beta."""
    out = _shape(size, a, b)
    return jax.random.beta(_at(key, counter), jnp.broadcast_to(a, out), jnp.broadcast_to(b, out), out, dtype)


def random_poisson(key: Any, counter: Any, lam: Any, size: Any) -> Any:
    """Poisson with a mean."""
    out = _shape(size, lam)
    return jax.random.poisson(_at(key, counter), jnp.broadcast_to(lam, out), out, jnp.int64)


def random_bernoulli(key: Any, counter: Any, p: Any, size: Any, dtype: Any) -> Any:
    """One with a probability, else zero."""
    out = _shape(size, p)
    return jax.random.bernoulli(_at(key, counter), p, out).astype(dtype)


def random_binomial(key: Any, counter: Any, n: Any, p: Any, size: Any) -> Any:
    """Number of successes in n trials."""
    out = _shape(size, n, p)
    n, p = (jnp.broadcast_to(x.astype(jnp.float32), out) for x in (n, p))
    return jax.random.binomial(_at(key, counter), n, p, out).astype(jnp.int64)


def random_laplace(key: Any, counter: Any, loc: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Laplace with a mean and a scale."""
    return jax.random.laplace(_at(key, counter), _shape(size, loc, scale), dtype) * scale + loc


def random_gumbel(key: Any, counter: Any, loc: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Gumbel with a mode and a scale."""
    return jax.random.gumbel(_at(key, counter), _shape(size, loc, scale), dtype) * scale + loc


def random_logistic(key: Any, counter: Any, loc: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Logistic with a mean and a scale."""
    return jax.random.logistic(_at(key, counter), _shape(size, loc, scale), dtype) * scale + loc


def next_counter(counter: Any) -> Any:
    """The counter after a draw."""
    return lax.add(counter, jnp.asarray(1, counter.dtype))
