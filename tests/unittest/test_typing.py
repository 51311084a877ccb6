"""A type checker knows the results of functions, and refuses arguments that are no arrays."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).parent / "typing" / "users_program.py"
SETTINGS = f"""
[mypy]
strict = true
mypy_path = {ROOT}

[mypy-npcompat.*]
follow_imports = silent

[mypy-jax.*,optax.*,npcompat.gluon.*,npcompat.image.*,npcompat.optimizer.*,npcompat.symbol.*]
follow_imports = skip
"""
"""The library's own errors are those of another test; what arrays do not need is not looked at."""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Messages of mypy about the program, as pairs of a line number and a text."""
    folder = tmp_path_factory.mktemp("mypy")
    (folder / "mypy.ini").write_text(SETTINGS)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=mypy.ini", "--cache-dir=cache", PROGRAM],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    said = [re.match(r".*users_program\.py:(\d+): (.*)", line) for line in done.stdout.splitlines()]
    return [(int(match[1]), match[2]) for match in said if match]


def marked(mark):
    """The lines of the program that carry a mark, with what it says."""
    lines = enumerate(PROGRAM.read_text().splitlines(), 1)
    return [(i, line.partition(f"# {mark}: ")[2]) for i, line in lines if f"# {mark}: " in line]


def test_mypy_refuses_the_marked_lines_and_no_others(found):
    errors = [(i, said) for i, said in found if said.startswith("error: ")]
    assert [(i, re.findall(r"\[([\w-]+)\]$", said)[0]) for i, said in errors] == marked("error")


def test_mypy_knows_the_types_of_results(found):
    revealed = [
        (i, re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", said.partition('"')[2].rstrip('"')))
        for i, said in found
        if said.startswith("note: Revealed type is ")
    ]
    assert revealed == marked("is")
