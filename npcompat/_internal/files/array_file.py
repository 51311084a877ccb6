"""Files of arrays: NumPy's formats (`.npy`, `.npz`), safetensors, and MXNet's lists.

The content decides about the format, not the name. A single array, a list or a dict is read back as
such: the comment of the zip archive has the kind, and the dtypes that NumPy's format lacks.
"""

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.files import mxnet_file, npy_header, safetensors_file
from npcompat._internal.support import atomic_file
from npcompat._internal.support.damaged_file import reading
from npcompat._internal.support.errors import ParameterFileError

Array = onp.ndarray[Any, Any]


class Stored(NamedTuple):
    """Content of a file: arrays by name, and the kind: one array, a list or a dict."""

    kind: str
    arrays: dict[str, Array]


def _known_to_numpy(dtype: onp.dtype[Any]) -> bool:
    return dtype.isbuiltin != 2  # one that others have registered, as `bfloat16`


def write(path: str | os.PathLike[str], kind: str, arrays: Mapping[str, Array]) -> None:
    """Write a single array as `.npy` if NumPy knows its dtype, else arrays as `.npz`.

    The file is written whole or not at all.
    """
    buffer = io.BytesIO()
    others = {
        name: str(array.dtype) for name, array in arrays.items() if not _known_to_numpy(array.dtype)
    }
    if kind == "array" and not others:
        onp.save(buffer, next(iter(arrays.values())), allow_pickle=False)
    else:
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in arrays.items():
                plain = array.view(f"u{array.dtype.itemsize}") if name in others else array
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    onp.lib.format.write_array(entry, onp.asarray(plain), allow_pickle=False)
            if kind != "dict" or others:
                archive.comment = json.dumps({"kind": kind, "dtypes": others}).encode()
    atomic_file.write(path, buffer.getvalue())


def read(path: str | os.PathLike[str]) -> Stored:
    """Read a file of any of the formats.

    Raises
    ------
    ParameterFileError
        If it is damaged, or of another format.
    """
    content, source = Path(path).read_bytes(), os.fspath(path)
    if mxnet_file.is_list(content):
        with reading(source, "list of arrays of MXNet", ParameterFileError, NotImplementedError):
            names, found = mxnet_file.parse(content, source)
        return Stored(
            "dict" if names else "list",
            dict(zip(names or map(str, range(len(found))), found, strict=True)),
        )
    if not content.startswith((b"\x93NUMPY", b"PK")):
        return Stored("dict", safetensors_file.load(path))
    with reading(source, "whole file of NumPy's format; it may be truncated", ParameterFileError):
        if content.startswith(b"PK"):
            return _archive(content)
        return Stored("array", {"": _entry(content)})


def read_named(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Read a file of named arrays.

    MXNet puts `arg:` and `aux:` in front of the names of exported blocks' arrays; they are removed.
    """
    kind, arrays = read(path)
    if kind != "dict":
        raise ParameterFileError(
            f"{os.fspath(path)}: expected arrays with names, got {len(arrays)} without"
        )
    if all(name.startswith(("arg:", "aux:")) for name in arrays):
        return {name[4:]: array for name, array in arrays.items()}
    return arrays


def _entry(content: bytes) -> Array:
    """Read an `.npy` file, after a check that it holds as many elements as its header says."""
    file = io.BytesIO(content)
    shape, _, dtype = npy_header.read(file)
    npy_header.check(shape, dtype, len(content) - file.tell())
    file.seek(0)
    return onp.asarray(onp.lib.format.read_array(file, allow_pickle=False))


MOST_EXPANSION = 1100
"""Bytes that an archive may hold for each of its own: somewhat more than deflate can pack."""


def _archive(content: bytes) -> Stored:
    # The length of the comment is at byte 20 of the end record; `zipfile` does not check it.
    end = content.rfind(b"PK\x05\x06")
    if end < 0 or content[end + 20 : end + 22] != (len(content) - end - 22).to_bytes(2, "little"):
        raise zipfile.BadZipFile("its end is missing")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        about = json.loads(archive.comment or b"{}")
        kind, others = about.get("kind", "dict"), about.get("dtypes", {})
        if kind not in ("array", "list", "dict") or not isinstance(others, dict):
            raise ValueError("its comment is none that npx.savez writes")
        entries = archive.infolist()
        if sum([e.file_size for e in entries]) > MOST_EXPANSION * len(content):
            raise ValueError(f"its entries are more than {MOST_EXPANSION} times as long as itself")
        if any(
            [e.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for e in entries]
        ):
            raise ValueError("entries are stored or deflated in files of NumPy's")
        arrays = {}
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            array = _entry(archive.read(entry))
            other = others.get(name)
            arrays[name] = array if other is None else array.view(dtypes.canonical(other))
    if kind == "array" and len(arrays) != 1:
        raise ValueError(f"it is said to hold one array, and holds {len(arrays)}")
    return Stored(kind, arrays)
