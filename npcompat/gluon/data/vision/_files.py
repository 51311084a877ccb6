"""Image datasets in files: a folder for each class, a list, or a file of records."""

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as onp

from npcompat._internal.support.errors import DataFileError
from npcompat.gluon.data._dataset import Dataset, RecordFileDataset
from npcompat.image._lists import labelled, read_list
from npcompat.image._reading import imdecode, imread
from npcompat.numpy._ndarray import ndarray
from npcompat.recordio import unpack

Transform = Callable[..., Any]


class ImageFolderDataset(Dataset):
    """Dataset of images in folders, one for each class, such as `root/cat/1.png`.

    A sample is an image, uint8 of shape (H, W, C), and the index of its folder in alphabetical
    order.

    Parameters
    ----------
    root : path
        The folder of the folders.
    flag : {1, 0}
        Whether images have three channels, or one.
    transform : callable, optional
        The sample is the result of `transform(data, label)`.

    Attributes
    ----------
    synsets : list of str
        The names of the folders: `synsets[i]` is that of label i.
    items : list of (str, int)
        Paths and labels of all images.

    Examples
    --------
    >>> gluon.data.vision.ImageFolderDataset("nowhere")
    Traceback (most recent call last):
    FileNotFoundError: ImageFolderDataset: there is no folder nowhere
    """

    def __init__(
        self, root: str | os.PathLike[str], flag: int = 1, transform: Transform | None = None
    ) -> None:
        self._root, self._flag, self._transform = Path(root).expanduser(), flag, transform
        self._exts = (".jpg", ".jpeg", ".png")
        if not self._root.is_dir():
            raise FileNotFoundError(f"ImageFolderDataset: there is no folder {self._root}")
        self.synsets: list[str] = []
        self.items: list[tuple[str, int]] = []
        for folder in sorted(self._root.iterdir()):
            if not folder.is_dir():
                warnings.warn(
                    f"ImageFolderDataset: {folder} is no folder, and left out", stacklevel=2
                )
                continue
            self._add(folder)

    def _add(self, folder: Path) -> None:
        label = len(self.synsets)
        self.synsets.append(folder.name)
        for path in sorted(folder.iterdir()):
            if path.suffix.lower() in self._exts:
                self.items.append((str(path), label))
            else:
                warnings.warn(
                    f"ImageFolderDataset: {path} is left out: expected one of "
                    f"{', '.join(self._exts)}",
                    stacklevel=3,
                )

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, idx: int) -> Any:
        path, label = self.items[idx]
        picture = imread(path, self._flag)
        return (picture, label) if self._transform is None else self._transform(picture, label)


class ImageListDataset(Dataset):
    """Dataset of the images in a list, with their labels.

    A sample is an image, uint8 of shape (H, W, C), and its labels, float32 of shape (labels,).

    Parameters
    ----------
    root : path
        The folder that paths are relative to.
    imglist : path, or sequence
        A `.lst` file in that folder, whose lines are a number, labels and a path, separated by
        tabs; or a sequence of labels, each one number, several or an array, followed by a path.
    flag : {1, 0}
        Whether images have three channels, or one.

    Examples
    --------
    >>> data = gluon.data.vision.ImageListDataset("pictures", [[0, "cat.png"], [1, "dog.png"]])
    >>> len(data)
    2
    """

    def __init__(
        self, root: str | os.PathLike[str] = ".", imglist: Any = None, flag: int = 1
    ) -> None:
        self._root, self._flag = Path(root).expanduser(), flag
        if isinstance(imglist, str | os.PathLike):
            self._items = list(read_list(self._root / imglist).values())
        elif isinstance(imglist, Sequence):
            self._items = [labelled(entry) for entry in imglist]
        else:
            raise TypeError(
                "ImageListDataset: imglist must be a path or a sequence of labels and paths, got "
                f"{type(imglist).__name__}"
            )

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, idx: int) -> tuple[ndarray, onp.ndarray[Any, Any]]:
        label, path = self._items[idx]
        return imread(self._root / path, self._flag), label


class ImageRecordDataset(RecordFileDataset):
    """Dataset of images in a RecordIO file, as `recordio.pack_img` makes its records.

    A sample is an image, uint8 of shape (H, W, C), and its label, a float or an array of floats.

    Parameters
    ----------
    filename : path
        The file, `name.rec`; its index `name.idx` must lie beside it.
    flag : {1, 0}
        Whether images have three channels, or one.
    transform : callable, optional
        The sample is the result of `transform(data, label)`.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "pictures")
    >>> with recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w") as file:
    ...     file.write_idx(0, recordio.pack_img((0, 3.0, 0, 0), onp.zeros((4, 6, 3), "uint8")))
    >>> picture, label = gluon.data.vision.ImageRecordDataset(path + ".rec")[0]
    >>> picture.shape, label
    ((4, 6, 3), 3.0)
    """

    def __init__(
        self, filename: str | os.PathLike[str], flag: int = 1, transform: Transform | None = None
    ) -> None:
        super().__init__(filename)
        self._flag, self._transform = flag, transform

    def __getitem__(self, idx: int) -> Any:
        key = self._records.keys[idx]
        try:
            header, content = unpack(super().__getitem__(idx))
            picture = imdecode(content, self._flag)
        except ValueError as error:
            raise DataFileError(
                f"{self.filename}: record {key!r} at offset {self._records.idx[key]}: {error}"
            ) from error
        return (
            (picture, header.label)
            if self._transform is None
            else self._transform(picture, header.label)
        )


__all__ = ["ImageFolderDataset", "ImageListDataset", "ImageRecordDataset"]
