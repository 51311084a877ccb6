"""The dtype policy: NumPy's own rules, and float32 as the default float on top of them.

NumPy's promotion is called, not copied: `ufunc.resolve_dtypes` and `np.result_type`. The default
policy adds one rule: *a 64-bit float appears only where an operand carries one*. A float64 that no
operand carries becomes float32, and complex128 becomes complex64. NumPy mode switches the rule off.

A type is an `np.dtype`, or the Python class of a scalar (`bool`, `int`, `float`, `complex`), which
is weak in the sense of NEP 50.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import ml_dtypes
import numpy as onp

from npcompat._internal.core import modes

Type = onp.dtype[Any] | type
Resolution = tuple[Sequence[onp.dtype[Any] | None], Any]
"""The dtype to cast each input to (None: no cast), and the dtype of the output, a tuple for several
outputs.
"""
Rule = Callable[[tuple[Type, ...], Any], Resolution]

_bool = onp.dtype(bool)
_float64, _complex128 = onp.dtype("float64"), onp.dtype("complex128")
_NARROW = {_float64: onp.dtype("float32"), _complex128: onp.dtype("complex64")}
_WEAK = {float: _float64, complex: _complex128, int: onp.dtype(int), bool: onp.dtype(bool)}
bfloat16: onp.dtype[Any] = onp.dtype(ml_dtypes.bfloat16)
_EXTENDED = frozenset(
    onp.dtype(getattr(ml_dtypes, n)) for n in dir(ml_dtypes) if n.startswith(("bfloat", "float"))
)
SMALL_INTEGERS = frozenset(onp.dtype(getattr(ml_dtypes, n)) for n in ("int4", "uint4"))
_ON_DEVICES = (
    frozenset(map(onp.dtype, "?bhilqBHILQefdFD"))
    | {t for t in _EXTENDED if not t.name.startswith("float6")}
    | SMALL_INTEGERS
)


def on_devices(dtype: onp.dtype[Any]) -> bool:
    """True if XLA has the dtype.

    Arrays of objects, strings, dates, records, long doubles and swapped bytes stay on the host.
    """
    return dtype in _ON_DEVICES


def lowest(dtype: onp.dtype[Any]) -> Any:
    """Return the identity element of maximum: minus infinity, or the smallest integer."""
    if is_inexact(dtype):
        return onp.array(-onp.inf, dtype)
    return onp.array(False) if dtype == onp.bool_ else onp.array(onp.iinfo(dtype).min, dtype)


def check_dtype(dtype: onp.dtype[Any]) -> None:
    """Raise TypeError for a dtype that XLA lacks."""
    if not on_devices(dtype):
        raise TypeError(
            f"arrays of dtype {dtype} live on the host: XLA has no such dtype, so they can't be "
            "sent to a device or used in a "
            "compiled function; convert to a numeric dtype of this machine first"
        )


def everywhere() -> frozenset[onp.dtype[Any]]:
    """Return the dtypes that both the host and XLA have."""
    return _ON_DEVICES


def default_float() -> onp.dtype[Any]:
    """Return the dtype of floats that carry none: float32, or float64 in NumPy mode."""
    return _float64 if modes.current().numpy_dtypes else _NARROW[_float64]


def canonical(dtype: Any) -> onp.dtype[Any]:
    """Return the `np.dtype` of a dtype argument: a dtype, a name, a class.

    Python's `float` and `complex` mean the defaults.
    """
    if isinstance(dtype, onp.dtype):
        return dtype
    if dtype is float and not modes.current().numpy_dtypes:
        return _NARROW[_float64]
    if dtype is complex and not modes.current().numpy_dtypes:
        return _NARROW[_complex128]
    if isinstance(dtype, str) and dtype == "bfloat16":
        return bfloat16
    if isinstance(dtype, type(onp.dtype)):
        return _of_class(dtype)
    if not isinstance(dtype, (str, type, onp.generic)) and hasattr(dtype, "__array__"):
        raise TypeError("Cannot construct a dtype from an array")  # NumPy asks its `dtype`
    return cast("onp.dtype[Any]", onp.dtype(dtype))


def _of_class(dtype: Any) -> onp.dtype[Any]:
    """Return the default instance of a dtype class; dtypes of flexible size get size 0."""
    if dtype is onp.dtypes.StringDType:
        return cast("onp.dtype[Any]", dtype())
    if dtype.type is None:
        raise TypeError(f"Cannot convert np.{dtype.__name__} into a dtype: it is a class of many")
    return cast("onp.dtype[Any]", onp.dtype(dtype.type))


def in_signature(dtype: Any) -> Any:
    """Return a dtype as the `signature` of a ufunc takes it: texts, dates, durations by class."""
    by_class = (onp.dtypes.StringDType, onp.dtypes.DateTime64DType, onp.dtypes.TimeDelta64DType)
    return type(dtype) if isinstance(dtype, by_class) else dtype


def narrow(dtype: onp.dtype[Any], operands: Sequence[Type]) -> onp.dtype[Any]:
    """Apply the default-float rule to a dtype that NumPy chose for these operands."""
    if dtype not in _NARROW or modes.current().numpy_dtypes:
        return dtype
    return dtype if any(t in _NARROW for t in operands) else _NARROW[dtype]


def is_float(dtype: onp.dtype[Any]) -> bool:
    """True for dtypes of real floats, those of ml_dtypes included."""
    return dtype.kind == "f" or dtype in _EXTENDED


def is_inexact(dtype: onp.dtype[Any]) -> bool:
    """True for dtypes of real and complex floats, whose values can have gradients."""
    return dtype.kind in "fc" or dtype in _EXTENDED


def strong(operand: Type) -> onp.dtype[Any]:
    """Return the dtype of an operand on its own; a Python scalar takes its default."""
    return operand if isinstance(operand, onp.dtype) else narrow(_WEAK[operand], ())


def native(dtype: onp.dtype[Any]) -> onp.dtype[Any]:
    """Return a dtype in the byte order of the machine, in which numbers are computed."""
    return dtype if dtype.isnative or dtype.names else dtype.newbyteorder("=")


def strong_by_numpy(operand: Type) -> onp.dtype[Any]:
    """Return the dtype of an operand on its own by NumPy's rule: a Python float is float64."""
    return operand if isinstance(operand, onp.dtype) else _WEAK[operand]


def result_type(types: Sequence[Type]) -> onp.dtype[Any]:
    """Return the common dtype of operands, by NEP 50 and the default-float rule."""
    weak = [t for t in types if not isinstance(t, onp.dtype)]
    carried = [t for t in types if isinstance(t, onp.dtype)]
    if not carried:
        return narrow(onp.result_type(*[_WEAK[t] for t in weak]), ())
    extended = _weak_meets_extended(types)
    if extended is not None:
        return extended
    samples: list[Any] = [*carried, *[t(1) for t in weak]]
    return narrow(onp.result_type(*samples), carried)


def _weak_meets_extended(types: Sequence[Type]) -> onp.dtype[Any] | None:
    """Return the one ml_dtypes float among the operands if it alone decides the dtype, else None.

    NumPy does not treat a Python float as weak beside bfloat16.
    """
    carried = {t for t in types if isinstance(t, onp.dtype)}
    if len(carried) == 1 and (only := next(iter(carried))) in _EXTENDED and complex not in types:
        return only
    return None


def warn_of_lost_parts(have: onp.dtype[Any], wanted: onp.dtype[Any], stacklevel: int = 3) -> None:
    """Give NumPy's warning if a cast drops imaginary parts, at the line of the caller's caller."""
    if have.kind == "c" and wanted.kind in "iuf":
        message = "Casting complex values to real discards the imaginary part"
        warnings.warn(message, onp.exceptions.ComplexWarning, stacklevel=stacklevel)


def ufunc_rule(ufunc: onp.ufunc) -> Rule:
    """Return the type rule of an operator that is a NumPy ufunc: the loop that NumPy would choose.

    Its `dtype` is a dtype of the results, or a tuple with one for each operand and result (None:
    NumPy chooses).
    """

    def rule(
        types: tuple[Type, ...],
        dtype: onp.dtype[Any] | tuple[onp.dtype[Any] | None, ...] | None = None,
    ) -> Resolution:
        types = tuple(
            [_bool if t is bool else t for t in types]
        )  # a Python bool is no weaker than NumPy's
        met = _weak_meets_extended(types)
        if met is not None:
            types = tuple([t if isinstance(t, onp.dtype) else met for t in types])
        carried = [t for t in types if isinstance(t, onp.dtype)]
        asked = types if carried else tuple([strong_by_numpy(t) for t in types])
        blank = (None,) * ufunc.nout
        if dtype is None:
            loop = ufunc.resolve_dtypes((*asked, *blank))
            loop = tuple(narrow(d, carried) for d in loop)
        else:
            wanted = (
                dtype if isinstance(dtype, tuple) else (None,) * ufunc.nin + (dtype,) * ufunc.nout
            )
            loop = ufunc.resolve_dtypes(
                (*asked, *blank), signature=tuple(map(in_signature, wanted)), casting="unsafe"
            )
        outs = loop[ufunc.nin :]
        return loop[: ufunc.nin], outs if ufunc.nout > 1 else outs[0]

    return rule


def promote(types: tuple[Type, ...], attrs: Any = None) -> Resolution:
    """Type rule: cast all inputs to their common dtype, which is the output's."""
    dtype = result_type(types)
    return [dtype] * len(types), dtype


def keep(types: tuple[Type, ...], attrs: Any = None) -> Resolution:
    """Type rule: cast no array, only scalars to their default; the kernel decides the output."""
    return [None if isinstance(t, onp.dtype) else strong(t) for t in types], None


def first(types: tuple[Type, ...], attrs: Any = None) -> Resolution:
    """Type rule: cast no array; the output has the dtype of the first input."""
    return keep(types)[0], strong(types[0])


def floating(types: tuple[Type, ...], attrs: Any = None) -> Resolution:
    """Type rule: cast all inputs to their common floating dtype, which is the output's.

    Bool and integers become the default float.
    """
    dtype = result_type(types)
    if not is_inexact(dtype) and on_devices(dtype):
        dtype = default_float()
    return [dtype] * len(types), dtype
