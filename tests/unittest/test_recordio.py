"""RecordIO: the bytes of the published format, parts, indices, labels, damaged and interrupted
files.
"""

import pickle
import struct
from concurrent.futures import ThreadPoolExecutor

import numpy as onp
import pytest
from internals import DataFileError

from npcompat import gluon, np, recordio
from npcompat.recordio import IRHeader, MXIndexedRecordIO, MXRecordIO

MAGIC = struct.pack("<I", 0xCED7230A)
RECORDS = [
    b"",
    b"a",
    b"four",
    b"fives",
    MAGIC,
    b"1234" + MAGIC + b"5678" + MAGIC,
    b"x" + MAGIC,
    b"123" + MAGIC * 3 + b"z",
    bytes(1000),
]


def written(path, records=RECORDS):
    with MXRecordIO(path, "w") as file:
        for record in records:
            file.write(record)
    return path


def test_the_bytes_are_those_of_the_format(tmp_path):
    path = written(tmp_path / "a.rec", [b"abcde", b"1234" + MAGIC + b"9"])
    assert path.read_bytes() == (
        (MAGIC + struct.pack("<I", 5) + b"abcde\0\0\0")
        + (MAGIC + struct.pack("<I", 1 << 29 | 4) + b"1234")
        + (MAGIC + struct.pack("<I", 3 << 29 | 1) + b"9\0\0\0")
    )


def test_what_is_written_is_read(tmp_path):
    path = written(tmp_path / "a.rec")
    file = MXRecordIO(str(path), "r")
    assert list(file) == RECORDS and file.read() is None
    file.reset()
    assert file.read() == b"" and file.read() == b"a"
    again = pickle.loads(pickle.dumps(file))
    assert again.read() == b"four" == file.read()
    file.close()
    file.close()
    with pytest.raises(ValueError, match=r"a\.rec is closed"):
        file.read()
    with pytest.raises(ValueError, match="opened with flag 'r': it can't be written"):
        again.write(b"x")
    with pytest.raises(ValueError, match="flag must be 'r' or 'w', got 'a'"):
        MXRecordIO(path, "a")


def test_an_interrupted_writer_leaves_the_old_file(tmp_path):
    path = written(tmp_path / "a.rec", [b"old"])

    def interrupted():
        with MXRecordIO(path, "w") as file:
            file.write(b"new")
            raise KeyError("interrupted")

    with pytest.raises(KeyError):
        interrupted()
    assert list(MXRecordIO(path, "r")) == [b"old"] and [p.name for p in tmp_path.iterdir()] == [
        "a.rec"
    ]
    with MXRecordIO(path, "w") as file:
        file.write(b"newer")
        assert list(MXRecordIO(path, "r")) == [b"old"]
    assert list(MXRecordIO(path, "r")) == [b"newer"]


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda c: c[:-1], r"the file ends at offset 39, within the record that begins at 12"),
        (lambda c: c[:30], r"the file ends at offset 30, within the record that begins at 12"),
        (lambda c: c[:24], r"the file ends at offset 24, within the record that begins at 12"),
        (
            lambda c: c[:12] + b"oops" + c[16:],
            r"expected the magic number 0xced7230a at offset 12, got 0x73706f6f",
        ),
        (lambda c: c[:12] + c[24:], r"expected a record at offset 12, got part 3"),
        (lambda c: c[:24] + c[:12], r"expected another part at offset 24, got part 0"),
    ],
)
def test_damaged_files_are_errors_that_name_file_and_offset(tmp_path, damage, text):
    path = written(tmp_path / "a.rec", [b"abcd", b"1234" + MAGIC + b"567890"])
    path.write_bytes(damage(path.read_bytes()))
    file = MXRecordIO(path, "r")
    assert file.read() == b"abcd"
    with pytest.raises(DataFileError, match=rf"a\.rec: {text}"):
        file.read()


def test_indexed_files(tmp_path):
    paths = tmp_path / "a.idx", tmp_path / "a.rec"
    with MXIndexedRecordIO(*paths, "w") as file:
        for i, record in enumerate(RECORDS):
            file.write_idx(2 * i, record)
        with pytest.raises(ValueError, match="a record with the key 4 is there already"):
            file.write_idx(4, b"")
    assert paths[0].read_text().splitlines()[:2] == ["0\t0", "2\t8"]
    file = MXIndexedRecordIO(*paths, "r")
    assert file.keys == list(range(0, 18, 2))
    assert [file.read_idx(k) for k in reversed(file.keys)] == RECORDS[::-1]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(file.read_idx, file.keys * 20)) == RECORDS * 20
    with pytest.raises(KeyError, match="no record has the key 3"):
        file.read_idx(3)
    data = gluon.data.RecordFileDataset(paths[1])
    assert len(data) == 9 and list(data) == RECORDS
    assert pickle.loads(pickle.dumps(data))[5] == RECORDS[5]
    paths[0].write_text("0\t0\nnonsense\n")
    with pytest.raises(
        DataFileError, match=r"a\.idx, line 2: expected a key, a tab and an offset, got 'nonsense'"
    ):
        gluon.data.RecordFileDataset(paths[1])
    paths[0].write_text(f"7\t{paths[1].stat().st_size}\n")
    with pytest.raises(DataFileError, match="expected record 7 at offset .*, where the file ends"):
        gluon.data.RecordFileDataset(paths[1])[0]
    with pytest.raises(FileNotFoundError):
        MXIndexedRecordIO(tmp_path / "b.idx", paths[1], "r")


def test_headers():
    for label in (3.5, np.array(3.5)):
        packed = recordio.pack(IRHeader(0, label, 7, 2**40), b"content")
        assert packed == struct.pack("<IfQQ", 0, 3.5, 7, 2**40) + b"content"
        assert recordio.unpack(packed) == (IRHeader(0, 3.5, 7, 2**40), b"content")
    for label in ([1, 2, 3], onp.array([1.0, 2.0, 3.0]), np.array([1, 2, 3])):
        packed = recordio.pack((9, label, 7, 0), b"content")
        assert packed == struct.pack("<IfQQfff", 3, 0, 7, 0, 1, 2, 3) + b"content"
        header, content = recordio.unpack(packed)
        assert (
            header.flag == 3
            and header.label.tolist() == [1, 2, 3]
            and header.label.dtype == "float32"
            and content == b"content"
        )
    with pytest.raises(DataFileError, match="expected a header of 24 bytes, got 5 bytes"):
        recordio.unpack(b"short")
    with pytest.raises(DataFileError, match="expected 3 labels at offset 24, got 2 bytes"):
        recordio.unpack(packed[:26])


def test_pictures_in_records():
    pytest.importorskip("PIL", reason="pictures are encoded by Pillow")
    picture = onp.arange(60, dtype="uint8").reshape(4, 5, 3)
    for given in (picture, np.array(picture)):
        header, found = recordio.unpack_img(recordio.pack_img((0, 2.0, 1, 0), given, 9, ".png"))
        assert header.label == 2 and found.tolist() == picture.tolist()
    smooth = onp.full((16, 16, 3), 100, "uint8")
    assert (
        abs(
            recordio.unpack_img(recordio.pack_img((0, 2.0, 1, 0), smooth))[1].asnumpy().astype(int)
            - 100
        ).max()
        <= 2
    )
    for flag in (0, -1):
        grey = recordio.unpack_img(
            recordio.pack_img((0, 2.0, 1, 0), picture[..., :1], img_fmt=".png"), flag
        )[1]
        assert grey.tolist() == picture[..., :1].tolist()
    for call, text in (
        (
            lambda: recordio.pack_img((0, 2.0, 1, 0), picture.astype("float32")),
            r"expected a picture .* of uint8, got \(4, 5, 3\) of float32",
        ),
        (
            lambda: recordio.pack_img((0, 2.0, 1, 0), picture, 101),
            r"quality must be in \[0, 100\], got 101",
        ),
        (
            lambda: recordio.pack_img((0, 2.0, 1, 0), picture, 95, ".bmp"),
            "img_fmt must be one of .jpg, .jpeg, .png, got '.bmp'",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            call()
