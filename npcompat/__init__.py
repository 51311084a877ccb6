"""npcompat: NumPy for accelerators and for learning.

    from npcompat import autograd, gluon, np, npx

The learning layers (`gluon`, `init`, `lr_scheduler`, `optimizer`) `ops` and `symbol` are imported when they are first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

from npcompat import autograd, numpy, numpy_extension
from npcompat import numpy as np
from npcompat import numpy_extension as npx

if TYPE_CHECKING:
    from npcompat import amp, gluon, initializer, lr_scheduler, ops, optimizer, symbol, test_utils
    from npcompat import initializer as init

__version__ = "0.1.0"
_LATER = {
    "amp": "amp",
    "gluon": "gluon",
    "init": "initializer",
    "initializer": "initializer",
    "lr_scheduler": "lr_scheduler",
    "ops": "ops",
    "optimizer": "optimizer",
    "symbol": "symbol",
    "test_utils": "test_utils",
}
__all__ = [
    "amp",
    "autograd",
    "gluon",
    "init",
    "initializer",
    "lr_scheduler",
    "np",
    "npx",
    "numpy",
    "numpy_extension",
    "ops",
    "optimizer",
    "symbol",
    "test_utils",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"npcompat.{_LATER[name]}")
    raise AttributeError(f"module 'npcompat' has no attribute {name!r}")
