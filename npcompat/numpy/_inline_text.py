"""The protocol of xarray for arrays in one line of a dataset's text."""

import importlib

import numpy as onp

from npcompat._internal.core.handle import Handle


class InlineText(Handle):
    """Mixin of `ndarray` for the text of `xarray.Dataset`."""

    __slots__ = ()

    def _repr_inline_(self, max_width: int) -> str:
        """Return the elements, as many as fit, as xarray shows those of NumPy's arrays."""
        formatting = importlib.import_module("xarray.core.formatting")
        text: str = formatting.format_array_flat(onp.asarray(self), max_width)
        return text


__all__ = ["InlineText"]
