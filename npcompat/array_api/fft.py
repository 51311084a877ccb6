"""Fourier transforms of the array API standard: those of `npcompat.numpy.fft`."""

from npcompat.array_api._array import of_arrays
from npcompat.numpy import fft as _fft

fft = of_arrays(_fft.fft)
fftfreq = of_arrays(_fft.fftfreq)
fftn = of_arrays(_fft.fftn)
fftshift = of_arrays(_fft.fftshift)
hfft = of_arrays(_fft.hfft)
ifft = of_arrays(_fft.ifft)
ifftn = of_arrays(_fft.ifftn)
ifftshift = of_arrays(_fft.ifftshift)
ihfft = of_arrays(_fft.ihfft)
irfft = of_arrays(_fft.irfft)
irfftn = of_arrays(_fft.irfftn)
rfft = of_arrays(_fft.rfft)
rfftfreq = of_arrays(_fft.rfftfreq)
rfftn = of_arrays(_fft.rfftn)

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]
