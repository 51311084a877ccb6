"""The XLA backend: every call is one compiled program, cached by operator and attributes; XLA keys
shapes and dtypes.

64-bit dtypes are honoured without JAX's global flag: `jax.enable_x64` is entered *inside* the
functions that are traced, which costs nothing per call. Python scalars travel as cached weak 64-bit
arrays, so that they are exact and no call has to enter it.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial
from threading import get_ident
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as onp
from jax.core import Tracer
from jax.interpreters import mlir
from jax.sharding import SingleDeviceSharding

from npcompat._internal.backend.jax.kernels import (
    arithmetic,
    array_functions,
    bits,
    comparison,
    complex_order,
    interpolation,
    kinks,
    linalg,
    nn,
    signal,
    ufunc_methods,
)
from npcompat._internal.backend.jax.kernels import complex as complex_numbers
from npcompat._internal.backend.jaxpr import flop_count
from npcompat._internal.backend.jaxpr.compat import (
    ArrayImpl,
    HostBufferSemantics,
    Primitive,
    ShapedArray,
    batched_device_put,
)
from npcompat._internal.backend.jaxpr.cpu_rewrites import for_cpu
from npcompat._internal.backend.typed_kernel import kernel
from npcompat._internal.core import compile_log, modes
from npcompat._internal.core.dtypes import Type, check_dtype, is_inexact
from npcompat._internal.core.op import MOST_AXES, RECORDED, Attrs, Op
from npcompat._internal.support.lazy_import import LazyModule

_current_mode, _default_mode = modes._MODE.get, modes._process_default
_WEAK: dict[str, Type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
Array = ArrayImpl
"""The class of XLA arrays.

`jax.Array` is abstract: isinstance costs 0.4 us, `type(x) is` nothing.
"""
name = "jax"
slot = 0
_KERNELS = (
    arithmetic, bits, comparison, complex_numbers, interpolation, kinks, array_functions, linalg, nn,
    complex_order, signal, ufunc_methods,
)  # fmt: skip
# In the order in which they are searched: what imports optax comes last.
_LATER = (
    "random.keyed_draws", "random.discrete", "random.continuous", "kernels.recurrence",
    "kernels.attention", "kernels.deconvolution", "kernels.loops", "kernels.straight_through",
    "optim.steps",
)  # fmt: skip
_SELDOM = [
    LazyModule("jax.scipy.special"),
    *[LazyModule(f"{__package__}.{name}") for name in _LATER],
]


class _Namespace:
    """What an operator's compute sees as `xp`: `jax.numpy`, and the kernels that it lacks."""

    name = "jax"

    def __getattr__(self, attribute: str) -> Any:
        for module in (*_KERNELS, jnp, *_SELDOM):
            found = getattr(module, attribute, None)
            if found is not None:
                break
        else:
            raise AttributeError(f"the jax backend has no kernel {attribute!r}")
        setattr(self, attribute, found)
        return found


xp = _Namespace()


def is_payload(x: Any) -> bool:
    """Whether this backend runs on the payload: an XLA array, or a tracer of one."""
    return type(x) is Array or isinstance(x, Tracer)


def type_of(array: Any) -> Type:
    """The type of an operand inside a program; Python scalars are weak."""
    aval = jax.typeof(array)
    return _WEAK[aval.dtype.kind] if aval.weak_type else onp.dtype(aval.dtype)


# --- placing values -------------------------------------------------------------------------------


_LARGE, _ALIGNED = 2**19, 64
"""Bytes from which on an array is copied on the host, and what the addresses of the buffers are
multiples of that XLA takes as they are.
"""


def _empty_for_xla(shape: tuple[int, ...], dtype: onp.dtype[Any]) -> onp.ndarray[Any, Any]:
    """An array whose buffer XLA takes as it is."""
    bytes_ = onp.empty(math.prod(shape) * dtype.itemsize + _ALIGNED, onp.uint8)
    return onp.ndarray(shape, dtype, bytes_, -bytes_.__array_interface__["data"][0] % _ALIGNED)


def asarray(array: Any, device: Any = None) -> Any:
    """A copy of a host array on XLA.

    What is where it should be is not committed: programs of arrays of which some are committed are
    compiled once more for their own results, which all are. Of a large array the copy is made here,
    where XLA can take it as it is; `jax.device_put`, which takes ten times as long for a small one,
    may alias the host's memory.
    """
    check_dtype(array.dtype)
    is_large, is_bool = array.nbytes >= _LARGE, array.dtype == onp.bool_
    given = _empty_for_xla(array.shape, array.dtype) if is_large or is_bool else array
    if is_bool:  # any byte but 0 is True to NumPy, which XLA counts by their bytes
        onp.logical_and(array, True, out=given)
    elif is_large:
        onp.copyto(given, array)
    return _transferred(
        given, _aval(array.shape, array.dtype), device, _TAKEN if is_large else _COPIED
    )


_TAKEN, _COPIED = (
    (False, HostBufferSemantics.ZERO_COPY),
    (True, HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL),
)


def _transferred(
    array: Any, aval: ShapedArray, device: Any, way: tuple[bool, HostBufferSemantics] = _COPIED
) -> Any:
    here = default_device()
    target = here if device is None else device
    return batched_device_put(
        aval, _sharding(target), [array], [target], target != here, *way, True
    )


@lru_cache(maxsize=4096)
def _aval(shape: tuple[int, ...], dtype: onp.dtype[Any], weak_type: bool = False) -> ShapedArray:
    return ShapedArray(shape, dtype, weak_type=weak_type)


@lru_cache(maxsize=64)
def _sharding(device: Any) -> SingleDeviceSharding:
    return SingleDeviceSharding(device)


@lru_cache(maxsize=16384, typed=True)
def _scalar(x: Any) -> Any:
    if (
        type(x) is int and not -(2**63) <= x < 2**63
    ):  # what it is cast to has been looked at: it fits, or is a float
        x = onp.uint64(x) if 0 < x < 2**64 else float(x)
    array = onp.asarray(x)
    return _transferred(array, _aval((), array.dtype, type(x) in (int, float, complex)), None)


@lru_cache(maxsize=2)
def _zero(sign: float) -> Any:
    return _scalar.__wrapped__(math.copysign(0.0, sign))


def scalar(x: complex) -> Any:
    """A Python scalar as a weak 64-bit array.

    Zeros are told apart by their sign, which a cache by equality does not.
    """
    if type(x) is float and not x:
        return _zero(math.copysign(1.0, x))
    return _scalar.__wrapped__(x) if type(x) is complex else _scalar(x)


def to_host(payload: Any, moving: bool = False) -> onp.ndarray[Any, Any]:
    """The values on the host: a read-only view where memory allows.  Waits for the computation.

    They are read, or, `moving`, put into an array there.
    """
    audit = _current_mode(_default_mode[0]).audit
    if audit is None or type(payload) is not Array:
        return onp.asarray(payload)
    return audit.record_read(payload, partial(onp.asarray, payload), moving)


def wait(payload: Any) -> None:
    """Wait until the value is computed; errors of its computation surface here."""
    audit = modes.current().audit
    if audit is None:
        payload.block_until_ready()
    else:
        audit.record_read(payload, payload.block_until_ready, False)


def wait_all() -> None:
    """Wait until everything that was dispatched has run."""
    for array in jax.live_arrays():
        if not array.is_deleted():
            wait(array)


# --- programs -------------------------------------------------------------------------------------


def function(op: Op, attrs: Attrs) -> Callable[..., Any]:
    """The operator as a plain function of JAX arrays or tracers, 64-bit dtypes honoured."""
    apply = kernel(op, attrs, xp, type_of)

    def exact(*arrays: Any) -> Any:
        with jax.enable_x64(True):
            result = apply(*arrays)
        for out in result if type(result) is tuple else (result,):
            if out.ndim > MOST_AXES:
                raise ValueError(
                    f"maximum supported dimension for an ndarray is {MOST_AXES}, found {out.ndim}"
                )
        return result

    return exact


lowering: dict[int, Any] = {}
"""By thread: the x64 context of a program that is being compiled."""
_tracing: Counter[int] = Counter()
"""By thread: how many programs are being traced, one within the other."""


def lowered() -> None:
    """Leave the x64 context that a compilation entered. To be called after a program that may have
    been compiled.

    What runs while another program is traced leaves the context to that one.
    """
    if _tracing[get_ident()]:
        return
    context = lowering.pop(get_ident(), None)
    if context is not None:
        context.__exit__(None, None, None)


def _stay_exact() -> None:
    """Enter x64 until `lowered`."""
    if get_ident() not in lowering:
        context = lowering[get_ident()] = jax.enable_x64(True)
        context.__enter__()


# Some operators are lowered after the trace has ended, by functions that look at the x64 flag; and
# a program is lowered again for every device, without a trace.  So an identity stands first in each
# program, whose lowering sets the flag.
_exact_p = Primitive("npcompat_exact")
_exact_p.def_impl(lambda x: x)
_exact_p.def_abstract_eval(lambda aval: aval)


def _lower_exact(context: Any, x: Any) -> Any:
    _stay_exact()
    return [x]


mlir.register_lowering(_exact_p, _lower_exact)


def _exact_first(arrays: Sequence[Any]) -> Sequence[Any]:
    """The operands of a program, the first of them through the identity that keeps lowering exact."""
    return (_exact_p.bind(arrays[0]), *arrays[1:]) if arrays else arrays


def _put(op: Op, compute: Callable[..., Any]) -> Callable[..., Any]:
    """What is compiled for an operator, its equations put as the compiler makes fast programs of
    them, where these may gain by it.
    """
    return for_cpu(compute) if op.heavy else compute


def _logged(op: Op, compute: Callable[..., Any]) -> Callable[..., Any]:
    """Its Python body runs once for each program that XLA compiles: that is when the log is
    written.
    """
    compute = _put(op, compute)

    def traced(*arrays: Any) -> Any:
        _stay_exact()
        thread = get_ident()
        _tracing[thread] += 1
        try:
            result = compute(*_exact_first(arrays))
        finally:
            _tracing[thread] -= 1
        compile_log.compiled(op.name, arrays, op.reason, op.groups)
        return result

    traced.__name__ = op.name
    return traced


def forward(op: Op, attrs: Attrs, donate: Collection[int] = ()) -> Callable[..., Any]:
    """The compiled operator; the buffers of the operands in `donate` are given away and may hold
    results, also if nobody reads them.
    """
    return jax.jit(
        _logged(op, function(op, attrs)),
        donate_argnums=tuple(sorted(donate)),
        keep_unused=bool(donate),
    )


def compile_ahead(program: Any, payloads: Sequence[Any]) -> None:
    """Compile a program for operands, where its next call finds it: that one need not trace, and
    lowers outside of x64.
    """
    try:
        traced = program.trace(*payloads)
        lowered()
        traced.lower().compile()
    finally:
        lowered()


@lru_cache(maxsize=1024, typed=True)
def operations(op: Op, attrs: Attrs, inputs: tuple[Any, ...]) -> int:
    """How many operations on floats a call makes; inputs are types whose shapes are known, and
    Python scalars.
    """
    arrays = [
        i if isinstance(i, bool | int | float | complex) else jax.ShapeDtypeStruct(i.shape, i.dtype)
        for i in inputs
    ]
    with jax.enable_x64(True):
        return flop_count.operations(function(op, attrs), *arrays)


class Pullback(NamedTuple):
    """A recorded call: `pull(arrays, cotangents)` gives the gradients of the inputs asked for."""

    pull: Callable[..., Any]
    arrays: tuple[Any, ...]


class _Residuals:
    """What leaves a recorded program besides its outputs.

    A residual that is an input or an output of the program is not copied out again: `sources` says
    where it is.
    """

    __slots__ = ("kept", "recipe")

    def __init__(self, kept: Sequence[Any], recipe: "_Recipe") -> None:
        self.kept, self.recipe = kept, recipe


class _Recipe:
    __slots__ = ("pull", "sources")

    def __init__(self, sources: list[tuple[str, int]], pull: Callable[..., Any]) -> None:
        self.sources, self.pull = sources, pull


jax.tree_util.register_pytree_node(
    _Residuals, lambda r: (r.kept, r.recipe), lambda recipe, kept: _Residuals(kept, recipe)
)


def _vjp(
    apply: Callable[..., Any], arrays: Sequence[Any], mask: tuple[bool, ...]
) -> tuple[Any, Callable[..., Any]]:
    """Outputs, and the pullback to the inputs of the mask; cotangents may be None (zero)."""
    chosen = [a for a, wanted in zip(arrays, mask, strict=True) if wanted]

    def of_chosen(*some: Any) -> Any:
        rest = iter(some)
        return apply(*[next(rest) if wanted else a for a, wanted in zip(arrays, mask, strict=True)])

    outs, vjp = jax.vjp(of_chosen, *chosen)
    return outs, vjp


def _fill(outs: Any, cotangents: Sequence[Any]) -> Any:
    """Cotangents in the structure and dtypes that JAX expects for these outputs."""

    def one(out: Any, given: Any) -> Any:
        aval = jax.typeof(out)
        if not is_inexact(aval.dtype):
            return onp.zeros(aval.shape, jax.dtypes.float0)
        return jnp.zeros(aval.shape, aval.dtype) if given is None else given.astype(aval.dtype)

    if isinstance(outs, tuple):
        return tuple([one(o, c) for o, c in zip(outs, cotangents, strict=True)])
    return one(outs, cotangents[0])


def forward_and_pullback(
    op: Op, attrs: Attrs, mask: tuple[bool, ...]
) -> Callable[..., tuple[Any, Pullback]]:
    """The compiled operator that also returns its pullback, so that backward recomputes nothing."""
    apply = function(op, attrs)

    def recorded(*arrays: Any) -> Any:
        with jax.enable_x64(True):
            outs, vjp = _vjp(apply, arrays, mask)
            leaves, tree = jax.tree.flatten(vjp)
            known = {id(a): ("input", i) for i, a in enumerate(arrays)}
            flat_outs = outs if isinstance(outs, tuple) else (outs,)
            known |= {id(o): ("output", i) for i, o in enumerate(flat_outs) if id(o) not in known}
            sources: list[tuple[str, int]] = []
            kept: list[Any] = []
            for leaf in leaves:
                source = known.get(id(leaf))
                if source is None:
                    source = ("kept", len(kept))
                    kept.append(leaf)
                sources.append(source)
            shapes = jax.tree.map(lambda o: jax.ShapeDtypeStruct(o.shape, o.dtype), outs)

        def gradients(residuals: Sequence[Any], cotangents: Sequence[Any]) -> Any:
            return jax.tree.unflatten(tree, residuals)(_fill(shapes, cotangents))

        def pull(residuals: Sequence[Any], cotangents: Sequence[Any]) -> Any:
            _stay_exact()
            given = iter(_exact_first([c for c in cotangents if c is not None]))
            return _put(op, gradients)(
                residuals, [None if c is None else next(given) for c in cotangents]
            )

        pull.__name__ = f"{op.name}_pullback"
        return outs, _Residuals(kept, _Recipe(sources, jax.jit(pull)))

    program = jax.jit(_logged(op, recorded))

    def call(*payloads: Any) -> tuple[Any, Pullback]:
        try:
            outs, residuals = program(*payloads)
        finally:
            if lowering:
                lowered()
        kept, recipe = residuals.kept, residuals.recipe
        arrays = []
        for where, i in recipe.sources:
            if where == "input":
                arrays.append(payloads[i])
            elif where == "kept":
                arrays.append(kept[i])
            else:
                arrays.append(outs[i] if type(outs) is tuple else outs)
        return outs, Pullback(recipe.pull, tuple(arrays))

    return call


def _traced(op: Op, attrs: Attrs) -> Callable[..., Any]:
    """The operator as it is differentiated in a trace: what has many equations is traced, and
    differentiated, once for calls alike.
    """
    if op.pattern != "opaque" or op.heavy:
        return function(op, attrs)
    programs, key = op.programs[RECORDED + slot + modes.current().numpy_dtypes], ("traced", attrs)
    if key not in programs:
        programs[key] = jax.jit(function(op, attrs), inline=True)
    found: Callable[..., Any] = programs[key]
    return found


def traced_forward_and_pullback(
    op: Op, attrs: Attrs, mask: tuple[bool, ...]
) -> Callable[..., tuple[Any, Pullback]]:
    """The same inside a trace: no program of its own, the enclosing one takes the equations."""
    apply = _traced(op, attrs)

    def call(*payloads: Any) -> tuple[Any, Pullback]:
        with jax.enable_x64(True):
            outs, vjp = _vjp(apply, payloads, mask)

        def pull(_: Any, cotangents: Sequence[Any]) -> Any:
            with jax.enable_x64(True):
                return vjp(_fill(outs, cotangents))

        return outs, Pullback(pull, ())

    return call


def lazy_pullback(
    op: Op, attrs: Attrs, mask: tuple[bool, ...], payloads: Sequence[Any]
) -> Pullback:
    """A pullback that differentiates when it is called, for traces whose own tape will seldom be
    asked.
    """

    def pull(_: Any, cotangents: Sequence[Any]) -> Any:
        with jax.enable_x64(True):
            outs, vjp = _vjp(function(op, attrs), payloads, mask)
            return vjp(_fill(outs, cotangents))

    return Pullback(pull, ())


def pullback_op(op: Op, attrs: Attrs, mask: tuple[bool, ...], given: tuple[bool, ...]) -> Op:
    """The pullback of an operator as an operator of (inputs, given cotangents): what `create_graph`
    records.
    """
    apply = function(op, attrs)
    arity = len(mask)

    def compute(_: Any, *arrays: Any) -> Any:
        outs, vjp = _vjp(apply, arrays[:arity], mask)
        rest = iter(arrays[arity:])
        grads = vjp(_fill(outs, [next(rest) if g else None for g in given]))
        return tuple(grads) if len(grads) > 1 else grads[0]

    return Op(
        f"{op.name}_pullback",
        compute,
        ("inputs",),
        variadic=True,
        outputs=sum(mask),
        kernels={"jax": compute},
        heavy=True,
    )


Step = tuple[Op, Attrs, tuple[Any, ...]]
"""One operator of a graph: where its operands come from, an input (its number) or an output of an
earlier step (a pair).
"""


def graph_gradient_op(
    steps: Sequence[Step],
    inputs: int,
    leaves: Sequence[int],
    heads: Sequence[tuple[int, int]],
    given: Sequence[bool],
) -> Op:
    """The gradients of a graph as one operator of its inputs and the heads' given cotangents (the
    others are ones).
    """
    functions = [(function(op, attrs), op.outputs, operands) for op, attrs, operands in steps]

    def forward(*arrays: Any) -> Any:
        made: list[Any] = []
        for apply, outputs, operands in functions:
            out = apply(*[arrays[o] if type(o) is int else made[o[0]][o[1]] for o in operands])
            made.append((out,) if outputs == 1 else out)
        return tuple([made[step][index] for step, index in heads])

    mask = tuple([i in leaves for i in range(inputs)])

    def compute(_: Any, *arrays: Any) -> Any:
        outs, vjp = _vjp(forward, arrays[:inputs], mask)
        rest = iter(arrays[inputs:])
        grads = vjp(
            _fill(
                outs,
                [
                    next(rest) if g else jnp.ones_like(out)
                    for g, out in zip(given, outs, strict=True)
                ],
            )
        )
        return tuple(grads) if len(grads) > 1 else grads[0]

    return Op(
        "_npi_backward",
        compute,
        ("inputs",),
        variadic=True,
        outputs=len(leaves),
        kernels={"jax": compute},
        heavy=True,
    )


# --- tracing --------------------------------------------------------------------------------------


class Unknown:
    """Base of payloads made above that stand for values which are known only when a program runs,
    as tracers do.
    """

    __slots__ = ()


def is_tracer(payload: Any) -> bool:
    """Whether the payload stands for a value that is known only when a program runs."""
    return isinstance(payload, Tracer | Unknown)


def from_dlpack(array: Any, copy: bool | None) -> Any:
    """An XLA array over the memory of another library's array, where it fits.

    (XLA never writes into such memory.)
    """
    with jax.enable_x64(True):
        if not copy:
            return jax.dlpack.from_dlpack(array, copy=copy)
        return _copy(
            jax.dlpack.from_dlpack(array)
        ).block_until_ready()  # the caller may write that memory as soon as this returns


def copied(payload: Any) -> Any:
    """The value in a buffer of its own."""
    with jax.enable_x64(True):
        return _copy(payload)


_copy = jax.jit(jnp.copy)


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of nested containers, and the structure that puts them together again."""
    return jax.tree.flatten(tree)


def flatten_with_paths(tree: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves of nested containers, each with the keys that lead to it."""
    found: list[tuple[tuple[Any, ...], Any]] = jax.tree.leaves_with_path(tree)
    return found


def unflatten(structure: Any, leaves: Sequence[Any]) -> Any:
    """Nested containers from leaves."""
    return jax.tree.unflatten(structure, leaves)


def stop_gradient(outs: Any) -> Any:
    """Outputs that the derivative of the enclosing program does not pass."""
    return jax.tree.map(array_functions.stop_gradient, outs)


# --- devices --------------------------------------------------------------------------------------


def devices(kind: str) -> list[Any]:
    """JAX's devices of a kind (`cpu`, `gpu`); none if there is no such backend."""
    try:
        return list(jax.devices(kind))
    except RuntimeError:
        return []


def moved(payload: Any, device: Any) -> Any:
    """The value on a device; itself, and not committed, if it is there."""
    if not isinstance(payload, Tracer) and payload.device == device:
        return payload
    with jax.enable_x64(True):
        return jax.device_put(payload, device)


@lru_cache(maxsize=16)
def _device(chosen: Any) -> Any:
    """A device that JAX's configuration names, by itself or by its platform; None is for the first."""
    return chosen if hasattr(chosen, "platform") else jax.devices(chosen)[0]


config = jax.config
"""What says where JAX places what nobody placed, `jax_default_device`; None is the first device."""


def default_device() -> Any:
    """Where JAX places what nobody placed."""
    return _device(jax.config.jax_default_device)  # type: ignore[attr-defined]


def device_of(payload: Any) -> Any:
    """Where the values are; None for a tracer."""
    return None if isinstance(payload, Tracer) else next(iter(payload.devices()))
