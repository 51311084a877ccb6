"""Types of numba for npcompat's arrays: `numba.njit` functions read and write their memory.

An array is unboxed as `numpy.asarray` gives it: the memory itself on the host, and a read-only view
of what is recorded or on XLA, so that a function which writes it does not compile. Arrays that a
function returns are NumPy's.
"""

from typing import Any

import numpy as onp
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_cast
from numba.core.pythonapi import NativeValue, box, unbox
from numba.core.typing.typeof import typeof_impl

from npcompat import np


class NpcompatArray(types.Array):  # type: ignore[misc]
    """Type of npcompat's arrays, which converts to that of NumPy's; slices have the latter."""

    def __init__(self, dtype: Any, ndim: int, layout: str, readonly: bool) -> None:
        kind = "readonly npcompat array" if readonly else "npcompat array"
        super().__init__(
            dtype, ndim, layout, readonly=readonly, name=f"{kind}({dtype}, {ndim}d, {layout})"
        )


register_default(NpcompatArray)(models.ArrayModel)


@typeof_impl.register(np.ndarray)  # type: ignore[untyped-decorator]
def _typeof(array: Any, context: Any) -> Any:
    found = typeof_impl(onp.asarray(array), context)
    return NpcompatArray(found.dtype, found.ndim, found.layout, not found.mutable)


@unbox(NpcompatArray)  # type: ignore[untyped-decorator]
def _unbox(kind: Any, array: Any, c: Any) -> Any:
    """Unbox the NumPy array that `numpy.asarray` gives, which the native array keeps alive."""
    native = c.context.make_array(kind)(c.context, c.builder)
    pointer = native._getpointer()
    failed = c.builder.alloca(ir.IntType(1))
    c.builder.store(ir.Constant(ir.IntType(1), 1), failed)
    asarray = c.pyapi.unserialize(c.pyapi.serialize_object(onp.asarray))
    alias = c.pyapi.call_function_objargs(asarray, (array,))
    c.pyapi.decref(asarray)
    with c.builder.if_then(c.builder.icmp_unsigned("!=", alias, ir.Constant(alias.type, None))):
        code = c.pyapi.nrt_adapt_ndarray_from_python(
            alias, c.builder.bitcast(pointer, c.pyapi.voidptr)
        )
        c.pyapi.decref(alias)  # the native array has a reference of its own
        c.builder.store(c.builder.trunc(code, ir.IntType(1)), failed)
    return NativeValue(c.builder.load(pointer), is_error=c.builder.load(failed))


@box(NpcompatArray)  # type: ignore[untyped-decorator]
def _box(kind: Any, native: Any, c: Any) -> Any:
    plain = types.Array(kind.dtype, kind.ndim, kind.layout, readonly=not kind.mutable)
    return c.box(plain, native)


@lower_cast(NpcompatArray, types.Array)  # type: ignore[untyped-decorator]
def _as_numpys(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return value


__all__ = ["NpcompatArray"]
