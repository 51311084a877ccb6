"""RecordIO: files of consecutive records, in the format of MXNet and dmlc-core.

A record is a magic number, a word, the content, and zeros up to a multiple of four bytes. The word
holds the length in 29 bits and, in the upper three, the part: 0 whole, 1 the first, 2 a middle one,
3 the last. Where the content has the magic number at a multiple of four bytes, it is removed, and
the record is split there. All words are little-endian.
"""

import os
import struct
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as onp

from npcompat._internal.backend import pillow
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles
from npcompat._internal.support import atomic_file
from npcompat._internal.support.damaged_file import reading
from npcompat._internal.support.errors import DataFileError
from npcompat.numpy_extension._image_layout import host_picture

MAGIC = 0xCED7230A
_MAGIC = struct.pack("<I", MAGIC)
_LONGEST = (1 << 29) - 1
_LARGE = 2**20
WHOLE, FIRST, MIDDLE, LAST = range(4)
Path = str | os.PathLike[str]


# --- files ----------------------------------------------------------------------------------------


def _parts(content: bytes) -> Iterator[bytes]:
    """Iterate over the pieces between the magic numbers in a content."""
    begin = 0
    while (found := content.find(_MAGIC, begin)) >= 0:
        while found >= 0 and found % 4:
            found = content.find(_MAGIC, found + 1)
        if found < 0:
            break
        yield content[begin:found]
        begin = found + 4
    yield content[begin:]


class MXRecordIO:
    """RecordIO file for sequential reading or writing.

    A file is written under a temporary name, and renamed when it is closed: an interruption leaves
    an older file as it was.

    Parameters
    ----------
    uri : path
        The file.
    flag : {'r', 'w'}
        Read or write.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "words.rec")
    >>> with recordio.MXRecordIO(path, "w") as file:
    ...     file.write(b"one")
    ...     file.write(b"two")
    >>> list(recordio.MXRecordIO(path, "r"))
    [b'one', b'two']
    """

    def __init__(self, uri: Path, flag: str) -> None:
        if flag not in ("r", "w"):
            raise ValueError(f"{type(self).__name__}: flag must be 'r' or 'w', got {flag!r}")
        self.uri, self.flag = os.fspath(uri), flag
        self._file: Any = None
        self._turn = threading.Lock()
        self.open()

    @property
    def writable(self) -> bool:
        """True if the file is opened for writing."""
        return self.flag == "w"

    @property
    def is_open(self) -> bool:
        """True if the file is open."""
        return self._file is not None

    def open(self) -> None:
        """Open the file, at its beginning; does nothing if it is open."""
        if self._file is None:
            self._file = atomic_file.Writer(self.uri) if self.writable else open(self.uri, "rb")  # noqa: SIM115

    def close(self) -> None:
        """Close the file; does nothing the second time."""
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    def reset(self) -> None:
        """Restart: read from the beginning, or rewrite the file."""
        self.close()
        self.open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *error: object) -> None:
        if kind is not None and self.writable and self._file is not None:
            file, self._file = self._file, None
            file.discard()
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        if self.writable:
            raise RuntimeError(
                f"{self.uri}: a file that is being written can't be sent to another process"
            )
        kept = {name: value for name, value in self.__dict__.items() if name != "_turn"}
        return {**kept, "_file": None, "_at": self.tell() if self.is_open else None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        at = state.pop("_at")
        self.__dict__.update(state, _turn=threading.Lock())
        if at is not None:
            self.open()
            self._file.seek(at)

    def _opened(self, writing: bool) -> Any:
        if self.writable != writing:
            raise ValueError(
                f"{self.uri} was opened with flag {self.flag!r}: it can't be "
                f"{'written' if writing else 'read'}"
            )
        if self._file is None:
            raise ValueError(f"{self.uri} is closed")
        return self._file

    def tell(self) -> int:
        """Return the offset of the next record."""
        if self._file is None:
            raise ValueError(f"{self.uri} is closed")
        return int(self._file.tell())

    def write(self, buf: bytes) -> None:
        """Append a record.

        Parameters
        ----------
        buf : bytes
            Its content, of less than 512 MiB between two magic numbers.
        """
        file, parts = self._opened(writing=True), list(_parts(bytes(buf)))
        if max(map(len, parts)) > _LONGEST:
            raise ValueError(f"{self.uri}: a record may have {_LONGEST} bytes, got {len(buf)}")
        for i, part in enumerate(parts):
            kind = (
                WHOLE
                if len(parts) == 1
                else FIRST
                if i == 0
                else LAST
                if i == len(parts) - 1
                else MIDDLE
            )
            file.write(
                _MAGIC + struct.pack("<I", kind << 29 | len(part)) + part + bytes(-len(part) % 4)
            )

    def read(self) -> bytes | None:
        """Read the next record; None at the end of the file.

        Raises
        ------
        DataFileError
            If the file ends within a record, or there is no magic number at its beginning.
        """
        file = self._opened(writing=False)
        begin = file.tell()
        parts: list[bytes] = []
        while True:
            at = file.tell()
            head = file.read(8)
            if not head and not parts:
                return None
            if len(head) < 8:
                raise DataFileError(
                    f"{self.uri}: the file ends at offset {at + len(head)}, within the record "
                    f"that begins at {begin}"
                )
            magic, word = struct.unpack("<II", head)
            if magic != MAGIC:
                raise DataFileError(
                    f"{self.uri}: expected the magic number {MAGIC:#x} at offset {at}, got "
                    f"{magic:#x}"
                )
            kind, length = word >> 29, word & _LONGEST
            if (kind in (WHOLE, FIRST)) != (not parts) or kind > LAST:
                raise DataFileError(
                    f"{self.uri}: expected {'another part' if parts else 'a record'} at offset "
                    f"{at}, got part {kind}"
                )
            whole = length + -length % 4
            if whole > _LARGE:  # `read` takes the memory first
                whole = min(whole, max(0, os.fstat(file.fileno()).st_size - at - 8))
            padded = file.read(whole)
            if len(padded) < length + -length % 4:
                raise DataFileError(
                    f"{self.uri}: the file ends at offset {at + 8 + len(padded)}, within the "
                    f"record that begins at {begin}"
                )
            parts.append(padded[:length])
            if kind in (WHOLE, LAST):
                return _MAGIC.join(parts)

    def __iter__(self) -> Iterator[bytes]:
        while (record := self.read()) is not None:
            yield record


class MXIndexedRecordIO(MXRecordIO):
    """RecordIO file with an index for random access: a text file of keys and offsets.

    Parameters
    ----------
    idx_path : path
        The index.
    uri : path
        The file of records.
    flag : {'r', 'w'}
        Read or write.
    key_type : callable
        Converts text to a key.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "words")
    >>> with recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w") as file:
    ...     file.write_idx(3, b"three")
    ...     file.write_idx(7, b"seven")
    >>> recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "r").read_idx(7)
    b'seven'
    """

    def __init__(self, idx_path: Path, uri: Path, flag: str, key_type: Any = int) -> None:
        self.idx_path, self.key_type = os.fspath(idx_path), key_type
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        super().__init__(uri, flag)

    def open(self) -> None:
        """Open the files; does nothing if they are open."""
        if self._file is not None:
            return
        super().open()
        self.idx, self.keys = {}, []
        if not self.writable:
            try:
                self._read_index()
            except BaseException:
                self.close()
                raise

    def _read_index(self) -> None:
        with (
            open(self.idx_path, encoding="utf-8") as file,
            reading(os.fspath(self.idx_path), "index of records"),
        ):
            for number, line in enumerate(file, 1):
                try:
                    key, offset = line.rstrip("\n").split("\t")
                    place = int(offset)
                    if not 0 <= place < 2**63:
                        raise ValueError("no offset in a file")
                    self.idx[self.key_type(key)] = place
                except ValueError as error:
                    raise DataFileError(
                        f"{self.idx_path}, line {number}: expected a key, a tab and an offset, "
                        f"got {line.rstrip()!r}"
                    ) from error
        self.keys = list(self.idx)

    def close(self) -> None:
        """Close the file and, in write mode, write the index."""
        writing = self._file is not None and self.writable
        super().close()
        if writing:
            atomic_file.write(
                self.idx_path, "".join([f"{key}\t{self.idx[key]}\n" for key in self.keys]).encode()
            )

    def seek(self, idx: Any) -> None:
        """Seek to the record of a key."""
        if idx not in self.idx:
            raise KeyError(f"{self.idx_path}: no record has the key {idx!r}")
        self._opened(writing=False).seek(self.idx[idx])

    def read_idx(self, idx: Any) -> bytes:
        """Read the record of a key; thread-safe."""
        with self._turn:
            self.seek(idx)
            record = self.read()
        if record is None:
            raise DataFileError(
                f"{self.uri}: expected record {idx!r} at offset {self.idx[idx]}, where the file "
                "ends"
            )
        return record

    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Append a record under a new key."""
        key = self.key_type(idx)
        if key in self.idx:
            raise ValueError(f"{self.uri}: a record with the key {key!r} is there already")
        at = self.tell()
        self.write(buf)
        self.idx[key] = at
        self.keys.append(key)


# --- records with labels --------------------------------------------------------------------------


class IRHeader(NamedTuple):
    """Header of a record with a label: flag, label, and two ids.

    The flag is the number of labels; 0 means that `label` is one float.
    """

    flag: int
    label: Any
    id: int
    id2: int


_HEADER = struct.Struct("<IfQQ")


def pack(header: IRHeader | tuple[Any, ...], s: bytes) -> bytes:
    """Pack a header and a content to the bytes of a record.

    Parameters
    ----------
    header : IRHeader
        A label that is an array or a sequence makes the flag its length.
    s : bytes
        The content.

    Examples
    --------
    >>> record = recordio.pack(recordio.IRHeader(0, 4.0, 2574, 0), b"data")
    >>> header, content = recordio.unpack(record)
    >>> header, content
    (IRHeader(flag=0, label=4.0, id=2574, id2=0), b'data')
    """
    header = IRHeader(*header)
    label = handles.to_host(header.label) if isinstance(header.label, Handle) else header.label
    if onp.ndim(label) == 0:
        return _HEADER.pack(0, float(label), header.id, header.id2) + s
    labels = onp.ravel(label).astype("<f4")
    return _HEADER.pack(len(labels), 0.0, header.id, header.id2) + labels.tobytes() + s


def unpack(s: bytes) -> tuple[IRHeader, bytes]:
    """Unpack header and content of a record that `pack` made.

    Returns
    -------
    IRHeader
        Its label is a float or, with a nonzero flag, a NumPy array of that length.
    bytes
        The content.

    Raises
    ------
    DataFileError
        If there are too few bytes.
    """
    if len(s) < _HEADER.size:
        raise DataFileError(
            f"unpack: expected a header of {_HEADER.size} bytes, got {len(s)} bytes"
        )
    header, rest = IRHeader(*_HEADER.unpack_from(s)), s[_HEADER.size :]
    if not header.flag:
        return header, rest
    size = 4 * header.flag
    if len(rest) < size:
        raise DataFileError(
            f"unpack: expected {header.flag} labels at offset {_HEADER.size}, got {len(rest)} bytes"
        )
    return header._replace(label=onp.frombuffer(rest[:size], "<f4").astype("float32")), rest[size:]


def pack_img(
    header: IRHeader | tuple[Any, ...], img: Any, quality: int = 95, img_fmt: str = ".jpg"
) -> bytes:
    """Encode an image, and pack it with a header to the bytes of a record; needs Pillow.

    Parameters
    ----------
    header : IRHeader
        The header.
    img : array_like of uint8, shape (H, W, 3), (H, W, 1) or (H, W)
        The image; channels are red, green, blue.
    quality : int
        Quality of a JPEG file, or compression of a PNG file (at most 9).
    img_fmt : {'.jpg', '.jpeg', '.png'}
        The format.

    Examples
    --------
    >>> pixels = np.zeros((2, 3, 3), dtype="uint8")
    >>> record = recordio.pack_img((0, 1.0, 0, 0), pixels, quality=9, img_fmt=".png")
    >>> header, picture = recordio.unpack_img(record)
    >>> header.label, picture.shape
    (1.0, (2, 3, 3))
    """
    pixels = handles.to_host(img) if isinstance(img, Handle) else onp.asarray(img)
    if pixels.dtype != onp.uint8 or not (
        pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (1, 3))
    ):
        raise ValueError(
            "pack_img: expected a picture (H, W, 3), (H, W, 1) or (H, W) of uint8, got "
            f"{pixels.shape} of {pixels.dtype}"
        )
    return pack(header, pillow.encoded(pixels, img_fmt, quality))


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[IRHeader, Any]:
    """Unpack header and decoded image of a record that `pack_img` made; needs Pillow.

    Parameters
    ----------
    s : bytes
        The record.
    iscolor : {1, 0, -1}
        1: three channels, red, green, blue; 0: one; -1: as many as the file has.

    Returns
    -------
    IRHeader
        The header.
    ndarray of uint8, shape (H, W, 3) or (H, W, 1)
        The image.
    """
    header, content = unpack(s)
    return header, host_picture(pillow.decoded(content, iscolor, True, "unpack_img"))


__all__ = [
    "IRHeader",
    "MXIndexedRecordIO",
    "MXRecordIO",
    "pack",
    "pack_img",
    "unpack",
    "unpack_img",
]
