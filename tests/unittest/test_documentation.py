"""What the documents say is true: the names they mention exist, and what they tell to do works."""

import ast
import re
from pathlib import Path

import pytest

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
def test_files_and_names_that_a_page_mentions_exist(page):
    text = page.read_text()
    mentioned = re.findall(r"`((?:npcompat|tests|docs|examples|benchmarks)/[\w/.]*)(?:::([\w.]+))?`", text)
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
    for heading in ("## `np.add(x, y)`, eager", "## `np.add(x, y)`, recorded", "## `np.add(x, y)`, traced"):
        assert heading in text
    assert len(re.findall(r"`npcompat/[\w/]+\.py::[\w.]+`", text)) >= 30


def blocks(page: str) -> dict[str, str]:
    """The code blocks of a page that name the file they belong to."""
    found = re.findall(r"^```python file=(\S+)\n(.*?)^```$", (ROOT / "docs" / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    return dict(found)


def test_every_unsupported_argument_is_a_known_gap():
    """Whatever raises NotImplementedError stands in the list, with its reason."""
    listed = (ROOT / "docs" / "known_gaps.md").read_text()
    missing = []
    for file in sorted((ROOT / "npcompat").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Raise) and "NotImplementedError" in ast.unparse(inner) and f"`{node.name}`" not in listed:
                        missing.append(f"{file.relative_to(ROOT)}::{node.name}")
    assert not missing, f"docs/known_gaps.md does not name {sorted(set(missing))}"
