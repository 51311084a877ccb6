"""Apply operators to array-likes: the path of every public function.

`np.add(x, y)` comes through `apply` -> `execution.run`, if it is none of the frequent calls that
the C fast path answers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.backend.plugin.registry import engines
from npcompat._internal.core import modes
from npcompat._internal.core.engine_array import EngineArray
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.program_cache import FORWARD
from npcompat._internal.core.tensor_type import symbols_in
from npcompat._internal.dispatch import handles, late_bound
from npcompat._internal.dispatch.array_like import as_value
from npcompat._internal.dispatch.creation import created
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.handles import wrap_result
from npcompat._internal.dispatch.late_bound import symbols_exist
from npcompat._internal.dispatch.numpy_errors import CALL_ERRORS, explained
from npcompat._internal.dispatch.placement import SCALARS
from npcompat._internal.native import fast_path

_current_mode = modes._MODE.get
_default_mode = modes._process_default


def _created(op: Op, attrs: Attrs) -> Any:
    """What is made again and again of no operands; None for what is not, and in modes that look at
    operators.
    """
    mode = _current_mode(_default_mode[0])
    if not mode.is_default or op.outputs != 1 or (symbols_exist() and symbols_in(attrs)):
        return None
    payload = created(op, attrs, mode)
    return None if payload is None else wrap_result(op, Value(payload))


def _on_engine(op: Op, args: Sequence[Any], attrs: Attrs) -> Any:
    """What a program that is kept makes of arrays of one plug-in, and of small numbers; None for
    other operands, and in modes that look at operators.
    """
    mode = _current_mode(_default_mode[0])
    if not mode.is_default or op.outputs != 1 or handles.traced_now:
        return None
    payloads: list[Any] = []
    engine = None
    for a in args:
        kind = type(a)
        if kind is late_bound.ndarray or kind is late_bound.scalar:
            if a._view is not None or type(a._value) is not Value:
                return None
            payload = a._value.payload
            if type(payload) is not EngineArray or payload.backend is not (
                engine := engine or payload.backend
            ):
                return None
            payloads.append(payload)
        elif kind is float or (kind is int and 0 <= a < 128):
            payloads.append(a)
        else:
            return None
    if engine is None:
        return None
    program = op.programs.table(FORWARD, engine.name, mode.numpy_dtypes).get(attrs)
    if program is None:
        return None
    try:
        return wrap_result(op, Value(program(*payloads)))
    except CALL_ERRORS as error:
        raise explained(op, payloads, attrs, error) from error


def apply_slow_path(op: Op, args: Sequence[Any], attrs: Attrs = ()) -> Any:
    """Apply an operator to array-likes: the whole way, for any operands in any mode."""
    if not args and (made := _created(op, attrs)) is not None:
        return made
    if engines and args and (made := _on_engine(op, args, attrs)) is not None:
        return made
    asked = not late_bound.ordinary.issuperset(map(type, args))
    if asked and op.name in late_bound.ufuncs:
        found = late_bound.overridden(op, "__call__", args, {})
        if found is not NotImplemented:
            return found
    result = run(op, [as_value(a) for a in args], attrs)
    if asked:
        return late_bound.class_of_results(op, args, result)
    if type(result) is tuple:
        return tuple([wrap_result(op, v) for v in result])
    return wrap_result(op, result)


def raise_failed(op: Op, payloads: Sequence[Any], attrs: Attrs, error: Exception) -> None:
    """Raise what explains why a program failed."""
    raise explained(op, payloads, attrs, error) from error


def numpy_function(op: Op, attrs: Attrs, operands: Sequence[Any]) -> Any:
    """What computes an operator of operands on the host such as these, which need not be cast, and
    its dtype; None if nothing does.
    """
    types = [x.dtype if isinstance(x, Handle) else type(x) for x in operands]
    if not all([isinstance(t, onp.dtype) or t in SCALARS for t in types]):
        return None  # what is no array yet
    return host.direct(op, attrs, tuple(types))


apply = fast_path.apply(apply_slow_path)
"""Apply an operator to array-likes; returns an array, or a tuple of arrays if it has several
outputs.
"""
apply_cached = fast_path.apply_cached(apply)
"""The same, for a public function that returns the result.

It says by this that nothing of its operands has decided what it does but their classes, dtypes and
numbers of axes, and that they are not empty; calls with such operands and the same other arguments
need not ask it again. What is made of no operands goes where the mode has new arrays.
"""
apply_cached_on_host = fast_path.apply_cached(apply, only_on_host=True)
"""The same, for one that looks at values, as NumPy's own function does (`Op.numpy_function`): of
arrays on XLA, calls alike ask it again.
"""
