"""Pictures: datasets in published file formats, and transforms."""

from npcompat.gluon.data.vision import transforms
from npcompat.gluon.data.vision._files import ImageFolderDataset, ImageListDataset, ImageRecordDataset
from npcompat.gluon.data.vision._published import CIFAR10, CIFAR100, MNIST, FashionMNIST

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "MNIST",
    "FashionMNIST",
    "ImageFolderDataset",
    "ImageListDataset",
    "ImageRecordDataset",
    "transforms",
]
