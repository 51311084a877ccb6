"""Run NumPy programs as they are on npcompat: `python -m npcompat script.py`."""
