"""Programs of operators: one jitted function for each operator and its attributes.

`jax.jit` keys shapes and dtypes. 64-bit dtypes are honoured without JAX's global flag:
`jax.enable_x64` is entered *inside* the traced functions, which costs nothing per call. Python
scalars are passed as cached weak 64-bit arrays, so they are exact without it.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from threading import get_ident
from typing import Any

import jax
from jax.interpreters import mlir

from npcompat._internal.backend.jax.namespace import type_of, xp
from npcompat._internal.backend.jaxpr import flop_count
from npcompat._internal.backend.jaxpr.compat import Primitive, drop_modules_of_programs
from npcompat._internal.backend.jaxpr.cpu_rewrites import for_cpu, for_several_devices
from npcompat._internal.backend.typed_kernel import kernel
from npcompat._internal.core import compile_log
from npcompat._internal.core.op import MOST_AXES, Attrs, Op


def function(op: Op, attrs: Attrs) -> Callable[..., Any]:
    """Return the operator as a function of JAX arrays or tracers, with 64-bit dtypes honoured."""
    apply = kernel(op, attrs, xp, type_of)

    def exact(*arrays: Any) -> Any:
        with jax.enable_x64(True):
            result = apply(*arrays)
        for out in result if type(result) is tuple else (result,):
            if out.ndim > MOST_AXES:
                raise ValueError(
                    f"maximum supported dimension for an ndarray is {MOST_AXES}, found {out.ndim}"
                )
            lengths = [n for n in out.shape if type(n) is int]  # others are symbols
            if 0 not in lengths and math.prod(lengths) * out.dtype.itemsize >= 2**63:
                raise ValueError(  # XLA would end the process
                    "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum "
                    "possible size."
                )
        return result

    return exact


x64_scopes: dict[int, Any] = {}
"""By thread: the x64 context of a program that is compiled now."""
_tracing: Counter[int] = Counter()
"""By thread: the number of nested traces of programs."""


MOST_MODULES = 128
"""MLIR modules of compiled programs that JAX may keep; each takes 1.3 MB."""


def exit_x64_scope() -> None:
    """Leave the x64 context that a compilation entered; called after each call that may compile.

    A call inside the trace of another program leaves the context to that program.
    """
    if _left_x64_scope():
        drop_modules_of_programs(MOST_MODULES)


def _left_x64_scope() -> bool:
    if _tracing[get_ident()]:
        return False
    context = x64_scopes.pop(get_ident(), None)
    if context is None:
        return False
    context.__exit__(None, None, None)
    return True


def enter_x64_scope() -> None:
    """Enter x64 until `exit_x64_scope`."""
    if get_ident() not in x64_scopes:
        context = x64_scopes[get_ident()] = jax.enable_x64(True)
        context.__enter__()


# Some primitives are lowered after the trace has ended, by functions that read the x64 flag, and a
# program is lowered again for every device, without a trace. So each program begins with an
# identity whose lowering sets the flag.
_exact_p = Primitive("npcompat_exact")
_exact_p.def_impl(lambda x: x)
_exact_p.def_abstract_eval(lambda aval: aval)


def _lower_exact(context: Any, x: Any) -> Any:
    enter_x64_scope()
    return [x]


mlir.register_lowering(_exact_p, _lower_exact)


def _exact_first(arrays: Sequence[Any]) -> Sequence[Any]:
    """Pass the first operand of a program through the identity that keeps lowering exact."""
    return (_exact_p.bind(arrays[0]), *arrays[1:]) if arrays else arrays


def optimized(op: Op, compute: Callable[..., Any]) -> Callable[..., Any]:
    """Rewrite the jaxpr of an operator for CPUs and for several devices.

    On other devices, those of operators that prefer XLA are rewritten as well, and those of draws,
    which are the same bit for bit within compiled functions.
    """
    if jax.default_backend() == "cpu" or op.prefers_xla or op.element_axes is not None:
        return for_cpu(compute)
    return for_several_devices(compute) if jax.device_count() > 1 else compute


def compiled(function: Callable[..., Any], **how: Any) -> Callable[..., Any]:
    """Return the function compiled; on CPUs, numbers cast to a narrower float and back are rounded.

    XLA leaves that out elsewhere, too, where one function is in the code of many.
    """
    is_cpu = jax.default_backend() == "cpu"
    options = {"xla_allow_excess_precision": False} if is_cpu else None
    program: Callable[..., Any] = jax.jit(function, compiler_options=options, **how)
    return program


def _logged(op: Op, compute: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a compute so that each trace writes the compile log: XLA compiles a program of each."""
    compute = optimized(op, compute)

    def traced(*arrays: Any) -> Any:
        enter_x64_scope()
        thread = get_ident()
        _tracing[thread] += 1
        try:
            result = compute(*_exact_first(arrays))
        finally:
            _tracing[thread] -= 1
        compile_log.compiled(op.name, arrays, op.reason, op.groups, op.loops)
        return result

    traced.__name__ = op.name
    return traced


def forward(op: Op, attrs: Attrs, donate: Collection[int] = ()) -> Callable[..., Any]:
    """Return the jitted operator, to which the buffers of the operands in `donate` are donated.

    Unused operands are kept, so that their buffers can hold results, too.
    """
    return compiled(
        _logged(op, function(op, attrs)),
        donate_argnums=tuple(sorted(donate)),
        keep_unused=bool(donate),
    )


def compile_ahead(program: Any, payloads: Sequence[Any]) -> None:
    """Compile a program for operands ahead of its next call, which then need not trace it.

    The x64 context is left between tracing and lowering, because that call lowers outside it, too.
    """
    try:
        traced = program.trace(*payloads)
        exit_x64_scope()
        traced.lower().compile()
    finally:
        _left_x64_scope()  # the call will look for the module


@lru_cache(maxsize=1024, typed=True)
def operations(op: Op, attrs: Attrs, inputs: tuple[Any, ...]) -> int:
    """Count the floating-point operations of a call.

    Inputs are types with known shapes, or Python scalars.
    """
    arrays = [
        i if isinstance(i, bool | int | float | complex) else jax.ShapeDtypeStruct(i.shape, i.dtype)
        for i in inputs
    ]
    with jax.enable_x64(True):
        return flop_count.operations(function(op, attrs), *arrays)
