"""Published image datasets, read from a local folder: MNIST, FashionMNIST, CIFAR-10, CIFAR-100.

Nothing is downloaded: the error for a missing file says where it is published, and where to put it.
"""

import gzip
import math
import os
import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as onp

from npcompat._internal.support.errors import DataFileError
from npcompat.gluon.data._dataset import Dataset
from npcompat.numpy_extension._image_layout import host_picture

Array = onp.ndarray[Any, Any]

# --- files ----------------------------------------------------------------------------------------


def _found(
    root: Path, name: str, folders: Sequence[str], endings: Sequence[str], published: str
) -> Path:
    """Return the path of a file, in the folder or a subfolder that an archive creates in it."""
    for folder in ("", *folders):
        for ending in endings:
            path = root / folder / (name + ending)
            if path.is_file():
                return path
    raise FileNotFoundError(
        f"{root / (name + endings[-1])} is missing; nothing is downloaded: get it from "
        f"{published} and put it there"
    )


def _content(path: Path) -> bytes:
    """Read a file, and decompress it if its name ends with .gz."""
    content = path.read_bytes()
    if path.suffix != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataFileError(
            f"{path}: damaged gzip file of {len(content)} bytes: {error}"
        ) from error


def read_idx(path: Path, ndim: int) -> Array:
    """Read an array of unsigned bytes from an IDX file (LeCun et al., "The MNIST database").

    Two zero bytes, a code for the type, the number of axes, their lengths as big-endian 32-bit
    integers, and the elements.
    """
    content = _content(path)
    if content[:4] != bytes((0, 0, 8, ndim)):
        raise DataFileError(
            f"{path}: expected an IDX file of bytes and {ndim} axes at offset 0, which begins 00 "
            f"00 08 0{ndim}; got {_hex(content)}"
        )
    begin = 4 + 4 * ndim
    if len(content) < begin:
        raise DataFileError(
            f"{path}: the file ends at offset {len(content)}, within the lengths of its {ndim} axes"
        )
    shape = struct.unpack_from(f">{ndim}I", content, 4)
    expected = begin + math.prod(shape)
    if len(content) < expected:
        raise DataFileError(
            f"{path}: the file ends at offset {len(content)}; elements of shape {shape} end at "
            f"{expected}"
        )
    if len(content) > expected:
        raise DataFileError(
            f"{path}: {len(content) - expected} bytes too many after offset {expected}, where "
            f"elements of shape {shape} end"
        )
    return onp.frombuffer(content, onp.uint8, offset=begin).reshape(shape)


def _hex(content: bytes) -> str:
    return content[:4].hex(" ") or "an empty file"


def read_cifar(path: Path, labels: int) -> tuple[Array, Array]:
    """Read images (N, 32, 32, 3) and labels (N, labels) from a file of CIFAR's binary version.

    Each record has its labels, a byte each, and 1024 bytes for each of red, green and blue
    (Krizhevsky, "The CIFAR-10 dataset").
    """
    content = path.read_bytes()
    length = labels + 3072
    if not content or len(content) % length:
        whole = len(content) // length
        raise DataFileError(
            f"{path}: the file ends at offset {len(content)}, within record {whole} of {length} "
            f"bytes, which begins at {whole * length}"
        )
    records = onp.frombuffer(content, onp.uint8).reshape(-1, length)
    return records[:, labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), records[:, :labels]


# --- datasets -------------------------------------------------------------------------------------


class _Published(Dataset):
    """Base class of datasets that fit into memory."""

    def __init__(
        self, root: str | os.PathLike[str], train: bool, transform: Callable[..., Any] | None
    ) -> None:
        self._root, self._train, self._transform = Path(root).expanduser(), bool(train), transform
        data, label = self._read()
        self._data, self._label = onp.ascontiguousarray(data), host_picture(label.astype(onp.int32))

    def _read(self) -> tuple[Array, Array]:
        raise NotImplementedError(f"{type(self).__name__} must define _read()")

    def __len__(self) -> int:
        return len(self._label)

    def __getitem__(self, idx: int | slice) -> Any:
        data, label = host_picture(self._data[idx].copy()), self._label[idx].copy()
        return (data, label) if self._transform is None else self._transform(data, label)


class MNIST(_Published):
    """MNIST handwritten digits (LeCun et al., 1998): 60000 training and 10000 test images.

    A sample is an image, uint8 of shape (28, 28, 1), and an int32 label; a slice returns several of
    both.

    Parameters
    ----------
    root : path
        Folder of the files `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`,
        `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte`, as they are or with `.gz`.
    train : bool
        Whether samples to train with are read, or those to test.
    transform : callable, optional
        The sample is the result of `transform(data, label)`.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the error says where to get it, as nothing is downloaded.
    DataFileError
        If a file is damaged; the error names the offset.

    Examples
    --------
    >>> gluon.data.vision.MNIST("nowhere")
    Traceback (most recent call last):
    FileNotFoundError: nowhere/train-images-idx3-ubyte.gz is missing; nothing is downloaded: get it
        from http://yann.lecun.com/exdb/mnist and put it there
    """

    _published = "http://yann.lecun.com/exdb/mnist"

    def __init__(
        self,
        root: str | os.PathLike[str] = os.path.join("~", ".mxnet", "datasets", "mnist"),
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, train, transform)

    def _read(self) -> tuple[Array, Array]:
        part = "train" if self._train else "t10k"
        paths = [
            _found(self._root, f"{part}-{what}-ubyte", (), ("", ".gz"), self._published)
            for what in ("images-idx3", "labels-idx1")
        ]
        images, labels = read_idx(paths[0], 3), read_idx(paths[1], 1)
        if len(images) != len(labels):
            raise DataFileError(
                f"{paths[0]} has {len(images)} pictures, but {paths[1]} has {len(labels)} labels"
            )
        return images[..., None], labels


class FashionMNIST(MNIST):
    """Fashion-MNIST: images of clothing in the format of MNIST (Xiao et al., 2017).

    Parameters, samples and errors are those of `MNIST`.

    Parameters
    ----------
    root : path
        Folder of the four files, whose names are those of MNIST.
    train, transform
        As for `MNIST`.

    Examples
    --------
    >>> gluon.data.vision.FashionMNIST("nowhere", train=False)
    Traceback (most recent call last):
    FileNotFoundError: nowhere/t10k-images-idx3-ubyte.gz is missing; nothing is downloaded: get it
        from https://github.com/zalandoresearch/fashion-mnist and put it there
    """

    _published = "https://github.com/zalandoresearch/fashion-mnist"

    def __init__(
        self,
        root: str | os.PathLike[str] = os.path.join("~", ".mxnet", "datasets", "fashion-mnist"),
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, train, transform)


_CIFAR = "https://www.cs.toronto.edu/~kriz/cifar.html (binary version)"


class CIFAR10(_Published):
    """CIFAR-10: images of ten classes (Krizhevsky, 2009), 50000 to train and 10000 to test.

    A sample is an image, uint8 of shape (32, 32, 3), and an int32 label; a slice returns several of
    both.

    Parameters
    ----------
    root : path
        Folder of the files `data_batch_1.bin` to `data_batch_5.bin` and `test_batch.bin`, or of the
        folder `cifar-10-batches-bin` with them.
    train : bool
        Whether samples to train with are read, or those to test.
    transform : callable, optional
        The sample is the result of `transform(data, label)`.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the error says where to get it, as nothing is downloaded.
    DataFileError
        If a file is damaged; the error names the offset.

    Examples
    --------
    >>> gluon.data.vision.CIFAR10("nowhere", train=False)
    Traceback (most recent call last):
    FileNotFoundError: nowhere/test_batch.bin is missing; nothing is downloaded: get it from
        https://www.cs.toronto.edu/~kriz/cifar.html (binary version) and put it there
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = os.path.join("~", ".mxnet", "datasets", "cifar10"),
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, train, transform)

    def _read(self) -> tuple[Array, Array]:
        names = [f"data_batch_{i}.bin" for i in range(1, 6)] if self._train else ["test_batch.bin"]
        parts = [
            read_cifar(_found(self._root, name, ("cifar-10-batches-bin",), ("",), _CIFAR), 1)
            for name in names
        ]
        return onp.concatenate([data for data, _ in parts]), onp.concatenate(
            [label[:, 0] for _, label in parts]
        )


class CIFAR100(_Published):
    """CIFAR-100: images of 100 classes in 20 superclasses (Krizhevsky, 2009).

    Samples and errors are as for `CIFAR10`.

    Parameters
    ----------
    root : path
        Folder of the files `train.bin` and `test.bin`, or of the folder `cifar-100-binary` with
        them.
    fine_label : bool
        Whether the label is the class, or the superclass.
    train, transform
        As for `CIFAR10`.

    Examples
    --------
    >>> gluon.data.vision.CIFAR100("nowhere")
    Traceback (most recent call last):
    FileNotFoundError: nowhere/train.bin is missing; nothing is downloaded: get it from
        https://www.cs.toronto.edu/~kriz/cifar.html (binary version) and put it there
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = os.path.join("~", ".mxnet", "datasets", "cifar100"),
        fine_label: bool = False,
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        self._fine = bool(fine_label)
        super().__init__(root, train, transform)

    def _read(self) -> tuple[Array, Array]:
        name = "train.bin" if self._train else "test.bin"
        data, labels = read_cifar(_found(self._root, name, ("cifar-100-binary",), ("",), _CIFAR), 2)
        return data, labels[:, int(self._fine)]


__all__ = ["CIFAR10", "CIFAR100", "MNIST", "FashionMNIST"]
