"""What all ufuncs share: `out=`, `where=`, `casting=`, `dtype=`, and writing a result into an array."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal import dispatch, dtypes, execution, indexing
from npcompat._internal.dispatch import apply
from npcompat._internal.handle import Handle, Value
from npcompat._internal.op import Op, operator
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike, Order

SHARED_PARAMETERS = """
    Parameters
    ----------
    {inputs} : array_like
        Operands; they are broadcast against each other.
    out : ndarray or tuple of ndarray, optional
        Where the result is written; its shape must be the broadcast shape.
    where : array_like of bool, optional
        Elements where it is False keep the value of `out` (zero, if there is no `out`).
    casting : {{'no', 'equiv', 'safe', 'same_kind', 'unsafe'}}, optional
        Which casts of operands and of the result into `out` are allowed.
    order : {{'K', 'A', 'C'}}, optional
        Memory order of the result; it has no effect here. 'F' raises NotImplementedError.
    dtype : dtype, optional
        The dtype in which to compute.
    subok : bool, optional
        Without effect: there are no subclasses.
    signature : None
        Not supported: raises NotImplementedError. `dtype` chooses the loop.

    Returns
    -------
    ndarray
        {returns}
"""


@operator("_npi_cast", pattern="elementwise", rule=lambda types, attrs: ([None], attrs["dtype"]))
def _cast(xp: Any, x: Any, *, dtype: Any) -> Any:
    """The values in another dtype."""
    return xp.astype(x, dtype)


@operator("_npi_select_where", pattern="broadcast", rule=lambda types, attrs: ([None, types[2], None], types[2]))
def _select_where(xp: Any, mask: Any, new: Any, old: Any) -> Any:
    """`new` where the mask is True, `old` elsewhere; the shape and dtype of `old`."""
    return xp.where(xp.astype(mask, onp.bool_), new, old)


Out = Any
"""None, an array, or a tuple of one of these for each output."""


def call(
    op: Op,
    args: Sequence[ArrayLike],
    out: Any,
    where: ArrayLike,
    casting: Casting,
    order: Order,
    dtype: DTypeLike,
    subok: bool,
    signature: Any,
) -> Any:
    """Apply a ufunc's operator with the arguments that all ufuncs have."""
    if signature is not None:
        raise NotImplementedError(f"{name_of(op)}: signature= is not supported; dtype= chooses the loop")
    plain = out is None or (type(out) is tuple and all([o is None for o in out]))
    if plain and where is True and dtype is None and casting == "same_kind" and order == "K":
        return apply(op, args)
    return _general(op, args, out, where, casting, order, dtype)


def on_host(op: Op, args: Sequence[Any], out: Any, **options: Any) -> bool:
    """Let NumPy's own function write into an array on the host; False, and nothing done, where that isn't what is meant."""
    _check_writeable(out)
    operands = [dispatch.live(a) if isinstance(a, Handle) else a if type(a) in _SCALARS else None for a in args]
    if any([o is None or (type(o) is onp.ndarray and o.dtype.num >= 256) for o in operands]):
        return False
    del operands
    target = dispatch.buffer(out)
    if target is None or target.dtype.num >= 256 or op.ufunc is None:
        return False
    op.ufunc(*[dispatch.live(a) if isinstance(a, Handle) else a for a in args], out=target, **options)
    return True


_SCALARS = frozenset((bool, int, float, complex))


def positional_outs(out1: Any, out2: Any, out: Any) -> Any:
    """The `out` of a function with two outputs, whose parts may also be given by position."""
    if out1 is None and out2 is None:
        return out
    if out != (None, None):
        raise TypeError("cannot specify 'out' as both a positional and keyword argument")
    return out1, out2


def _general(op: Op, args: Sequence[Any], out: Any, where: Any, casting: Casting, order: str, dtype: Any) -> Any:
    check_order(order)
    if op.outputs > 1 and not isinstance(out, tuple):
        raise TypeError(f"'out' must be a tuple of arrays: {name_of(op)} has {op.outputs} outputs, got {type(out).__name__}")
    outs: tuple[Any, ...] = out if isinstance(out, tuple) else (out,) + (None,) * (op.outputs - 1)
    if len(outs) != op.outputs:
        raise ValueError(f"The 'out' tuple must have exactly one entry per ufunc output: expected {op.outputs}, got {len(outs)}")
    for o in outs:
        if o is not None and (not isinstance(o, Handle) or type(o) is dispatch.scalar):
            raise TypeError(f"return arrays must be of ArrayType: `out` must be an npcompat ndarray, got {type(o).__name__}")
    operands = [a if type(a) in (bool, int, float, complex) or isinstance(a, Handle) else dispatch.host_array(a) for a in args]
    types = tuple([a.dtype if hasattr(a, "dtype") else type(a) for a in operands])
    loop = None if dtype is None else dtypes.canonical(dtype)
    casts, _ = op.rule(types, {"dtype": loop})
    for operand, wanted in zip(types, casts, strict=True):
        source = dtypes.strong(operand)
        if wanted is not None and isinstance(operand, onp.dtype) and not onp.can_cast(source, wanted, casting):
            raise TypeError(f"Cannot cast ufunc '{name_of(op)}' input from {source!r} to {wanted!r} with casting rule '{casting}'")
    values = execution.run(op, [dispatch.as_value(a) for a in operands], () if loop is None else (loop,))
    finished = []
    for value, target in zip(values if op.outputs > 1 else (values,), outs, strict=True):
        finished.append(_finish(op, value, target, where, casting))
    return finished[0] if op.outputs == 1 else tuple(finished)


def _finish(op: Op, value: Value, out: Any, where: Any, casting: Casting) -> Any:
    if out is None:
        if where is True:
            return dispatch.wrap_result(op, value)
        mask = dispatch.as_value(where)
        shape = onp.broadcast_shapes(value.payload.shape, getattr(mask.payload, "shape", ()))
        zeros = execution.run(_zeros_for_where, [value], (shape,))
        return dispatch.wrap_result(op, execution.run(_select_where, [mask, value, zeros]))
    store(out, value, where, casting, f"ufunc '{name_of(op)}'")
    return out


@operator("_npi_zeros_for_where", differentiable=False)
def _zeros_for_where(xp: Any, like: Any, *, shape: Any) -> Any:
    return xp.zeros(shape, like.dtype)


def store(out: Any, value: Value, where: Any = True, casting: Casting = "same_kind", what: str = "") -> None:
    """Write a result into `out`, where the mask says so; checks come before anything is written."""
    _check_writeable(out)
    have, want = value.payload.dtype, out.dtype
    if have != want and not onp.can_cast(have, want, casting):
        raise TypeError(f"Cannot cast {what} output from {have!r} to {want!r} with casting rule '{casting}'")
    shape = value.payload.shape
    if where is not True:
        mask = dispatch.as_value(where)
        shape = onp.broadcast_shapes(shape, getattr(mask.payload, "shape", ()))
    if shape != out.shape:
        if onp.broadcast_shapes(shape, out.shape) != out.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast shape {shape}".replace(", )", ",)")
            )
    if where is not True:
        dispatch.write(out, execution.run(_select_where, [mask, value, dispatch.read(out)]))
    elif have != want or shape != out.shape:
        dispatch.write(out, indexing.fitted(dispatch.wrap(value), out.shape, want))
    else:
        dispatch.write(out, value)


def _check_writeable(out: Handle) -> None:
    if out._extra is not None and out._extra.readonly:
        raise ValueError("output array is read-only")


def finish(result: Any, out: Any, what: str) -> Any:
    """The result of a function that takes `out=`: itself, or `out` with the result written into it."""
    if out is None:
        return result
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(out, Handle) or type(out) is dispatch.scalar:
        raise TypeError(f"{what}: `out` must be an npcompat ndarray, got {type(out).__name__}")
    if result.shape != out.shape:  # type: ignore[attr-defined]
        raise ValueError(f"{what}: output array has shape {out.shape}, expected {result.shape}")  # type: ignore[attr-defined]
    store(out, dispatch.read(result), True, "same_kind" if what != "unsafe" else "unsafe", what)
    return out


def name_of(op: Op) -> str:
    """The public name of an operator."""
    return op.name.removeprefix("_npi_")


def reduced_axis(a: Any, axis: Any) -> Any:
    """The axis of a reduction.  NumPy takes a 0-d array for one of one axis, except where it averages."""
    return None if a.ndim == 0 and axis in (0, -1) else axis


def check_order(order: str | None) -> None:
    """Memory order can't be chosen yet; only what is indistinguishable from C order is accepted."""
    if order not in ("K", "A", "C", "k", "a", "c", None):
        if order in ("F", "f"):
            raise NotImplementedError("order='F': arrays are laid out in C order")
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
