"""Equations of programs, as plug-in backends are given them: normalised, and free of JAX."""
