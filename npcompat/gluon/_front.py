"""`F`, the namespace argument of `hybrid_forward`."""

from typing import Any

import npcompat.numpy as np
import npcompat.numpy_extension as npx


class _Front:
    """Namespace with the functions of npx and np, the same in every mode."""

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
