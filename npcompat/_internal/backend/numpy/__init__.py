"""Host backend: programs and kernels over NumPy."""
