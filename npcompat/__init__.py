"""npcompat: NumPy for accelerators and for learning.

    from npcompat import autograd, gluon, np, npx

What learning needs (`gluon`, `init`, `optimizer`, ...), pictures, `ops` and `symbol` are imported when they are first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

from npcompat import autograd, numpy, numpy_extension
from npcompat import numpy as np
from npcompat import numpy_extension as npx

if TYPE_CHECKING:
    from npcompat import amp, gluon, image, initializer, lr_scheduler, ops, optimizer, recordio, symbol, test_utils
    from npcompat import initializer as init
    from npcompat.gluon import metric

__version__ = "0.1.0"
_LATER = {
    "amp": "amp",
    "gluon": "gluon",
    "image": "image",
    "init": "initializer",
    "initializer": "initializer",
    "lr_scheduler": "lr_scheduler",
    "metric": "gluon.metric",
    "ops": "ops",
    "optimizer": "optimizer",
    "recordio": "recordio",
    "symbol": "symbol",
    "test_utils": "test_utils",
}
__all__ = [
    "amp",
    "autograd",
    "gluon",
    "image",
    "init",
    "initializer",
    "lr_scheduler",
    "metric",
    "np",
    "npx",
    "numpy",
    "numpy_extension",
    "ops",
    "optimizer",
    "recordio",
    "symbol",
    "test_utils",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"npcompat.{_LATER[name]}")
    raise AttributeError(f"module 'npcompat' has no attribute {name!r}")
