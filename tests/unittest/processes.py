"""Programs that run in a process of their own, with other settings."""

import os
import subprocess
import sys
from pathlib import Path

SWITCHES = ("NPCOMPAT_FAST", "NPCOMPAT_NATIVE", "NUMPY_MADVISE_HUGEPAGE", "GLIBC_TUNABLES")
"""Settings of this process that the programs don't inherit."""


def run(program: str, **environment: str) -> tuple[list[str], str]:
    """Run a program of Python; return the lines that it prints, and its errors."""
    kept = {k: v for k, v in os.environ.items() if k not in SWITCHES}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**kept, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
    )
    return ran.stdout.splitlines(), ran.stderr
