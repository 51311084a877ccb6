"""Buffers of records: those whose format NumPy reads are NumPy's, the others are refused."""

import hashlib
import io
import struct

import numpy as onp
import pytest
from internals import fast_path

from npcompat import np

with_buffers = pytest.mark.skipif(
    not fast_path.has_buffers, reason="Python 3.11 has the buffer protocol in C only"
)
RECORDS = {
    "packed": [("a", "<i4"), ("b", "<f8")],
    "texts": [("a", "S3"), ("b", "U2"), ("c", "?")],
    "nested": [("x", "f4", (2, 3)), ("n", [("p", "i2"), ("q", "c8")])],
}


def bytes_of_records(module, dtype):
    a = module.zeros(3, dtype)
    written = io.BytesIO()
    read = io.BytesIO(b"\1" * a.nbytes).readinto(a)
    struct.pack_into("<h", a, 0, 9)
    memory = memoryview(a)
    return (
        (read, written.write(a), written.getvalue(), bytes(a[1:]), b"".join([a]), a.tobytes()),
        (hashlib.md5(a).hexdigest(), memory.format, memory.itemsize, memory.shape),
    )


@with_buffers
@pytest.mark.parametrize("dtype", RECORDS.values(), ids=RECORDS)
def test_records_have_a_buffer(dtype):
    assert bytes_of_records(np, dtype) == bytes_of_records(onp, dtype)
    a = np.zeros(3, dtype)
    alias = onp.asarray(a)
    alias.view("u1")[0] = 5
    assert alias.dtype == a.dtype and a.tobytes()[0] == 5


@with_buffers
def test_records_whose_format_numpy_does_not_read_have_no_buffer():
    spaced = {"names": ["a", "b"], "formats": ["i4", "f8"], "offsets": [8, 16], "itemsize": 40}
    for dtype in (onp.dtype("i1, f8", align=True), onp.dtype(spaced), onp.dtype("V5")):
        a = np.zeros(2, dtype)
        with pytest.raises(BufferError, match=r"numpy\.asarray"):
            memoryview(a)
        alias = onp.asarray(a)
        assert alias.dtype == dtype and alias.dtype.isalignedstruct == dtype.isalignedstruct
        assert hashlib.md5(alias).digest() == hashlib.md5(onp.zeros(2, dtype)).digest()
