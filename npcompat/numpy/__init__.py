"""np: NumPy's interface, over a backend.

`import npcompat.numpy as np` is a drop-in for `import numpy as np`; docs/known_gaps.md lists what is not there yet.
"""

from numpy import (
    False_,
    True_,
    bool_,
    byte,
    cdouble,
    complex64,
    complex128,
    complexfloating,
    csingle,
    double,
    dtype,
    e,
    euler_gamma,
    exceptions,
    finfo,
    float16,
    float32,
    float64,
    floating,
    generic,
    half,
    iinfo,
    index_exp,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    integer,
    intp,
    issubdtype,
    long,
    longlong,
    nan,
    ndindex,
    newaxis,
    number,
    pi,
    s_,
    short,
    signedinteger,
    single,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulong,
    ulonglong,
    unsignedinteger,
    ushort,
)
from numpy import bool as bool  # the name is np.bool

from npcompat._internal.dtypes import bfloat16
from npcompat.numpy import (
    _arithmetic,
    _averages,
    _bits,
    _calculus,
    _comparison,
    _complex_parts,
    _creation,
    _diagonals,
    _einsum,
    _errstate,
    _exponents,
    _extremes,
    _floats,
    _histograms,
    _joining,
    _joint_histograms,
    _logic,
    _manipulation,
    _nan_quantiles,
    _polynomials,
    _printing,
    _products,
    _ranges,
    _reductions,
    _repeating,
    _selection,
    _sets,
    _sorting,
    _statistics,
    _trigonometry,
    _windows,
    emath,
    fft,
    linalg,
    random,
)
from npcompat.numpy._arithmetic import *
from npcompat.numpy._averages import *
from npcompat.numpy._bits import *
from npcompat.numpy._calculus import *
from npcompat.numpy._comparison import *
from npcompat.numpy._complex_parts import *
from npcompat.numpy._creation import *
from npcompat.numpy._diagonals import *
from npcompat.numpy._einsum import *
from npcompat.numpy._errstate import *
from npcompat.numpy._exponents import *
from npcompat.numpy._extremes import *
from npcompat.numpy._floats import *
from npcompat.numpy._histograms import *
from npcompat.numpy._joining import *
from npcompat.numpy._joint_histograms import *
from npcompat.numpy._logic import *
from npcompat.numpy._manipulation import *
from npcompat.numpy._nan_quantiles import *
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._polynomials import *
from npcompat.numpy._printing import *
from npcompat.numpy._products import *
from npcompat.numpy._ranges import *
from npcompat.numpy._reductions import *
from npcompat.numpy._repeating import *
from npcompat.numpy._selection import *
from npcompat.numpy._sets import *
from npcompat.numpy._sorting import *
from npcompat.numpy._statistics import *
from npcompat.numpy._trigonometry import *
from npcompat.numpy._ufunc_methods import ufunc
from npcompat.numpy._windows import *

__all__ = [
    "False_",
    "True_",
    "bfloat16",
    "bool",
    "bool_",
    "byte",
    "cdouble",
    "complex64",
    "complex128",
    "complexfloating",
    "csingle",
    "double",
    "dtype",
    "e",
    "emath",
    "euler_gamma",
    "exceptions",
    "fft",
    "finfo",
    "float16",
    "float32",
    "float64",
    "floating",
    "generic",
    "half",
    "iinfo",
    "index_exp",
    "inexact",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "intc",
    "integer",
    "intp",
    "issubdtype",
    "linalg",
    "long",
    "longlong",
    "nan",
    "ndarray",
    "ndindex",
    "newaxis",
    "number",
    "pi",
    "random",
    "s_",
    "short",
    "signedinteger",
    "single",
    "ubyte",
    "ufunc",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "unsignedinteger",
    "ushort",
]  # fmt: skip
__all__ += _arithmetic.__all__
__all__ += _bits.__all__
__all__ += _comparison.__all__
__all__ += _creation.__all__
__all__ += _diagonals.__all__
__all__ += _einsum.__all__
__all__ += _errstate.__all__
__all__ += _exponents.__all__
__all__ += _extremes.__all__
__all__ += _floats.__all__
__all__ += _histograms.__all__
__all__ += _joining.__all__
__all__ += _logic.__all__
__all__ += _manipulation.__all__
__all__ += _printing.__all__
__all__ += _products.__all__
__all__ += _ranges.__all__
__all__ += _reductions.__all__
__all__ += _repeating.__all__
__all__ += _selection.__all__
__all__ += _sets.__all__
__all__ += _sorting.__all__
__all__ += _statistics.__all__
__all__ += _trigonometry.__all__
__all__ += _averages.__all__
__all__ += _calculus.__all__
__all__ += _joint_histograms.__all__
__all__ += _nan_quantiles.__all__
__all__ += _windows.__all__
__all__ += _complex_parts.__all__
__all__ += _polynomials.__all__
