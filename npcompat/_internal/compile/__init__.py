"""Tracing, compiled functions, control flow and custom gradients."""
