"""Dispatch: run operators on values, read and write handles."""
