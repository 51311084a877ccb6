"""Black-Scholes option prices (1973): long elementwise formulas, with a polynomial normal CDF.

The polynomial is 26.2.17 of Abramowitz and Stegun, Handbook of Mathematical Functions.
"""

from typing import Any

import jax.numpy as jnp
import numpy

SMALL, FULL = (50,), (100_000,)
COEFFICIENTS = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)


def inputs(n: int) -> tuple[Any, ...]:
    random = numpy.random.RandomState(0)
    return (
        random.uniform(10, 50, n),
        random.uniform(10, 50, n),
        random.uniform(0.2, 2, n),
        0.02,
        0.3,
    )


def program(np: Any, price: Any, strike: Any, years: Any, rate: float, volatility: float) -> Any:
    def normal(x: Any) -> Any:
        size = np.abs(x)
        k = 1 / (1 + 0.2316419 * size)
        total = np.zeros_like(k)
        for c in COEFFICIENTS:
            total += c
            total *= k
        total *= np.exp(-0.5 * size * size) / np.sqrt(2 * np.pi)
        return np.where(x >= 0, 1 - total, total)

    spread = volatility * np.sqrt(years)
    first = (np.log(price / strike) + (rate + volatility**2 / 2) * years) / spread
    second = first - spread
    discounted = strike * np.exp(-rate * years)
    call = price * normal(first) - discounted * normal(second)
    put = discounted * normal(-second) - price * normal(-first)
    return np.stack([call, put])


def by_hand(price: Any, strike: Any, years: Any, rate: float, volatility: float) -> Any:
    def normal(x: Any) -> Any:
        k = 1 / (1 + 0.2316419 * abs(x))
        total = jnp.zeros_like(k)
        for c in COEFFICIENTS:
            total = (total + c) * k
        total = total * jnp.exp(-0.5 * x * x) / jnp.sqrt(2 * jnp.pi)
        return jnp.where(x >= 0, 1 - total, total)

    spread = volatility * jnp.sqrt(years)
    first = (jnp.log(price / strike) + (rate + volatility**2 / 2) * years) / spread
    second = first - spread
    discounted = strike * jnp.exp(-rate * years)
    call = price * normal(first) - discounted * normal(second)
    put = discounted * normal(-second) - price * normal(-first)
    return jnp.stack([call, put])
