"""The tests; a package, so that `python -m tests.interop` runs."""
