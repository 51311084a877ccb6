"""Facts about the installation: versions, the C part, and which fast paths are taken."""

import importlib.metadata
import platform
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jaxpr import compat
from npcompat._internal.native import fast_path


def build_info() -> dict[str, Any]:
    """Return facts about the installation, for reports of faults.

    Returns
    -------
    dict
        Versions of ``npcompat``, ``python``, ``numpy``, ``jax`` and ``jaxlib``; ``platform``, the
        default device of XLA; ``native``, True if the C part is in use, and ``native_missing``, the
        reason if it is not; ``fast``, the fast paths that ``NPCOMPAT_FAST`` leaves on;
        ``huge_pages``, True if large blocks of XLA's on the CPU lie on pages of 2 MiB.

    Examples
    --------
    >>> sorted(npx.build_info())[:4]
    ['fast', 'huge_pages', 'jax', 'jaxlib']
    """
    return {
        "npcompat": _version("npcompat"),
        "python": platform.python_version(),
        "numpy": onp.__version__,
        "jax": _version("jax"),
        "jaxlib": _version("jaxlib"),
        "platform": xla.default_device().platform,
        "native": fast_path.native is not None,
        "native_missing": fast_path.missing,
        "fast": tuple([kind for kind in fast_path.KINDS if kind in fast_path.enabled]),
        "huge_pages": compat.has_huge_pages,
    }


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


__all__ = ["build_info"]
