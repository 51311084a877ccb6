"""npcompat's arrays as outputs of `scipy.ndimage`, which asks whether they are NumPy's.

Where it asks, any other array is taken for a dtype, as it has one: `binary_dilation(a, output=out)`
and `label(a, output=out)` would write an array of their own.
"""

import importlib
import inspect

from npcompat._libraries.replacing import replace

OUTPUTS = ("output", "distances", "indices")
"""Parameters of functions of `scipy.ndimage` that are written."""

_library = importlib.import_module("scipy.ndimage")
for _name in _library.__all__:
    _parameters = inspect.signature(getattr(_library, _name)).parameters
    if any([name in OUTPUTS for name in _parameters]):
        replace("scipy.ndimage", _name, OUTPUTS)

__all__: list[str] = []
