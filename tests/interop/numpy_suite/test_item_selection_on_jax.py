"""NumPy's own numpy/_core/tests/test_item_selection.py, on the jax backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/_core/tests/test_item_selection.py", backend="jax"))
