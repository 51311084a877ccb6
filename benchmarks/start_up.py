"""Import time of npcompat against jax: fresh processes, in turn, with compiled bytecode."""

from typing import Any

from benchmarks.processes import in_turn
from benchmarks.report import Table
from benchmarks.timing import Timings

PROGRAM = (
    "import time; start = time.perf_counter(); import {}; print((time.perf_counter() - "
    "start) * 1e6)"
)
MODULES = ("npcompat", "jax", "numpy")


def run(seconds: float) -> dict[str, Any]:
    """Return a table of one row."""
    table = Table("import, us", [("npcompat", "jax")], MODULES, digits=0)
    processes = {module: ["-c", PROGRAM.format(module)] for module in MODULES}
    table.add_times("import", Timings(in_turn(processes, 5 if seconds < 0.1 else 11)))
    return {"import": table.close()}
