"""Files of arrays of MXNet's C++ engine (`.params`): lists of dense arrays, with or without names.

All numbers are little-endian. A file is the list's magic number, a reserved number, the arrays with
their count, and the names with theirs. An array is a magic number, which says how its shape is
stored, then storage type, shape, device, dtype and elements.
"""

import math
import struct
from typing import Any

import ml_dtypes
import numpy as onp

from npcompat._internal.support.errors import ParameterFileError

MAGIC = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_DTYPES = (
    *("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"),
    *("int16", "uint16", "uint32", "uint64", ml_dtypes.bfloat16),
)


def is_list(content: bytes) -> bool:
    """Return True if a file's content begins as such a list."""
    return len(content) >= 8 and struct.unpack_from("<Q", content)[0] == MAGIC


class _Reader:
    """Reader of a file's content, which keeps its position."""

    def __init__(self, content: bytes, source: str) -> None:
        self.content, self.source, self.at = content, source, 0

    def take(self, size: int, what: str) -> bytes:
        """Return the next bytes."""
        if self.at + size > len(self.content):
            raise ParameterFileError(
                f"{self.source}: truncated at byte {len(self.content)}: {what} needs {size} bytes "
                f"from byte {self.at} on"
            )
        self.at += size
        return self.content[self.at - size : self.at]

    def numbers(self, form: str, what: str) -> tuple[Any, ...]:
        """Return the next numbers, of a form that `struct` knows."""
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}"), what))

    def number(self, form: str, what: str) -> int:
        """Return the next number."""
        return int(self.numbers(form, what)[0])

    def wrong(self, what: str) -> ParameterFileError:
        """Return an error that names the file and the position."""
        return ParameterFileError(f"{self.source}: before byte {self.at}: {what}")


def parse(content: bytes, source: str) -> tuple[list[str], list[onp.ndarray[Any, Any]]]:
    """Return the names (none, or one for each) and arrays of a file's content."""
    reader = _Reader(content, source)
    reader.numbers("QQ", "the beginning")
    arrays = [
        _array(reader, f"array {i}") for i in range(reader.number("Q", "the number of arrays"))
    ]
    names = []
    for i in range(reader.number("Q", "the number of names")):
        length = reader.number("Q", f"the length of name {i}")
        try:
            names.append(reader.take(length, f"name {i}").decode())
        except UnicodeDecodeError as error:
            raise reader.wrong(f"name {i} is no text: {error}") from error
    if names and len(names) != len(arrays):
        raise reader.wrong(f"{len(arrays)} arrays and {len(names)} names")
    return names, arrays


def _array(reader: _Reader, what: str) -> onp.ndarray[Any, Any]:
    magic = reader.number("I", f"{what}: its beginning")
    if magic in (_V2, _V3) and reader.number("i", f"{what}: its storage type") != 0:
        raise NotImplementedError(
            f"{reader.source}: {what} is sparse; only files of dense arrays can be read"
        )
    if magic in (_V1, _V2, _V3):
        count, form = reader.number("i", f"{what}: its number of axes"), "q"
    else:
        count, form = magic, "I"  # the oldest form begins with the number of axes
    if count > 32:
        raise reader.wrong(
            f"{what}: expected the number of axes, got {count}; is this a list of arrays of MXNet?"
        )
    if count < 0 or (count == 0 and magic != _V3):
        raise reader.wrong(f"{what} was never given a value")
    shape = reader.numbers(f"{count}{form}", f"{what}: its shape")
    reader.numbers("ii", f"{what}: its device")
    flag = reader.number("i", f"{what}: its dtype")
    if not 0 <= flag < len(_DTYPES):
        raise reader.wrong(f"{what}: dtype number {flag} is not known")
    dtype = onp.dtype(_DTYPES[flag])
    if any([length < 0 for length in shape]):
        raise reader.wrong(f"{what}: a length of its shape {shape} is negative")
    size = dtype.itemsize * math.prod(shape)
    return onp.frombuffer(
        reader.take(size, f"{what}: its elements, of shape {shape},"), dtype
    ).reshape(shape)
