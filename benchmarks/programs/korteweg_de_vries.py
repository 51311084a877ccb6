"""Korteweg-de Vries equation (shallow water waves) by a pseudospectral Runge-Kutta method.

Many small transforms in a loop. The linear part is solved exactly by an integrating factor
(Trefethen, Spectral Methods in MATLAB, program 27).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

SMALL, FULL = (64, 2), (256, 25)
STEP = 0.4 / 256**2


def inputs(n: int, steps: int) -> tuple[Any, ...]:
    x = 2 * numpy.pi / n * numpy.arange(-n // 2, n // 2)
    u = (
        3 * 25**2 / numpy.cosh(0.5 * 25 * (x + 2)) ** 2
        + 3 * 16**2 / numpy.cosh(0.5 * 16 * (x + 1)) ** 2
    )
    return u, numpy.fft.fftfreq(n, 1 / n), steps


def program(np: Any, u: Any, k: Any, steps: int) -> Any:
    spectrum = np.fft.fft(u)
    half = np.exp(1j * k**3 * STEP / 2)
    whole = half**2
    g = -0.5j * STEP * k
    for _ in range(steps):
        a = g * np.fft.fft(np.fft.ifft(spectrum).real ** 2)
        b = g * np.fft.fft(np.fft.ifft(half * (spectrum + a / 2)).real ** 2)
        c = g * np.fft.fft(np.fft.ifft(half * spectrum + b / 2).real ** 2)
        d = g * np.fft.fft(np.fft.ifft(whole * spectrum + half * c).real ** 2)
        spectrum *= whole
        spectrum += (whole * a + 2 * half * (b + c) + d) / 6
    return np.fft.ifft(spectrum).real


def by_hand(u: Any, k: Any, steps: int) -> Any:
    half = jnp.exp(1j * k**3 * STEP / 2)
    whole = half**2

    def nonlinear(spectrum: Any) -> Any:
        return -0.5j * STEP * k * jnp.fft.fft(jnp.fft.ifft(spectrum).real ** 2)

    def step(_: int, spectrum: Any) -> Any:
        a = nonlinear(spectrum)
        b = nonlinear(half * (spectrum + a / 2))
        c = nonlinear(half * spectrum + b / 2)
        d = nonlinear(whole * spectrum + half * c)
        return whole * spectrum + (whole * a + 2 * half * (b + c) + d) / 6

    return jnp.fft.ifft(jax.lax.fori_loop(0, steps, step, jnp.fft.fft(u))).real
