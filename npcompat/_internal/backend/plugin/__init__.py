"""Plug-in backends: engines found by name, and made backends of the core."""
