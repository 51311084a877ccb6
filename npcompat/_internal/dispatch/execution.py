"""Running operators on values: which backend, which program, where new values live, and what goes
wrong.

Hot path, below handles and above the backends.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import DONATING, Attrs, Op, short_name
from npcompat._internal.core.tensor_type import symbols_in
from npcompat._internal.support.call_counter import Repetitions
from npcompat._internal.support.errors import LeakedTracerError

XLA_ARRAY = xla.Array
SCALARS = frozenset((bool, int, float, complex))
CALL_ERRORS = (TypeError, ValueError, IndexError, ZeroDivisionError, AssertionError)
lowering = xla.lowering
Recorder = Callable[[Op, Sequence[Value], Sequence[Any], Attrs, Any, modes.Mode], Any]
_recorder: Recorder
_NO_SYMBOLS = type(None)
_symbolic: type = _NO_SYMBOLS  # the class of the payloads of symbols, once there are any
build: Callable[[Op, Sequence[Any], Attrs], Any]
stream: Sequence[
    Any
]  # the payloads that stand in graphs for the key and the counter of the default random stream
_ALL_XLA, _ALL_HOST = {XLA_ARRAY}, {onp.ndarray}


def connect(recorder: Recorder) -> None:
    """Called once by the tape, which records."""
    global _recorder
    _recorder = recorder


def connect_symbols(
    payload: type, node: Callable[[Op, Sequence[Any], Attrs], Any], random_state: Sequence[Any]
) -> None:
    """Called once by the symbols: the class of their payloads, what an operator on them does, and
    what random draws count from.
    """
    global _symbolic, build, stream
    _symbolic, build, stream = payload, node, random_state


def symbols_exist() -> bool:
    """Whether there may be symbols: whether their module has been imported."""
    return _symbolic is not _NO_SYMBOLS


def run(op: Op, values: Sequence[Value], attrs: Attrs = (), donate: Collection[int] = ()) -> Any:
    """Apply an operator to values: choose the backend, execute, record if recording.

    The buffers of the operands in `donate` are given away: the program may write its results into
    them. Returns a `Value`, or a tuple of them if the operator has several outputs.
    """
    mode = modes.current()
    if mode.observer is not None:
        return _observed(op, values, attrs, donate, mode)
    payloads = [v.payload for v in values]
    if mode.trace is not None:
        return mode.trace.run(op, values, payloads, attrs, mode)
    if not payloads:
        return _create(op, attrs, mode)
    backend = _backend_of(op, payloads, attrs, mode)
    if backend is None:
        return build(op, payloads, attrs)
    if mode.reports and backend is xla:
        _report(op, values, attrs, mode)
    if mode.recording and op.differentiable:
        for v in values:
            if v.node is not None:
                return _recorder(op, values, payloads, attrs, backend, mode)
    out = call(op, payloads, attrs, donate, backend, mode)
    if op.outputs == 1:
        return Value(out)
    return tuple([Value(o) for o in out])


def _observed(
    op: Op, values: Sequence[Value], attrs: Attrs, donate: Collection[int], mode: modes.Mode
) -> Any:
    """Apply an operator before the eyes of the observer, which is not observed itself but by the
    one around it.
    """
    observer: Any = mode.observer
    given = () if observer.apart else donate  # it may look at the operands
    with modes.changed(observer=observer.outer):
        return observer.operator(op, values, attrs, partial(run, op, values, attrs, given))


def _report(op: Op, values: Sequence[Value], attrs: Attrs, mode: modes.Mode) -> None:
    """Let the host run an operator of XLA's, too, for the floating-point errors that NumPy reports
    and XLA does not.
    """
    if not op.only_on_xla:
        payloads = [host_payload(v) for v in values]
        if place(op, payloads, attrs, mode._replace(backend="numpy")) is host:
            call(op, payloads, attrs, (), host, mode)


def execute(op: Op, payloads: list[Any], donate: Collection[int]) -> Sequence[Any]:
    """Run an operator without attributes on payloads, neither recorded nor traced; returns its
    outputs' payloads.
    """
    mode = modes.current()
    if mode.observer is not None:
        with modes.changed(observer=mode.observer.outer):
            observed: Sequence[Any] = mode.observer.program(
                op.name, payloads, partial(execute, op, payloads, donate)
            )
        return observed
    if not payloads:
        out = _create(op, (), mode)
        return [out.payload] if op.outputs == 1 else [v.payload for v in out]
    out = call(op, payloads, (), donate, _backend_of(op, payloads, (), mode), mode)
    return (out,) if op.outputs == 1 else out


def programs_on_xla(
    op: Op, donate: Collection[int], numpy_dtypes: int
) -> tuple[dict[Any, Any], Any]:
    """The programs among which that of an operator without attributes is, for operands on XLA, and
    its key.
    """
    if donate:
        return op.programs[DONATING + xla.slot + numpy_dtypes], ((), donate)
    return op.programs[xla.slot + numpy_dtypes], ()


def compile_ahead(op: Op, payloads: list[Any], donate: Collection[int]) -> None:
    """Have XLA compile the program that `execute` runs for such payloads."""
    mode = modes.current()
    if not payloads:
        return  # what has no operands runs on the host
    if (
        _backend_of(op, payloads, (), mode) is host
    ):  # which has no kernel for traced functions, and lets XLA run them
        payloads, donate = (
            [xla.asarray(p) if type(p) is onp.ndarray else xla.scalar(p) for p in payloads],
            (),
        )
    programs, key = programs_on_xla(op, donate, mode.numpy_dtypes)
    if key not in programs:
        programs[key] = xla.forward(op, (), donate)
    xla.compile_ahead(programs[key], payloads)


def _backend_of(op: Op, payloads: list[Any], attrs: Attrs, mode: modes.Mode) -> Any:
    kinds = set(map(type, payloads))
    if kinds == _ALL_XLA:
        return xla
    if kinds == _ALL_HOST and not op.heavy:
        return host
    return place(op, payloads, attrs, mode)


def call(
    op: Op,
    payloads: Sequence[Any],
    attrs: Attrs,
    donate: Collection[int],
    backend: Any,
    mode: modes.Mode,
) -> Any:
    """Execute an operator on payloads of one backend."""
    if donate:
        programs, key = op.programs[DONATING + backend.slot + mode.numpy_dtypes], (attrs, donate)
    else:
        programs, key = op.programs[backend.slot + mode.numpy_dtypes], attrs
    program = programs.get(key)
    if program is None:
        if symbols_exist() and symbols_in(
            attrs
        ):  # a length is that of a symbol's axis: a constant becomes part of a graph
            built = build(op, payloads, attrs)
            return built.payload if op.outputs == 1 else [v.payload for v in built]
        if backend is xla and _asks_for_host(
            attrs
        ):  # no program of XLA's, which those that are kept are taken for
            return call(op, [xla.to_host(p) for p in payloads], attrs, (), host, mode)
        program = programs[key] = backend.forward(op, attrs, donate)
    try:
        return program(*payloads)
    except CALL_ERRORS as error:
        raise explained(op, payloads, attrs, error) from error
    finally:
        if lowering:
            xla.lowered()


def _asks_for_host(attrs: Attrs) -> bool:
    """Whether an operator is asked for a dtype that XLA has not."""
    return any(
        [
            not dtypes.on_devices(a)
            if isinstance(a, onp.dtype)
            else type(a) is tuple and _asks_for_host(a)
            for a in attrs
        ]
    )


def created(op: Op, attrs: Attrs, mode: modes.Mode) -> Any:
    """What NumPy's own function makes of no operands, or the program that is kept of an operator;
    None if there is none.
    """
    if mode.device is not None:
        return None
    here = on_host(mode)
    if here and op.makes is not None:
        return op.makes(*attrs)()
    program = op.programs[(host.slot if here else xla.slot) + mode.numpy_dtypes].get(attrs)
    if program is None:
        return None
    try:
        return program()
    finally:
        if lowering:
            xla.lowered()


def _create(op: Op, attrs: Attrs, mode: modes.Mode) -> Any:
    """An operator without operands runs on the host, where nothing is compiled for each new shape;
    then it is placed.

    What is made again and again is made by a program that is kept; on XLA by one of its own, if
    that makes the same. A large array of one value is made where it goes, at once.
    """
    if symbols_exist() and symbols_in(attrs):  # a length is that of a symbol's axis
        return build(op, (), attrs)
    if mode.trace is not None and mode.trace.knows_lengths(attrs):
        return mode.trace.run(op, (), (), attrs, mode)
    if op.outputs == 1 and (made := created(op, attrs, mode)) is not None:
        return Value(made)
    here = on_host(mode)
    if (
        op.pattern == "elementwise"
        and not here
        and mode.device is None
        and _is_large(op.named(attrs))
    ):
        _, dtype = op.rule((), op.named(attrs))
        onp.empty(
            op.named(attrs)["shape"], dtype
        )  # NumPy's error where it is too large, for which XLA ends the process; no memory is touched
        return Value(call(op, (), attrs, (), xla, mode))
    program = host.forward(op, attrs)
    try:
        out = program()
    finally:
        if lowering:
            xla.lowered()
    if (
        op.outputs == 1
        and mode.device is None
        and _made.count((op, attrs, here, mode.numpy_dtypes)) == _REPEATED
    ):
        if here:
            op.programs[host.slot + mode.numpy_dtypes][attrs] = (
                out.copy().copy if out.nbytes <= _SMALL else program
            )
        elif dtypes.on_devices(out.dtype):
            made = call(op, (), attrs, (), xla, mode)
            if onp.asarray(made).tobytes() == out.tobytes():
                return Value(made)
            del op.programs[mode.numpy_dtypes][attrs]
    if op.outputs == 1:
        return constant(out)
    return tuple([constant(o) for o in out])


def _is_large(attrs: Mapping[str, Any]) -> bool:
    shape = attrs.get("shape")
    return type(shape) is tuple and math.prod(shape) >= _LARGE


_REPEATED = 16
_SMALL = 1024
"""Bytes up to which an array is copied that is made again and again."""
_LARGE = 1 << 22
"""Elements from which on arrays of one value take longer to be sent than a program to be compiled,
and room for two.
"""
_made = Repetitions()
"""What operators without operands made."""


def place(op: Op, payloads: list[Any], attrs: Attrs, mode: modes.Mode) -> Any:
    """Choose the backend of a call that is not all XLA arrays, and bring its payloads there (in
    place); None if there are symbols.
    """
    backend: Any = None
    only_host = False
    for p in payloads:
        kind = type(p)
        if kind is XLA_ARRAY:
            backend = xla
        elif kind is onp.ndarray:
            backend = backend or host
            only_host = only_host or not dtypes.on_devices(p.dtype)
        elif kind in SCALARS:
            continue
        elif kind is _symbolic:
            return None
        elif xla.is_tracer(p):
            raise LeakedTracerError(
                f"{op.name}: an operand was made inside a compiled function and kept after it had "
                "returned; "
                "return it from the function, or write it into an array that exists outside"
            )
    if backend is None:
        backend = host if on_host(mode) else xla
    if only_host:
        backend = host
    elif backend is host and op.heavy and mode.backend == "auto":
        backend = xla
    for i, p in enumerate(payloads):
        kind = type(p)
        if kind is XLA_ARRAY:
            if only_host:
                payloads[i] = xla.to_host(p)
            continue
        if kind is int and not 0 <= p < 128 and op.rule is not dtypes.keep:
            payloads[i] = p = in_range(op, payloads, i, attrs)
            kind = type(p)
        if backend is xla:
            if kind in SCALARS:
                payloads[i] = xla.scalar(p)
            else:
                payloads[i] = sent(p, mode, op.name)
        elif not isinstance(p, onp.ndarray | int | float | complex):
            payloads[i] = onp.asarray(p)
    return backend


def in_range(op: Op, payloads: Sequence[Any], position: int, attrs: Attrs) -> Any:
    """A Python int operand, checked against the integer dtype that it will be cast to (NEP 50 does
    not wrap).
    """
    number = payloads[position]
    types = tuple([p.dtype if hasattr(p, "dtype") else type(p) for p in payloads])
    casts, out = op.rule(types, op.named(attrs))
    dtype = casts[position]
    if dtype is None or dtype.kind not in "iu":
        return (
            float(number)
            if dtype is not None and dtype.kind in "fc" and not -(2**63) <= number < 2**63
            else number
        )
    limits = onp.iinfo(dtype)
    if limits.min <= number <= limits.max:
        return number if -(2**63) <= number < 2**63 else onp.asarray(number, dtype)
    if out == onp.bool_:  # comparisons are of the numbers, whatever the dtypes
        wide = onp.asarray(number)
        return wide if wide.dtype.kind in "iu" else onp.asarray(float(number))
    if len(payloads) == 1:  # nothing says what it must fit into
        wide = onp.asarray(number)
        if dtypes.on_devices(wide.dtype) or on_host(modes.current()):
            return wide
    raise OverflowError(f"Python integer {number} out of bounds for {dtype}")


def explained(op: Op, payloads: Sequence[Any], attrs: Attrs, error: Exception) -> Exception:
    """NumPy's own exception for a call that failed: the operator is run on empty stand-ins on the
    host.

    What objects raise is theirs: nothing can stand in for them.
    """
    if type(error).__module__.startswith("npcompat") or isinstance(error, NotImplementedError):
        return error
    if any([hasattr(p, "dtype") and p.dtype.hasobject for p in payloads]):
        return error
    stand_ins = [
        onp.broadcast_to(onp.zeros((), p.dtype), p.shape) if hasattr(p, "shape") else p
        for p in payloads
    ]
    try:
        with onp.errstate(all="ignore"):
            host.forward(op, attrs)(*stand_ins)
    except Exception as numpys:
        return numpys
    return error


# --- where values live ----------------------------------------------------------------------------


def on_host(mode: modes.Mode) -> bool:
    """Whether new arrays are placed on the host: under `auto`, wherever the device is a CPU."""
    if mode.backend == "auto":
        return bool((mode.device or xla.default_device()).platform == "cpu")
    return mode.backend == "numpy"


def constant(array: onp.ndarray[Any, Any]) -> Value:
    """A value for a host array, placed where new arrays go in this context; XLA gets a copy.

    The array must not be written afterwards.
    """
    mode = modes.current()
    goes = dtypes.on_devices(array.dtype)
    stays = (
        goes and array.size <= MOST_KNOWN if mode.trace is not None else on_host(mode) or not goes
    )
    return fresh(array if stays else xla.asarray(array, mode.device))


MOST_KNOWN = 4096
"""Elements up to which what depends on nothing unknown is computed on the host while a function is
traced.

So positions that the function computes are known when it is compiled, and Python may branch on
them.
"""


def beside(payload: Any, array: onp.ndarray[Any, Any]) -> Value:
    """A value for a host array, which must not be written afterwards, placed where a payload is."""
    if type(payload) is onp.ndarray:
        return fresh(array)
    return (
        fresh(xla.asarray(array, xla.device_of(payload)))
        if type(payload) is XLA_ARRAY
        else constant(array)
    )


def sent(array: onp.ndarray[Any, Any], mode: modes.Mode, name: str) -> Any:
    """A copy on XLA of a host array that is an operand of what runs there."""
    if mode.audit is None:
        return xla.asarray(array, mode.device)
    return mode.audit.told(
        "transfer",
        f"operand of {short_name(name)}",
        array,
        partial(xla.asarray, array, mode.device),
        on_host(mode),
    )


def settled(value: Value) -> Value:
    """The value where new arrays go in this context."""
    mode, payload = modes.current(), value.payload
    if mode.trace is not None or not dtypes.on_devices(onp.dtype(payload.dtype)):
        return value
    if on_host(mode):
        return (
            value
            if type(payload) is onp.ndarray
            else Value(xla.to_host(payload, True), value.node, value.index)
        )
    if type(payload) is onp.ndarray:
        return Value(xla.asarray(payload, mode.device), value.node, value.index)
    return (
        value
        if mode.device is None
        else Value(xla.moved(payload, mode.device), value.node, value.index)
    )


def fresh(payload: Any, node: Any = None, index: int = 0) -> Value:
    """A value of its own, which a running trace knows as made in it."""
    value = Value(payload, node, index)
    trace = modes.current().trace
    return value if trace is None else trace.adopt(value)


def host_payload(value: Value) -> Any:
    """The payload as NumPy takes it; waits for what XLA computes."""
    payload = value.payload
    return (
        payload
        if type(payload) is onp.ndarray or type(payload) in SCALARS
        else xla.to_host(payload, True)
    )


# --- what compiled programs leave to be checked ---------------------------------------------------

_pending: list[tuple[Any, Sequence[tuple[type[Exception], str]]]] = []


def expect(flags: Any, errors: Sequence[tuple[type[Exception], str]]) -> None:
    """Remember flags that a program carried out; the first raised one raises its error at the next
    read.

    Flags on the host are known already, and so are the results, which nothing would look at again:
    they raise at once.
    """
    _pending.append((flags, errors))
    if len(_pending) > 64 or type(flags) is onp.ndarray:
        raise_pending()


def raise_pending() -> None:
    """Raise the first error that programs run so far have flagged."""
    while _pending:
        flags, errors = _pending.pop(0)
        raised = onp.flatnonzero(flags if type(flags) is onp.ndarray else xla.to_host(flags))
        if raised.size:
            kind, message = errors[int(raised[0])]
            raise kind(message)
