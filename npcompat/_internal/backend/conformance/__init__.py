"""Equations in corners, with what XLA makes of them, for the conformance kit."""
