"""Image datasets, under the name of MXNet's module."""

from npcompat.gluon.data.vision._files import (
    ImageFolderDataset,
    ImageListDataset,
    ImageRecordDataset,
)
from npcompat.gluon.data.vision._published import CIFAR10, CIFAR100, MNIST, FashionMNIST

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "MNIST",
    "FashionMNIST",
    "ImageFolderDataset",
    "ImageListDataset",
    "ImageRecordDataset",
]
