"""Sources of image iterators: lists and files of records, whole or in parts."""

import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend import pillow
from npcompat._internal.support.errors import DataFileError
from npcompat.image._lists import Entry, labelled, read_list
from npcompat.numpy import random
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy_extension._image_layout import host_picture
from npcompat.recordio import MXIndexedRecordIO, MXRecordIO, unpack

Path = str | os.PathLike[str]
Labels = onp.ndarray[Any, Any]


class Source:
    """Source of samples, each an array of labels and the bytes of an image file.

    Parameters
    ----------
    path_imgrec, path_imgidx : path, optional
        A file of records and its index.
    path_imglist : path, optional
        A `.lst` file; with records, its labels replace theirs.
    imglist : sequence, optional
        Labels and paths, instead of such a file.
    path_root : path, optional
        The folder that paths are relative to.
    shuffle : bool
        Whether each epoch has another order.
    part_index, num_parts : int
        Index of the part of the samples to use, and number of parts.
    """

    def __init__(
        self,
        path_imgrec: Path | None,
        path_imgidx: Path | None,
        path_imglist: Path | None,
        imglist: Sequence[Sequence[Any]] | None,
        path_root: Path | None,
        shuffle: bool,
        part_index: int,
        num_parts: int,
    ) -> None:
        if path_imgrec is None and path_imglist is None and imglist is None:
            raise ValueError(
                "expected path_imgrec, path_imglist or imglist: there is nothing to read from"
            )
        if not 0 <= part_index < num_parts:
            raise ValueError(f"part_index must be in [0, {num_parts}), got {part_index}")
        self._root, self._shuffle = "" if path_root is None else os.fspath(path_root), bool(shuffle)
        self._entries: dict[Any, Entry] = {}
        if path_imglist is not None:
            self._entries = dict(read_list(path_imglist))
        elif imglist is not None:
            self._entries = {i: labelled(entry) for i, entry in enumerate(imglist)}
        self._records: MXRecordIO | None = None
        keys: Sequence[Any] | None = list(self._entries)
        if path_imgrec is not None:
            self._records = (
                MXRecordIO(path_imgrec, "r")
                if path_imgidx is None
                else MXIndexedRecordIO(path_imgidx, path_imgrec, "r")
            )
            keys = self._records.keys if isinstance(self._records, MXIndexedRecordIO) else None
        if keys is None and (shuffle or num_parts > 1):
            raise ValueError(
                "records without an index come one after another: shuffle=True and num_parts need "
                "path_imgidx"
            )
        if keys is not None:
            share, rest = divmod(len(keys), num_parts)
            begin = part_index * share + min(part_index, rest)
            keys = keys[begin : begin + share + (part_index < rest)]
        self.keys = keys

    def __iter__(self) -> Iterator[tuple[Labels, bytes, str]]:
        """Iterate over one epoch: labels, bytes, and the sample's name in errors."""
        if self.keys is None:
            assert self._records is not None
            self._records.reset()
            for number, record in enumerate(self._records):
                yield self._unpacked(number, record)
            return
        order = (
            random.permutation(len(self.keys)).tolist() if self._shuffle else range(len(self.keys))
        )
        for i in order:
            yield self._sample(self.keys[i])

    def _sample(self, key: Any) -> tuple[Labels, bytes, str]:
        if isinstance(self._records, MXIndexedRecordIO):
            return self._unpacked(key, self._records.read_idx(key))
        labels, path = self._entries[key]
        return labels, self.read(path), os.path.join(self._root, path)

    def read(self, path: Path) -> bytes:
        """Read a file; paths are relative to the root folder."""
        return pathlib.Path(self._root, path).read_bytes()

    def _unpacked(self, key: Any, record: bytes) -> tuple[Labels, bytes, str]:
        assert self._records is not None
        name = f"{self._records.uri}, record {key!r}"
        try:
            header, content = unpack(record)
        except DataFileError as error:
            raise DataFileError(f"{name}: {error}") from error
        if not self._entries:
            return onp.ravel(header.label).astype("float32"), content, name
        if header.id not in self._entries:
            raise DataFileError(f"{name}: its number {header.id} is not on the list of labels")
        return self._entries[header.id][0], content, name


def decoded(content: bytes, channels: int, name: str) -> ndarray:
    """Decode the image of a sample."""
    return host_picture(pillow.decoded(content, 1 if channels == 3 else 0, True, name))


__all__ = ["Labels", "Path", "Source", "decoded"]
