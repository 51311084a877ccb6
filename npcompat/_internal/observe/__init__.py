"""Audit and profile: observers of what runs."""
