"""Attacks by files: pickles, archives, pictures and records run no code and take no memory."""

import inspect
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

from npcompat import errors, gluon, image, np, npx, ops, recordio, symbol
from npcompat.gluon.contrib import estimator as est
from npcompat.gluon.model_zoo import vision

MANY = 2**62
"""More than any array may have; as an index of 32 bits it would be 0."""


class Attack:
    """A pickle of it makes a folder when it is loaded."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return os.mkdir, (self.marker,)


def npy(descr, shape, elements=b""):
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + b"\n" + elements


def archive(name, content, comment=None):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr(name, content)
        packed.comment = json.dumps(comment or {}).encode()
    return file.getvalue()


def made(kind, attack):
    """Content of a file with a pickle in it."""
    return {
        "a pickle": lambda: attack,
        "objects": lambda: npy("|O", (1,), attack),
        "one object": lambda: npy("|O", (), attack),
        "objects in records": lambda: npy([("a", "<f8"), ("b", "|O")], (1,), attack),
        "objects in an archive": lambda: archive("a.npy", npy("|O", (1,), attack)),
        "a pickle in an archive": lambda: archive("a.npy", attack),
        "torch's archive": lambda: archive("archive/data.pkl", attack),
        "addresses of objects": lambda: archive(
            "a.npy", npy("<u8", (2,), bytes(16)), {"kind": "dict", "dtypes": {"a": "O"}}
        ),
    }[kind]()


PICKLED = (
    "a pickle", "objects", "one object", "objects in records", "objects in an archive",
    "a pickle in an archive", "torch's archive", "addresses of objects",
)  # fmt: skip


def dense():
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    return net


def loaded_model(path):
    dense().save(str(path) + "-whole")
    Path(f"{path}-model.json").write_text(Path(f"{path}-whole-model.json").read_text())
    Path(f"{path}-model.params").write_bytes(path.read_bytes())
    dense().load(str(path))


def imported(path):
    graph = path.with_suffix(".json")
    made: Any = np.exp(symbol.var("x", shape=(2,), dtype="float32")) * symbol.var("w")
    made.save(str(graph))
    gluon.SymbolBlock.imports(str(graph), ["x"], str(path))


READERS = {
    "npx.load": lambda path: npx.load(path),
    "load_parameters": lambda path: dense().load_parameters(path),
    "Block.load": loaded_model,
    "ParameterDict.load": lambda path: dense().collect_params().load(path),
    "Trainer.load_states": lambda path: gluon.Trainer(dense().collect_params(), "adam").load_states(
        path
    ),
    "SymbolBlock.imports": imported,
    "pretrained": lambda path: vision.squeezenet1_1(pretrained=True, root=path.parent),
}


# --- pickles and archives -------------------------------------------------------------------------


def test_the_attack_works_where_pickles_are_allowed(tmp_path):
    marker = tmp_path / "marker"
    pickle.loads(pickle.dumps(Attack(marker)))
    marker.rmdir()
    path = tmp_path / "objects.npy"
    path.write_bytes(npy("|O", (), pickle.dumps(Attack(marker))))
    with suppress(Exception):  # what the attack returns is no array
        np.load(path, allow_pickle=True)
    assert marker.exists()


@pytest.mark.parametrize("kind", PICKLED)
@pytest.mark.parametrize("reader", READERS)
def test_no_reader_of_arrays_unpickles(reader, kind, tmp_path):
    path, marker = tmp_path / "squeezenet1.1.params", tmp_path / "marker"
    path.write_bytes(made(kind, pickle.dumps(Attack(marker))))
    with pytest.raises(errors.ParameterFileError):
        READERS[reader](path)
    assert not marker.exists()


@pytest.mark.parametrize("kind", PICKLED)
@pytest.mark.parametrize("mapped", [None, "r"])
def test_np_load_does_not_unpickle_unless_it_is_allowed(kind, mapped, tmp_path):
    path, marker = tmp_path / "file.npy", tmp_path / "marker"
    path.write_bytes(made(kind, pickle.dumps(Attack(marker))))
    for file in (path, io.BytesIO(path.read_bytes())):
        if mapped and file is not path:
            continue
        if "archive" in kind or kind == "addresses of objects":
            with np.load(file, mapped) as arrays:
                for name in arrays:
                    if kind == "objects in an archive":
                        with pytest.raises(ValueError, match="allow_pickle=False"):
                            arrays[name]
                    else:
                        assert type(arrays[name]) in (bytes, np.ndarray)
        else:
            with pytest.raises(ValueError, match="pickle|Python objects"):
                np.load(file, mapped)
    assert not marker.exists()


def test_no_argument_of_other_readers_allows_pickles():
    readers = (
        npx.load, gluon.Block.load_parameters, gluon.Block.load, gluon.ParameterDict.load,
        gluon.Trainer.load_states, symbol.load, symbol.load_json, gluon.SymbolBlock.imports,
        ops.from_json,
    )  # fmt: skip
    for reader in readers:
        assert not [n for n in inspect.signature(reader).parameters if "pickle" in n], reader
    assert inspect.signature(np.load).parameters["allow_pickle"].default is False


def test_a_header_is_no_code(tmp_path):
    path, marker = tmp_path / "file.npy", tmp_path / "marker"
    code = f"{{'descr': __import__('os').mkdir({str(marker)!r}), 'shape': ()}}"
    header = code.ljust(255) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    with pytest.raises(errors.ParameterFileError):
        npx.load(path)
    with pytest.raises((ValueError, errors.DataFileError)):
        np.load(path)
    assert not marker.exists()


@pytest.mark.parametrize("dtype", ["|V0", "|S0", "<U0"])
def test_elements_without_bytes_are_limited(dtype, tmp_path):
    path = tmp_path / "empty.npy"
    path.write_bytes(npy(dtype, (10**15,)))
    with pytest.raises(errors.ParameterFileError, match="without bytes"):
        npx.load(path)
    with pytest.raises(ValueError, match="without bytes"):
        np.load(path)


@pytest.mark.parametrize("name", ["../outside", "/outside", "..\\outside", "a/../../outside"])
def test_archives_write_no_files(name, tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    path = inside / "escaping.npz"
    path.write_bytes(archive(f"{name}.npy", npy("<f8", (1,), bytes(8))))
    before = sorted(tmp_path.rglob("*"))
    (read,) = npx.load(path).values()
    assert read.tolist() == [0]
    with np.load(path) as arrays:
        assert [arrays[n].tolist() for n in arrays] == [[0]]
    npx.savez(path, **{name: read})
    np.savez(path, **{name: read})
    assert sorted(tmp_path.rglob("*")) == before and not Path("/outside.npy").exists()


def test_checkpoints_are_safetensors_and_json(tmp_path):
    def fitted(**options):
        net = dense()
        trainer = gluon.Trainer(net.collect_params(), "adam")
        metric = gluon.metric.Loss()
        fit = est.Estimator(net, gluon.loss.L2Loss(), train_metrics=metric, trainer=trainer).fit
        data = gluon.data.DataLoader(
            gluon.data.ArrayDataset(onp.ones((4, 3), "f4"), onp.ones((4, 2), "f4")), 2
        )
        handler = est.CheckpointHandler(tmp_path / "steps", **options)
        fit(data, epochs=2 if options else 1, event_handlers=[handler])

    fitted()
    files = sorted((tmp_path / "steps").iterdir())
    assert [file.suffix for file in files] == [".json", ".params", ".states"]
    for file in files:
        content = file.read_bytes()
        if file.suffix != ".json":
            content = content[8 : 8 + struct.unpack_from("<Q", content)[0]]
        assert isinstance(json.loads(content), dict)
    marker = tmp_path / "marker"
    for file in files:
        content = file.read_bytes()
        file.write_bytes(pickle.dumps(Attack(marker)))
        with pytest.raises(errors.ParameterFileError):
            fitted(resume_from_checkpoint=True)
        file.write_bytes(content)
    assert not marker.exists()
    fitted(resume_from_checkpoint=True)


RESTORED = """
import sys
from pathlib import Path
from npcompat import errors, gluon
net = gluon.nn.Dense(2, in_units=3)
net.initialize()
planted = Path(sys.argv[2]).read_bytes()
files = [file for file in Path(sys.argv[1]).rglob("*") if file.is_file()]
assert len(files) > 3
for file in files:
    content = file.read_bytes()
    file.write_bytes(planted)
    try:
        gluon.Checkpoint(sys.argv[1], net).restore()
    except errors.DataFileError:
        pass
    file.write_bytes(content)
"""


def test_checkpoints_of_arrays_unpickle_nothing(tmp_path):
    pytest.importorskip("orbax.checkpoint")
    folder, planted, marker = [tmp_path / name for name in ("steps", "planted", "marker")]
    checkpoint = gluon.Checkpoint(folder, dense())
    checkpoint.save(1, {"epoch": 1})
    checkpoint.wait()
    planted.write_bytes(pickle.dumps(Attack(marker)))
    # A process of its own: orbax leaves reads that were begun in its thread.
    run = [sys.executable, "-c", RESTORED, str(folder), str(planted)]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not marker.exists()
    assert checkpoint.restore() == (1, {"epoch": 1})


# --- pictures and records -------------------------------------------------------------------------


def chunk(kind, content):
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def part(kind, content):
    """Return a part of a WEBP file."""
    return kind + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


def webp(*parts):
    return part(b"RIFF", b"WEBP" + b"".join(parts))


def bombs():
    """Heads of pictures of 3,600,000,000 pixels, or the most that the format has."""
    size = struct.pack(">II", 60000, 60000)
    png = chunk(b"IHDR", size + b"\x08\x02\0\0\0") + chunk(b"IDAT", zlib.compress(bytes(9)))
    tags = [(256, 60000), (257, 60000), (258, 8), (259, 1), (262, 1), (273, 8), (279, 9)]
    tiff = b"".join([struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags])
    colours = bytes([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, 60000, 60000, 3) + colours
    scan = b"\xff\xda" + struct.pack(">HB", 12, 3) + bytes([1, 0, 2, 0, 3, 0, 0, 63, 0])
    screen = struct.pack("<HHBBB", 60000, 60000, 0x80, 0, 0) + bytes(6)
    drawn = b"," + struct.pack("<HHHHB", 0, 0, 60000, 60000, 0) + b"\2\2\x4c\1\0;"
    canvas = bytes([2, 0, 0, 0]) + 2 * struct.pack("<I", 59999)[:3]
    pixels = part(b"VP8L", b"\x2f" + struct.pack("<I", 15 | 15 << 14) + bytes(20))
    first = bytes(6) + 2 * struct.pack("<I", 15)[:3] + bytes(4) + pixels
    lossy = b"\x10\2\0\x9d\1\x2a" + struct.pack("<HH", 16383, 16383) + bytes(40)
    return {
        "png": b"\x89PNG\r\n\x1a\n" + png,
        "bmp": b"BM"
        + struct.pack("<IIIIiiHHIIiiII", 99, 0, 54, 40, 60000, 60000, 1, 24, 0, 0, 0, 0, 0, 0),
        "ppm": b"P6 60000 60000 255\n" + bytes(9),
        "tiff": b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", 7) + tiff + bytes(4),
        "jpeg": b"\xff\xd8" + frame + scan + bytes(9) + b"\xff\xd9",
        "gif": b"GIF89a" + screen + drawn,
        "webp, lossy": webp(part(b"VP8 ", lossy)),
        "webp, lossless": webp(part(b"VP8L", b"\x2f" + b"\xff" * 3 + b"\x0f" + bytes(20))),
        "webp, animated": webp(
            part(b"VP8X", canvas), part(b"ANIM", bytes(6)), part(b"ANMF", first)
        ),
    }


def picture_readers(content, path):
    path.write_bytes(content)
    yield lambda: image.imdecode(content)
    yield lambda: image.imread(str(path))
    record = recordio.pack(recordio.IRHeader(0, 1.0, 0, 0), content)
    yield lambda: recordio.unpack_img(record)
    yield lambda: gluon.data.vision.ImageListDataset(path.parent, [[0, path.name]])[0]


@pytest.mark.parametrize("kind", bombs())
def test_pictures_have_a_limit(kind, tmp_path):
    pytest.importorskip("PIL")
    for read in picture_readers(bombs()[kind], tmp_path / "bomb.png"):
        tracemalloc.start()
        try:
            with pytest.raises(ValueError, match=r"exceeds limit of \d+ pixels"):
                read()
            assert tracemalloc.get_traced_memory()[1] < 2**24
        finally:
            tracemalloc.stop()


def test_postscript_runs_nothing_under_any_name(tmp_path, no_code):
    pytest.importorskip("PIL")
    content = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n"
    for read in picture_readers(content, tmp_path / "picture.png"):
        with pytest.raises(ValueError, match="formats JPEG, PNG"):
            read()


@pytest.mark.parametrize("kind", [0, 1, 2, 3])
def test_lengths_of_records_beyond_the_file_take_no_memory(kind, tmp_path):
    path = tmp_path / "forged.rec"
    path.write_bytes(struct.pack("<II", 0xCED7230A, kind << 29 | (1 << 29) - 1) + b"abcd")
    tracemalloc.start()
    try:
        with recordio.MXRecordIO(path, "r") as file, pytest.raises(errors.DataFileError):
            file.read()
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_labels_beyond_a_record_are_refused():
    with pytest.raises(errors.DataFileError):
        recordio.unpack(struct.pack("<IfQQ", 2**32 - 1, 0.0, 0, 0) + b"abcd")
