"""npcompat: NumPy for accelerators and for learning.

    from npcompat import autograd, gluon, np, npx

Subpackages for learning (`gluon`, `init`, `optimizer`, ...), `image`, `ops` and `symbol` are
imported at their first use, and so are modules under MXNet's paths (`nd`, `base`, `context`, ...).
"""

import gc
import importlib
import sys
from typing import TYPE_CHECKING, Any

_COLLECTS = gc.isenabled()
# Definitions of modules are no garbage, but collections among all of JAX's objects take a third of
# the import time.
gc.disable()
try:
    from npcompat._internal import wiring
    from npcompat._internal.support import old_paths, warning_lines

    wiring.connect_core()
    from npcompat import autograd, numpy, numpy_extension
    from npcompat import environment as util
    from npcompat import numpy as np
    from npcompat import numpy_extension as npx
    from npcompat._libraries import import_hooks
    from npcompat.numpy import _overrides, _scalar
    from npcompat.numpy_extension import (
        Device,
        cpu,
        cpu_pinned,
        current_device,
        gpu,
        gpu_memory_info,
        num_gpus,
        random,
    )

    warning_lines.name_users_lines()
    wiring.connect_arrays(np.ndarray, _scalar.Scalar, _scalar.HOST_SCALARS, _overrides.overridden)
finally:
    if _COLLECTS:
        if gc.get_freeze_count() == 0:
            # moves all objects to the oldest generation, which the next collection skips
            gc.freeze()
            gc.unfreeze()
        gc.enable()

if TYPE_CHECKING:
    from npcompat import (
        amp,
        backends,
        device,
        errors,
        gluon,
        image,
        initializer,
        lr_scheduler,
        operator,
        ops,
        optimizer,
        recordio,
        symbol,
        test_utils,
    )
    from npcompat import initializer as init
    from npcompat import symbol as sym
    from npcompat.gluon import metric

try:
    from npcompat._version import __version__  # written when the package is built
except ImportError:
    __version__ = "0+unbuilt"
old_paths.install()
import_hooks.install()
_old_path = old_paths.names_of(__name__)
sys.modules["npcompat.util"] = util  # MXNet's name; makes `import npcompat.util` work
_LATER = {
    "amp": "amp",
    "backends": "backends",
    "device": "device",
    "errors": "errors",
    "gluon": "gluon",
    "image": "image",
    "init": "initializer",
    "initializer": "initializer",
    "lr_scheduler": "lr_scheduler",
    "metric": "gluon.metric",
    "operator": "operator",
    "ops": "ops",
    "optimizer": "optimizer",
    "recordio": "recordio",
    "sym": "symbol",
    "symbol": "symbol",
    "test_utils": "test_utils",
}
__all__ = [
    "Device",
    "amp",
    "autograd",
    "backends",
    "cpu",
    "cpu_pinned",
    "current_device",
    "device",
    "errors",
    "gluon",
    "gpu",
    "gpu_memory_info",
    "image",
    "init",
    "initializer",
    "lr_scheduler",
    "metric",
    "np",
    "npx",
    "num_gpus",
    "numpy",
    "numpy_extension",
    "operator",
    "ops",
    "optimizer",
    "random",
    "recordio",
    "sym",
    "symbol",
    "test_utils",
    "util",
]


def load_ipython_extension(shell: Any) -> None:
    """Run the cells of a notebook on npcompat: `%load_ext npcompat`."""
    importlib.import_module("npcompat._script.notebook").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Run cells as they are again: `%unload_ext npcompat`."""
    importlib.import_module("npcompat._script.notebook").unload(shell)


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"npcompat.{_LATER[name]}")
    return _old_path(name)
