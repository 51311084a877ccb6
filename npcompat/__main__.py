"""Run a NumPy program on npcompat: `python -m npcompat script.py`."""

from npcompat._script.main import main

if __name__ == "__main__":
    main()
