"""The documentation is true: names that it mentions exist, and its instructions work."""

import ast
import doctest
import importlib.util
import re
from pathlib import Path

import pytest
import test_registry
import test_registry_gradients
from internals import REGISTRY
from registry_cases import CASES

import npcompat
from npcompat import autograd, gluon, np, npx, ops, symbol

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def defined_in(file: Path) -> set[str]:
    """The names that a module defines at its top level, and `Class.attribute` of its classes."""
    names: set[str] = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{n.name}" for n in node.body if isinstance(n, ast.FunctionDef)}
        if isinstance(node, ast.Assign):
            names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_blocks_of_code_of_a_page_are_closed(page):
    opened = None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            assert opened is None or line == "```", f"the block of line {opened} is not closed"
            opened = number if opened is None else None
    assert opened is None, f"the block of line {opened} is not closed"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_of_a_page_lead_somewhere(page):
    targets = set(re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page.read_text()))
    assert [t for t in sorted(targets) if not (page.parent / t).exists()] == []


def test_the_index_leads_to_every_page():
    linked = set(re.findall(r"\]\(([\w/]+\.md)\)", (ROOT / "docs" / "README.md").read_text()))
    assert {p.name for p in (ROOT / "docs").glob("*.md")} - {"README.md"} <= linked


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_and_names_that_a_page_mentions_exist(page):
    text = page.read_text()
    mentioned = re.findall(
        r"`((?:npcompat|tests|docs|examples|benchmarks)/[\w/.]*)(?:::([\w.]+))?`", text
    )
    mentioned += [(target, "") for target in re.findall(r"\]\((docs/[\w.]+)\)", text)]
    created = set(re.findall(r"^```python file=(\S+)$", text, flags=re.MULTILINE))
    for file, name in mentioned:
        if file in created:
            continue
        assert (ROOT / file).exists(), f"{page.name} mentions {file}"
        if name:
            assert name in defined_in(ROOT / file), f"{page.name} mentions {file}::{name}"


def test_the_architecture_follows_add_through_the_three_modes():
    text = (ROOT / "docs" / "architecture.md").read_text()
    for heading in (
        "## `np.add(x, y)`, eager",
        "## `np.add(x, y)`, recorded",
        "## `np.add(x, y)`, traced",
    ):
        assert heading in text
    assert len(re.findall(r"`npcompat/[\w/]+\.py::[\w.]+`", text)) >= 30


def test_the_readme_example_prints_what_it_says(capsys):
    (code,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL
    )
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out == "8.75 [ 2. -2.  1.]\n" * 2
    assert len([line for line in code.splitlines() if line]) == 15


def blocks(page: str) -> dict[str, str]:
    """The code blocks of a page that name the file they belong to."""
    found = re.findall(
        r"^```python file=(\S+)\n(.*?)^```$",
        (ROOT / "docs" / page).read_text(),
        flags=re.MULTILINE | re.DOTALL,
    )
    return dict(found)


def unsupported() -> set[str]:
    """Find the functions that raise NotImplementedError, except abstract methods."""
    found = set()

    def visit(file: Path, node: ast.AST, names: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            inside = (
                (*names, child.name) if isinstance(child, ast.FunctionDef | ast.ClassDef) else names
            )
            text = ast.unparse(child) if isinstance(child, ast.Raise) else ""
            abstract = (
                "must define" in text
                or "does not define" in text
                or text == "raise NotImplementedError"
            )
            if "NotImplementedError" in text and not abstract:
                found.add(f"{file.relative_to(ROOT)}::{'.'.join(names)}")
            visit(file, child, inside)

    for file in (ROOT / "npcompat").rglob("*.py"):
        visit(file, ast.parse(file.read_text()), ())
    return found


def test_the_known_gaps_are_what_raises_not_implemented():
    listed = set(
        re.findall(
            r"`(npcompat/[\w/]+\.py::[\w.]+)`", (ROOT / "docs" / "known_gaps.md").read_text()
        )
    )
    assert unsupported() - listed == set(), "raised, but not listed in docs/known_gaps.md"
    assert listed - unsupported() == set(), "listed in docs/known_gaps.md, but not raised"


@pytest.fixture
def followed(tmp_path):
    """Follow docs/add_an_operator.md: yield the module that it adds, with its cases declared, and
    remove both afterwards.
    """
    written = blocks("add_an_operator.md")
    modules = {}
    before = dict(REGISTRY), dict(CASES)
    packages = {"npcompat/numpy": np, "npcompat/numpy_extension": npx}
    added = []
    for file, code in written.items():
        path = tmp_path / Path(file).name
        path.write_text(code)
        spec = importlib.util.spec_from_file_location(f"followed_{path.stem}", path)
        modules[file] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[file])
        package = packages.get(str(Path(file).parent))
        for name in modules[file].__all__ if package else ():
            setattr(package, name, getattr(modules[file], name))
            added.append((package, name))
    yield modules
    for package, name in added:
        delattr(package, name)
    for table, was in zip((REGISTRY, CASES), before, strict=False):
        table.clear()
        table.update(was)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("_npx_scan_sum", "npcompat/numpy_extension/_scan.py"),
        ("_npi_cumlogsumexp", "npcompat/numpy/_logarithmic_sums.py"),
    ],
)
def test_the_page_adds_an_operator_that_the_template_accepts(followed, monkeypatch, name, file):
    test_registry.test_every_operator_has_cases_that_run_it(name, monkeypatch)
    test_registry.test_host(name)
    test_registry.test_xla(name)
    for numpy_policy in (False, True):
        test_registry.test_compiled(name, numpy_policy)
    test_registry_gradients.test_gradients(name)
    test_registry_gradients.test_second_order(name)
    results = doctest.testmod(followed[file], extraglobs={"np": np, "npx": npx})
    assert results.attempted == 1 and results.failed == 0


def test_an_operator_of_the_page_is_compiled_and_differentiated(followed):
    x = np.array([[1.0, 2.0, 4.0]])
    x.attach_grad()
    with autograd.record():
        y = npx.jit(lambda x: npx.scan_sum(x, exclusive=True))(x)
    y.backward()
    assert y.tolist() == [[0, 1, 3]] and x.grad.tolist() == [[2, 1, 0]]


def test_the_other_kinds_of_the_page_are_accepted(followed):
    for name in ("_npx_add_many", "_npx_gemm"):
        test_registry.test_host(name)
        test_registry.test_xla(name)
        test_registry_gradients.test_gradients(name)
    results = doctest.testmod(
        followed["npcompat/numpy_extension/_blas.py"], extraglobs={"np": np, "npx": npx}
    )
    assert results.attempted == 2 and results.failed == 0
    gemm, many = ops.Gemm(transpose_a=True), ops.AddMany()
    x, y = (
        symbol.var("x", shape=("k", "n"), dtype="float32"),
        symbol.var("y", shape=("k", "m"), dtype="float32"),
    )
    (product,) = gemm(x, y)
    assert many(product, product, 1.0)[0].type == ops.TensorType(("n", "m"), "float32")
    assert product.eval(x=np.ones((2, 3)), y=np.ones((2, 4)))[0].tolist() == [[2.0] * 4] * 3


def test_a_new_operator_without_a_case_fails(followed, monkeypatch):
    CASES.pop("_npx_scan_sum")
    with pytest.raises(
        AssertionError, match="_npx_scan_sum has no case: add one to tests/unittest/registry_cases/"
    ):
        test_registry.test_every_operator_has_cases_that_run_it("_npx_scan_sum", monkeypatch)


# --- examples of pages ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if ">>> " in p.read_text() and "python file=" not in p.read_text()],
    ids=lambda p: p.name,
)
def test_the_examples_of_a_page_print_what_it_says(page):
    names = {
        "np": np,
        "npx": npx,
        "autograd": autograd,
        "gluon": gluon,
        "nn": gluon.nn,
        "ops": ops,
        "symbol": symbol,
        "npcompat": npcompat,
    }
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    text = page.read_text().replace("```", "")
    found = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    assert found.examples
    runner = doctest.DocTestRunner(optionflags=options)
    report = []
    runner.run(found, out=report.append)
    assert not report, "".join(report)
