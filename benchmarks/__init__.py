"""Benchmarks: ratios measured interleaved in one run; see `python -m benchmarks --help`."""
