"""Samplers on XLA."""
