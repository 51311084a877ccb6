"""The core asks a backend what it can do, and not which it is: the exceptions, each with its reason."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2] / "npcompat"
BACKEND = ROOT / "_internal" / "backend"
ASKS = {"XLA_ARRAY", "_ALL_XLA", "xla_array"}
"""Names by which a place outside of `backend/` asks for XLA's arrays."""

REASONS = {
    ("_internal/dispatch/backends.py", ""): "the table of classes itself",
    ("_internal/dispatch/backends.py", "backend_of"): "the question that the others ask",
    (
        "_internal/dispatch/devices.py",
        "place_like",
    ): "only XLA's arrays lie on meshes, or stay where somebody put them",
    ("_internal/dispatch/execution.py", ""): "hot path: one comparison of classes for a whole call",
    ("_internal/dispatch/execution.py", "_backend_of"): "hot path: one comparison for a whole call",
    ("_internal/dispatch/placement.py", "_chosen"): "hot path: the classes of operands choose",
    ("_internal/dispatch/writes.py", "_kept_where"): "only XLA's arrays lie on meshes",
    (
        "_internal/indexing/host.py",
        "_small",
    ): "the host reads the memory of XLA's CPU without a copy",
    ("_internal/compile/program.py", "_stay_on_xla"): "what a compiled function of a plug-in reads "
    "leaves XLA for good",
    ("numpy/_operators.py", "_in_place"): "XLA counts who holds a buffer that DLPack handed out; "
    "engines do not say it",
    (
        "_internal/wiring.py",
        "_connect_fast_path",
    ): "the C fast path calls XLA's programs by their class",
}


class _Asked(ast.NodeVisitor):
    def __init__(self):
        self.inside, self.found = [""], set()

    def visit_FunctionDef(self, node):
        self.inside.append(node.name)
        self.generic_visit(node)
        self.inside.pop()

    def _note(self, name):
        if name in ASKS:
            self.found.add(self.inside[1] if len(self.inside) > 1 else "")

    def visit_Name(self, node):
        self._note(node.id)

    def visit_Attribute(self, node):
        self._note(node.attr)
        self.generic_visit(node)


def places():
    found = set()
    for file in ROOT.rglob("*.py"):
        if BACKEND in file.parents:
            continue
        text = file.read_text()
        if not any(name in text for name in ASKS):
            continue
        asked = _Asked()
        asked.visit(ast.parse(text))
        found |= {(file.relative_to(ROOT).as_posix(), name) for name in asked.found}
    return found


def test_only_these_places_ask_for_xlas_arrays():
    assert places() == set(REASONS)
