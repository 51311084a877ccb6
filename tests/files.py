"""Damaged files: `python -m tests.files --count 10000 --seed 1 [--kinds npz,params]`.

A file of each format is written, bytes of it are changed, cut off or repeated, and it is loaded
again.  Each loads, or raises an error of ours that names the file; nothing else may happen, and the
memory stays below a multiple of the file's size.
"""

import argparse
import gzip
import io
import json
import random
import struct
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as onp

from npcompat import errors, gluon, image, np, npx, ops, recordio, symbol

NUMPYS = (ValueError, OSError, EOFError, BadZipFile)
"""Errors of NumPy's own `np.load` for damaged files."""
MOST = 64 * 2**20
"""Bytes that loading one of these small files may take at its peak: archives may be packed."""
SLOWEST = 20.0


def _net():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(3, in_units=4), gluon.nn.BatchNorm(in_channels=3))
    net.initialize()
    return net


NET = _net()
TRAINER = gluon.Trainer(NET.collect_params(), "adam")


def _arrays(path):
    np_arrays = {"a": np.arange(12.0).reshape(3, 4), "b": np.array([1, 2], dtype="bfloat16")}
    npx.save(path, np_arrays)


def _mxnet(path):
    names = [b"arg:w", b"aux:m"]
    parts = [struct.pack("<QQQ", 0x112, 0, len(names))]
    for array in (onp.arange(6, dtype="float32").reshape(2, 3), onp.arange(3, dtype="int32")):
        parts.append(struct.pack("<IiI", 0xF993FAC9, 0, array.ndim)[:8])
        parts.append(struct.pack("<i", array.ndim) + struct.pack(f"<{array.ndim}q", *array.shape))
        flag = 0 if array.dtype == onp.float32 else 4
        parts.append(struct.pack("<iii", 1, 0, flag) + array.tobytes())
    parts.append(struct.pack("<Q", len(names)))
    parts += [struct.pack("<Q", len(n)) + n for n in names]
    path.write_bytes(b"".join(parts))


def _packed(path):
    onp.savez_compressed(path, a=onp.zeros(5000), b=onp.arange(3))


def _records(path):
    with recordio.MXRecordIO(str(path), "w") as file:
        for i in range(4):
            file.write(recordio.pack(recordio.IRHeader(0, float(i), i, 0), bytes([i]) * 10))


def _read_records(path):
    with recordio.MXRecordIO(str(path), "r") as file:
        while (record := file.read()) is not None:
            recordio.unpack(record)


def _index(path):
    with recordio.MXIndexedRecordIO(str(path), str(path) + ".rec", "w") as file:
        for i in range(4):
            file.write_idx(i, bytes([i]) * 10)


def _read_index(path):
    with recordio.MXIndexedRecordIO(str(path), str(path) + ".rec", "r") as file:
        for key in file.keys:
            file.read_idx(key)


def _idx(path):
    header = struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 4, 4)
    path.write_bytes(header + bytes(range(32)))


def _read_idx(path):
    from npcompat.gluon.data.vision import _published

    _published.read_idx(path, 3)


def _idx_gz(path):
    header = struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 4, 4)
    path.write_bytes(gzip.compress(header + bytes(range(32))))


def _read_model(path):
    Path(f"{path}-model.json").write_bytes(path.read_bytes())
    NET.load(str(path))


def _read_cifar(path):
    from npcompat.gluon.data.vision import _published

    _published.read_cifar(path, 1)


def _symbol(path):
    x, w = symbol.var("x"), symbol.var("w")
    made: Any = np.tanh(x @ w) + 1.5
    made.save(str(path))


def _unsummed(path):
    """A graph whose checksum is right whatever its content."""
    _symbol(path)


def _read_unsummed(path):
    from npcompat.symbol import _files

    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        found = json.loads(text)
        content = {"nodes": found["nodes"], "heads": found["heads"]}
        found["checksum"] = _files._checksum(content)
        text = json.dumps(found)
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    symbol.load_json(text)


def _definition(path):
    path.write_text(json.dumps(json.loads(ops.get("_npi_sum")(axis=(0, 1)).to_json())))


def _picture(kind):
    def write(path):
        from PIL import Image

        pixels = onp.random.RandomState(0).randint(0, 255, (12, 9, 3)).astype("uint8")
        Image.fromarray(pixels).save(path, kind)

    return write


def _read_npz(path):
    with np.load(path) as arrays:
        for name in arrays:
            arrays[name]


def _read_picture(path):
    image.imdecode(path.read_bytes())


OURS = (errors.ParameterFileError, errors.DataFileError, errors.DefinitionError)
FORMATS = {
    "npz": (_arrays, lambda path: npx.load(path), OURS),
    "npz packed": (lambda path: _packed_to(path), lambda path: npx.load(path), OURS),
    "npy": (
        lambda path: npx.save(path, np.arange(7.0)),
        lambda path: npx.load(path),
        OURS,
    ),
    "np.load npy": (lambda path: _npy(path), lambda path: np.load(path), NUMPYS),
    "np.load npz": (
        lambda path: _packed_to(path),
        _read_npz,
        (*NUMPYS, KeyError),
    ),
    "mxnet params": (_mxnet, lambda path: npx.load(path), (*OURS, NotImplementedError)),
    "safetensors": (
        lambda path: NET.save_parameters(path),
        lambda path: NET.load_parameters(path),
        OURS,
    ),
    "states": (
        lambda path: TRAINER.save_states(path),
        lambda path: TRAINER.load_states(path),
        OURS,
    ),
    "rec": (_records, _read_records, OURS),
    "rec index": (_index, _read_index, OURS),
    "idx": (_idx, _read_idx, OURS),
    "idx.gz": (lambda path: _idx_gz(path), lambda path: _read_gz(path), OURS),
    "model": (
        lambda path: NET.save(str(path)) or Path(f"{path}-model.json").rename(path),
        _read_model,
        OURS,
    ),
    "cifar": (lambda path: path.write_bytes(bytes(3073 * 2)), _read_cifar, OURS),
    "symbol": (_symbol, lambda path: symbol.load(path), OURS),
    "symbol with checksum": (_unsummed, _read_unsummed, OURS),
    "operator": (_definition, lambda path: ops.from_json(path.read_text(errors="replace")), OURS),
    "png": (_picture("PNG"), _read_picture, (ValueError,)),
    "jpeg": (_picture("JPEG"), _read_picture, (ValueError,)),
    "bmp": (_picture("BMP"), _read_picture, (ValueError,)),
    "gif": (_picture("GIF"), _read_picture, (ValueError,)),
    "webp": (_picture("WEBP"), _read_picture, (ValueError,)),
    "tiff": (_picture("TIFF"), _read_picture, (ValueError,)),
}


def _packed_to(path):
    buffer = io.BytesIO()
    _packed(buffer)
    Path(path).write_bytes(buffer.getvalue())


def _npy(path):
    with open(path, "wb") as file:
        onp.save(file, onp.arange(7.0))


def _read_gz(path):
    packed = path.with_suffix(".gz")
    packed.write_bytes(path.read_bytes())
    _read_idx(packed)


def mutated(content, rng):
    """Return the content with some bytes changed, cut off, inserted or repeated."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(found) + 1) if found else 0
        way = rng.randrange(7)
        if way == 0:
            del found[at:]
        elif way == 1:
            del found[at : at + rng.randrange(1, 9)]
        elif way == 2:
            found[at:at] = rng.randbytes(rng.randrange(1, 9))
        elif way == 3 and found:
            begin = rng.randrange(len(found))
            found[at:at] = found[begin : begin + rng.randrange(1, 40)]
        elif way == 4 and found:
            extreme = rng.choice(
                (b"\xff" * 8, b"\x80" + b"\0" * 7, b"\0" * 8, b"\x7f" + b"\xff" * 7)
            )
            found[at : at + 8] = extreme[: rng.choice((1, 2, 4, 8))]
        elif way == 5 and found:
            found[min(at, len(found) - 1)] ^= 1 << rng.randrange(8)
        elif found:
            digits = [i for i, b in enumerate(found) if 48 <= b <= 57]
            if digits:
                place = rng.choice(digits)
                found[place : place + 1] = rng.choice((b"-1", b"9" * 20, b"0", b"1e9", b"[" * 50))
    return bytes(found)


def run(kind, count, seed, folder):
    """Load `count` damaged files of a kind; return how often each outcome came."""
    write, read, expected = FORMATS[kind]
    path = Path(folder) / f"file.{kind.replace(' ', '_')}"
    write(path)
    whole, outcomes = path.read_bytes(), Counter()
    read(path)
    for number in range(count):
        rng = random.Random(f"{seed} {kind} {number}")
        path.write_bytes(mutated(whole, rng))
        measured = number % 16 == 0
        if measured:
            tracemalloc.start()
        begin = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(path)
            outcomes["loaded"] += 1
        except expected as error:
            outcomes[type(error).__name__] += 1
        except Exception as error:
            raise AssertionError(
                f"{kind}, seed {seed}, number {number}: {type(error).__name__}: {error}"
            ) from error
        finally:
            peak = tracemalloc.get_traced_memory()[1] if measured else 0
            tracemalloc.stop()
        assert peak < MOST, f"{kind}, seed {seed}, number {number}: {peak} bytes at its peak"
        took = time.perf_counter() - begin
        assert took < SLOWEST, f"{kind}, seed {seed}, number {number}: took {took:.0f} s"
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10000, help="damaged files of all kinds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(FORMATS))
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    total = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            found = run(kind, -(-given.count // len(kinds)), given.seed, folder)
            total += found
            print(f"{kind:22}", dict(found), flush=True)
    print("all", sum(total.values()), dict(total))


if __name__ == "__main__":
    main()
