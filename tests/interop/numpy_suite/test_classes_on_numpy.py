"""NumPy's own numpy/polynomial/tests/test_classes.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/polynomial/tests/test_classes.py", backend="numpy"))
