"""Run an operator on values; read and write handles."""
