"""Single-element writes in a loop by array size; the time must not depend on the size."""

from functools import partial
from itertools import count
from typing import Any

from benchmarks.report import Table
from benchmarks.timing import Function
from npcompat import np, npx

SIZES = (10**3, 10**5, 10**7)
SMALLEST = f"{SIZES[0]:.0e}"


def run(seconds: float) -> dict[str, Any]:
    """Return a table with a row for each placement, and a column for each size."""
    columns = [f"{size:.0e}" for size in SIZES]
    table = Table(
        "a[i] = 1.5, us, by the number of elements", [(c, SMALLEST) for c in columns[1:]], columns
    )
    for placement in ("jax", "auto"):
        with npx.backend(placement):
            functions = {f"{size:.0e}": _writer(np.zeros(size)) for size in SIZES}
        table.measure(
            placement,
            functions,
            seconds,
            contexts=dict.fromkeys(functions, partial(npx.backend, placement)),
        )
        npx.waitall()
    return {"inplace": table.close()}


def _writer(array: Any) -> Function:
    steps = count()

    def write() -> None:
        array[next(steps) % 1000] = 1.5

    return write
