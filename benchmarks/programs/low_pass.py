"""Low-pass filter of an image by its Fourier transform, followed by sharpening."""

from typing import Any

import jax.numpy as jnp
import numpy

SMALL, FULL = (12, 0.2), (256, 0.1)


def inputs(n: int, limit: float) -> tuple[Any, ...]:
    return numpy.random.RandomState(0).normal(size=(n, n)), limit


def program(np: Any, image: Any, limit: float) -> Any:
    spectrum = np.fft.rfft2(image)
    y, x = np.fft.fftfreq(image.shape[0]), np.fft.rfftfreq(image.shape[1])
    frequency = np.hypot(y[:, None], x)
    spectrum[frequency > limit] = 0
    smooth = np.fft.irfft2(spectrum, s=image.shape)
    spectrum *= frequency
    edges = np.fft.irfft2(spectrum, s=image.shape)
    smooth += 0.5 * edges
    smooth -= smooth.min()
    smooth /= smooth.max()
    return smooth


def by_hand(image: Any, limit: float) -> Any:
    spectrum = jnp.fft.rfft2(image)
    frequency = jnp.hypot(
        jnp.fft.fftfreq(image.shape[0])[:, None], jnp.fft.rfftfreq(image.shape[1])
    )
    spectrum = jnp.where(frequency > limit, 0, spectrum)
    smooth = jnp.fft.irfft2(spectrum, s=image.shape) + 0.5 * jnp.fft.irfft2(
        spectrum * frequency, s=image.shape
    )
    smooth = smooth - smooth.min()
    return smooth / smooth.max()
