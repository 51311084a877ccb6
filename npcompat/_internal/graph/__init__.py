"""Symbols and serialised operators."""
