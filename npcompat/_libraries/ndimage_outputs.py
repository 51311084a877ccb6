"""npcompat's arrays as outputs of `scipy.ndimage`, which asks whether they are NumPy's.

Where it asks, any other array is taken for a dtype, as it has one: `binary_dilation(a, output=out)`
and `label(a, output=out)` would write an array of their own.
"""

import importlib
import importlib.util
import inspect
import os
import sys
import warnings

from npcompat._libraries.replacing import replace

OUTPUTS = ("output", "distances", "indices")
"""Parameters of functions of `scipy.ndimage` that are written."""
_WRITES_ITSELF = ("vectorized_filter",)
"""Functions that write any output by `output[...] =`, and ask it for its namespace."""

_FUNCTIONS = "scipy.ndimage._ndimage_api"
_WRAPPED = "scipy.ndimage._support_alternative_backends"
if importlib.util.find_spec(_FUNCTIONS) is None:  # before SciPy 1.15 they are not wrapped
    _FUNCTIONS = "scipy.ndimage"

if os.environ.get("SCIPY_ARRAY_API") and hasattr(sys.modules.get(_WRAPPED), "label"):
    warnings.warn(
        "scipy.ndimage was imported before npcompat, with SCIPY_ARRAY_API set: its functions do not "
        "write npcompat's arrays (output=); import npcompat first",
        RuntimeWarning,
        stacklevel=1,
    )
else:
    _library = importlib.import_module(_FUNCTIONS)
    for _name in _library.__all__:
        _parameters = inspect.signature(getattr(_library, _name)).parameters
        if _name not in _WRITES_ITSELF and any([name in OUTPUTS for name in _parameters]):
            replace(_FUNCTIONS, _name, OUTPUTS)

__all__: list[str] = []
