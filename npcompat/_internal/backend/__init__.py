"""Backends: the only code that knows what a payload is."""
