"""Arrow's protocol of arrays: `pyarrow.array(a)` takes the memory of the host without a copy."""

import importlib
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle


class ArrowProtocol(Handle):
    """Mixin of `ndarray` for `pyarrow.array(ours)` and tables of pyarrow.

    The C protocol (`__arrow_c_array__`) is left out: polars drops the name and the dtype that are
    given beside such an object.
    """

    __slots__ = ()

    def __arrow_array__(self, type: Any = None) -> Any:
        """Return a pyarrow.Array of the elements of an array of one axis.

        It is read as pyarrow reads NumPy's arrays: from the memory itself, if that is contiguous.
        """
        return importlib.import_module("pyarrow").array(onp.asarray(self), type=type)


__all__ = ["ArrowProtocol"]
