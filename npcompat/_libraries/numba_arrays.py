"""Types of numba for npcompat's arrays: `numba.njit` functions read and write their memory.

An array is unboxed as `numpy.asarray` gives it: the memory itself on the host, and a read-only view
of what is recorded or on XLA, so that a function which writes it does not compile. Numba's own ways
round that (`flat`, `nditer`, `ascontiguousarray`) are closed, for NumPy's read-only arrays, too.
Arrays that a function returns are NumPy's. Within such functions npcompat's modules and functions
stand for NumPy's of the same names, which numba knows.
"""

import importlib
from types import ModuleType
from typing import Any

import numpy as onp
from llvmlite import ir
from numba.core import types
from numba.core.bytecode import FunctionIdentity
from numba.core.datamodel import models, register_default
from numba.core.errors import NumbaTypeError
from numba.core.imputils import lower_cast
from numba.core.pythonapi import NativeValue, box, unbox
from numba.core.registry import cpu_target
from numba.core.typing import collections
from numba.core.typing.typeof import typeof_impl
from numba.np import arrayobj

from npcompat import np
from npcompat._libraries.replacing import replace
from npcompat._script.source import original
from npcompat.numpy._unbound import Unbound


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


@typeof_impl.register(ModuleType)  # type: ignore[untyped-decorator]
def _typeof_module(module: Any, context: Any) -> Any:
    """Return the type of NumPy's module for one of ours; None leaves others to numba."""
    name = module.__name__.removeprefix("npcompat.")
    numpys = name.partition(".")[0] == "numpy" and name != module.__name__
    return types.Module(importlib.import_module(name)) if numpys else None


@typeof_impl.register(Unbound)  # type: ignore[untyped-decorator]
def _typeof_function(function: Any, context: Any) -> Any:
    """Return the type of NumPy's function of the same name."""
    numpys = getattr(onp, function.__name__, None)
    return None if numpys is None else cpu_target.typing_context.resolve_value_type(numpys)


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
@lower_cast(types.Array, types.Array)  # type: ignore[untyped-decorator]
def _as_numpys(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    """Convert an array's type; members of classes and containers would make it writable, too."""
    if wanted.mutable and not given.mutable:
        raise NumbaTypeError(
            f"can't convert {given} to {wanted}, as it is read-only: it is recorded, or on XLA; "
            "hand over a copy"
        )
    return value


def _is_read_only(kind: Any) -> bool:
    return isinstance(kind, types.Array) and not kind.mutable


def _close_writes_to_read_only_arrays() -> None:
    set_item = collections.SetItemSequence.generic
    as_layout = arrayobj._as_layout_array

    def generic(self: Any, args: Any, kws: Any) -> Any:
        flat = args[0]
        if isinstance(flat, types.NumpyFlatType) and _is_read_only(flat.array_type):
            return None  # as for `a[i] = v`: the function does not compile
        return set_item(self, args, kws)

    def views(self: Any) -> Any:  # of `numpy.nditer`
        return [
            types.Array(dtype, 0, "C", readonly=_is_read_only(array))
            for dtype, array in zip(self.dtypes, self.arrays, strict=True)
        ]

    def as_layout_array(context: Any, builder: Any, sig: Any, args: Any, **layout: Any) -> Any:
        kind = sig.args[0]
        if _is_read_only(kind) and kind.ndim > 0:  # numba takes the result for a writable copy
            return arrayobj._array_copy(context, builder, sig, args)
        return as_layout(context, builder, sig, args, **layout)

    collections.SetItemSequence.generic = generic
    types.NumpyNdIterType.views = property(views)
    arrayobj._as_layout_array = as_layout_array


_close_writes_to_read_only_arrays()


replace("numba.stencils.stencil", "StencilFunc.__call__", outputs=("out",))

_identity_of = FunctionIdentity.from_function.__func__


def _identity_of_written(kind: Any, function: Any) -> Any:
    """Return the identity of a function as it is written in a program under the runner."""
    return _identity_of(kind, original(function))


FunctionIdentity.from_function = classmethod(_identity_of_written)

__all__ = ["NpcompatArray"]
