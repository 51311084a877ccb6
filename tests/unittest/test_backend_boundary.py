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
    (
        "_internal/dispatch/placement.py",
        "keep_on_xla",
    ): "what a compiled function of a plug-in reads leaves XLA for good",
    ("numpy/_other_classes.py", "is_jaxs"): "arrays of a program's own JAX are XLA's",
    ("numpy/_operators.py", "_in_place"): "XLA counts who holds a buffer that DLPack handed out; "
    "engines do not say it",
    (
        "_internal/wiring.py",
        "_connect_fast_path",
    ): "the C fast path calls XLA's programs by their class",
}


IMPORTS = {
    "_internal/wiring.py": "the C fast path calls XLA's programs",
    "_internal/compile/shape_buckets.py": "NumPy pads and cuts what XLA's CPU holds",
    "_internal/compile/trace.py": "constants of a trace are arrays of the language, which are XLA's",
    "_internal/indexing/host.py": "the host reads the memory of XLA's CPU without a copy",
    "_internal/observe/audit.py": "an audit counts casts of arrays and of tracers of them",
    "_internal/observe/profile.py": "only XLA's programs delete the buffers donated to them",
    "_internal/random/prefix_draws.py": "prefetched draws come from programs of XLA's CPU",
    "_internal/random/stream.py": "counters of a stream are operands of XLA's programs",
    "numpy/_protocols.py": "DLPack of unknown libraries, and the list of devices",
    "numpy_extension/_build_info.py": "the page of the platform",
    "numpy_extension/_custom.py": "kernels that a user gives for one platform of XLA",
    "numpy_extension/_modes.py": "the count of GPUs",
    "symbol/_graph.py": "a graph as a function of JAX",
}
"""Modules outside of `backend/` and `dispatch/`, where backends meet, that import XLA as a backend."""
_RUNTIME = "from npcompat._internal.backend.jax import runtime"


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


def test_only_these_modules_import_xla_as_a_backend():
    found = {
        file.relative_to(ROOT).as_posix()
        for file in ROOT.rglob("*.py")
        if BACKEND not in file.parents and _RUNTIME in file.read_text()
    }
    assert {f for f in found if not f.startswith("_internal/dispatch/")} == set(IMPORTS)
