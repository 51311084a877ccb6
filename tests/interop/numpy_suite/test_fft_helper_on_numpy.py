"""NumPy's own numpy/fft/tests/test_helper.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/fft/tests/test_helper.py", backend="numpy"))
