"""NumPy's own numpy/_core/tests/test_half.py, on the jax backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/_core/tests/test_half.py", backend="jax"))
