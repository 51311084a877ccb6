"""What transforms of one picture share: whatever else a sample holds passes through."""

from typing import Any

from npcompat.gluon.block import HybridBlock


class Transform(HybridBlock):
    """A transform of the first of its inputs; a subclass defines `transformed(self, x)`."""

    def forward(self, x: Any, *args: Any) -> Any:
        """The transformed input; with further inputs, such as a label, a tuple of it and of these
        as they are.
        """
        return (self.transformed(x), *args) if args else self.transformed(x)

    def transformed(self, x: Any) -> Any:
        """The transformed input."""
        raise NotImplementedError(f"{type(self).__name__} must define transformed(x)")


__all__ = ["Transform"]
