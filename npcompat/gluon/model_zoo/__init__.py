"""Networks that others have described and trained."""

from npcompat.gluon.model_zoo import vision

__all__ = ["vision"]
