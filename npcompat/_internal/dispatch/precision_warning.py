"""Warning for float32 arrays in SciPy's optimisers and integrators, which need float64."""

import sys
import warnings
from types import FrameType
from typing import Any

import numpy as onp

from npcompat._internal.core.dtypes import default_float
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import borrowed_buffers
from npcompat._internal.support.errors import PrecisionWarning, is_library

_NEED_FLOAT64 = (
    "scipy.optimize.",
    "scipy.integrate._ivp.",
    "scipy.integrate._bvp",
    "scipy.integrate._ode",
    "scipy.integrate._odepack",
)
"""Beginnings of names of SciPy's modules that take differences of nearly equal numbers."""


def warn_of_precision() -> None:
    """Warn if the running code that asks for a float32 array is SciPy's and needs float64.

    Nothing is said where float64 is the default, since the array is float32 on purpose then.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    asking = "" if frame is None else _module(frame)
    if not asking.startswith(_NEED_FLOAT64) or default_float().itemsize == 8:
        return
    while frame is not None and (
        _module(frame).startswith("scipy.") or is_library(frame.f_code.co_filename)
    ):
        frame = frame.f_back
    if frame is None:
        return
    warnings.warn_explicit(
        f"{'.'.join(asking.split('.')[:2])} is given a float32 array; its steps vanish in the "
        "rounding of float32, so that it may find nothing. Arrays are float32 by default: "
        "npx.set_np(dtype=True) at the beginning, NPCOMPAT_DEFAULT_DTYPE=numpy, or "
        "`python -m npcompat script.py` gives NumPy's float64; so does dtype='float64'",
        PrecisionWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def exported(handle: Handle) -> onp.ndarray[Any, Any]:
    """Return the memory of an array as `borrowed_buffers.export` does, and warn; C does so, too."""
    found = borrowed_buffers.export(handle)
    if found.dtype == "float32":
        warn_of_precision()
    return found


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


__all__ = ["exported", "warn_of_precision"]
