"""NumPy's own numpy/_core/tests/test_nep50_promotions.py, on the numpy backend."""

from tests.interop.rewriting import load

globals().update(load("numpy/_core/tests/test_nep50_promotions.py", backend="numpy"))
