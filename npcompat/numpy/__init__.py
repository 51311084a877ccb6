"""NumPy's array interface over an XLA or host backend.

`import npcompat.numpy as np` is a drop-in for `import numpy as np`; docs/known_gaps.md lists what
is not there yet.
"""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as _onp

from npcompat._internal.core.dtypes import bfloat16
from npcompat.numpy import (
    _applying,
    _arithmetic,
    _assignment,
    _averages,
    _bits,
    _calculus,
    _comparison,
    _complex_parts,
    _conversion,
    _creation,
    _diagonals,
    _differences,
    _einsum,
    _errstate,
    _exponents,
    _extremes,
    _files,
    _filled,
    _financial,
    _floats,
    _grids,
    _histograms,
    _insertion,
    _iteration,
    _joining,
    _joint_histograms,
    _logic,
    _manipulation,
    _mxnet_names,
    _nan_quantiles,
    _nan_reductions,
    _numpys_own,
    _packing,
    _polynomial_fits,
    _polynomials,
    _positions,
    _printing,
    _products,
    _python_functions,
    _ranges,
    _reductions,
    _repeating,
    _rounding,
    _running,
    _scalar,  # noqa: F401 (it registers its class with the dispatcher)
    _selection,
    _sets,
    _sorting,
    _splitting,
    _spread,
    _statistics,
    _trigonometry,
    _windows,
    dtypes,
    emath,
    exceptions,
    fft,
    linalg,
    random,
)
from npcompat.numpy._applying import *
from npcompat.numpy._arithmetic import *
from npcompat.numpy._assignment import *
from npcompat.numpy._averages import *
from npcompat.numpy._bits import *
from npcompat.numpy._calculus import *
from npcompat.numpy._comparison import *
from npcompat.numpy._complex_parts import *
from npcompat.numpy._conversion import *
from npcompat.numpy._creation import *
from npcompat.numpy._diagonals import *
from npcompat.numpy._differences import *
from npcompat.numpy._einsum import *
from npcompat.numpy._errstate import *
from npcompat.numpy._exponents import *
from npcompat.numpy._extremes import *
from npcompat.numpy._files import *
from npcompat.numpy._filled import *
from npcompat.numpy._financial import *
from npcompat.numpy._floats import *
from npcompat.numpy._grids import *
from npcompat.numpy._histograms import *
from npcompat.numpy._insertion import *
from npcompat.numpy._iteration import *
from npcompat.numpy._joining import *
from npcompat.numpy._joint_histograms import *
from npcompat.numpy._logic import *
from npcompat.numpy._manipulation import *
from npcompat.numpy._mxnet_names import *
from npcompat.numpy._nan_quantiles import *
from npcompat.numpy._nan_reductions import *
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._numpys_own import *
from npcompat.numpy._packing import *
from npcompat.numpy._polynomial_fits import *
from npcompat.numpy._polynomials import *
from npcompat.numpy._positions import *
from npcompat.numpy._printing import *
from npcompat.numpy._products import *
from npcompat.numpy._protocols import API_VERSIONS as _API_VERSIONS
from npcompat.numpy._protocols import __array_namespace_info__ as __array_namespace_info__
from npcompat.numpy._protocols import from_dlpack
from npcompat.numpy._python_functions import *
from npcompat.numpy._ranges import *
from npcompat.numpy._reductions import *
from npcompat.numpy._repeating import *
from npcompat.numpy._rounding import *
from npcompat.numpy._running import *
from npcompat.numpy._selection import *
from npcompat.numpy._sets import *
from npcompat.numpy._sorting import *
from npcompat.numpy._splitting import *
from npcompat.numpy._spread import *
from npcompat.numpy._statistics import *
from npcompat.numpy._trigonometry import *
from npcompat.numpy._ufunc_class import ufunc
from npcompat.numpy._windows import *

__array_api_version__ = _API_VERSIONS[-1]

if TYPE_CHECKING:
    from numpy import core as core
    from numpy import f2py as f2py

    from npcompat.numpy import char as char
    from npcompat.numpy import ctypeslib as ctypeslib
    from npcompat.numpy import lib as lib
    from npcompat.numpy import ma as ma
    from npcompat.numpy import polynomial as polynomial
    from npcompat.numpy import rec as rec
    from npcompat.numpy import strings as strings
    from npcompat.numpy import testing as testing
    from npcompat.numpy import typing as typing
else:
    _REMOVED = {
        name
        for kind in ("former_attrs", "expired_attributes", "future_scalars")
        for name in getattr(_onp, f"__{kind}__", ())
    }

    def __getattr__(name: str) -> Any:
        """Import NumPy's own submodules on first access."""
        if name in ("core", "f2py"):  # NumPy's internals, and its Fortran wrapper
            return importlib.import_module(f"numpy.{name}")
        if name in (
            "char",
            "ctypeslib",
            "lib",
            "ma",
            "polynomial",
            "rec",
            "strings",
            "testing",
            "typing",
            "version",
        ):
            return importlib.import_module(f"npcompat.numpy.{name}")
        if name in _REMOVED:
            # Raise NumPy's own error with its advice, or warn of a future name.
            getattr(_onp, name)
        raise AttributeError(f"module 'npcompat.numpy' has no attribute {name!r}")


__all__ = [
    "bfloat16", "char", "core", "ctypeslib", "dtypes", "emath", "exceptions", "f2py", "fft",
    "from_dlpack", "lib", "linalg", "ma", "ndarray", "polynomial", "random", "rec", "strings",
    "testing", "typing", "ufunc",
]  # fmt: skip
__all__ += _applying.__all__
__all__ += _arithmetic.__all__
__all__ += _assignment.__all__
__all__ += _averages.__all__
__all__ += _bits.__all__
__all__ += _calculus.__all__
__all__ += _comparison.__all__
__all__ += _complex_parts.__all__
__all__ += _conversion.__all__
__all__ += _creation.__all__
__all__ += _diagonals.__all__
__all__ += _differences.__all__
__all__ += _einsum.__all__
__all__ += _errstate.__all__
__all__ += _exponents.__all__
__all__ += _extremes.__all__
__all__ += _files.__all__
__all__ += _filled.__all__
__all__ += _financial.__all__
__all__ += _floats.__all__
__all__ += _grids.__all__
__all__ += _histograms.__all__
__all__ += _insertion.__all__
__all__ += _iteration.__all__
__all__ += _joining.__all__
__all__ += _joint_histograms.__all__
__all__ += _logic.__all__
__all__ += _manipulation.__all__
__all__ += _mxnet_names.__all__
__all__ += _nan_quantiles.__all__
__all__ += _nan_reductions.__all__
__all__ += _numpys_own.__all__
__all__ += _packing.__all__
__all__ += _polynomial_fits.__all__
__all__ += _polynomials.__all__
__all__ += _positions.__all__
__all__ += _printing.__all__
__all__ += _products.__all__
__all__ += _python_functions.__all__
__all__ += _ranges.__all__
__all__ += _reductions.__all__
__all__ += _repeating.__all__
__all__ += _rounding.__all__
__all__ += _running.__all__
__all__ += _selection.__all__
__all__ += _sets.__all__
__all__ += _sorting.__all__
__all__ += _splitting.__all__
__all__ += _spread.__all__
__all__ += _statistics.__all__
__all__ += _trigonometry.__all__
__all__ += _windows.__all__
