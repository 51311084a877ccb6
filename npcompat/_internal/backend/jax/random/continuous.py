"""Continuous distributions on XLA, as functions of the key and the counter of a stream.

Samples are differentiable in the parameters. A sample that is a smooth function of noise has the
derivative of that function. One that was found by rejection, or by a choice between roots, has the
derivative that keeps its cumulative distribution constant (`implicitly`).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax
from jax.scipy.special import i0e, log_ndtr, ndtr

from npcompat._internal.backend.jax.random import random_bits as noise
from npcompat._internal.backend.jax.random.keyed_draws import at, rolled_at, shape_of, spread
from npcompat._internal.backend.jax.random.rejection import accepted, gamma, poisson, shares
from npcompat._internal.support.kernel_table import register_kernel


def implicitly(cdf: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f(sample, *parameters)`, which gives the sample an implicit derivative.

    It keeps `cdf(sample, *parameters)` constant. Figurnov, Mohamed and Mnih, "Implicit
    reparameterization gradients" (2018).
    """

    @jax.custom_jvp
    def differentiable(x: Any, *parameters: Any) -> Any:
        return x

    def rule(primals: Any, tangents: Any) -> Any:
        x, *parameters = primals
        change = jax.jvp(lambda *p: cdf(x, *p), tuple(parameters), tuple(tangents[1:]))[1]
        density = jax.jvp(lambda t: cdf(t, *parameters), (x,), (jnp.ones_like(x),))[1]
        return x, -change / density

    differentiable.defjvp(rule)
    return lambda x, *parameters: differentiable(lax.stop_gradient(x), *parameters)


# --- by transformation ----------------------------------------------------------------------------


@register_kernel("random_normal", backend="jax")
def random_normal(key: Any, counter: Any, loc: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Normal distribution with a mean and a standard deviation."""
    standard = noise.normal(at(key, counter), shape_of(size, loc, scale), dtype)
    # The selection changes nothing, and keeps XLA from rounding `standard` together with the sum
    # where a program knows that scale is 1.
    standard = jnp.where(standard <= 0, standard, abs(standard))
    return standard * scale + loc


@register_kernel("random_lognormal", backend="jax")
def random_lognormal(key: Any, counter: Any, mean: Any, sigma: Any, size: Any, dtype: Any) -> Any:
    """Log-normal distribution: the exponential of a normal one."""
    return jnp.exp(random_normal(key, counter, mean, sigma, size, dtype))


@register_kernel("random_exponential", backend="jax")
def random_exponential(key: Any, counter: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Exponential distribution with a mean."""
    return noise.exponential(at(key, counter), shape_of(size, scale), dtype) * scale


@register_kernel("random_rayleigh", backend="jax")
def random_rayleigh(key: Any, counter: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Rayleigh distribution: the length of a vector of two normal components."""
    return jnp.sqrt(2 * noise.exponential(at(key, counter), shape_of(size, scale), dtype)) * scale


@register_kernel("random_pareto", backend="jax")
def random_pareto(key: Any, counter: Any, a: Any, size: Any, dtype: Any) -> Any:
    """Pareto distribution of the second kind (Lomax), from 0 on."""
    return jnp.expm1(noise.exponential(at(key, counter), shape_of(size, a), dtype) / a)


@register_kernel("random_power", backend="jax")
def random_power(key: Any, counter: Any, a: Any, size: Any, dtype: Any) -> Any:
    """Power distribution: density a * x**(a - 1) on [0, 1]."""
    return jnp.exp(-noise.exponential(at(key, counter), shape_of(size, a), dtype) / a)


@register_kernel("random_weibull", backend="jax")
def random_weibull(key: Any, counter: Any, a: Any, size: Any, dtype: Any) -> Any:
    """Weibull distribution with a shape and scale 1."""
    e = noise.exponential(at(key, counter), shape_of(size, a), dtype)
    return jnp.where(a == 0, 0, e ** (1 / jnp.where(a == 0, 1, a)))


@register_kernel("random_laplace", backend="jax")
def random_laplace(key: Any, counter: Any, loc: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Laplace distribution with a mean and a scale."""
    return noise.laplace(at(key, counter), shape_of(size, loc, scale), dtype) * scale + loc


@register_kernel("random_gumbel", backend="jax")
def random_gumbel(key: Any, counter: Any, loc: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Gumbel distribution with a mode and a scale."""
    return noise.gumbel(at(key, counter), shape_of(size, loc, scale), dtype) * scale + loc


@register_kernel("random_logistic", backend="jax")
def random_logistic(key: Any, counter: Any, loc: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Logistic distribution with a mean and a scale."""
    return noise.logistic(at(key, counter), shape_of(size, loc, scale), dtype) * scale + loc


@register_kernel("random_standard_cauchy", backend="jax")
def random_standard_cauchy(key: Any, counter: Any, size: Any, dtype: Any) -> Any:
    """Cauchy distribution with mode 0 and scale 1."""
    return noise.cauchy(at(key, counter), shape_of(size), dtype)


@register_kernel("random_triangular", backend="jax")
def random_triangular(
    key: Any, counter: Any, left: Any, mode: Any, right: Any, size: Any, dtype: Any
) -> Any:
    """Triangular distribution: the density rises linearly from left to mode and falls to right."""
    u = noise.uniform(at(key, counter), shape_of(size, left, mode, right), dtype)
    rises = u * (right - left) < mode - left
    root = jnp.sqrt((right - left) * jnp.where(rises, u * (mode - left), (1 - u) * (right - mode)))
    return jnp.where(rises, left + root, right - root)


# --- by gamma variates ----------------------------------------------------------------------------


@register_kernel("random_gamma", backend="jax")
def random_gamma(key: Any, counter: Any, shape: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Gamma distribution with a shape and a scale."""
    _, alpha, factor = spread(size, shape, scale)
    return gamma(rolled_at(key, counter), alpha) * factor


@register_kernel("random_beta", backend="jax")
def random_beta(key: Any, counter: Any, a: Any, b: Any, size: Any, dtype: Any) -> Any:
    """Beta distribution."""
    _, a, b = spread(size, a, b)
    return shares(rolled_at(key, counter), jnp.stack([a, b], -1))[..., 0]


@register_kernel("random_chisquare", backend="jax")
def random_chisquare(key: Any, counter: Any, df: Any, size: Any, dtype: Any) -> Any:
    """Chi-square distribution: the sum of `df` squares of normal variates."""
    return 2 * gamma(rolled_at(key, counter), spread(size, df)[1] / 2)


@register_kernel("random_f", backend="jax")
def random_f(key: Any, counter: Any, dfnum: Any, dfden: Any, size: Any, dtype: Any) -> Any:
    """Fisher's F distribution: the quotient of two chi-square variates.

    Each is divided by its degrees of freedom.
    """
    _, n, d = spread(size, dfnum, dfden)
    drawn = gamma(rolled_at(key, counter), jnp.stack([n, d], -1) / 2)
    above, below = drawn[..., 0], drawn[..., 1]
    return (above / n) / (below / d)


@register_kernel("random_standard_t", backend="jax")
def random_standard_t(key: Any, counter: Any, df: Any, size: Any, dtype: Any) -> Any:
    """Student's t distribution: a normal variate by the root of a chi-square one.

    The latter is divided by its degrees of freedom.
    """
    shape, df = spread(size, df)
    normals, gammas = jax.random.split(rolled_at(key, counter))
    return noise.normal(normals, shape, dtype) * jnp.sqrt(df / 2 / gamma(gammas, df / 2))


def _excess(key: Any, df: Any, nonc: Any, dtype: Any) -> tuple[Any, Any]:
    """Return a noncentral chi-square variate as degrees of freedom of a central one, and an addend.

    With more than one degree of freedom, one square is that of a shifted normal variate; else df is
    a Poisson mixture. Johnson, Kotz and Balakrishnan, "Continuous univariate distributions", vol. 2
    (1995), ch. 29.
    """
    normals, counts = jax.random.split(key)
    above = df > 1
    shifted = (noise.normal(normals, df.shape, dtype) + jnp.sqrt(nonc)) ** 2
    pairs = 2 * poisson(
        counts, jnp.where(above, 0, lax.stop_gradient(nonc).astype(jnp.float64)) / 2
    ).astype(dtype)
    added = jnp.where(above, shifted, jnp.where(jnp.isnan(nonc), jnp.nan, 0))
    return jnp.where(above, df - 1, df + pairs), added


@register_kernel("random_noncentral_chisquare", backend="jax")
def random_noncentral_chisquare(
    key: Any, counter: Any, df: Any, nonc: Any, size: Any, dtype: Any
) -> Any:
    """Noncentral chi-square distribution: of normal variates that are not centred."""
    first, second = jax.random.split(rolled_at(key, counter))
    _, df, nonc = spread(size, df, nonc)
    degrees, added = _excess(first, df, nonc, dtype)
    return 2 * gamma(second, degrees / 2) + added


@register_kernel("random_noncentral_f", backend="jax")
def random_noncentral_f(
    key: Any, counter: Any, dfnum: Any, dfden: Any, nonc: Any, size: Any, dtype: Any
) -> Any:
    """Fisher's F distribution with a noncentral numerator."""
    _, n, d, nonc = spread(size, dfnum, dfden, nonc)
    first, second = jax.random.split(rolled_at(key, counter))
    degrees, added = _excess(first, n, nonc, dtype)
    drawn = 2 * gamma(second, jnp.stack([degrees, d], -1) / 2)
    above, below = drawn[..., 0], drawn[..., 1]
    return ((above + added) / n) / (below / d)


# --- by a choice or by rejection ------------------------------------------------------------------


@implicitly
def _wald(x: Any, mean: Any, scale: Any) -> Any:
    root = jnp.sqrt(scale / x)
    return ndtr(root * (x / mean - 1)) + jnp.exp(
        2 * scale / mean + log_ndtr(-root * (x / mean + 1))
    )


@register_kernel("random_wald", backend="jax")
def random_wald(key: Any, counter: Any, mean: Any, scale: Any, size: Any, dtype: Any) -> Any:
    """Wald (inverse Gaussian) distribution: the smaller root of a quadratic, or the other one.

    Michael, Schucany and Haas, "Generating random variates using transformations with multiple
    roots" (1976).
    """
    shape, mean, scale = spread(size, mean, scale)
    normals, choices = jax.random.split(rolled_at(key, counter))
    w = mean * noise.normal(normals, shape, dtype) ** 2 / (2 * scale)
    # the smaller root divided by the mean, without cancellation
    factor = 1 / (1 + w + jnp.sqrt(w * (2 + w)))
    smaller = noise.uniform(choices, shape, dtype) * (1 + factor) <= 1
    return _wald(mean * jnp.where(smaller, factor, 1 / factor), mean, scale)


@cache
def _gauss() -> Any:
    """Nodes and weights of Gauss-Legendre quadrature."""
    return onp.polynomial.legendre.leggauss(48)


@implicitly
def _vonmises(x: Any, kappa: Any) -> Any:
    nodes, weights = _gauss()
    t = x[..., None] * (nodes + 1) / 2
    integral = (jnp.exp(kappa[..., None] * (jnp.cos(t) - 1)) * weights).sum(-1) * x / 2
    return integral / (2 * jnp.pi * i0e(kappa))


@register_kernel("random_vonmises", backend="jax")
def random_vonmises(key: Any, counter: Any, mu: Any, kappa: Any, size: Any, dtype: Any) -> Any:
    """Von Mises distribution on [-pi, pi], by rejection from a wrapped Cauchy distribution.

    Best and Fisher, "Efficient simulation of the von Mises distribution" (1979).
    """
    shape, mu, given = spread(size, mu.astype(jnp.float64), kappa.astype(jnp.float64))
    kappa = lax.stop_gradient(given)
    concentrated, flat = kappa > 1e6, kappa < 1e-5
    k = jnp.where(flat | concentrated, 1, kappa)
    tau = 1 + jnp.sqrt(1 + 4 * k * k)
    rho = (tau - jnp.sqrt(2 * tau)) / (2 * k)
    s = jnp.where(flat, 1 / jnp.maximum(kappa, 1e-300) + kappa, (1 + rho * rho) / (2 * rho))
    signs, angles, loop = jax.random.split(rolled_at(key, counter), 3)

    def attempt(key: Any) -> tuple[Any, Any]:
        u, v = noise.uniform_pairs(key, shape, jnp.float64)
        z = jnp.cos(jnp.pi * u)
        w = (1 + s * z) / (s + z)
        y = kappa * (s - w)
        good = (y * (2 - y) >= v) | (jnp.log(y / v) + 1 >= y)
        return jnp.arccos(jnp.clip(w, -1, 1)), good | (kappa < 1e-8) | concentrated | ~(kappa >= 0)

    angle = accepted(loop, shape, jnp.float64, attempt)
    angle = jnp.where(kappa < 1e-8, noise.uniform(angles, shape, jnp.float64) * jnp.pi, angle)
    angle = jnp.where(jax.random.bernoulli(signs, 0.5, shape), angle, -angle)
    # For a large kappa the density is that of a normal distribution, and rejection would subtract
    # nearly equal numbers.
    angle = jnp.where(
        concentrated, noise.normal(angles, shape, jnp.float64) / jnp.sqrt(kappa), angle
    )
    angle = _vonmises(jnp.where(kappa >= 0, angle, jnp.nan), given) + mu
    return angle - 2 * jnp.pi * jnp.round(lax.stop_gradient(angle) / (2 * jnp.pi))


# --- vectors --------------------------------------------------------------------------------------


@register_kernel("random_dirichlet", backend="jax")
def random_dirichlet(key: Any, counter: Any, alpha: Any, size: Any, dtype: Any) -> Any:
    """Dirichlet distribution; an alpha of 0 gives 0."""
    alpha = jnp.broadcast_to(alpha, (*size, alpha.shape[0]))
    total = alpha.sum(-1, keepdims=True)
    drawn = shares(rolled_at(key, counter), jnp.where(total == 0, 1, alpha))
    return jnp.where(alpha == 0, 0, drawn)


def _product(a: Any, b: Any) -> Any:
    """Product of matrices, of float32 not rounded on GPUs."""
    return jnp.matmul(a, b, precision=lax.Precision.HIGHEST)


@jax.custom_jvp
def _square_root(cov: Any) -> Any:
    """Symmetric square root of a symmetric matrix, with absolute values of its eigenvalues."""
    s, v = jnp.linalg.eigh(cov)
    return _product(v * jnp.sqrt(abs(s)), v.T)


@_square_root.defjvp
def _square_root_derivative(primals: Any, tangents: Any) -> Any:
    # This solves R dR + dR R = dC. Unlike the derivative of eigenvectors, the solution exists for
    # equal eigenvalues.
    s, v = jnp.linalg.eigh(primals[0])
    roots = jnp.sqrt(abs(s))
    change = tangents[0]
    inner = _product(_product(v.T, (change + change.T) / 2), v) / (roots[:, None] + roots)
    return _product(v * roots, v.T), _product(_product(v, inner), v.T)


@register_kernel("random_multivariate_normal", backend="jax")
def random_multivariate_normal(
    key: Any, counter: Any, mean: Any, cov: Any, size: Any, method: str, dtype: Any
) -> Any:
    """Multivariate normal distribution with a mean and a covariance."""
    root = jnp.linalg.cholesky(cov).T if method == "cholesky" else _square_root(cov)
    return _product(noise.normal(at(key, counter), (*size, mean.shape[0]), dtype), root) + mean
