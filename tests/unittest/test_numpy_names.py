"""docs/numpy_names.md: every name of NumPy has its status, and the page is what the code says."""

import re
import sys
from pathlib import Path

import numpy as onp
import pytest
from internals import REGISTRY

from npcompat import np, npx
from npcompat.ops import _numpy_names
from npcompat.ops.__main__ import main
from npcompat.ops._numpy_names import MEANINGS, SPACES, Tried

PAGE = Path(__file__).parents[2] / "docs" / "numpy_names.md"
WRITE = "write it again: python -m npcompat.ops --numpy-names docs/numpy_names.md"


def rows(text):
    """The cells of the page's rows, by the names that users write."""
    found = {}
    for (space, title), section in zip(
        SPACES.items(), re.split("^## ", text, flags=re.MULTILINE)[1:], strict=True
    ):
        assert section.startswith(f"{title}\n")
        for name, *cells in re.findall(
            r"^\| `(.+?)` \| " + r"(.*?) \| " * 5 + r"(.*?) \|$", section, flags=re.MULTILINE
        ):
            found[f"{space}.{name}"] = cells
    return found


ROWS = rows(PAGE.read_text(encoding="utf-8"))
TRIED = {name: Tried(compiled, gradient) for name, (_, _, _, compiled, gradient, _) in ROWS.items()}


def test_the_page_is_what_the_code_says():
    """Results of trials are taken from the page, for functions that are no operators: trying all
    takes seconds.
    """
    written = re.search(
        r"^Every public name of NumPy (\S+),", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE
    )[1]
    if written != onp.__version__:
        pytest.skip(
            f"the page is of NumPy {written}, installed is {onp.__version__}, whose names may be others"
        )
    if sys.version_info[:2] != (3, 11):
        pytest.skip("the page is written with Python 3.11, whose objects have other attributes")
    assert _numpy_names.page(TRIED) == PAGE.read_text(encoding="utf-8"), WRITE


@pytest.mark.parametrize("names", [
    "np.unique np.nonzero np.allclose np.histogram_bin_edges np.from_dlpack np.mask_indices",
    "np.diag_indices np.delete np.insert np.repeat np.pad np.block np.fill_diagonal np.linalg.pinv",
    "np.fft.fftn np.linalg.cond np.lib.stride_tricks.sliding_window_view np.stack np.hstack np.copy np.asarray",
])  # fmt: skip
def test_what_is_tried_again_is_what_the_page_says(names):
    for name in names.split():
        space, _, last = name.rpartition(".")
        again = _numpy_names._status(space, last, {})
        assert (again.compiled, again.gradient) == tuple(ROWS[name][3:5]), f"{name}: {WRITE}"


def test_every_name_has_a_status():
    for space in ("np", "np.linalg", "np.fft", "np.random", "np.polynomial"):
        theirs = getattr(onp, space[3:]) if "." in space else onp
        assert {
            f"{space}.{name}" for name in theirs.__all__
        } <= ROWS.keys() or onp.__version__ not in PAGE.read_text()
    kinds = {re.sub(r"\[(\w+)\]\(.*\)", r"\1", cells[0]) for cells in ROWS.values()}
    assert kinds == MEANINGS.keys()


def test_rows_say_what_is_so():
    for name, said in {
        "np.add": (
            "[operator](operators/np_arithmetic.md#_npi_add)",
            "",
            "jax, numpy",
            "yes",
            "yes",
            "",
        ),
        "np.amax": (
            "[operator](operators/np_reductions.md#_npi_max)",
            "",
            "jax, numpy",
            "yes",
            "yes",
            "",
        ),
        "np.sort": (
            "[operator](operators/np_sorting.md#_npi_sort)",
            "`descending`",
            "jax, numpy",
            "yes",
            "yes",
            "",
        ),
        "np.hstack": ("function", "", "jax, numpy", "yes", "yes", ""),
        "np.trim_zeros": ("plain", "", "", "needs values", "", ""),
        "np.busday_count": ("host", "", "host", "no", "", ""),
        "np.float32": ("NumPy's", "", "", "", "", ""),
        "np.poly1d": ("class", "", "", "", "", ""),
        "np.c_": ("object", "", "", "", "", ""),
        "np.ndarray.sum": ("method", "", "jax, numpy", "yes", "yes", ""),
        "np.ndarray.shape": ("attribute", "", "", "", "", ""),
        "np.ndarray.__imatmul__": (
            "[operator](operators/np_products.md#_npi_matmul)",
            "",
            "jax, numpy",
            "yes",
            "yes",
            "",
        ),
        "np.random.beta": (
            "[operator](operators/np_random_continuous.md#_npi_random_beta)",
            "`dtype`, `device`, `ctx`, `out`",
            "jax",
            "yes",
            "yes",
            "",
        ),
        "np.polynomial.Polynomial": ("NumPy's source", "", "", "", "", ""),
    }.items():
        assert tuple(ROWS[name]) == said, name
    assert ROWS["np.einsum_path"][5].startswith("`einsum_path(einsum_call=True)`")


def test_links_lead_to_pages_of_operators():
    links = {
        link
        for cells in ROWS.values()
        for link in re.findall(r"\((operators/\w+\.md)#(\w+)\)", cells[0])
    }
    assert len(links) > 200 and {name for _, name in links} <= REGISTRY.keys()
    assert [
        file for file, name in links if f"\n## {name}\n" not in (PAGE.parent / file).read_text()
    ] == []


def test_trying_says_what_compiles_and_what_has_a_derivative(monkeypatch):
    def squares(x):
        """
        >>> np.squares([1, 2])
        """
        return x * x

    def counted(x):
        """
        >>> np.counted(np.array([1, 2]))
        """
        return np.zeros(int(x.sum()))

    def flags(x):
        """
        >>> np.flags(np.array([1, 2]))
        """
        return x & 1

    def broken(x):
        """
        >>> np.broken(np.array([1, 2]))
        """
        raise RuntimeError(x)

    state, placement = np.random.get_state(), npx.current_backend()
    for function, said in (
        (squares, ("yes", "yes")),
        (counted, ("needs values", "")),
        (flags, ("yes", "")),
        (broken, ("no", "")),
    ):
        monkeypatch.setattr(np, function.__name__, function, raising=False)
        tried = _numpy_names._tried(function, f"np.{function.__name__}")
        assert (tried.compiled, tried.gradient) == said
    assert np.random.get_state()[2] == state[2] and npx.current_backend() == placement


def test_the_command_writes_the_page(monkeypatch, tmp_path):
    monkeypatch.setattr(_numpy_names, "page", lambda: "# Names\n")
    monkeypatch.setattr("sys.argv", ["ops", "--numpy-names", str(tmp_path / "names.md")])
    assert main() == 0
    assert (tmp_path / "names.md").read_text() == "# Names\n"
