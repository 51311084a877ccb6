"""NumPy's own numpy/lib/tests/test_mixins.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/lib/tests/test_mixins.py", backend="numpy"))
