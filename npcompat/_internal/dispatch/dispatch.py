"""The one path of every operation: read the operands, run the operator, write the results.

`np.add(x, y)` comes through `apply` -> `execution.run`, if it is none of the frequent calls that
`_native.c` takes the short way. What is odd-looking here is measured: payload classes are compared
with `type(p) is`, modes are read once.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress
from threading import RLock
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Extra, Handle, Lent, Value, View, clock, extra, touch
from npcompat._internal.core.op import DONATING, Attrs, Op
from npcompat._internal.core.retained_outputs import Stored, settle, version_of
from npcompat._internal.core.tensor_type import symbols_in
from npcompat._internal.dispatch import memory_layout
from npcompat._internal.dispatch.execution import (
    CALL_ERRORS,
    SCALARS,
    XLA_ARRAY,
    constant,
    created,
    explained,
    fresh,
    host_payload,
    lowering,
    on_host,
    raise_pending,
    run,
    symbols_exist,
)
from npcompat._internal.dispatch.traced_number import NumberArgument, TracedNumber
from npcompat._internal.native import fast_path
from npcompat._internal.support.errors import (
    InferenceError,
    LeakedTracerError,
    SymbolError,
    TracedValueError,
    user_location,
)

_new = object.__new__
_current_mode, _default_mode = modes._MODE.get, modes._process_default
ndarray: Any = Handle
scalar: Any = Handle
symbol: Any = Handle
symbolic: type = type(None)  # the class of the payloads of symbols, once there are any
ufuncs: dict[str, Any] = {}
"""The public functions of operators that are ufuncs, by the operator's name."""
_overridden: Any = None
_class_of_results: Any = None
ordinary: set[type] = {
    *SCALARS,
    list,
    tuple,
    onp.ndarray,
    type(None),
    type(...),
    type(onp._NoValue),
}
"""Classes of operands, and of what `out=` may be, that ask for nothing."""


def connect(
    array_type: type[Handle] | None = None,
    scalar_type: type[Handle] | None = None,
    symbol_type: type[Handle] | None = None,
    symbolic_payload: type | None = None,
    overridden: Any = None,
    class_of_results: Any = None,
) -> None:
    """Called once each by the modules above with the public classes of arrays, scalars and symbols,
    and what asks other classes.
    """
    global ndarray, scalar, symbol, symbolic, _overridden, _class_of_results
    if array_type is not None:
        ndarray = array_type
        fast_path.connect(array=array_type)
    if scalar_type is not None:
        scalar = scalar_type
        fast_path.connect(scalar=scalar_type)
    if symbol_type is not None and symbolic_payload is not None:
        symbol, symbolic = symbol_type, symbolic_payload
    if overridden is not None:
        _overridden = overridden
    if class_of_results is not None:
        _class_of_results = class_of_results
    ordinary.update((ndarray, scalar, symbol))


# --- handles --------------------------------------------------------------------------------------


def wrap(value: Value) -> Any:
    """A new handle that holds the value."""
    handle = _new(ndarray if type(value.payload) is not symbolic else symbol)
    handle._value, handle._view, handle._extra = value, None, None
    return handle


def wrap_scalar(value: Value) -> Any:
    """A new scalar: a handle that is never written and looks at nothing."""
    handle = _new(scalar)
    handle._value, handle._view, handle._extra = value, None, None
    return handle


def wrap_result(op: Op, value: Value) -> Any:
    """A new handle for a result of the operator: a scalar where NumPy returns one."""
    payload = value.payload
    if not op.scalars or type(payload) is symbolic or payload.shape:
        return wrap(value)
    return (
        wrap_scalar(value) if dtypes.on_devices(payload.dtype) else payload[()]
    )  # an object, a string, a date: NumPy's own


def as_scalar(array: Any) -> Any:
    """An array without axes as a scalar, which many of NumPy's functions return in its place;
    others as they are.
    """
    if (
        type(array) is not ndarray or array.shape
    ):  # symbols are never scalars, nor are instances of subclasses
        return array
    value = read(array)
    return wrap_scalar(value) if dtypes.on_devices(value.payload.dtype) else value.payload[()]


def read(handle: Handle) -> Value:
    """What the handle means now: its value, or its base's through the lens; in a trace, an input of
    the program.
    """
    view = handle._view
    if view is None:
        trace = modes.current().trace
        return handle._value if trace is None else trace.read(handle)
    parent = read(view.parent)
    version = version_of(view.root)
    cached = view.cached
    if (
        cached is not None
        and view.version == version
        and (cached.node is not None or parent.node is None)
    ):
        return cached
    lens = view.lens
    if type(parent.payload) is onp.ndarray and not dtypes.on_devices(parent.payload.dtype):
        return Value(lens.on_host(parent.payload))  # the fields of records are no operators
    value: Value = run(
        lens.get,
        [parent, *[Value(i) if type(i) is int else as_value(i) for i in lens.operands]],
        lens.attrs,
    )
    if handle._extra is not None and handle._extra.leaf is not None:
        value = fresh(value.payload, handle._extra.leaf)
    if (
        value.node is not None or type(value.payload) is not onp.ndarray
    ):  # NumPy's views are free, and would pin the buffer
        view.cached, view.version = value, version
    return value


def write(handle: Handle, value: Value) -> None:
    """Replace what the handle means; writing a view writes its base through the lens.

    The caller has cast and broadcast the value to the handle's dtype and shape.
    """
    if handle._extra is not None and handle._extra.readonly:
        raise ValueError("assignment destination is read-only")
    _replace(handle, value)


def _replace(handle: Handle, value: Value) -> None:
    view, rare = handle._view, handle._extra
    if view is not None:
        put(view.parent, view.lens, value)
        return
    mode = modes.current()
    if mode.trace is not None:
        mode.trace.writing(handle)
    if type(value.payload) is symbolic and type(handle) is not symbol:
        raise SymbolError(
            "a symbol can't be written into an array, which has values: write it into a symbol"
        )
    if rare is not None:
        touch(handle)
        if (
            type(handle._value) is Lent
            and value.node is None
            and value.payload.shape == handle._value.buffer.shape
        ):
            handle._value.buffer[...] = host_payload(value)
            return
        if rare.leaf is not None and value.node is None and not mode.recording:
            value = fresh(value.payload, rare.leaf)
    if type(value.payload) is onp.ndarray:
        value = _laid_out_as(handle, value)
    elif type(handle._value.payload) is onp.ndarray:
        memory_layout.note(handle)
    handle._value = value if mode.trace is None else mode.trace.adopt(value)


def _laid_out_as(handle: Handle, value: Value) -> Value:
    """A value on the host with its elements in the memory order of the one that it replaces, which
    views look at.

    On XLA, and while a function is traced, that is C order where no stand-in says otherwise.
    """
    payload, before = value.payload, handle._value.payload
    if type(before) is not onp.ndarray:
        before = None if handle._extra is None else handle._extra.layout
    if (
        payload.flags.c_contiguous
        if before is None
        else before.strides == payload.strides or before.shape != payload.shape
    ):
        return value
    laid_out = partial(memory_layout.copied, like=before)
    return Value(
        _copied("laid out in memory as what it replaces", payload, laid_out),
        value.node,
        value.index,
    )


def release(values: list[Any], payloads: list[Any], given: Sequence[bool]) -> None:
    """Make payloads ready for a program that is given the buffers of some.

    What nobody holds but a handle, by its value, and these two lists stays. Of what is held
    elsewhere, too, by another handle, the tape, an export, the payload becomes a copy and the value
    None. CPython counts the references for us; what a value that is not shared shows here was
    measured at import.
    """
    if Stored in set(map(type, values)):
        for i in range(len(values)):
            settle(values[i])
    if _RELEASED.issuperset(map(sys.getrefcount, compress(values, given))):
        if _RELEASED.issuperset(map(sys.getrefcount, compress(payloads, given))):
            return
    of_values = list(map(sys.getrefcount, compress(values, given)))
    of_payloads = list(map(sys.getrefcount, compress(payloads, given)))
    for i, *counts in zip(compress(range(len(values)), given), of_values, of_payloads, strict=True):
        if not _RELEASED.issuperset(counts):
            values[i], payloads[i] = (
                None,
                _copied(
                    "held elsewhere, when a compiled function overwrites it",
                    payloads[i],
                    xla.copied,
                ),
            )


def _copied(why: str, payload: Any, copy: Callable[[Any], Any]) -> Any:
    """A copy that nobody asked for."""
    audit = modes.current().audit
    return (
        copy(payload) if audit is None else audit.told("copy", why, payload, partial(copy, payload))
    )


def _keeping_layout(payload: Any) -> Any:
    return payload.copy(order="K")


def put(parent: Handle, lens: Any, value: Value) -> None:
    """Write a value, broadcast and cast, into the part of a handle that a lens looks at.

    A view may be written when its base, made read-only later, may not: the caller has asked the one
    that is written.
    """
    target = buffer(parent, value)
    if target is not None:
        assign(lens.on_host(target), ..., host_payload(value))
    else:
        update(
            parent,
            lens.put,
            [value, *[Value(i) if type(i) is int else as_value(i) for i in lens.operands]],
            lens.attrs,
        )


_FIRST = (0,)
"""The operands that `update` gives away."""


def assign(target: onp.ndarray[Any, Any], key: Any, new: Any) -> None:
    """Write into a buffer on the host, before the eyes of observers."""
    observer = modes.current().observer
    if observer is None:
        target[key] = new
    else:
        with modes.changed(observer=observer.outer):
            observer.write(None, target, (new,), partial(assign, target, key, new))


updating = RLock()
"""Held between reading a handle and replacing its value, so that threads can write the parts of one
array.
"""


def update(handle: Handle, op: Op, operands: Sequence[Value], attrs: Attrs = ()) -> None:
    """Replace what the handle means by `op(handle, *operands)`, which has its shape and dtype.

    A payload on XLA that is not shared is given away: the program writes into its buffer.
    """
    with updating:
        if (
            handle._view is None
            and _may_overwrite(handle, operands)
            and type(handle._value.payload) is XLA_ARRAY
        ):
            _replace(handle, run(op, [handle._value, *operands], attrs, _FIRST))
            return
        whole = read(handle)
        audit = modes.current().audit
        if audit is None or handle._view is not None or type(whole.payload) is not XLA_ARRAY:
            _replace(handle, run(op, [whole, *operands], attrs))
        else:
            why = "held elsewhere, or recorded, when a part of it is written"
            _replace(
                handle,
                audit.told("copy", why, whole.payload, partial(run, op, [whole, *operands], attrs)),
            )


def live(handle: Handle) -> Any:
    """What a handle on the host means, as a NumPy array that sees later writes: to be used now and
    not kept.

    None if the values are on XLA, or if a trace must see that they are read.
    """
    view = handle._view
    if view is None:
        payload = handle._value.payload
        return payload if type(payload) is onp.ndarray and modes.current().trace is None else None
    parent = live(view.parent)
    return None if parent is None else view.lens.on_host(parent)


def buffer(handle: Handle, *operands: Value) -> Any:
    """The same, to be written: the root's buffer is its own then, copied if anybody else holds it.

    None also if the write must be recorded or observed, or if symbols would be written.
    """
    view = handle._view
    root = handle if view is None else view.root
    if type(root._value.payload) is not onp.ndarray:
        return None
    mode = _current_mode(_default_mode[0])
    if not mode.plain and (
        mode.trace is not None or ((observer := mode.observer) is not None and observer.apart)
    ):
        return None
    if operands:
        if any([type(v.payload) is symbolic for v in operands]):
            return None
        if mode.recording and any([v.node is not None for v in operands]):
            return None
    if mode.recording and root._value.node is not None:
        return None
    if root._value.payload.base is not None or not _unshared(root):
        if type(root._value) is Lent:
            return lent_view(handle)
        root._value = Value(
            _copied("held elsewhere, when it is written", root._value.payload, _keeping_layout)
        )
    rare = root._extra
    if rare is not None:
        rare.version = next(clock)
    if not mode.recording:
        root._value.node, root._value.index = None if rare is None else rare.leaf, 0
    return root._value.payload if view is None else live(handle)


def lent_view(handle: Handle) -> onp.ndarray[Any, Any]:
    """What a handle means whose root's buffer is lent: a view of that."""
    if handle._view is not None:
        found: onp.ndarray[Any, Any] = handle._view.lens.on_host(lent_view(handle._view.parent))
        return found
    value: Any = handle._value
    touch(handle)
    buffer: onp.ndarray[Any, Any] = value.buffer
    return buffer


class writing:
    """The buffer of a handle (see `buffer`) while it is written: if that fails, what is recorded of
    the values stays recorded.
    """

    __slots__ = ("handle", "record")

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    def _root(self) -> Handle:
        return self.handle if self.handle._view is None else self.handle._view.root

    def __enter__(self) -> Any:
        root = self._root()
        self.record = (
            root._value.node,
            root._value.index,
        )  # the value itself is held by nobody else, or its buffer is copied
        return buffer(self.handle)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            value = self._root()._value
            value.node, value.index = self.record


def _may_overwrite(root: Handle, operands: Sequence[Value]) -> bool:
    mode = modes.current()
    settle(root._value)
    if mode.trace is not None or _references(root) != _UNSHARED:
        return False
    return not (
        mode.recording
        and (root._value.node is not None or any([v.node is not None for v in operands]))
    )


def _references(handle: Handle) -> tuple[int, int]:
    value = handle._value
    return sys.getrefcount(value), sys.getrefcount(value.payload)


def _unshared(root: Handle) -> bool:
    """Whether nobody else holds the buffer of a handle on the host; records that were taken out of
    it look into it, and shall.
    """
    counts = _references(root)
    return counts == _UNSHARED or (
        counts[0] == _UNSHARED[0] and root._value.payload.dtype.names is not None
    )


def _calibrate() -> tuple[tuple[int, int], set[int]]:
    handle = Handle()
    handle._value = Value(onp.empty(0))
    values, payloads = [handle._value], [handle._value.payload]
    released = {
        *map(sys.getrefcount, compress(values, (True,))),
        *map(sys.getrefcount, compress(payloads, (True,))),
    }
    del values, payloads
    return _references(handle), released


_UNSHARED, _RELEASED = _calibrate()


# --- array-likes ----------------------------------------------------------------------------------


def as_value(x: Any) -> Value:
    """The value of an operand: an array, a Python scalar (which stays weak), or anything NumPy
    makes an array of.
    """
    if isinstance(x, Handle):
        return read(x)
    if type(x) in SCALARS:
        return Value(x)
    if isinstance(x, TracedNumber):
        return operand(x)
    mode, array = modes.current(), host_array(x)
    if (
        mode.audit is None
        or mode.trace is not None
        or not dtypes.on_devices(array.dtype)
        or on_host(mode)
    ):
        return constant(array)
    return mode.audit.told(
        "transfer", "operand that is no array of npcompat", array, partial(constant, array)
    )


def operand(number: TracedNumber) -> Value:
    """The value of a number that is known when a compiled function runs."""
    value, trace = Value(number.payload), modes.current().trace
    if type(number) is NumberArgument and trace is not None:
        trace.numbers[id(value.payload)] = number
    return value


def array_of(array: onp.ndarray[Any, Any]) -> Any:
    """A new array with the values of a host array."""
    return wrap(constant(array))


def host_array(x: Any, dtype: onp.dtype[Any] | None = None) -> onp.ndarray[Any, Any]:
    """What NumPy makes of an array-like; where no element carries a 64-bit float, floats have the
    default dtype.
    """
    numbers = False
    if (type(x) is list or type(x) is tuple) and (dtype is None or dtype.kind != "O"):
        numbers = _of_numbers(x)
        x = x if numbers else _with_numpys(x)
    try:
        array = onp.asarray(x) if dtype is None else onp.asarray(x, dtype)
    except ValueError as error:
        if not str(error).startswith(
            (
                "object __array__ method not producing an array",
                "setting an array element with a sequence",
            )
        ):
            raise
        found = asked(x)
        if found is x:
            raise
        array = onp.asarray(found, dtype)
    if dtype is None:
        narrowed = dtypes.narrow(array.dtype, ())
        if narrowed != array.dtype and (numbers or not _carries(x, array.dtype)):
            return array.astype(narrowed)
    return array


def _of_numbers(x: Any, depth: int = 64) -> bool:
    """Whether nested sequences are of Python's numbers only."""
    kinds = set(map(type, x))
    return SCALARS.issuperset(kinds) or (
        depth > 0 and _SEQUENCES.issuperset(kinds) and all([_of_numbers(e, depth - 1) for e in x])
    )


_SEQUENCES = frozenset((list, tuple))


def _with_numpys(x: Any, depth: int = 64) -> Any:
    """Nested sequences with NumPy's scalars and arrays in the place of ours, which NumPy would take
    as objects, one by one.
    """
    kinds = set(map(type, x))
    if kinds.isdisjoint((ndarray, scalar)) and (not depth or kinds.isdisjoint((list, tuple))):
        return x
    parts = []
    for e in x:
        if isinstance(e, Handle):
            parts.append(to_host(e)[()] if type(e) is scalar else to_host(e))
        else:
            parts.append(
                _with_numpys(e, depth - 1) if depth and (type(e) is list or type(e) is tuple) else e
            )
    return type(x)(parts) if any([p is not e for p, e in zip(parts, x, strict=True)]) else x


def asked(x: Any, depth: int = 64) -> Any:
    """An array-like in which what NumPy does not take for arrays is its own: arrays of ours, and
    those that other classes give.
    """
    if depth and (type(x) is list or type(x) is tuple):
        parts = [asked(e, depth - 1) for e in x]
        return parts if any([p is not e for p, e in zip(parts, x, strict=True)]) else x
    if hasattr(x, "__array__") and not isinstance(x, Handle | onp.ndarray | onp.generic):
        given = x.__array__()
        return onp.array(to_host(given)) if isinstance(given, Handle) else x
    return to_host(x)[()] if isinstance(x, Handle) else x


def _carries(x: Any, dtype: onp.dtype[Any]) -> bool:
    """Whether an array-like, or an element of nested sequences, has a dtype of its own as wide as
    this one.
    """
    if type(x) is list or type(x) is tuple:
        return not SCALARS.issuperset(map(type, x)) and any(
            type(e) not in SCALARS and _carries(e, dtype) for e in x
        )
    if hasattr(x, "dtype"):
        return bool(dtypes.narrow(x.dtype, ()) != x.dtype)
    return hasattr(x, "__array_interface__") or hasattr(x, "__array__")


def is_known(handle: Handle) -> bool:
    """Whether the values can be asked for: everywhere but in a trace, where they are if they depend
    on nothing from outside.
    """
    return modes.current().trace is None or type(read(handle).payload) is onp.ndarray


def to_host(handle: Handle) -> onp.ndarray[Any, Any]:
    """The values as a NumPy array that must not be written; waits, and raises what the computation
    left pending.
    """
    payload = read(handle).payload
    if type(payload) is onp.ndarray:
        return payload
    if xla.is_tracer(payload):
        raise traced_value_error()
    array = xla.to_host(payload)
    raise_pending()
    return array


def traced_value_error() -> Exception:
    """The error for Python code that asks for a value while its function is being compiled."""
    if modes.current().trace is None:
        return LeakedTracerError(
            "this array was made inside a compiled function and kept after it had returned; "
            "return it from the function, or write it into an array that exists outside"
        )
    return TracedValueError(
        f"{user_location()}: the value of an array is asked for while the function is being "
        "compiled, when it is not known "
        "yet. Where Python branches or loops on it, use npx.cond, npx.while_loop or npx.foreach; "
        "where a number is "
        "printed or converted, do that outside of the compiled function"
    )


def _created(op: Op, attrs: Attrs) -> Any:
    """What is made again and again of no operands; None for what is not, and in modes that look at
    operators.
    """
    mode = _current_mode(_default_mode[0])
    if not mode.plain or op.outputs != 1 or (symbols_exist() and symbols_in(attrs)):
        return None
    payload = created(op, attrs, mode)
    return None if payload is None else wrap_result(op, Value(payload))


def _whole(op: Op, args: Sequence[Any], attrs: Attrs = ()) -> Any:
    """Apply an operator to array-likes: the whole way, for any operands in any mode."""
    if not args and (made := _created(op, attrs)) is not None:
        return made
    asked = not ordinary.issuperset(map(type, args))
    if asked and op.name in ufuncs:
        found = _overridden(op, "__call__", args, {})
        if found is not NotImplemented:
            return found
    result = run(op, [as_value(a) for a in args], attrs)
    if asked:
        return _class_of_results(op, args, result)
    if type(result) is tuple:
        return tuple([wrap_result(op, v) for v in result])
    return wrap_result(op, result)


def _failed(op: Op, payloads: Sequence[Any], attrs: Attrs, error: Exception) -> None:
    """Raise what explains why a program failed."""
    raise explained(op, payloads, attrs, error) from error


def _direct(op: Op, attrs: Attrs, operands: Sequence[Any]) -> Any:
    """What computes an operator of operands on the host such as these, which need not be cast, and
    its dtype; None if nothing does.
    """
    types = [x.dtype if isinstance(x, Handle) else type(x) for x in operands]
    if not all([isinstance(t, onp.dtype) or t in SCALARS for t in types]):
        return None  # what is no array yet
    return host.direct(op, attrs, tuple(types))


fast_path.connect(
    op=Op,
    value=Value,
    view=View,
    extra=Extra,
    clock=clock,
    mode=modes.Mode,
    mode_variable=modes._MODE,
    default_mode=_default_mode,
    xla_array=XLA_ARRAY,
    xla_scalar=xla.scalar,
    lowering=lowering,
    lowered=xla.lowered,
    host_programs=host.slot,
    giving_programs=DONATING,
    first=_FIRST,
    updating=updating,
    call_errors=CALL_ERRORS,
    failed=_failed,
    read=read,
    on_devices=dtypes.on_devices,
    keep=dtypes.keep,
    no_value=onp._NoValue,
    direct=_direct,
    config=xla.config,
    on_host=on_host,
)
apply = fast_path.apply(_whole)
"""Apply an operator to array-likes; returns an array, or a tuple of arrays if it has several
outputs.
"""
remembered = fast_path.remembered(apply)
"""The same, for a public function that returns the result.

It says by this that nothing of its operands has decided what it does but their classes, dtypes and
numbers of axes, and that they are not empty; calls with such operands and the same other arguments
need not ask it again. What is made of no operands goes where the mode has new arrays.
"""
remembered_on_host = fast_path.remembered(apply, only_on_host=True)
"""The same, for one that looks at values, as NumPy's own function does (`Op.direct`): of arrays on
XLA, calls alike ask it again.
"""


def layout(handle: Handle) -> onp.ndarray[Any, Any]:
    """A NumPy array of the handle's shape, dtype, strides and sharing, whose elements mean nothing.

    NumPy itself answers every question about memory from it: strides, flags, whether a reshape is a
    view, whether two arrays share memory. On the host it is the array itself, on XLA a stand-in.
    """
    found: onp.ndarray[Any, Any] | None = live(handle)
    if found is not None:
        return found
    if type(handle) is symbol:
        payload = read(handle).payload
        if any([type(n) is not int for n in payload.shape]):
            raise InferenceError(
                f"the lengths of symbol {payload.node.name!r} are {payload.type!r}, but all of "
                "them are needed here"
            )
        return onp.empty(payload.shape, payload.dtype)
    rare: Extra = extra(handle)
    if rare.layout is None:
        view = handle._view
        if view is None:
            payload = handle._value.payload
            known = type(payload) is onp.ndarray  # (while a function is compiled)
            rare.layout = (
                memory_layout.stand_in(payload)
                if known
                else onp.empty(payload.shape, payload.dtype)
            )
        else:
            rare.layout = view.lens.on_host(layout(view.parent))
    return rare.layout
