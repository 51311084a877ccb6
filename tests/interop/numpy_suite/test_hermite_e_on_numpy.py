"""NumPy's own numpy/polynomial/tests/test_hermite_e.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/polynomial/tests/test_hermite_e.py", backend="numpy"))
