"""Shared arguments of ufuncs (`out`, `where`, `casting`, `dtype`) and writes into `out`."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as onp
from numpy._core._exceptions import _UFuncInputCastingError, _UFuncOutputCastingError

from npcompat._internal.backend.typed_kernel import boxed
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value, check_writeable
from npcompat._internal.core.op import Attrs, Op, operator
from npcompat._internal.dispatch import (
    array_like,
    execution,
    handles,
    late_bound,
    subclasses,
    writes,
)
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.result_layout import lay_out_as_on_host
from npcompat._internal.indexing import lens
from npcompat._internal.indexing.assigned_value import fitted
from npcompat.numpy._memory_order import check_order, common_order, in_order
from npcompat.numpy._overrides import given, overridden
from npcompat.numpy._typing import ArrayLike, Casting, DTypeLike, Order

SHARED_PARAMETERS = """
    Parameters
    ----------
    {inputs} : array_like
        Operands; they are broadcast against each other.
    out : ndarray or tuple of ndarray, optional
        Array to write the result into; its shape must be the broadcast shape.
    where : array_like of bool, optional
        Elements where it is False keep the value of `out` (zero, if there is no `out`).
    casting : {{'no', 'equiv', 'safe', 'same_kind', 'unsafe'}}, optional
        Casting rule for operands and for the result into `out`.
    order : {{'K', 'A', 'C', 'F'}}, optional
        Memory order of the result; 'K' is that of the operands on the host, and C order on XLA.
    dtype : dtype, optional
        The dtype in which to compute.
    subok : bool, optional
        If True, operands of a subclass of `ndarray` give a result of that class.
    signature : str or tuple of dtype, optional
        Dtypes of the loop: one for each operand and result, None for NumPy's choice; or a string
        such as ``'dd->d'``.

    Returns
    -------
    ndarray
        {returns}
"""


@operator(
    "_npi_cast", pattern="elementwise", rule=lambda types, attrs: ([None], attrs["dtype"].base)
)
def _cast(xp: Any, x: Any, *, dtype: Any) -> Any:
    """Cast the values to a dtype."""
    return xp.astype(x, dtype)


@operator(
    "_npi_select_where",
    pattern="broadcast",
    rule=lambda types, attrs: ([None, types[2], None], types[2]),
)
def _select_where(xp: Any, mask: Any, new: Any, old: Any) -> Any:
    """Choose `new` where the mask is true, else `old`; shape and dtype are those of `old`.

    Parameters
    ----------
    new : array
        Values where the mask is True.
    old : array
        Values elsewhere.
    """
    return xp.where(xp.astype(mask, onp.bool_), new, old)


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
    plain = out is None or (
        type(out) is tuple and len(out) == op.outputs and all([o is None for o in out])
    )
    if (
        plain
        and where is True
        and dtype is None
        and casting == "same_kind"
        and order == "K"
        and signature is None
        and subok
    ):
        return apply(op, args)
    return _general(op, args, out, where, casting, order, dtype, subok, signature)


def on_host(op: Op, args: Sequence[Any], out: Any, plain: bool, where: Any = True) -> bool:
    """Run NumPy's own ufunc into an array on the host, if possible.

    Returns False, with nothing done, if an operand is elsewhere or NumPy's loop would differ.
    """
    _check_writeable(out)
    if op.ufunc is None or not (
        where is True
        or (type(where) is late_bound.ndarray and where.dtype == onp.bool_ and _on_host(where))
    ):
        return False
    for a in args:
        if type(a) not in _SCALARS and not (isinstance(a, Handle) and _on_host(a)):
            return False
    if out.dtype.num >= _EXTENDED:
        return False
    with writes.lock_of(out), writes.writing(out) as target:
        if target is None:
            return False
        arrays = [
            a
            if type(a) in _SCALARS
            else a._value.payload
            if a._view is None
            else handles.current_array(a)
            for a in args
        ]
        mask = True if where is True else handles.current_array(where)
        if plain and mask is True:
            op.ufunc(*arrays, out=target)
        elif plain:
            op.ufunc(*arrays, out=target, where=mask)
        else:
            _observed(op, arrays, target, mask)
    return True


def _observed(op: Op, arrays: Sequence[Any], target: Any, mask: Any) -> None:
    """Run NumPy's own ufunc into a buffer, reported to the active observer."""
    observer, ufunc = modes.current().observer, op.ufunc
    if observer is not None:
        with modes.changed(observer=observer.outer):
            observer.write(op, target, arrays, partial(_observed, op, arrays, target, mask))
    elif ufunc is not None:
        ufunc(*arrays, out=target, where=mask)


def _on_host(a: Handle) -> bool:
    """Return True if an array is on the host in one of NumPy's own dtypes."""
    payload = (a if a._view is None else a._view.root)._value.payload
    return type(payload) is onp.ndarray and payload.dtype.num < _EXTENDED


_SCALARS = frozenset((bool, int, float, complex))
_EXTENDED = 256
"""Dtype numbers from here on are extension dtypes."""


def positional_outs(out1: Any, out2: Any, out: Any) -> Any:
    """Return `out` of a function with two outputs, which may also be positional."""
    if out is None:
        raise TypeError("'out' must be a tuple of arrays")
    if out1 is None and out2 is None:
        return out
    if out != (None, None):
        raise TypeError("cannot specify 'out' as both a positional and keyword argument")
    return out1, out2


def _general(
    op: Op,
    args: Sequence[Any],
    out: Any,
    where: Any,
    casting: Casting,
    order: str,
    dtype: Any,
    subok: bool,
    signature: Any,
) -> Any:
    _check_outs(op, out)
    class_source = None
    if not late_bound.ordinary.issuperset(
        map(type, (*args, *(out if type(out) is tuple else (out,)), where))
    ):
        options = given(
            out,
            where=(where, True),
            casting=(casting, "same_kind"),
            order=(order, "K"),
            dtype=(dtype, None),
            subok=(subok, True),
            signature=(signature, None),
        )
        made = overridden(op, "__call__", args, options)
        if made is not NotImplemented:
            return made
        class_source = subclasses.result_class_source(args) if subok else None
    if out is ...:  # out=...: return arrays, never scalars
        made = _general(
            op, args, (None,) * op.outputs, where, casting, order, dtype, subok, signature
        )
        return as_array(made) if op.outputs == 1 else tuple(map(as_array, made))
    order = check_order(order)
    outs: tuple[Any, ...] = out if isinstance(out, tuple) else (out,) + (None,) * (op.outputs - 1)
    if any([isinstance(o, onp.ndarray) for o in outs]):
        return _into_numpys(op, args, outs, where, casting, order, dtype, subok, signature)
    for o in outs:
        if o is not None and (not isinstance(o, Handle) or type(o) in late_bound.scalars):
            raise TypeError(
                "return arrays must be of ArrayType: `out` must be an npcompat ndarray, got "
                f"{type(o).__name__}"
            )
    usual = (
        type(outs[0]) is late_bound.ndarray
        and op.outputs == 1
        and dtype is None
        and signature is None
        and casting == "same_kind"
    )
    mode = modes.current()
    if usual and mode.may_touch_host_buffers and on_host(op, args, outs[0], mode.is_default, where):
        return outs[0]
    operands = [
        a
        if type(a) in (bool, int, float, complex) or isinstance(a, Handle)
        else array_like.joined(a)
        for a in args
    ]
    loop = _loop(op, dtype, signature)
    _check_casts(op, operands, loop, casting, signature)
    inputs = [array_like.as_value(a) for a in operands]
    if where is not True:
        inputs = _computed_where(op, inputs, array_like.as_value(where))
    attrs: Attrs = () if loop is None else (loop,)
    values = execution.run(op, inputs, attrs)
    given_arrays = args if all([o is None for o in outs]) else (*args, *outs)
    made = [
        _finish(op, value, target, where, casting)
        for value, target in zip(values if op.outputs > 1 else (values,), outs, strict=True)
    ]
    if order == "K":
        fresh = [r if o is None else None for r, o in zip(made, outs, strict=True)]
        lay_out_as_on_host(op, operands, inputs, attrs, fresh)
    finished = []
    for i, (result, target) in enumerate(zip(made, outs, strict=True)):
        if target is None and op.outputs > 1:
            result = _in_shape_of(outs, result)
        if target is None and order != "K":
            result = in_order(result, common_order(operands) if order == "A" else order)
        wrapping = class_source
        if target is not None:
            wrapping = target if subclasses.is_subclass(type(target)) else None
        if wrapping is not None:
            result = subclasses.wrapped(
                wrapping, as_array(result), late_bound.ufuncs.get(op.name), given_arrays, i
            )
        finished.append(result)
    return finished[0] if op.outputs == 1 else tuple(finished)


def _check_outs(op: Op, out: Any) -> None:
    """Raise NumPy's error for `out` of another structure than the outputs."""
    if op.outputs > 1 and out is not ... and not isinstance(out, tuple):
        raise TypeError(
            f"'out' must be a tuple of arrays: {name_of(op)} has {op.outputs} outputs, got "
            f"{type(out).__name__}"
        )
    if isinstance(out, tuple) and len(out) != op.outputs:
        raise ValueError(
            "The 'out' tuple must have exactly one entry per ufunc output: expected "
            f"{op.outputs}, got {len(out)}"
        )


def _check_casts(
    op: Op, operands: Sequence[Any], loop: Any, casting: Casting, signature: Any
) -> None:
    """Raise NumPy's error if an operand can't be cast to what the ufunc computes with."""
    types = tuple([a.dtype if hasattr(a, "dtype") else type(a) for a in operands])
    casts, _ = op.rule(types, {"dtype": loop})
    usual, _ = op.rule(types, {"dtype": None}) if loop == onp.bool_ else (casts, None)
    for i, (operand, wanted) in enumerate(zip(types, casts, strict=True)):
        if wanted is None or (loop in (None, onp.bool_) and usual[i] == onp.bool_):
            continue  # logical ufuncs accept any dtype
        if (operand is float and signature is not None) or _may_cast(operand, wanted, casting):
            continue
        carried = [dtypes.strong_by_numpy(t) for t in types]
        if op.ufunc is None or all(map(dtypes.on_devices, carried)):
            raise _UFuncInputCastingError(getattr(onp, name_of(op)), casting, carried[i], wanted, i)
        _let_numpy_check(op.ufunc, carried, loop, casting)


def _in_shape_of(outs: tuple[Any, ...], result: Any) -> Any:
    """Broadcast an output that `out` leaves out to the shape of the outputs that it gives."""
    shape = onp.broadcast_shapes(result.shape, *[o.shape for o in outs if o is not None])
    if shape == result.shape:
        return result
    look = lens.broadcast_to(shape)
    return apply(look.get, (result,), look.attrs).copy()


_HARMLESS: dict[str, int] = {"arctanh": 0, "arcsin": 0, "arccos": 0}
"""Numbers at which ufuncs are computed where `where` is False; 1 for all others."""


def _computed_where(op: Op, inputs: list[Value], mask: Value) -> list[Value]:
    """Replace elements that a ufunc leaves out by a harmless number.

    So they raise no floating-point errors. Nor can an infinite derivative, times a cotangent of
    zero, become a nan in the gradient. Floats in a program without gradients need neither.
    """
    number = _HARMLESS.get(name_of(op), 1)
    needs_floats = modes.current().trace is None or modes.differentiated()
    found = []
    for value in inputs:
        dtype = getattr(value.payload, "dtype", None)
        if dtype is not None and (
            dtype.kind in "biu" or (needs_floats and dtypes.is_inexact(dtype))
        ):
            harmless = Value(onp.asarray(number, dtype))
            value = execution.run(_harmless_where, [mask, value, harmless])
        found.append(value)
    return found


def _into_numpys(
    op: Op, args: Sequence[Any], outs: tuple[Any, ...], where: Any, casting: Casting, *rest: Any
) -> Any:
    """Apply a ufunc and copy results into NumPy arrays given as `out`."""
    ours = tuple([None if isinstance(o, onp.ndarray) else o for o in outs])
    made = _general(op, args, ours, True, casting, *rest)
    results = made if op.outputs > 1 else (made,)
    mask = handles.to_host(where) if isinstance(where, Handle) else where
    for result, out in zip(results, outs, strict=True):
        if isinstance(out, onp.ndarray):
            copy_into_numpys(out, result, mask, casting, f"ufunc '{name_of(op)}'")
    found = tuple(
        [_in_shape_of(outs, r) if o is None else o for r, o in zip(results, outs, strict=True)]
    )
    return found if op.outputs > 1 else found[0]


def copy_into_numpys(
    out: onp.ndarray[Any, Any], result: Any, where: Any, casting: Casting, what: str
) -> None:
    """Write a result into a NumPy array given as `out`; refuse what is recorded."""
    if isinstance(result, Handle) and handles.read(result).node is not None:
        raise TypeError(
            f"{what}: `out` is an array of NumPy's, which would lose the derivative of what is "
            "recorded; give an array of npcompat, or x.detach() as the operand"
        )
    host = handles.to_host(result) if isinstance(result, Handle) else onp.asarray(result)
    if not onp.can_cast(host.dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast {what} output from {host.dtype!r} to {out.dtype!r} with casting rule "
            f"'{casting}'"
        )
    if onp.broadcast_shapes(host.shape, out.shape) != out.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast "
            f"shape {host.shape}"
        )
    onp.copyto(out, host, casting, where)


_RANKS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
"""Rank of numeric kinds: each can be cast to those of higher rank."""


def _may_cast(operand: Any, wanted: onp.dtype[Any], casting: Casting) -> bool:
    """Return True if an operand of a dtype may be cast under a rule.

    A Python number may be cast to any dtype of its kind.
    """
    if isinstance(operand, onp.dtype):
        return onp.can_cast(operand, wanted, casting)
    if casting in ("safe", "same_kind") and wanted.kind in _RANKS:
        return _RANKS[onp.dtype(operand).kind] <= _RANKS[wanted.kind]
    return (
        wanted.kind not in _RANKS
        or onp.can_cast(onp.dtype(operand), wanted, casting)
        or (operand is int and wanted.kind in "iufc")
    )


def _let_numpy_check(
    ufunc: onp.ufunc, types: Sequence[onp.dtype[Any]], loop: Any, casting: Casting
) -> None:
    """Raise NumPy's error for a forbidden cast of objects, strings or bytes.

    NumPy makes exceptions for logical ufuncs. It is called with dtypes only, because NumPy 2.4
    crashes when it refuses the class of a Python number.
    """
    signature = loop if isinstance(loop, tuple) else (None,) * ufunc.nin + (loop,) * ufunc.nout
    ufunc.resolve_dtypes((*types, *(None,) * ufunc.nout), signature=signature, casting=casting)


def _loop(op: Op, dtype: Any, signature: Any) -> Any:
    """Resolve `dtype=` and `signature=` to None, a dtype, or a tuple of dtypes and None.

    The tuple has one entry for each operand and result.
    """
    if signature is None:
        return None if dtype is None else dtypes.canonical(dtype)
    if dtype is not None:
        raise TypeError("cannot specify both 'signature' and 'dtype'")
    if isinstance(signature, bytes):
        signature = signature.decode("ascii")
    if isinstance(signature, str):
        before, arrow, after = signature.partition("->")
        if not arrow or (len(before), len(after)) != (len(op.inputs), op.outputs):
            raise ValueError(
                f"a type-string for {name_of(op)}, {len(op.inputs)} typecode(s) before and "
                f"{op.outputs} after the -> sign"
            )
        unknown = [letter for letter in before + after if letter not in onp.typecodes["All"]]
        if unknown:
            raise ValueError(
                f"signature {signature!r}: {', '.join(unknown)} is the character of no dtype"
            )
        signature = (*before, *after)
    if not isinstance(signature, tuple):
        raise TypeError(
            "the signature object to ufunc must be a string or a tuple, got "
            f"{type(signature).__name__}"
        )
    if len(signature) == 1:
        raise TypeError(
            "signature: one dtype is not enough. Use `dtype` or fill the tuple with more than one "
            "'None'."
        )
    if len(signature) != len(op.inputs) + op.outputs:
        raise ValueError(
            f"a type-tuple must be specified of length {len(op.inputs) + op.outputs} for ufunc "
            f"'{name_of(op)}', got {len(signature)}"
        )
    return tuple([None if t is None else dtypes.canonical(t) for t in signature])


def _finish(op: Op, value: Value, out: Any, where: Any, casting: Casting) -> Any:
    if out is None:
        if where is True:
            return handles.wrap_result(op, value)
        mask = array_like.as_value(where)
        shape = onp.broadcast_shapes(value.payload.shape, getattr(mask.payload, "shape", ()))
        zeros = execution.run(_zeros_for_where, [value], (shape,))
        return handles.wrap_result(op, execution.run(_select_where, [mask, value, zeros]))
    store(out, value, where, casting, f"ufunc '{name_of(op)}'")
    return out


@operator(
    "_npi_harmless_where",
    pattern="broadcast",
    rule=lambda types, attrs: ([None, types[1], types[1]], types[1]),
)
def _harmless_where(xp: Any, mask: Any, a: Any, number: Any) -> Any:
    """`a` where the mask is True, elsewhere a number at which a ufunc can be computed.

    Parameters
    ----------
    number : array
        The number, of the dtype of `a`.
    """
    return xp.where(xp.astype(mask, onp.bool_), a, number)


@operator("_npi_zeros_for_where", differentiable=False)
def _zeros_for_where(xp: Any, like: Any, *, shape: Any) -> Any:
    """Create zeros with the dtype of another array."""
    return xp.zeros(shape, like.dtype)


def store(
    out: Any, value: Value, where: Any = True, casting: Casting = "same_kind", what: str = ""
) -> None:
    """Write a result into `out` where the mask is true; all checks precede the write."""
    _check_writeable(out)
    have, want = value.payload.dtype, out.dtype
    # There is no cast to records.
    if have != want and (want.names is not None or not onp.can_cast(have, want, casting)):
        ufunc = getattr(onp, what.removeprefix("ufunc ").strip("'"), None)
        if isinstance(ufunc, onp.ufunc) and want.names is None:
            raise _UFuncOutputCastingError(ufunc, casting, have, want, 0)
        raise TypeError(
            f"Cannot cast {what} output from {have!r} to {want!r} with casting rule '{casting}'"
        )
    shape = value.payload.shape
    if where is not True:
        mask = array_like.as_value(where)
        shape = onp.broadcast_shapes(shape, getattr(mask.payload, "shape", ()))
    if shape != out.shape:
        if onp.broadcast_shapes(shape, out.shape) != out.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {out.shape} doesn't match the "
                f"broadcast shape {shape}".replace(", )", ",)")
            )
    if where is not True:
        writes.write_part(out, _select_where, [mask, value, None])
    elif have != want or shape != out.shape:
        writes.write(out, fitted(handles.wrap(value), out.shape, want))
    else:
        writes.write(out, value)


def _check_writeable(out: Handle) -> None:
    check_writeable(out, "output array is read-only")


def as_array(result: Any) -> Any:
    """Convert a result to an array, also if it is a scalar."""
    if type(result) in late_bound.scalars:
        return handles.wrap(handles.read(result))
    return result if isinstance(result, Handle) else array_like.array_of(onp.asarray(result))


def finish(result: Any, out: Any, what: str, casting: Casting = "same_kind") -> Any:
    """Return the result, or write it into `out` and return that; `...` always returns an array."""
    if out is None:
        return result
    if out is ...:
        return as_array(result)
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(result, Handle | onp.generic | onp.ndarray):  # an object or a string
        held = boxed(result)
        result = array_like.array_of(held.astype(out.dtype) if hasattr(out, "dtype") else held)
    if isinstance(out, onp.ndarray):
        if onp.shape(result) != out.shape:
            raise ValueError(
                f"{what}: output array has shape {out.shape}, expected {onp.shape(result)}"
            )
        copy_into_numpys(out, result, True, casting, what)
        return out
    if not isinstance(out, Handle) or type(out) in late_bound.scalars:
        raise TypeError(f"{what}: `out` must be an npcompat ndarray, got {type(out).__name__}")
    result = as_array(result)
    if result.shape != out.shape:
        raise ValueError(f"{what}: output array has shape {out.shape}, expected {result.shape}")
    # Dates and durations are not numbers, whatever the casting.
    store(
        out, handles.read(result), True, "same_kind" if result.dtype.kind in "mM" else casting, what
    )
    return out


def name_of(op: Op) -> str:
    """Return the public name of an operator."""
    return op.name.removeprefix("_npi_")
