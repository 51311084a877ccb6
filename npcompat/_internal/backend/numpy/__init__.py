"""The host backend: programs and kernels over NumPy."""
