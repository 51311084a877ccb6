"""Base class of image transforms, which pass other elements of a sample through."""

from typing import Any

from npcompat.gluon.block import HybridBlock
from npcompat.numpy._ndarray import ndarray


class Transform(HybridBlock):
    """Base class of transforms of the first input; a subclass defines `transformed(self, x)`."""

    def forward(self, x: Any, *args: Any) -> Any:
        """Return the transformed input.

        With further inputs, such as a label, returns a tuple of it and of the unchanged others.
        """
        return (self.transformed(x), *args) if args else self.transformed(x)

    def transformed(self, x: ndarray) -> ndarray:
        """Return the transformed images."""
        raise NotImplementedError(f"{type(self).__name__} must define transformed(x)")


__all__ = ["Transform"]
