"""Headers of `.npy` files, and a check of the number of elements in them."""

import math
from typing import Any

import numpy as onp

MOST_EMPTY = 2**20
"""Elements that an array of a dtype without bytes, such as `S0`, may have: no file limits them."""


def read(file: Any, longest: int = 10000) -> tuple[tuple[int, ...], bool, onp.dtype[Any]]:
    """Return the shape, the Fortran order and the dtype; leave the file at the first element."""
    version = onp.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"version {version} of the format is not known")
    one = version == (1, 0)
    reader = onp.lib.format.read_array_header_1_0 if one else onp.lib.format.read_array_header_2_0
    shape, fortran, dtype = reader(file, max_header_size=longest)
    return shape, fortran, dtype


def check(shape: tuple[int, ...], dtype: onp.dtype[Any], size: int) -> None:
    """Raise ValueError if a file has too few bytes for its elements, before memory is allocated.

    Pickled objects may have any length.
    """
    if any([n < 0 for n in shape]):
        raise ValueError(f"its header has the shape {shape}")
    count = math.prod(shape)
    if not dtype.itemsize and count > MOST_EMPTY:
        raise ValueError(f"its header promises {count} elements of dtype {dtype}, without bytes")
    needed = count * dtype.itemsize
    if not dtype.hasobject and needed > size:
        raise ValueError(
            f"its header promises {needed} bytes for shape {shape} and dtype {dtype}, and {size} "
            "follow"
        )


__all__ = ["check", "read"]
