"""Eager calls on a GPU to the compiled and the eager ones of JAX, by the number of elements.

Without a GPU the table is empty.
"""

from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.report import Table
from benchmarks.timing import Function
from npcompat import np, npx

SIZES = (10, 10**6, 10**8)


def run(seconds: float) -> dict[str, Any]:
    """Return a table with a row for each call and size, and columns for npcompat and JAX."""
    table = Table(
        "calls on a GPU, us", [("npcompat", "jit"), ("npcompat", "jnp")], ["npcompat", "jit", "jnp"]
    )
    if not npx.num_gpus():
        return {"gpu": table.close()}
    with npx.gpu(0):
        for size in SIZES:
            table.measure(f"x + y, {size:.0e}", _sums(size), seconds)
        table.measure("x @ x, 4096, float32", _products(4096), seconds)
        array = np.zeros(SIZES[-1])
        table.measure(f"a[5:25] = 1, {SIZES[-1]:.0e}", {"npcompat": _write_to(array)}, seconds)
    return {"gpu": table.close()}


def _sums(size: int) -> dict[str, Function]:
    x, y = np.ones(size), np.ones(size)
    a, b = jnp.ones(size, "float32"), jnp.ones(size, "float32")
    add = jax.jit(lambda a, b: a + b)
    return {
        "npcompat": lambda: (x + y).wait_to_read(),
        "jit": lambda: add(a, b).block_until_ready(),
        "jnp": lambda: (a + b).block_until_ready(),
    }


def _products(size: int) -> dict[str, Function]:
    x, a = np.ones((size, size)), jnp.ones((size, size), "float32")
    multiply = jax.jit(lambda a: jnp.matmul(a, a, precision="highest"))
    return {
        "npcompat": lambda: (x @ x).wait_to_read(),
        "jit": lambda: multiply(a).block_until_ready(),
    }


def _write_to(array: Any) -> Function:
    def write() -> None:
        array[5:25] = 1.0
        array.wait_to_read()

    return write
