"""Programs of the kind people publish, by Python and by the runner: they print the same."""

import contextlib
import importlib
import io
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from npcompat import npx
from npcompat._script import importer
from npcompat._script.source import converted

FOLDER = Path(__file__).parents[1] / "published"
PROGRAMS = sorted(FOLDER.glob("*.py"))


def printed(code, name):
    module = ModuleType(name)
    importer.bind()
    found = io.StringIO()
    sys.modules[name] = module
    try:
        with contextlib.redirect_stdout(found):
            exec(code, module.__dict__)
    finally:
        del sys.modules[name]
    return found.getvalue(), module


def test_there_are_fifty():
    assert len(PROGRAMS) >= 50


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.stem for p in PROGRAMS])
def test_published_program(program):
    source = program.read_text()
    for needed in re.findall(r"^# needs: (\w+)", source, flags=re.MULTILINE):
        try:
            importlib.import_module(needed)
        except ModuleNotFoundError:
            pytest.skip(f"{needed} is not installed")
    expected, _ = printed(compile(source, str(program), "exec"), "published_by_numpy")
    with npx.np_default_dtype():
        found, module = printed(converted(source, str(program)), "published_by_npcompat")
    assert module.np.__name__ == "npcompat.numpy"
    assert expected and found == expected
