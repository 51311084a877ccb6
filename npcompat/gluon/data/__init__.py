"""Datasets, samplers, and the loader that makes batches of them."""

from npcompat._internal.support import old_paths
from npcompat.gluon.data import batchify, vision
from npcompat.gluon.data._dataset import ArrayDataset, Dataset, RecordFileDataset, SimpleDataset
from npcompat.gluon.data._grain import GrainLoader
from npcompat.gluon.data._loader import DataLoader
from npcompat.gluon.data._sampler import (
    BatchSampler,
    FilterSampler,
    IntervalSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)

__all__ = [
    "ArrayDataset",
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "FilterSampler",
    "GrainLoader",
    "IntervalSampler",
    "RandomSampler",
    "RecordFileDataset",
    "Sampler",
    "SequentialSampler",
    "SimpleDataset",
    "batchify",
    "vision",
]

__getattr__ = old_paths.names_of(__name__)
