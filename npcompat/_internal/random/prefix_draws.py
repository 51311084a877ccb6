"""Draws that are the prefix of longer ones, so that one program serves many sizes.

A program is compiled for each size, which takes some hundred times as long as a draw of a thousand
numbers: initializing a network was mostly this. Threefry numbers the elements of a sample, and most
distributions make each element of its own bits. Then the first elements of a longer sample are
those of a shorter one, to the bit. A size that is repeated gets a program of its own.
"""

import math
from collections.abc import Sequence

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.program_cache import FORWARD
from npcompat._internal.native import fast_path
from npcompat._internal.support.call_counter import BoundedCounter

LENGTHS = 2**8, 2**16, 2**20, 2**21, 2**22
"""Lengths that are drawn: compiling a program takes as long as drawing the longest of them."""
REPEATED = 8
"""Draws of a size before it gets a program of its own."""
_draws = BoundedCounter()
"""Number of draws by operator and attributes."""


def instead(op: Op, given: Sequence[Value], attrs: Attrs) -> Attrs | None:
    """Return the attributes of the longer draw to make; None to draw the size that is asked for."""
    mode = modes.current()
    if attrs in op.programs.table(FORWARD, xla.name, mode.numpy_dtypes):
        return None
    if "draws" not in fast_path.enabled:
        return None
    size, *others = attrs
    if (
        size is None
        or mode.trace is not None
        or mode.observer is not None
        or xla.default_device().platform != "cpu"
    ):
        return None
    if any([v.node is not None or getattr(v.payload, "shape", ()) != () for v in given]):
        return None
    n = math.prod(size)
    if n > LENGTHS[-1] or _draws.count((op, attrs)) > REPEATED:
        return None
    return (next(length for length in LENGTHS if n <= length),), *others


def beginning(sample: Value, size: tuple[int, ...]) -> Value:
    """Return the prefix of a sample in a shape, as a copy that keeps nothing of the rest."""
    return Value(xla.to_host(sample.payload)[: math.prod(size)].reshape(size).copy())
