"""NumPy's own names: scalar types, constants, and host functions for strings, dates, records."""

import sys
from typing import TYPE_CHECKING, Any

import numpy as onp
from numpy import (
    False_,
    ScalarType,
    True_,
    __version__,
    asmatrix,
    bool_,
    busdaycalendar,
    byte,
    bytes_,
    cdouble,
    character,
    clongdouble,
    complex64,
    complex128,
    complexfloating,
    csingle,
    datetime64,
    datetime_data,
    double,
    dtype,
    e,
    euler_gamma,
    finfo,
    flexible,
    float16,
    float32,
    float64,
    floating,
    generic,
    get_include,
    getbufsize,
    geterrcall,
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
    isdtype,
    isnat,
    issubdtype,
    little_endian,
    long,
    longdouble,
    longlong,
    matrix,
    memmap,
    mintypecode,
    nan,
    ndindex,
    newaxis,
    number,
    object_,
    pi,
    recarray,
    record,
    s_,
    sctypeDict,
    setbufsize,
    seterrcall,
    short,
    show_config,
    show_runtime,
    signedinteger,
    single,
    str_,
    test,
    timedelta64,
    typecodes,
    typename,
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
    void,
)
from numpy import bool as bool  # re-exported as np.bool

from npcompat.numpy._host_arrays import on_host
from npcompat.numpy._other_classes import to_numpys

if TYPE_CHECKING:
    from collections.abc import Callable

    from npcompat.numpy._ndarray import ndarray

busday_count: "Callable[..., ndarray]" = on_host(onp.busday_count)
busday_offset: "Callable[..., ndarray]" = on_host(onp.busday_offset)


def bmat(obj: Any, ldict: Any = None, gdict: Any = None) -> Any:
    """Build a matrix of NumPy's from blocks: nested lists, an array, or a text with names.

    Parameters
    ----------
    obj : str or array_like
        Blocks; names in a text are those of the caller, if no dictionaries are given.
    ldict, gdict : dict, optional
        Values of the names.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):  # NumPy prefers arrays
    ...     np.bmat([[np.eye(2), np.zeros((2, 1))]]).shape
    (2, 3)
    """
    obj = to_numpys(obj)
    if isinstance(obj, onp.ndarray):
        return onp.matrix(obj)
    if isinstance(obj, str) and gdict is None:
        frame = sys._getframe(1)
        ldict, gdict = frame.f_locals, frame.f_globals
    made: Any = onp.bmat
    return made(obj, ldict, gdict)


datetime_as_string: "Callable[..., ndarray]" = on_host(onp.datetime_as_string)
fromregex: "Callable[..., ndarray]" = on_host(onp.fromregex)
is_busday: "Callable[..., ndarray]" = on_host(onp.is_busday)
_EXTENDED = [
    name for name in ("float96", "float128", "complex192", "complex256") if hasattr(onp, name)
]
"""Extended-precision floats, named by their size on this machine."""
_extended: dict[str, Any] = {name: getattr(onp, name) for name in _EXTENDED}
globals().update(_extended)

__all__ = [
    "False_",
    "ScalarType",
    "True_",
    "__version__",
    "asmatrix",
    "bmat",
    "bool",
    "bool_",
    "busday_count",
    "busday_offset",
    "busdaycalendar",
    "byte",
    "bytes_",
    "cdouble",
    "character",
    "clongdouble",
    "complex64",
    "complex128",
    "complexfloating",
    "csingle",
    "datetime64",
    "datetime_as_string",
    "datetime_data",
    "double",
    "dtype",
    "e",
    "euler_gamma",
    "finfo",
    "flexible",
    "float16",
    "float32",
    "float64",
    "floating",
    "fromregex",
    "generic",
    "get_include",
    "getbufsize",
    "geterrcall",
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
    "is_busday",
    "isdtype",
    "isnat",
    "issubdtype",
    "little_endian",
    "long",
    "longdouble",
    "longlong",
    "matrix",
    "memmap",
    "mintypecode",
    "nan",
    "ndindex",
    "newaxis",
    "number",
    "object_",
    "pi",
    "recarray",
    "record",
    "s_",
    "sctypeDict",
    "setbufsize",
    "seterrcall",
    "short",
    "show_config",
    "show_runtime",
    "signedinteger",
    "single",
    "str_",
    "test",
    "timedelta64",
    "typecodes",
    "typename",
    "ubyte",
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
    "void",
]  # fmt: skip
__all__.extend(_EXTENDED)
