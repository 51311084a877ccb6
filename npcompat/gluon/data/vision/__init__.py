"""Pictures: datasets in published file formats, and transforms."""

from npcompat.gluon.data.vision import transforms

__all__ = ["transforms"]
