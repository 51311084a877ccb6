"""`F`, the namespace that `hybrid_forward` gets."""

from typing import Any

import npcompat.numpy as np
import npcompat.numpy_extension as npx


class _Front:
    """The `F` of `hybrid_forward`: the functions of npx and np in one namespace, which is the same
    in every mode.
    """

    np = np
    npx = npx

    def __getattr__(self, name: str) -> Any:
        found = getattr(npx, name, None)
        if found is None:
            found = getattr(np, name, None)
        if found is None:
            raise AttributeError(f"F.{name}: neither npx nor np has this function")
        return found


F = _Front()

__all__ = ["F"]
