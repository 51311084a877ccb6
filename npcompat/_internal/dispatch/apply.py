"""Apply operators to array-likes: the path of every public function.

`np.add(x, y)` takes `apply` -> `execution.run`, unless the C fast path answers the call.
"""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax import sharding
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
from npcompat._internal.dispatch.calls import call
from npcompat._internal.dispatch.creation import created
from npcompat._internal.dispatch.execution import run
from npcompat._internal.dispatch.handles import wrap_result
from npcompat._internal.dispatch.late_bound import symbols_exist
from npcompat._internal.dispatch.numpy_errors import CALL_ERRORS, explained
from npcompat._internal.dispatch.placement import SCALARS
from npcompat._internal.dispatch.result_layout import lay_out_as_on_host
from npcompat._internal.native import fast_path

_current_mode = modes._MODE.get
_default_mode = modes._process_default


def _created(op: Op, attrs: Attrs) -> Any:
    """Return the array of an operator without operands, by a constructor or a cached program.

    None if there is neither, or in a mode in which operators are recorded, traced or observed.
    """
    mode = _current_mode(_default_mode[0])
    if not mode.is_default or op.outputs != 1 or (symbols_exist() and symbols_in(attrs)):
        return None
    payload = created(op, attrs, mode)
    return None if payload is None else wrap_result(op, Value(payload))


def _on_engine(op: Op, args: Sequence[Any], attrs: Attrs) -> Any:
    """Run a cached program on arrays of one plug-in and small numbers.

    Return None for other operands, and in modes in which operators are recorded or observed.
    """
    mode = _current_mode(_default_mode[0])
    if not mode.is_default or op.outputs != 1 or handles.traced_now:
        return None
    payloads: list[Any] = []
    engine = None
    for a in args:
        kind = type(a)
        if kind is late_bound.ndarray or kind in late_bound.scalars:
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
    """Apply an operator to array-likes, for any operands in any mode."""
    if not args and (made := _created(op, attrs)) is not None:
        return made
    if engines and args and (made := _on_engine(op, args, attrs)) is not None:
        return made
    asked = not late_bound.ordinary.issuperset(map(type, args))
    if asked and op.name in late_bound.ufuncs:
        found = late_bound.overridden(op, "__call__", args, {})
        if found is not NotImplemented:
            return found
    values = [as_value(a) for a in args]
    result = run(op, values, attrs)
    if asked:
        made = late_bound.class_of_results(op, args, result)
    elif type(result) is tuple:
        made = tuple([wrap_result(op, v) for v in result])
    else:
        made = wrap_result(op, result)
    if handles.traced_now:
        lay_out_as_on_host(op, args, values, attrs, made if type(made) is tuple else (made,))
    return made


def raise_failed(op: Op, payloads: Sequence[Any], attrs: Attrs, error: Exception) -> Any:
    """Raise NumPy's exception for a program that failed.

    If it failed because its operands lie on different devices, bring them together and run it.
    """
    if sharding.are_apart(error) and (together := sharding.on_common_mesh(payloads, op.layout)):
        mode = _current_mode(_default_mode[0])
        return call(op, together, attrs, (), xla, mode)
    raise explained(op, payloads, attrs, error) from error


def numpy_function(op: Op, attrs: Attrs, operands: Sequence[Any]) -> Any:
    """Return NumPy's function that computes an operator on host operands of these types without a
    cast, and the dtype of its result; None if there is none.
    """
    types = [x.dtype if isinstance(x, Handle) else type(x) for x in operands]
    if not all([isinstance(t, onp.dtype) or t in SCALARS for t in types]):
        return None  # an operand is a list or the like, not yet an array
    return host.direct(op, attrs, tuple(types))


apply = fast_path.apply(apply_slow_path)
"""Apply an operator to array-likes; return an array, or a tuple of arrays for several outputs."""
apply_cached = fast_path.apply_cached(apply)
"""Apply an operator as the last step of a public function, and let later calls skip the function.

The caller promises that its choice of operator and attributes depends on the operands only through
(class, dtype, ndim), and that none is empty. Later calls with equal keys and equal other arguments
do not run the Python function. Results of operators without operands are placed by the mode.
"""
apply_cached_on_host = fast_path.apply_cached(apply, only_on_host=True)
"""Apply an operator like `apply_cached`, for a function that checks the values of its operands.

On the host later calls skip the function, because NumPy's own function (`Op.numpy_function`) checks
the values, too. For arrays on XLA the function runs each time.
"""
