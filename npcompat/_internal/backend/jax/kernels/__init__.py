"""Computations on XLA that jax.numpy lacks, or does otherwise than NumPy."""
