"""Tests against what others wrote: NumPy's own tests, its protocols, SciPy and scikit-learn."""
