"""Products of vectors, matrices and tensors."""

import operator as python
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Op, as_axis, operator
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.apply import apply, apply_cached
from npcompat.numpy._accumulation import accumulated_in
from npcompat.numpy._creation import asarray
from npcompat.numpy._host_arrays import by_numpy
from npcompat.numpy._manipulation import moveaxis
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._reductions import accumulated
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike, NoValue, Order, Out
from npcompat.numpy._ufunc import call, finish, name_of, store
from npcompat.numpy._ufunc_class import instance
from npcompat.numpy._unbound import call_cached

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


def product_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Cast operands to their common dtype, that of the result.

    Scalars count as arrays of their default dtype.
    """
    wanted = attrs.get("dtype")
    if isinstance(wanted, tuple):  # all loops have equal dtypes
        named = {t for t in wanted if t is not None}
        if len(named) > 1:
            raise TypeError(
                "No loop matching the specified signature and casting was found: products are of "
                "one dtype, not of several"
            )
        wanted = named.pop() if named else None
    dtype = wanted or dtypes.result_type([dtypes.strong(t) for t in types])
    return [dtype] * len(types), dtype


# --- ufuncs with core dimensions ------------------------------------------------------------------


@operator("_npi_matmul", ufunc=onp.matmul, rule=product_types, pattern="complex")
def _matmul(xp: Any, x1: Any, x2: Any, *, dtype: Any = None) -> Any:
    """Compute the matrix product."""
    return xp.matmul(x1, x2)


@operator("_npi_vecdot", ufunc=onp.vecdot, scalars=True, rule=product_types, pattern="complex")
def _vecdot(xp: Any, x1: Any, x2: Any, *, dtype: Any = None) -> Any:
    """Compute the inner product of vectors."""
    return xp.vecdot(x1, x2)


@operator("_npi_matvec", ufunc=onp.matvec, rule=product_types, pattern="complex")
def _matvec(xp: Any, x1: Any, x2: Any, *, dtype: Any = None) -> Any:
    """Compute the matrix-vector product."""
    return xp.matvec(x1, x2)


@operator("_npi_vecmat", ufunc=onp.vecmat, rule=product_types, pattern="complex")
def _vecmat(xp: Any, x1: Any, x2: Any, *, dtype: Any = None) -> Any:
    """Compute the vector-matrix product."""
    return xp.vecmat(x1, x2)


_CORES: dict[Op, tuple[int, int, int]] = {
    _matmul: (2, 2, 2),
    _vecdot: (1, 1, 0),
    _matvec: (2, 1, 1),
    _vecmat: (1, 2, 1),
}
"""Number of core dimensions of the operands and of the result; the others broadcast."""
_SIGNATURES = {
    _matmul: "(n?,k),(k,m?)->(n?,m?)",
    _matvec: "(m,n),(n)->(m)",
    _vecmat: "(n),(n,m)->(m)",
}


def _product(
    op: Op,
    x1: Any,
    x2: Any,
    out: Any,
    axes: Any,
    axis: Any,
    keepdims: Any,
    casting: Casting,
    order: Order,
    dtype: Any,
    subok: bool,
    signature: Any,
) -> Any:
    """Apply a ufunc with core dimensions (a generalized ufunc)."""
    if axes is NoValue and axis is NoValue and keepdims is False:
        return call(op, (x1, x2), out, True, casting, order, dtype, subok, signature)
    places = _places(op, axes, axis, keepdims)
    operands = []
    for x, where in zip((x1, x2), places, strict=False):
        x = asarray(x)
        if x.ndim < len(where):
            raise ValueError(
                f"{name_of(op)}: expected an operand of at least {len(where)} dimensions, got "
                f"{x.ndim}"
            )
        operands.append(moveaxis(x, where, range(-len(where), 0)))
    result = call(op, operands, None, True, casting, order, dtype, subok, signature)
    if keepdims:
        result = result[..., None]
    if places[2]:
        result = moveaxis(result, range(-len(places[2]), 0), places[2])
    if out is None:
        return result if result._view is None else result.copy("C" if order == "K" else order)
    (target,) = out if isinstance(out, tuple) else (out,)
    store(target, handles.read(result), True, casting, f"ufunc '{name_of(op)}'")
    return target


def check_in_place(x1: Any, x2: Any) -> None:
    """Raise NumPy's errors if a product can't be written into its first operand."""
    shapes = onp.shape(x1), onp.shape(x2)
    if not shapes[0] or len(shapes[1]) == 1:
        raise ValueError(
            "inplace matrix multiplication requires the first operand to have at least one and "
            "the second at least two dimensions."
        )
    if shapes[1][-2:] not in ((), (shapes[0][-1],) * 2) and shapes[1][-2] == shapes[0][-1]:
        raise ValueError(
            "matmul: Output operand 0 has a mismatch in its core dimension "
            f"{min(len(shapes[0]), 2) - 1}, with gufunc signature "
            f"{_SIGNATURES[_matmul]} (size {shapes[1][-1]} is different from {shapes[0][-1]})"
        )


def _places(op: Op, axes: Any, axis: Any, keepdims: Any) -> list[tuple[int, ...]]:
    """Return the core axes of both operands and of the result."""
    name, cores = name_of(op), _CORES[op]
    if op is not _vecdot and keepdims:
        raise TypeError(
            f"{name} does not support keepdims: its signature {_SIGNATURES[op]} requires multiple "
            "core dimensions"
        )
    if axis is not NoValue:
        if axes is not NoValue:
            raise TypeError("cannot specify both 'axis' and 'axes'")
        if op is not _vecdot:
            raise TypeError(
                f"{name}: axis can only be used with a single shared core dimension, not with "
                f"those of {_SIGNATURES[op]}."
            )
        place = (python.index(axis),)
        return [place, place, place if keepdims else ()]
    if axes is NoValue:
        return [tuple(range(-n, 0)) for n in cores[:2]] + [(-1,) if keepdims else ()]
    if not isinstance(axes, list):
        raise TypeError("axes should be a list.")
    entries = [tuple(a) if isinstance(a, tuple) else (python.index(a),) for a in axes]
    wanted = (*cores[:2], 1) if keepdims else cores
    if len(entries) == 2 and wanted[2] == 0:
        entries.append(())
    elif len(entries) == 2 and keepdims:
        entries.append((-1,))
    if len(entries) != 3:
        raise ValueError(
            "axes should be a list with an entry for all 3 inputs and outputs; entries for "
            "outputs can only be omitted if none of "
            "them has core axes."
        )
    for i, (entry, count) in enumerate(zip(entries, wanted, strict=True)):
        # A vector operand has one core axis, and so has the result.
        if len(entry) != count and not (op is _matmul and len(entry) == 1):
            raise onp.exceptions.AxisError(
                f"{name}: operand {i} has {count} core dimensions, but {len(entry)} dimensions "
                "are specified by axes tuple."
            )
    return entries


@instance(_matmul)
def matmul(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    axes: Any = NoValue,
    axis: Any = NoValue,
    keepdims: bool = False,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> "ndarray":
    """Compute the matrix product of the last two axes; the others are broadcast.

    Parameters
    ----------
    x1, x2 : array_like
        Matrices, or stacks of them.  A vector is a row on the left and a column on the right.
    out : ndarray, optional
        Array to write the result into.
    axes : list of tuple of int, optional
        Axes of the matrices in the operands and in the result.
    axis, keepdims
        For one-dimensional products only: raise TypeError.
    casting, order, dtype, subok, signature
        As for every ufunc.

    Raises
    ------
    ValueError
        If the shapes don't match, or an operand is a scalar.

    Examples
    --------
    >>> np.matmul([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    return _product(
        _matmul, x1, x2, out, axes, axis, keepdims, casting, order, dtype, subok, signature
    )


@instance(_vecdot)
def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    axes: Any = NoValue,
    axis: Any = NoValue,
    keepdims: bool = False,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> "ndarray":
    """Compute inner products of vectors along an axis, the first operand conjugated.

    The axis is the last one if not given; other arguments are those of `matmul`.

    Examples
    --------
    >>> np.vecdot([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    return _product(
        _vecdot, x1, x2, out, axes, axis, keepdims, casting, order, dtype, subok, signature
    )


@instance(_matvec)
def matvec(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    axes: Any = NoValue,
    axis: Any = NoValue,
    keepdims: bool = False,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> "ndarray":
    """Compute matrix-vector products; see `matmul`.

    Examples
    --------
    >>> np.matvec([[1, 2], [3, 4]], [[1, 0], [0, 1]])
    array([[1, 3],
           [2, 4]])
    """
    return _product(
        _matvec, x1, x2, out, axes, axis, keepdims, casting, order, dtype, subok, signature
    )


@instance(_vecmat)
def vecmat(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    axes: Any = NoValue,
    axis: Any = NoValue,
    keepdims: bool = False,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> "ndarray":
    """Compute vector-matrix products, the vector conjugated; see `matmul`.

    Examples
    --------
    >>> np.vecmat([1, 1], [[1, 2], [3, 4]])
    array([4, 6])
    """
    return _product(
        _vecmat, x1, x2, out, axes, axis, keepdims, casting, order, dtype, subok, signature
    )


# --- products by name -----------------------------------------------------------------------------


@operator("_npi_dot", rule=product_types, pattern="complex")
def _dot(xp: Any, a: Any, b: Any) -> Any:
    """Sum products over the last axis of `a` and the last but one of `b`."""
    return xp.dot(a, b)


@operator("_npi_vdot", rule=product_types, pattern="complex")
def _vdot(xp: Any, a: Any, b: Any) -> Any:
    """Compute the inner product of all elements, the first operand conjugated."""
    return xp.vdot(a, b)


@operator("_npi_inner", rule=product_types, pattern="complex")
def _inner(xp: Any, a: Any, b: Any) -> Any:
    """Sum products over the last axes."""
    return xp.inner(a, b)


@operator("_npi_outer", keeps_class=False, rule=product_types, pattern="complex")
def _outer(xp: Any, a: Any, b: Any) -> Any:
    """Compute the outer product of two vectors."""
    return xp.ravel(a)[:, None] * xp.ravel(b)[None, :]


@operator("_npi_kron", scalars=True, rule=product_types, pattern="complex")
def _kron(xp: Any, a: Any, b: Any) -> Any:
    """Compute the Kronecker product."""
    return xp.kron(a, b)


@call_cached
@defers_to_classes
def dot(a: ArrayLike, b: ArrayLike, out: Out = None) -> "ndarray":
    """Compute the dot product: a sum over the last axis of `a` and the last but one of `b`.

    If `b` is a vector, the sum is over its only axis.

    Parameters
    ----------
    a, b : array_like
        Operands; if one is a scalar, the result is their product.
    out : ndarray, optional
        Array to write the result into: of exactly its shape and dtype.

    Raises
    ------
    ValueError
        If the axes differ in length, or `out` does not fit.

    Examples
    --------
    >>> np.dot([1, 2], [3, 4])
    np.int64(11)
    """
    result = apply_cached(_dot, (a, b), ())
    if out is None:
        return result
    if not isinstance(out, Handle | onp.ndarray):
        raise TypeError(f"dot: `out` must be an npcompat ndarray, got {type(out).__name__}")
    fits = out.dtype == result.dtype and out.shape == result.shape
    target: Any = out
    if not (fits and target.flags.c_contiguous):
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, "
            "and be a C-Array): expected "
            f"{result.dtype}{result.shape}, got "
            f"{out.dtype}{out.shape}"
        )
    return finish(result, target, "dot")


@defers_to_classes
def vdot(a: ArrayLike, b: ArrayLike, /) -> "ndarray":
    """Compute the inner product of all elements, those of the first operand conjugated.

    Examples
    --------
    >>> np.vdot([1, 2], [3, 4])
    np.int64(11)
    """
    return apply(_vdot, (a, b))


@call_cached
@defers_to_classes
def inner(a: ArrayLike, b: ArrayLike, /) -> "ndarray":
    """Compute the inner product: a sum over the last axis of both operands.

    Examples
    --------
    >>> np.inner([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    return apply_cached(_inner, (a, b), ())


@call_cached
@defers_to_classes
def outer(a: ArrayLike, b: ArrayLike, out: Out = None) -> "ndarray":
    """Compute the outer product of two operands, both raveled.

    Examples
    --------
    >>> np.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    return finish(apply_cached(_outer, (a, b), ()), out, "outer")


@defers_to_classes
def kron(a: ArrayLike, b: ArrayLike) -> "ndarray":
    """Compute the Kronecker product of two arrays.

    Each element of the first is replaced by its product with the second.

    Examples
    --------
    >>> np.kron([1, 10], [1, 2])
    array([ 1,  2, 10, 20])
    """
    return apply(_kron, (a, b))


@operator("_npi_tensordot", keeps_class=False, rule=product_types, pattern="complex", scalars=False)
def _tensordot(xp: Any, a: Any, b: Any, *, axes: Any = 2) -> Any:
    """Compute the tensor dot product over pairs of axes."""
    return xp.tensordot(a, b, axes)


@defers_to_classes
def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> "ndarray":
    """Compute the tensor dot product: a sum over pairs of axes.

    Parameters
    ----------
    a, b : array_like
        Operands.
    axes : int, or (axes of `a`, axes of `b`)
        Axes to sum over; a number means the last ones of `a` and the first ones of `b`.

    Raises
    ------
    ValueError
        If the axes of a pair differ in length.

    Examples
    --------
    >>> np.tensordot(np.ones((2, 3)), np.ones((3, 4)), 1).shape
    (2, 4)
    """
    if isinstance(axes, int | onp.integer):
        return apply(_tensordot, (a, b), (int(axes),))
    first, second = axes
    return apply(_tensordot, (a, b), ((_as_axes(first), _as_axes(second)),))


def _as_axes(axes: Any) -> tuple[int, ...]:
    found = as_axis(axes)
    return (found,) if isinstance(found, int | onp.integer) else found or ()


# --- cross and trace ------------------------------------------------------------------------------


@operator("_npi_cross", rule=product_types, pattern="complex", scalars=False)
def _cross(xp: Any, a: Any, b: Any, *, axisa: int = -1, axisb: int = -1, axisc: int = -1) -> Any:
    """Compute the cross product; of vectors with two elements its third component."""
    a, b = xp.moveaxis(a, axisa, -1), xp.moveaxis(b, axisb, -1)
    a0, a1, b0, b1 = a[..., 0], a[..., 1], b[..., 0], b[..., 1]
    last = a0 * b1 - a1 * b0
    if a.shape[-1] == b.shape[-1] == 2:
        return last
    if a.shape[-1] == 2:
        parts = [a1 * b[..., 2], -a0 * b[..., 2], last]
    elif b.shape[-1] == 2:
        parts = [-a[..., 2] * b1, a[..., 2] * b0, last]
    else:
        parts = [a1 * b[..., 2] - a[..., 2] * b1, a[..., 2] * b0 - a0 * b[..., 2], last]
    return xp.moveaxis(xp.stack(parts, axis=-1), -1, axisc)


@defers_to_classes
def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> "ndarray":
    """Compute the cross product of vectors with three elements.

    Parameters
    ----------
    a, b : array_like
        Vectors, or stacks of them.  Two elements (the third is zero) are deprecated.
    axisa, axisb, axisc : int
        Axis of the vectors in `a`, in `b`, and in the result.
    axis : int, optional
        All three in one.

    Examples
    --------
    >>> np.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = asarray(a), asarray(b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    axisa = onp.lib.array_utils.normalize_axis_index(axisa, a.ndim, "axisa")
    axisb = onp.lib.array_utils.normalize_axis_index(axisb, b.ndim, "axisb")
    lengths = a.shape[axisa], b.shape[axisb]
    if any(n not in (2, 3) for n in lengths):
        raise ValueError(
            "incompatible dimensions for cross product\n(dimension must be 2 or 3, got "
            f"{lengths[0]} and {lengths[1]})"
        )
    if 2 in lengths:
        warnings.warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors "
            "instead.",
            DeprecationWarning,
            stacklevel=2,
        )
    if "O" in (a.dtype.kind, b.dtype.kind):
        return cast("ndarray", by_numpy(onp.cross, (a, b, axisa, axisb, axisc), {}))
    made = apply(_cross, (a, b), (axisa, axisb, -1))
    if lengths == (2, 2):
        return made
    axisc = onp.lib.array_utils.normalize_axis_index(axisc, made.ndim, "axisc")
    return moveaxis(made, -1, axisc) if axisc != made.ndim - 1 else made


@operator("_npi_trace", rule=accumulated, pattern="reduction")
def _trace(
    xp: Any, a: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None
) -> Any:
    """Compute the sum of a diagonal."""
    return xp.trace(a, offset, axis1, axis2)


@defers_to_classes
def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike = None,
    out: Out = None,
) -> "ndarray":
    """Compute the trace: the sum of the diagonal over two axes.

    Examples
    --------
    >>> np.trace([[1, 2], [3, 4]])
    np.int64(5)
    """
    attrs = (
        python.index(offset),
        python.index(axis1),
        python.index(axis2),
        accumulated_in(dtype, a, _trace, out),
    )
    return finish(apply(_trace, (a,), attrs), out, "trace", "unsafe")


__all__ = [
    "cross", "dot", "inner", "kron", "matmul", "matvec", "outer", "tensordot", "trace", "vdot",
    "vecdot", "vecmat",
]  # fmt: skip
