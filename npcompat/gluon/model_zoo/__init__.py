"""Model zoo: published network architectures."""

from npcompat.gluon.model_zoo import vision

__all__ = ["vision"]
