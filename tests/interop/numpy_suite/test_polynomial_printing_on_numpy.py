"""NumPy's own numpy/polynomial/tests/test_printing.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/polynomial/tests/test_printing.py", backend="numpy"))
