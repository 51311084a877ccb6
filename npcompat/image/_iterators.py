"""Iterators that read, augment and batch images, with labels or bounding boxes."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.core import dtypes
from npcompat._internal.dispatch import handles
from npcompat.image import _augmenters, _detection
from npcompat.image._sources import Labels, Path, Source, decoded
from npcompat.image._usual import CreateAugmenter
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import DTypeLike


class DataDesc(NamedTuple):
    """Description of a batch: name, shape and dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: Any = onp.dtype("float32")


class DataBatch(NamedTuple):
    """Batch: lists of arrays, and the number of padding samples at its end."""

    data: list[Any]
    label: list[Any]
    pad: int = 0


class _PictureIter:
    """Base class of image iterators: a source, augmenters, and the last batch."""

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        source: Source,
        dtype: DTypeLike,
        last_batch_handle: str,
    ) -> None:
        what = type(self).__name__
        if batch_size < 1:
            raise ValueError(f"{what}: batch_size must be at least 1, got {batch_size}")
        if last_batch_handle not in ("pad", "discard", "roll_over"):
            raise ValueError(
                f"{what}: last_batch_handle must be 'pad', 'discard' or 'roll_over', got "
                f"{last_batch_handle!r}"
            )
        self.batch_size, self.data_shape = int(batch_size), _checked(data_shape, what)
        self.last_batch_handle, self.dtype = last_batch_handle, dtypes.canonical(dtype)
        self._source, self._name = source, ""
        self._round: Iterator[Any] | None = iter(source)
        self._left: list[Any] = []

    def reset(self) -> None:
        """Start the next epoch; with 'roll_over', samples left from the last one come first."""
        self._round = iter(self._source)

    def hard_reset(self) -> None:
        """Start the next epoch, and discard samples left from the last one."""
        self._left = []
        self.reset()

    def __iter__(self) -> Iterator[DataBatch]:
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def next(self) -> DataBatch:
        """Return the next batch.

        Raises
        ------
        StopIteration
            At the end of an epoch; `reset` starts the next.
        """
        if self._round is None:
            raise StopIteration
        samples, self._left = self._left, []
        self._fill(samples)
        missing = self.batch_size - len(samples)
        if missing:
            self._round = None
            if not samples or self.last_batch_handle == "discard":
                raise StopIteration
            if self.last_batch_handle == "roll_over":
                self._left = samples
                raise StopIteration
            while len(samples) < self.batch_size:
                self._round = iter(self._source)
                self._fill(samples)
            self._round = None
        data = onp.stack(
            [
                handles.to_host(self.postprocess_data(picture)).astype(self.dtype)
                for picture, _ in samples
            ]
        )
        return DataBatch(
            [np.array(data)], [np.array(self._labels([label for _, label in samples]))], missing
        )

    def _fill(self, samples: list[Any]) -> None:
        """Append samples until there are enough, or the epoch ends."""
        while len(samples) < self.batch_size:
            try:
                labels, content = self.next_sample()
            except StopIteration:
                return
            picture = self.imdecode(content)
            self.check_valid_image([picture])
            picture, label = self._augmented(picture, labels)
            shape = (*self.data_shape[1:], self.data_shape[0])
            if picture.shape != shape:
                raise ValueError(
                    f"{self._name}: the augmenters made a picture of shape {picture.shape}; "
                    f"data_shape means {shape}"
                )
            samples.append((picture, label))

    def _augmented(self, picture: Any, labels: Labels) -> tuple[Any, Any]:
        raise NotImplementedError(f"{type(self).__name__} must define _augmented(picture, labels)")

    # --- processing of a sample, which a subclass may override

    def next_sample(self) -> tuple[Labels, bytes]:
        """Return the labels of the next sample, and the content of its image file.

        Raises
        ------
        StopIteration
            At the end of an epoch.
        """
        found = None if self._round is None else next(self._round, None)
        if found is None:
            raise StopIteration
        labels, content, self._name = found
        return labels, content

    def read_image(self, fname: Path) -> bytes:
        """Read an image file; paths are relative to the root folder."""
        return self._source.read(fname)

    def imdecode(self, s: bytes) -> ndarray:
        """Decode an image file to an array (H, W, C)."""
        return decoded(s, self.data_shape[0], self._name)

    def check_valid_image(self, data: Sequence[Any]) -> None:
        """Raise ValueError unless the first array is an image."""
        if data[0].ndim != 3:
            raise ValueError(
                f"{self._name}: expected a picture of shape (H, W, C), got {data[0].shape}"
            )

    def check_data_shape(self, data_shape: Sequence[int]) -> None:
        """Raise ValueError unless the shape is one of images."""
        _checked(data_shape, type(self).__name__)

    def postprocess_data(self, datum: Any) -> ndarray:
        """Convert an augmented image to channels first, as stored in a batch."""
        return np.transpose(datum, (2, 0, 1))

    def _labels(self, labels: list[Any]) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _labels(labels)")


def _checked(data_shape: Sequence[int], what: str) -> tuple[int, int, int]:
    if len(data_shape) != 3 or data_shape[0] not in (1, 3) or min(data_shape) < 1:
        raise ValueError(
            f"{what}: data_shape must be (channels, height, width) with 1 or 3 channels, got "
            f"{tuple(data_shape)}"
        )
    return int(data_shape[0]), int(data_shape[1]), int(data_shape[2])


class ImageIter(_PictureIter):
    """Iterator over batches of images with labels, from a file of records or a list.

    Parameters
    ----------
    batch_size : int
        Samples in a batch.
    data_shape : (int, int, int)
        Channels, height and width.
    label_width : int
        Labels of each sample.
    path_imgrec : path, optional
        A file of records, as `recordio.pack_img` makes them.
    path_imglist : path, optional
        A `.lst` file: lines of a number, labels and a path, separated by tabs.
    path_root : path, optional
        The folder that paths are relative to.
    path_imgidx : path, optional
        The index of the records; needed to shuffle them, or to select a part.
    shuffle : bool
        Whether each epoch has another order.
    part_index, num_parts : int
        Index of the part of the samples to use, and number of parts.
    aug_list : list of Augmenter, optional
        Augmenters of each image; `CreateAugmenter(data_shape, **kwargs)` if not given.
    imglist : sequence, optional
        Labels and paths, instead of a `.lst` file.
    data_name, label_name : str
        Names in `provide_data` and `provide_label`.
    dtype : dtype
        Dtype of the batches of images.
    last_batch_handle : {'pad', 'discard', 'roll_over'}
        Whether an incomplete last batch is filled from the beginning, dropped, or begins the next
        epoch.
    **kwargs
        Arguments of `CreateAugmenter`.

    Raises
    ------
    ValueError
        If an image is damaged: the error names the file, or the record.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "pictures.rec")
    >>> with recordio.MXRecordIO(path, "w") as file:
    ...     for i in range(3):
    ...         file.write(recordio.pack_img((0, i, i, 0), onp.zeros((8, 8, 3), "uint8")))
    >>> for batch in image.ImageIter(2, (3, 4, 4), path_imgrec=path):
    ...     print(batch.data[0].shape, batch.label[0], batch.pad)
    (2, 3, 4, 4) [0. 1.] 0
    (2, 3, 4, 4) [2. 0.] 1
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        label_width: int = 1,
        path_imgrec: Path | None = None,
        path_imglist: Path | None = None,
        path_root: Path | None = None,
        path_imgidx: Path | None = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Sequence[_augmenters.Augmenter] | None = None,
        imglist: Sequence[Sequence[Any]] | None = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: DTypeLike = "float32",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        source = Source(
            path_imgrec,
            path_imgidx,
            path_imglist,
            imglist,
            path_root,
            shuffle,
            part_index,
            num_parts,
        )
        super().__init__(batch_size, data_shape, source, dtype, last_batch_handle)
        if aug_list is not None and kwargs:
            raise TypeError(
                f"ImageIter: {', '.join(kwargs)} belong to CreateAugmenter, which is not used "
                "when aug_list is given"
            )
        self.auglist = list(
            CreateAugmenter(self.data_shape, **kwargs) if aug_list is None else aug_list
        )
        self.label_width = int(label_width)
        label_shape = (
            (self.batch_size,) if label_width == 1 else (self.batch_size, self.label_width)
        )
        self.provide_data = [DataDesc(data_name, (self.batch_size, *self.data_shape), self.dtype)]
        self.provide_label = [DataDesc(label_name, label_shape)]

    def augmentation_transform(self, data: Any) -> ndarray:
        """Apply the augmenters to an image, in order."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def _augmented(self, picture: Any, labels: Labels) -> tuple[Any, Any]:
        if len(labels) != self.label_width:
            raise ValueError(
                f"{self._name}: expected {self.label_width} labels, as label_width says, got "
                f"{len(labels)}"
            )
        return self.augmentation_transform(picture), labels

    def _labels(self, labels: list[Any]) -> Any:
        return onp.stack(labels).reshape(self.provide_label[0].shape)


class ImageDetIter(_PictureIter):
    """Iterator over batches of images with bounding boxes, from a file of records or a list.

    The labels of a sample are the length of their head, the length of an object, the rest of the
    head, and the objects: a class, and a box as left, top, right, bottom in shares of the image's
    width and height. In a batch each sample has as many rows as the one with the most objects; rows
    without an object are -1.

    Parameters
    ----------
    batch_size : int
        Samples in a batch.
    data_shape : (int, int, int)
        Channels, height and width.
    path_imgrec, path_imglist, path_root, path_imgidx, shuffle, part_index, num_parts, imglist,
    last_batch_handle
        As for `ImageIter`.
    aug_list : list of DetAugmenter, optional
        Augmenters of each image; `CreateDetAugmenter(data_shape, **kwargs)` if not given.
    data_name, label_name : str
        Names in `provide_data` and `provide_label`.
    **kwargs
        Arguments of `CreateDetAugmenter`.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "pictures.rec")
    >>> with recordio.MXRecordIO(path, "w") as file:
    ...     first = [2, 5, 0, 0.0, 0.0, 0.5, 1.0]
    ...     second = [2, 5, 1, 0.5, 0.0, 1.0, 1.0, 2, 0.0, 0.0, 1.0, 0.5]
    ...     objects = [first, second]
    ...     for i, label in enumerate(objects):
    ...         file.write(recordio.pack_img((0, label, i, 0), onp.zeros((8, 8, 3), "uint8")))
    >>> batch = next(image.ImageDetIter(2, (3, 4, 4), path_imgrec=path))
    >>> batch.label[0][0]
    array([[ 0. ,  0. ,  0. ,  0.5,  1. ],
           [-1. , -1. , -1. , -1. , -1. ]])
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        path_imgrec: Path | None = None,
        path_imglist: Path | None = None,
        path_root: Path | None = None,
        path_imgidx: Path | None = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Sequence[_detection.DetAugmenter] | None = None,
        imglist: Sequence[Sequence[Any]] | None = None,
        data_name: str = "data",
        label_name: str = "label",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        sources = (path_imgrec, path_imgidx, path_imglist, imglist, path_root)
        super().__init__(
            batch_size,
            data_shape,
            Source(*sources, shuffle, part_index, num_parts),
            "float32",
            last_batch_handle,
        )
        if aug_list is not None and kwargs:
            raise TypeError(
                f"ImageDetIter: {', '.join(kwargs)} belong to CreateDetAugmenter, which is not "
                "used when aug_list is given"
            )
        self.auglist = list(
            _detection.CreateDetAugmenter(self.data_shape, **kwargs)
            if aug_list is None
            else aug_list
        )
        shapes = [
            _objects(labels, name).shape
            for labels, _, name in Source(*sources, False, part_index, num_parts)
        ]
        widths = {width for _, width in shapes}
        if len(widths) != 1:
            raise ValueError(
                "ImageDetIter: expected samples whose objects have equally many labels, got "
                f"{sorted(widths) or 'no samples'}"
            )
        self.label_shape = (max(count for count, _ in shapes), widths.pop())
        self._names = (data_name, label_name)

    @property
    def provide_data(self) -> list[DataDesc]:
        """Name, shape and dtype of the images."""
        return [DataDesc(self._names[0], (self.batch_size, *self.data_shape), self.dtype)]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Name, shape and dtype of the labels."""
        return [DataDesc(self._names[1], (self.batch_size, *self.label_shape))]

    def reshape(
        self, data_shape: Sequence[int] | None = None, label_shape: tuple[int, int] | None = None
    ) -> None:
        """Change the image size, which the augmenters must produce, or the number of label rows.

        The number of rows can only grow.
        """
        if data_shape is not None:
            self.data_shape = _checked(data_shape, "ImageDetIter.reshape")
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.label_shape = label_shape

    def check_label_shape(self, label_shape: tuple[int, int]) -> None:
        """Raise ValueError if labels of this shape can't hold the objects."""
        if (
            len(label_shape) != 2
            or label_shape[1] != self.label_shape[1]
            or label_shape[0] < self.label_shape[0]
        ):
            raise ValueError(
                f"ImageDetIter: label_shape must have {self.label_shape} or more rows, got "
                f"{label_shape}"
            )

    def sync_label_shape(self, it: "ImageDetIter", verbose: bool = False) -> "ImageDetIter":
        """Set the same label shape in this iterator and another one, such as that of validation.

        `verbose` logs the shape.
        """
        shape = (max(self.label_shape[0], it.label_shape[0]), self.label_shape[1])
        if verbose:
            logging.getLogger(__name__).info(
                "labels have shape %s, of %s and %s", shape, self.label_shape, it.label_shape
            )
        self.reshape(label_shape=shape)
        it.reshape(label_shape=shape)
        return it

    def augmentation_transform(self, data: Any, label: Labels) -> tuple[Any, Labels]:
        """Apply the augmenters to an image and its objects, in order."""
        for augmenter in self.auglist:
            data, label = augmenter(data, label)
        return data, label

    def _augmented(self, picture: Any, labels: Labels) -> tuple[Any, Any]:
        return self.augmentation_transform(picture, _objects(labels, self._name))

    def _labels(self, labels: list[Any]) -> Any:
        batch = onp.full((len(labels), *self.label_shape), -1, "float32")
        for rows, objects in zip(batch, labels, strict=True):
            rows[: len(objects)] = objects
        return batch


def _objects(labels: Labels, name: str) -> Labels:
    """Return the objects of a sample with nonempty boxes, one row for each."""
    head, width = (int(labels[0]), int(labels[1])) if len(labels) > 1 else (0, 0)
    if head < 2 or width < 5 or len(labels) <= head or (len(labels) - head) % width:
        raise ValueError(
            f"{name}: expected labels [length of the head, length of an object (5 or more), ..., "
            f"objects], got {labels[:8].tolist()}"
        )
    found = labels[head:].reshape(-1, width)
    found = found[(found[:, 3] > found[:, 1]) & (found[:, 4] > found[:, 2])]
    if not len(found):
        raise ValueError(f"{name}: no object has a box with left < right and top < bottom")
    return found


__all__ = ["DataBatch", "DataDesc", "ImageDetIter", "ImageIter"]
