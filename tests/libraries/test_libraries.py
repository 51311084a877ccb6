"""Other libraries take our arrays as docs/libraries.md says, row by row."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

from npcompat import np, npx
from npcompat._script import importer
from npcompat._script.source import converted

from . import cases
from .cases import CASES, Case

PAGE = Path(__file__).parents[2] / "docs" / "libraries.md"
SLOW, READ_BUFFERS = {"Cython"}, {"Pillow", "msgpack"}

pytestmark = pytest.mark.filterwarnings("ignore")


def rows() -> dict[tuple[str, str], tuple[str, str]]:
    """Rows of the table: what happens to our array, and what comes back, by library and program."""
    found = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[0] not in ("library", "---"):
            found[cells[0], cells[1]] = (cells[2], cells[3])
    return found


ROWS = rows()


def ours(array: Any) -> Any:
    return np.array(array, dtype=array.dtype)


class Aliases:
    """Makes arrays of ours, and hands out their aliases."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def __call__(self, array: Any) -> Any:
        self.made.append(ours(array))
        return onp.asarray(self.made[-1])


def kind_of(result: Any) -> str:
    """Name what a program returns, as the table does."""
    if isinstance(result, np.ndarray) or type(result).__module__.startswith("npcompat"):
        return "ours"
    if type(result) is onp.ndarray or isinstance(result, onp.generic):
        return "NumPy's"
    if isinstance(result, int | float | str | bytes | list | tuple):
        return "Python's"
    return "its own"


def assert_same(found: Any, expected: Any) -> None:
    found, expected = onp.asarray(found), onp.asarray(expected)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    if found.dtype.kind in "fc":
        onp.testing.assert_allclose(found, expected, rtol=1e-9)
    else:
        onp.testing.assert_array_equal(found, expected)


def test_each_program_has_a_row():
    assert set(ROWS) == {(c.library, c.program) for c in CASES}
    assert len({c.library for c in CASES}) >= 40


def parametrized() -> list[Any]:
    found = []
    for number, c in enumerate(CASES):
        marks = [pytest.mark.slow] if c.library in SLOW else []
        found.append(pytest.param(c, id=f"{c.library}-{number}", marks=marks))
    return found


def need(case: Case) -> None:
    try:
        importlib.import_module(case.module)
    except ModuleNotFoundError as error:
        pytest.skip(f"{case.library} is not installed: {error}")
    needs_c = case.library in READ_BUFFERS and sys.version_info < (3, 12)
    if needs_c and not npx.build_info()["native"]:
        pytest.skip(f"{case.library} reads buffers, which need the C part on Python 3.11")


@pytest.mark.parametrize("case", parametrized())
def test_library(case: Case):
    need(case)
    taken, back = ROWS[case.library, case.program]
    with npx.backend("numpy"):
        expected = case.read(case.run(lambda array: array.copy()))
        by_alias = case.run(Aliases())
        assert_same(case.read(by_alias), expected)
        if taken == "yes":
            result = case.run(ours)
            assert_same(case.read(result), expected)
        else:
            with pytest.raises(Exception) as raised:
                case.run(ours)
            assert type(raised.value).__name__ == taken.removeprefix("no: `").removesuffix("`")
            result = by_alias
    assert kind_of(result) == back


@pytest.fixture(scope="module")
def under_the_runner() -> list[Case]:
    """The programs as `python -m npcompat` runs them: NumPy is npcompat, with NumPy's dtypes."""
    package = f"{cases.__name__}_of_ours"
    sys.modules[package] = type(sys)(package)
    sys.modules[package].__path__ = []
    for theirs in cases.FILES:
        name, file = theirs.__name__.replace(cases.__name__, package), str(theirs.__file__)
        module = sys.modules[name] = type(sys)(name)
        module.__package__ = package
        importer.bind()
        with npx.np_default_dtype(), npx.backend("numpy"):
            exec(converted(Path(file).read_bytes(), file), module.__dict__)
    return sys.modules[f"{package}.base"].__dict__["CASES"]


@pytest.mark.parametrize("case", parametrized())
def test_library_under_the_runner(case: Case, under_the_runner: list[Case]):
    need(case)
    if case.program == "`series + a`":
        pytest.skip("operators are no calls: docs/libraries.md says to hand over the alias")
    same = under_the_runner[CASES.index(case)]
    with npx.np_default_dtype(), npx.backend("numpy"):
        result = same.run(lambda array: array.copy())
        assert_same(same.read(result), case.read(case.run(lambda array: array.copy())))
