"""NumPy's own test files, one module here for each file and backend.

Every file runs on the numpy backend. Those about indexing and shapes run on XLA, too, because
views, writes and bounds are what npcompat does there on its own, and so do those of floats of half
precision and of floating-point errors; the others are kernels, which the registry's template covers
on both backends, and thousands of shapes and dtypes to compile: `python -m tests.interop.measure`
runs them.
"""
