"""Vision: image datasets in published file formats, and transforms."""

from npcompat.gluon.data.vision import datasets, transforms
from npcompat.gluon.data.vision.datasets import *

__all__ = ["datasets", "transforms"]
__all__ += datasets.__all__
