"""Errors, text and files: what knows nothing of npcompat."""
