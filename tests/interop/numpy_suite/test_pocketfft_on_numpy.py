"""NumPy's own numpy/fft/tests/test_pocketfft.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/fft/tests/test_pocketfft.py", backend="numpy"))
