"""Staging: Python's loops and branches as parts of one program."""
