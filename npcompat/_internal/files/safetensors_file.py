"""Files of named arrays in the safetensors format, bfloat16 and float8 included."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as onp

from npcompat._internal.support import atomic_file
from npcompat._internal.support.damaged_file import reading
from npcompat._internal.support.errors import ParameterFileError
from npcompat._internal.support.lazy_import import LazyModule

safetensors = LazyModule("safetensors")
safetensors_numpy = LazyModule("safetensors.numpy")
_NAMES = {
    "BOOL": onp.bool_,
    "U8": onp.uint8,
    "I8": onp.int8,
    "U16": onp.uint16,
    "I16": onp.int16,
    "U32": onp.uint32,
    "I32": onp.int32,
    "U64": onp.uint64,
    "I64": onp.int64,
    "F16": onp.float16,
    "BF16": ml_dtypes.bfloat16,
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
    "F32": onp.float32,
    "F64": onp.float64,
    "C64": onp.complex64,
}
_BY_NAME = {name: onp.dtype(kind) for name, kind in _NAMES.items()}
_WRITTEN = frozenset(_BY_NAME.values())


def save(
    path: str | os.PathLike[str],
    arrays: Mapping[str, onp.ndarray[Any, Any]],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write arrays; the file is written whole or not at all."""
    for name, array in arrays.items():
        if array.dtype not in _WRITTEN:
            raise TypeError(
                f"{name}: arrays of dtype {array.dtype} can't be saved; expected one of "
                f"{', '.join(map(str, _WRITTEN))}"
            )
    contiguous = {
        name: onp.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()
    }
    atomic_file.write(
        path, safetensors_numpy.save(contiguous, dict(metadata) if metadata else None)
    )


def load(path: str | os.PathLike[str]) -> dict[str, onp.ndarray[Any, Any]]:
    """Read all arrays; raise ParameterFileError if the file is damaged or of another format."""
    content = Path(path).read_bytes()
    try:
        found = safetensors.deserialize(content)
    except safetensors.SafetensorError as error:
        raise ParameterFileError(
            f"{os.fspath(path)}: not a whole safetensors file ({error}); it may be truncated or "
            f"of another format{_where(content)}"
        ) from error
    arrays = {}
    with reading(os.fspath(path), "safetensors file", ParameterFileError):
        for name, entry in found:
            if entry["dtype"] not in _BY_NAME:
                raise ParameterFileError(
                    f"{os.fspath(path)}: {name} has dtype {entry['dtype']}, which is not supported"
                )
            arrays[name] = onp.frombuffer(entry["data"], _BY_NAME[entry["dtype"]]).reshape(
                entry["shape"]
            )
    return arrays


def _where(content: bytes) -> str:
    """Describe the end of a damaged file and its missing part, by the byte ranges in its header."""
    begin = 8 + int.from_bytes(content[:8], "little")
    if len(content) < begin:
        return (
            f": it ends at byte {len(content)}, before its header does"
            if content[8:9] == b"{"
            else ""
        )
    try:
        entries = {
            name: entry["data_offsets"]
            for name, entry in json.loads(content[8:begin]).items()
            if name != "__metadata__"
        }
        missing = sorted(
            [n for n, (_, end) in entries.items() if begin + end > len(content)],
            key=lambda n: entries[n],
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ""
    return (
        f": it ends at byte {len(content)}, within {missing[0]!r}, and should end at "
        f"{begin + entries[missing[-1]][1]}"
        if missing
        else ""
    )
