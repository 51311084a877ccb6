"""Tolerant equality, type predicates, memory overlap, and real and imaginary parts."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import BorrowedValue, Handle, root_of
from npcompat._internal.core.op import as_attr, from_attr, operator
from npcompat._internal.dispatch import handles as _handles
from npcompat._internal.dispatch import late_bound, writes
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat.numpy._creation import asarray
from npcompat.numpy._filled import zeros
from npcompat.numpy._host_arrays import by_numpy
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike
from npcompat.numpy._unbound import unbound

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

# --- closeness ------------------------------------------------------------------------------------


def _close_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    common = dtypes.result_type(types[:2])
    return [common, common, None, None], onp.dtype(bool)


@operator(
    "_npi_isclose", scalars=True, rule=_close_types, pattern="broadcast", differentiable=False
)
def _isclose(xp: Any, a: Any, b: Any, rtol: Any, atol: Any, *, equal_nan: bool = False) -> Any:
    """Return True where operands are equal within tolerances.

    Parameters
    ----------
    rtol : array
        Tolerance relative to `b`.
    atol : array
        Absolute tolerance.
    equal_nan : bool
        If True, NaN is close to NaN.
    """
    if a.dtype == onp.bool_:
        a, b = xp.astype(a, onp.int8), xp.astype(b, onp.int8)
    working = xp.astype(b, onp.float64) if a.dtype.kind in "iu" else b
    with onp.errstate(invalid="ignore"):
        close = (abs(a - working) <= atol + rtol * abs(working)) & xp.isfinite(working) | (a == b)
    return close | (xp.isnan(a) & xp.isnan(b)) if equal_nan else close


@defers_to_classes
def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1.0e-5,
    atol: ArrayLike = 1.0e-8,
    equal_nan: bool = False,
) -> "ndarray":
    """Return True where `|a - b| <= atol + rtol * |b|`, element by element.

    Examples
    --------
    >>> np.isclose([1.0, 2.0], [1.0 + 1e-7, 2.1])
    array([ True, False])
    """
    if not all([0 <= t < onp.inf for t in (rtol, atol) if isinstance(t, int | float)]):
        warnings.warn(
            f"One of rtol or atol is not valid, atol: {atol!s}, rtol: {rtol!s}",
            RuntimeWarning,
            stacklevel=2,
        )
    return apply(_isclose, (a, b, rtol, atol), (bool(equal_nan),))


def _answer(holds: Any) -> bool:
    """Convert a 0-d bool array to Python's bool, unless it is traced."""
    if modes.current().trace is not None and language.is_tracer(_handles.read(holds).payload):
        return holds
    return bool(holds)


@defers_to_classes
def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1.0e-5,
    atol: ArrayLike = 1.0e-8,
    equal_nan: bool = False,
) -> bool:
    """Return True if all elements are close, see `isclose`; a 0-d array when compiled.

    Examples
    --------
    >>> np.allclose([1.0, 2.0], [1.0, 2.0 + 1e-7])
    True
    """
    return _answer(isclose(a, b, rtol, atol, equal_nan).all())


@defers_to_classes
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> bool:
    """Return True if shapes and elements are equal; a 0-d array when compiled.

    Examples
    --------
    >>> np.array_equal([1, 2], [1, 2])
    True
    """
    a1, a2 = asarray(a1), asarray(a2)
    if a1.shape != a2.shape:
        return False
    if equal_nan and not (dtypes.on_devices(a1.dtype) and dtypes.on_devices(a2.dtype)):
        return onp.array_equal(_handles.to_host(a1), _handles.to_host(a2), equal_nan)
    same = a1 == a2
    if equal_nan and dtypes.is_inexact(a1.dtype) and dtypes.is_inexact(a2.dtype):
        same = same | ((a1 != a1) & (a2 != a2))  # NaN != NaN
    return _answer(same.all())


@defers_to_classes
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> bool:
    """Return True if arrays are equal once broadcast; a 0-d array when compiled.

    Examples
    --------
    >>> np.array_equiv([1, 1], 1)
    True
    """
    a1, a2 = asarray(a1), asarray(a2)
    try:
        onp.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return _answer((a1 == a2).all())


# --- kinds ----------------------------------------------------------------------------------------


def _type_of(x: Any) -> Any:
    """Return the scalar type of the elements, also of other libraries' arrays."""
    found = getattr(getattr(x, "dtype", None), "type", None)
    return asarray(x).dtype.type if found is None else found


def iscomplexobj(x: Any) -> bool:
    """Return True if the dtype is complex.

    Examples
    --------
    >>> np.iscomplexobj(np.ones(2))
    False
    """
    return issubclass(_type_of(x), onp.complexfloating)


def isrealobj(x: Any) -> bool:
    """Return True if the dtype is not complex.

    Examples
    --------
    >>> np.isrealobj(np.ones(2))
    True
    """
    return not iscomplexobj(x)


@defers_to_classes
def iscomplex(x: ArrayLike) -> "ndarray":
    """Return True where the imaginary part is not zero, element by element.

    Examples
    --------
    >>> np.iscomplex([1 + 1j, 1])
    array([ True, False])
    """
    x = asarray(x)
    return x.imag != 0 if iscomplexobj(x) else _handles.as_scalar(zeros(x.shape, bool))


@defers_to_classes
def isreal(x: ArrayLike) -> "ndarray":
    """Return True where the imaginary part is zero, element by element.

    Examples
    --------
    >>> np.isreal([1 + 1j, 1])
    array([False,  True])
    """
    return asarray(x).imag == 0


def isscalar(element: Any) -> bool:
    """Return True for a scalar, False for an array.

    Examples
    --------
    >>> np.isscalar(3), np.isscalar(np.array(3))
    (True, False)
    """
    if isinstance(element, TracedNumber):
        return True
    return not isinstance(element, late_bound.ndarray) and onp.isscalar(element)


def real(val: Any) -> "ndarray":
    """Return the real part: a view of a complex array.

    Examples
    --------
    >>> np.real(np.array([1 + 2j]))
    array([1.])
    """
    return val.real if hasattr(val, "real") else asarray(val).real


def imag(val: Any) -> "ndarray":
    """Return the imaginary part: a view of a complex array.

    Examples
    --------
    >>> np.imag(np.array([1 + 2j]))
    array([2.])
    """
    return val.imag if hasattr(val, "imag") else asarray(val).imag


def _angle_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = dtypes.strong(types[0])
    if not dtypes.is_inexact(dtype):  # arctan2(0, x); a bool counts as an int
        dtype = dtypes.narrow(
            onp.arctan2.resolve_dtypes(
                (onp.dtype(int) if dtype.kind == "b" else dtype,) * 2 + (None,)
            )[2],
            types,
        )
    return [dtype], onp.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


@operator("_npi_angle", scalars=True, rule=_angle_types, pattern="elementwise")
def _angle(xp: Any, z: Any, *, deg: bool = False) -> Any:
    """Compute the angle (argument) of a complex number.

    Parameters
    ----------
    deg : bool
        If True, in degrees.
    """
    return xp.angle(z, deg)


@defers_to_classes
def angle(z: ArrayLike, deg: bool = False) -> "ndarray":
    """Compute the angle (argument) of complex numbers: radians in (-pi, pi], or degrees.

    Examples
    --------
    >>> np.angle([1j], deg=True)
    array([90.])
    """
    return apply(_angle, (z,), (bool(deg),))


@operator("_npi_nan_to_num", scalars=True, rule=dtypes.first, pattern="elementwise")
def _nan_to_num(
    xp: Any, x: Any, *, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """Replace NaN and infinities by numbers.

    Parameters
    ----------
    nan : float
        Replacement of NaN.
    posinf : float, optional
        Replacement of infinity; None: the greatest number.
    neginf : float, optional
        Replacement of minus infinity; None: the least number.
    """
    return xp.nan_to_num(x, nan=from_attr(nan), posinf=from_attr(posinf), neginf=from_attr(neginf))


_NUMBERS = (bool, int, float, complex, onp.bool_, onp.number, type(None))


@operator(
    "_npi_replaced",
    rule=lambda types, attrs: ([dtypes.strong(types[0])] * 4, dtypes.strong(types[0])),
    pattern="broadcast",
)
def _replaced_numbers(xp: Any, x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """Replace NaN and infinities by elements of arrays.

    Parameters
    ----------
    nan, posinf, neginf : array
        Replacements of NaN, positive and negative infinity, which broadcast to the shape of `x`.
    """
    shape = onp.broadcast_shapes(x.shape, nan.shape, posinf.shape, neginf.shape)
    if shape != x.shape:
        raise ValueError(f"nan_to_num: shape {shape} of what replaces does not fit {x.shape}")
    found = xp.where(xp.isnan(x), nan, x)
    infinite = xp.isinf(x)
    found = xp.where(infinite & (x > 0), posinf, found)
    return xp.where(infinite & (x < 0), neginf, found)


def _replaced(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    if x.dtype.kind == "c":
        result = x.copy()
        result.real = _replaced(x.real, nan, posinf, neginf)
        result.imag = _replaced(x.imag, nan, posinf, neginf)
        return result
    if not dtypes.is_inexact(x.dtype):
        return x.copy()
    limits: Any = ml_dtypes.finfo(x.dtype)  # type: ignore[no-untyped-call]
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    return apply(_replaced_numbers, (x, *[asarray(n).astype(x.dtype) for n in (nan, high, low)]))


@defers_to_classes
def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> "ndarray":
    """Replace NaN by a number (zero) and infinities by numbers (the largest ones).

    The numbers may be arrays that broadcast to `x`. With ``copy=False`` the array itself is
    changed.

    Examples
    --------
    >>> np.nan_to_num(np.array([1.0, np.nan]))
    array([1., 0.])
    """
    if all([isinstance(n, _NUMBERS) and not isinstance(n, Handle) for n in (nan, posinf, neginf)]):
        numbers = [n.item() if isinstance(n, onp.generic) else n for n in (nan, posinf, neginf)]
        result = apply(_nan_to_num, (x,), tuple(map(as_attr, numbers)))
    else:
        result = _replaced(asarray(x), nan, posinf, neginf)
    if not copy and isinstance(x, onp.ndarray):
        by_numpy(onp.nan_to_num, (x, False, nan, posinf, neginf), {})
        return x  # type: ignore[return-value]
    if copy or not isinstance(x, Handle):
        return result
    target: Any = x
    target[...] = result
    return target


# --- dtypes ---------------------------------------------------------------------------------------


def can_cast(from_: Any, to: DTypeLike, casting: Casting = "safe") -> bool:
    """Return True if a cast between dtypes is allowed under a casting rule.

    Examples
    --------
    >>> np.can_cast("int32", "float64")
    True
    """
    if to is None:
        raise TypeError("can_cast: expected a dtype to cast to, got None")
    if from_ is None:
        raise TypeError("can_cast: expected a dtype or an array to cast from, got None")
    if type(from_) in (bool, int, float, complex):
        raise TypeError(
            "can_cast() does not support Python ints, floats, and complex: whether they fit "
            "depends on their value; pass a dtype"
        )
    carries = isinstance(from_, Handle | onp.generic | onp.ndarray)
    source: Any = from_.dtype if carries else dtypes.canonical(from_)
    return onp.can_cast(source, dtypes.canonical(to), casting)


@unbound
def promote_types(type1: DTypeLike, type2: DTypeLike, /) -> onp.dtype[Any]:
    """Return the smallest dtype to which both can be cast (type promotion).

    Examples
    --------
    >>> np.promote_types("int32", "uint8")
    dtype('int32')
    """
    return onp.promote_types(dtypes.canonical(type1), dtypes.canonical(type2))


def result_type(*arrays_and_dtypes: Any) -> onp.dtype[Any]:
    """Return the result dtype of an operation on the arguments (type promotion).

    Examples
    --------
    >>> np.result_type(np.ones(2), 1.0)
    dtype('float32')
    """
    types: list[Type] = []
    for x in arrays_and_dtypes:
        if type(x) in (bool, int, float, complex):
            types.append(type(x))
        elif isinstance(x, TracedNumber):
            x.check_default("is asked for its type")
            types.append(language.type_of(x.as_operand().payload))
        elif hasattr(x, "dtype") and not isinstance(x, type):
            types.append(onp.dtype(x.dtype))
        elif isinstance(x, list | tuple):
            types.append(asarray(x).dtype)
        else:
            types.append(dtypes.canonical(x))
    if not types:
        raise ValueError("at least one array or dtype is required")
    return dtypes.result_type(types)


# --- memory ---------------------------------------------------------------------------------------


def _overlap(question: Any, a: Any, b: Any, max_work: int) -> bool:
    """Ask NumPy for memory overlap of two arrays.

    Arrays with different owners never overlap, although their values may share a buffer until
    one is written.
    """
    handles = [x for x in (a, b) if isinstance(x, Handle)]
    # An nditer has borrowed the memory, so NumPy arrays may share it.
    borrowed = all([type(root_of(x)._value) is BorrowedValue for x in handles])
    if not borrowed and (len(handles) == 1 or len({id(root_of(x)) for x in handles}) > 1):
        return False
    memory = writes.borrowed_view if borrowed else _handles.layout
    return bool(
        question(
            *[memory(x) if isinstance(x, Handle) else onp.asarray(x) for x in (a, b)],
            max_work=max_work,
        )
    )


def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Return True if two arrays have an element in common.

    Examples
    --------
    >>> a = np.zeros(4)
    >>> np.shares_memory(a[:2], a[1:]), np.shares_memory(a[:2], a[2:])
    (True, False)
    """
    return _overlap(onp.shares_memory, a, b, max_work)


def may_share_memory(a: Any, b: Any, /, max_work: int = 0) -> bool:
    """Return True if the memory of two arrays may overlap; only bounds are compared.

    Examples
    --------
    >>> a = np.zeros(4)
    >>> np.may_share_memory(a[::2], a[1::2])
    True
    """
    return _overlap(onp.may_share_memory, a, b, max_work)


__all__ = [
    "allclose", "angle", "array_equal", "array_equiv", "can_cast", "imag", "isclose", "iscomplex",
    "iscomplexobj", "isreal", "isrealobj", "isscalar", "may_share_memory", "nan_to_num",
    "promote_types", "real", "result_type", "shares_memory",
]  # fmt: skip
