"""Array API standard: `npcompat.numpy` with the standard's meaning where NumPy has another.

This is what `x.__array_namespace__()` returns. Arrays are of a class that derives from that of
`npcompat.numpy` (in compiled functions they are the latter), and functions are its functions, but
for:

- Elements and results without axes are arrays, which can be written, where NumPy has scalars.
- `floor_divide` of infinities is that of the division; `expm1` and `tanh` of complex infinities are
  those of the standard; `eig` and `eigvals` are complex.
- `clip` has the standard's parameters; the numbers of `finfo` are Python's; devices are a tuple.

Operators mean the same: `x // y` is `floor_divide(x, y)`. Names that the standard lacks are `npcompat.numpy`'s, unchanged.

Examples
--------
>>> xp = np.ones(3).__array_namespace__()
>>> total = xp.sum(xp.asarray([1.0, 2.0]))
>>> total[...] = 5.0
>>> total
array(5.)
>>> xp.floor_divide(xp.asarray([np.inf]), 2.0)
array([inf])
"""

from typing import Any

from npcompat import numpy as np
from npcompat.array_api import _array
from npcompat.array_api import fft as fft
from npcompat.array_api import linalg as linalg
from npcompat.array_api._array import of_arrays
from npcompat.array_api._elementwise import clip as clip
from npcompat.array_api._elementwise import expm1 as expm1
from npcompat.array_api._elementwise import floor_divide as floor_divide
from npcompat.array_api._elementwise import tanh as tanh
from npcompat.array_api._information import __array_namespace_info__ as __array_namespace_info__
from npcompat.array_api._information import finfo as finfo
from npcompat.numpy._protocols import API_VERSIONS

__array_api_version__ = API_VERSIONS[-1]

_UNCHANGED = (
    "bool", "broadcast_shapes", "can_cast", "complex128", "complex64", "e", "float32", "float64",
    "iinfo", "inf", "int16", "int32", "int64", "int8", "isdtype", "nan", "newaxis", "pi",
    "result_type", "uint16", "uint32", "uint64", "uint8",
)  # fmt: skip

for _name in _UNCHANGED:
    globals()[_name] = getattr(np, _name)


def __getattr__(name: str) -> Any:
    try:
        return getattr(np, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bool",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "ceil",
    "clip",
    "complex64",
    "complex128",
    "concat",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "divide",
    "e",
    "empty",
    "empty_like",
    "equal",
    "exp",
    "expand_dims",
    "expm1",
    "eye",
    "fft",
    "finfo",
    "flip",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "from_dlpack",
    "full",
    "full_like",
    "greater",
    "greater_equal",
    "hypot",
    "iinfo",
    "imag",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "nan",
    "negative",
    "newaxis",
    "nextafter",
    "nonzero",
    "not_equal",
    "ones",
    "ones_like",
    "permute_dims",
    "pi",
    "positive",
    "pow",
    "prod",
    "real",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "searchsorted",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sort",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "tril",
    "triu",
    "trunc",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vecdot",
    "where",
    "zeros",
    "zeros_like",
]

asarray = _array.asarray(np.asarray)
for _name in __all__:
    if _name not in globals():
        globals()[_name] = of_arrays(getattr(np, _name))
