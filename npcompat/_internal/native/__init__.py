"""The optional C fast path and its Python door."""
