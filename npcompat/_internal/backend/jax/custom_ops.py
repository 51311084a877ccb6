"""Users' operators on XLA: derivatives by hand, JAX functions, Pallas kernels, callbacks."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.core import program_lock
from npcompat._internal.core.dtypes import is_inexact
from npcompat._internal.core.op import Op
from npcompat._internal.support.errors import AutogradError

Types = Sequence[tuple[tuple[Any, ...], Any]]
"""Shape and dtype of each output."""
Function = Callable[..., Sequence[Any]]
"""Function of XLA's arrays or tracers that returns a sequence of outputs."""

_EXACT = frozenset(map(onp.dtype, ("int64", "uint64", "float64", "complex128")))


# --- derivatives by hand --------------------------------------------------------------------------


def with_gradient(name: str, pull: Function, inputs: int, outputs: int) -> Op:
    """Operator `f(*inputs, *outputs, *residuals) -> outputs` with a gradient by hand.

    The gradient is `pull(*residuals, *inputs, *outputs, *cotangents)`.
    """
    identity = _identity(pull)

    def compute(xp: Any, *arrays: Any) -> Any:
        outs = identity(
            arrays[:inputs], arrays[inputs : inputs + outputs], arrays[inputs + outputs :]
        )
        return outs[0] if outputs == 1 else tuple(outs)

    return Op(name, compute, ("arrays",), variadic=True, outputs=outputs)


def _identity(pull: Function) -> Any:
    """Return `f(inputs, outputs, residuals) -> outputs` with the gradient of `with_gradient`."""

    @jax.custom_vjp
    def identity(xs: Any, outs: Any, rest: Any) -> Any:
        return outs

    def forward_rule(xs: Any, outs: Any, rest: Any) -> Any:
        # residuals are differentiated by the same rule: a new function, to avoid a cycle
        outs = _identity(pull)(xs, outs, rest)
        return outs, (xs, outs, rest)

    def backward_rule(saved: Any, cotangents: Any) -> Any:
        xs, outs, rest = saved
        grads = pull(*rest, *xs, *outs, *_dense(outs, cotangents))
        return (
            _as_cotangents(xs, grads),
            tuple(map(_no_cotangent, outs)),
            tuple(map(_no_cotangent, rest)),
        )

    identity.defvjp(forward_rule, backward_rule)
    return identity


def differentiated(forward: Function, pull: Function) -> Function:
    """Give a function the gradient `pull(*inputs, *outputs, *cotangents)`."""

    @jax.custom_vjp
    def function(*xs: Any) -> Any:
        return tuple(forward(*xs))

    def forward_rule(*xs: Any) -> Any:
        outs = differentiated(forward, pull)(*xs)
        return outs, (xs, outs)

    def backward_rule(saved: Any, cotangents: Any) -> Any:
        xs, outs = saved
        return _as_cotangents(xs, pull(*xs, *outs, *_dense(outs, cotangents)))

    function.defvjp(forward_rule, backward_rule)
    return function


def not_differentiated(forward: Function, message: str) -> Function:
    """Give a function a gradient that raises an error."""

    def refuse(*arrays: Any) -> Any:
        raise AutogradError(message)

    return differentiated(forward, refuse)


def _dense(outs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """Convert cotangents to arrays of the outputs' types.

    JAX has a type of its own (float0) for cotangents of integers.
    """
    return [
        c if is_inexact(o.dtype) else jnp.zeros_like(o)
        for o, c in zip(outs, cotangents, strict=True)
    ]


def _as_cotangents(xs: Sequence[Any], grads: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(
        [g if is_inexact(x.dtype) else _no_cotangent(x) for x, g in zip(xs, grads, strict=True)]
    )


def _no_cotangent(x: Any) -> Any:
    return jnp.zeros_like(x) if is_inexact(x.dtype) else onp.zeros(x.shape, jax.dtypes.float0)


# --- kinds of functions ---------------------------------------------------------------------------


def jax_function(function: Callable[..., Any]) -> Function:
    """Wrap a function of JAX arrays.

    It runs with the x64 flag that the user has set now, and with x64 on if an operand has 64 bits.
    """
    flag = bool(jax.config.read("jax_enable_x64"))

    def call(*arrays: Any, **attrs: Any) -> list[Any]:
        exact = flag or any([a.dtype in _EXACT for a in arrays])
        with jax.enable_x64(exact):
            return list(jax.tree.leaves(function(*arrays, **attrs)))

    return call


def callback(
    function: Callable[..., Sequence[onp.ndarray[Any, Any]]], types: Types, arrays: Sequence[Any]
) -> Sequence[Any]:
    """Call a function of NumPy arrays when the program runs.

    JAX narrows operands and results of callbacks unless its x64 flag is set when the program runs.
    So a number of 64 bits is passed as two of 32 bits.
    """
    kinds = [onp.dtype(a.dtype) for a in arrays]
    specs = tuple(
        [
            jax.ShapeDtypeStruct(*_packed_type(tuple(shape), onp.dtype(dtype)))
            for shape, dtype in types
        ]
    )

    def call(*given: Any) -> tuple[Any, ...]:
        arrays = [
            _unpacked_on_host(onp.asarray(a), dtype) for a, dtype in zip(given, kinds, strict=True)
        ]
        with program_lock.in_callback():
            return tuple(map(_packed_on_host, function(*arrays)))

    found = jax.pure_callback(call, specs, *map(_packed, arrays), vmap_method="sequential")
    return [_unpacked(r, onp.dtype(dtype)) for r, (_, dtype) in zip(found, types, strict=True)]


def _packed_type(
    shape: tuple[Any, ...], dtype: onp.dtype[Any]
) -> tuple[tuple[Any, ...], onp.dtype[Any]]:
    if dtype not in _EXACT:
        return shape, dtype
    return (*shape, *(2,) * (dtype.itemsize // 8)), onp.dtype("uint32")


def _packed(x: Any) -> Any:
    if x.dtype == onp.complex128:
        x = jnp.stack([x.real, x.imag], -1)
    return lax.bitcast_convert_type(x, onp.uint32) if x.dtype in _EXACT else x


def _unpacked(x: Any, dtype: onp.dtype[Any]) -> Any:
    if dtype == onp.complex128:
        parts = lax.bitcast_convert_type(x, onp.float64)
        return lax.complex(parts[..., 0], parts[..., 1])
    return lax.bitcast_convert_type(x, dtype) if dtype in _EXACT else x


def _packed_on_host(x: onp.ndarray[Any, Any]) -> onp.ndarray[Any, Any]:
    shape, dtype = _packed_type(x.shape, x.dtype)
    return onp.frombuffer(x.tobytes(), dtype).reshape(shape) if x.dtype in _EXACT else x


def _unpacked_on_host(x: onp.ndarray[Any, Any], dtype: onp.dtype[Any]) -> onp.ndarray[Any, Any]:
    if dtype not in _EXACT:
        return x
    return onp.frombuffer(x.tobytes(), dtype).reshape(x.shape[: x.ndim - dtype.itemsize // 8])


def pallas(kernel: Callable[..., Any], types: Types, arrays: Sequence[Any]) -> Sequence[Any]:
    """Run a Pallas kernel, `kernel(*input_refs, *output_refs)`.

    It is interpreted if there is no GPU or TPU.
    """
    try:
        from jax.experimental import pallas as pl
    except ImportError as error:
        raise ImportError(
            "a custom operator of func_type 'pallas' needs jax.experimental.pallas, which can't "
            "be imported here"
        ) from error
    if not all([type(n) is int for a in arrays for n in a.shape]):
        return callback(_no_lengths, types, arrays)
    specs = tuple([jax.ShapeDtypeStruct(*t) for t in types])
    found = pl.pallas_call(kernel, out_shape=specs, interpret=jax.default_backend() == "cpu")(
        *arrays
    )
    return tuple(found)


def _no_lengths(*arrays: Any) -> Any:
    raise TypeError(
        "a Pallas kernel runs on arrays whose lengths are known; this program was made for "
        "lengths that are symbols"
    )


def output_count(function: Function, types: Types) -> int:
    """Return the number of outputs of a function for arrays of these types; compute nothing."""
    with jax.enable_x64(True):
        return len(jax.eval_shape(function, *[jax.ShapeDtypeStruct(*t) for t in types]))


__all__ = [
    "callback",
    "differentiated",
    "jax_function",
    "not_differentiated",
    "output_count",
    "pallas",
    "with_gradient",
]
