"""The XLA backend: programs, placement and differentiation."""
