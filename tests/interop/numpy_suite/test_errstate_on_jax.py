"""NumPy's own numpy/_core/tests/test_errstate.py, on the jax backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/_core/tests/test_errstate.py", backend="jax"))
