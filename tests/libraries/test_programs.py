"""Programs with other libraries print under `python -m npcompat` what they print with NumPy."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.py"))


def printed(*command):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.stem for p in PROGRAMS])
def test_programs_print_what_they_print_with_numpy(program):
    words = [line.split()[:2] for line in program.read_text().splitlines()]
    imported = [w[1].partition(".")[0] for w in words if w and w[0] in ("import", "from")]
    for name in imported:
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    assert printed("-m", "npcompat", str(program)) == printed(str(program))
