"""Prefix draws: a sample as the prefix of a longer one, so that one program serves many sizes.

Compiling a program for each size takes some hundred times as long as drawing a thousand numbers; it
dominated the initialization of networks. Threefry numbers the elements of a sample, and each
distribution makes an element from its own bits. So a shorter sample is a prefix of a longer one, to
the bit. Parameters that are arrays on the host are lengthened, too. A size that repeats gets a
program of its own.
"""

import math
from collections.abc import Sequence

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.program_cache import FORWARD
from npcompat._internal.dispatch import backends
from npcompat._internal.native import fast_path
from npcompat._internal.support.call_counter import BoundedCounter

LENGTHS = 2**8, 2**12, 2**16, 2**20, 2**21, 2**22
"""Lengths that are drawn; drawing the longest takes as long as compiling a program."""
REPEATED = 8
"""Draws of a size before it gets a program of its own."""
MOST_OWN = 16
"""Maximum number of such sizes of a distribution: a loop over many sizes must not compile each."""
_draws = BoundedCounter()
"""Number of draws by operator, attributes and size."""
_own: dict[str, set[tuple[Attrs, tuple[int, ...]]]] = {}
"""Attributes and sizes that have programs of their own, by operator."""


def instead(
    op: Op, element_axes: tuple[int, ...], given: Sequence[Value], attrs: Attrs
) -> tuple[list[Value], Attrs, tuple[int, ...]] | None:
    """Return the operands and attributes of a longer draw to make instead, and the sample's size.

    None if the size itself is to be drawn.
    """
    mode = modes.current()
    size, *others = attrs
    cores = (*element_axes, *[0] * (len(given) - len(element_axes)))
    shapes = [getattr(v.payload, "shape", ()) for v in given]
    batches = [s[: len(s) - core] for s, core in zip(shapes, cores, strict=True)]
    if not any(batches) and attrs in op.programs.table(FORWARD, xla.name, mode.numpy_dtypes):
        return None
    if "draws" not in fast_path.enabled:
        return None
    if size is None:
        size = onp.broadcast_shapes(*batches)
    if (
        (attrs[0] is None and not any(batches))
        or mode.trace is not None
        or mode.observer is not None
        or xla.default_device().platform != "cpu"
    ):
        return None
    if any([v.node is not None for v in given]) or any(
        [any(b) and type(v.payload) is not onp.ndarray for b, v in zip(batches, given, strict=True)]
    ):
        return None
    n = math.prod(size)
    if n == 0 or n > LENGTHS[-1] or _has_its_own(op, attrs, size):
        return None
    length = next(length for length in LENGTHS if n <= length)
    longer = [
        _lengthened(v, batch, core, size, length) if any(batch) else v
        for v, batch, core in zip(given, batches, cores, strict=True)
    ]
    return longer, ((length,), *others), size


def _has_its_own(op: Op, attrs: Attrs, size: tuple[int, ...]) -> bool:
    """Return True if a size has, or gets now, a program of its own."""
    sizes = _own.setdefault(op.name, set())
    if (attrs, size) in sizes:
        return True
    if len(sizes) == MOST_OWN or _draws.count((op, attrs, size)) <= REPEATED:
        return False
    sizes.add((attrs, size))
    return True


def _lengthened(
    value: Value, batch: tuple[int, ...], core: int, size: tuple[int, ...], length: int
) -> Value:
    """Return a parameter with a value for each element of the longer sample; the last repeats."""
    array = value.payload
    inner = array.shape[array.ndim - core :]
    if math.prod(batch) == 1:
        return Value(array.reshape(inner))
    whole = onp.broadcast_to(array, (*size, *inner)).reshape((-1, *inner))
    made = onp.empty((length, *inner), array.dtype)
    made[: len(whole)], made[len(whole) :] = whole, whole[-1:]
    return Value(made)


def beginning(sample: Value, size: tuple[int, ...]) -> Value:
    """Return a copy of the prefix of a sample in this shape, without a reference to the rest."""
    drawn = backends.to_host(sample.payload)
    return Value(drawn[: math.prod(size)].reshape((*size, *drawn.shape[1:])).copy())
