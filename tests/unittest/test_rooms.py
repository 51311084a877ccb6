"""Rooms of `npcompat/_internal` import only lower rooms, as the table in docs/architecture.md says."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
INTERNAL = ROOT / "npcompat" / "_internal"
PREFIX = "npcompat._internal."


def rooms() -> dict[str, int]:
    """The number of each room, from the table of rooms."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| (\d+) \| `([\w/.]+)` \|", text, flags=re.MULTILINE)
    return {room.removesuffix(".py"): int(number) for number, room in rows}


def room_of(path: str, known: dict[str, int]) -> str:
    """The innermost room that holds a file or a module, by its path below `_internal`."""
    found = [r for r in known if path == r or path.startswith(r + "/")]
    assert found, f"{path} lies in no room of the table"
    return max(found, key=len)


def imported(tree: ast.AST) -> set[str]:
    """Paths below `_internal` of all modules that a file imports, for types and in functions too."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{a.name}" for a in node.names}
    return {n.removeprefix(PREFIX).replace(".", "/") for n in names if n.startswith(PREFIX)}


def upward(files: list[Path], known: dict[str, int]) -> list[str]:
    found = []
    for file in files:
        path = file.relative_to(INTERNAL).with_suffix("").as_posix()
        here = room_of(path, known)
        for target in sorted(imported(ast.parse(file.read_text()))):
            there = room_of(target, known)
            if there != here and known[there] >= known[here]:
                found.append(f"{path} ({here}, {known[here]}) imports {target} ({there})")
    return found


def test_no_room_imports_an_upper_one_or_one_beside_it():
    files = [f for f in INTERNAL.rglob("*.py") if f.name != "__init__.py"]
    assert len(files) > 100
    assert upward(files, rooms()) == []


def test_only_the_backends_import_jax():
    found = []
    for file in INTERNAL.parent.rglob("*.py"):
        if INTERNAL / "backend" in file.parents:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            found += [
                f"{file.relative_to(ROOT)}: {n}" for n in names if re.match(r"jax(lib)?\b", n)
            ]
    assert found == []


def test_an_upward_import_is_found(tmp_path):
    known = {"core": 1, "dispatch": 2}
    assert room_of("core/op", known) == "core"
    tree = ast.parse("if TYPE_CHECKING:\n    from npcompat._internal.dispatch import apply")
    assert imported(tree) == {"dispatch/apply"}


def test_one_page_connects_the_rooms():
    found = []
    for file in INTERNAL.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".connect"):
                found.append(file.relative_to(INTERNAL).as_posix())
    assert set(found) == {"wiring.py", "native/fast_path.py"}
