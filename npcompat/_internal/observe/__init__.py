"""Audit and profile: observers of running operators and programs."""
