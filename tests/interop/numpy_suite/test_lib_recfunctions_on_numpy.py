"""NumPy's own numpy/lib/tests/test_recfunctions.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/lib/tests/test_recfunctions.py", backend="numpy"))
