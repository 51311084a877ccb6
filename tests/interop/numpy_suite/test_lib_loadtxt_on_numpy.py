"""NumPy's own numpy/lib/tests/test_loadtxt.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/lib/tests/test_loadtxt.py", backend="numpy"))
