"""Rules of primitives that move elements: shapes, positions, order, and of reductions and products."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.equations.program import Equation, Type, UnsupportedError
from npcompat._internal.backend.kit.build import Rule
from npcompat._internal.backend.kit.elementwise import dtype_of

RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Declare the decorated function as the rule of primitives."""

    def declare(made: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, made))
        return made

    return declare


# --- shapes ---------------------------------------------------------------------------------------


@rule("broadcast")
def _broadcast(engine: Any, equation: Equation) -> Callable[..., Any]:
    given, wanted = equation.inputs[0].type.shape, equation.outputs[0].type.shape
    shape = [1] * len(wanted)
    for axis, n in zip(equation.attrs["axes"], given, strict=True):
        shape[axis] = n
    middle, reshape, spread = tuple(shape), engine.xp.reshape, engine.xp.broadcast_to
    if middle == wanted:
        return lambda x: reshape(x, wanted)
    if middle == given:
        return lambda x: spread(x, wanted)
    return lambda x: spread(reshape(x, middle), wanted)


@rule("reshape")
def _reshape(engine: Any, equation: Equation) -> Callable[..., Any]:
    shape, reshape = equation.outputs[0].type.shape, engine.xp.reshape
    return lambda x: reshape(x, shape)


@rule("transpose")
def _transpose(engine: Any, equation: Equation) -> Callable[..., Any]:
    axes, permute = equation.attrs["axes"], engine.xp.permute_dims
    return lambda x: permute(x, axes)


@rule("concatenate")
def _concatenate(engine: Any, equation: Equation) -> Callable[..., Any]:
    axis, concat = equation.attrs["axis"], engine.xp.concat
    return lambda *x: concat(x, axis=axis)


@rule("slice")
def _slice(engine: Any, equation: Equation) -> Callable[..., Any]:
    key = (*[slice(*part) for part in equation.attrs["key"]], ...)
    return lambda x: x[key]


@rule("flip")
def _flip(engine: Any, equation: Equation) -> Callable[..., Any]:
    axes, flip = equation.attrs["axes"], engine.xp.flip
    return lambda x: flip(x, axis=axes)


@rule("iota")
def _iota(engine: Any, equation: Equation) -> Callable[..., Any]:
    kind, axis = equation.outputs[0].type, equation.attrs["axis"]
    along = [-1 if i == axis else 1 for i in range(kind.ndim)]
    numbers = engine.constant(onp.arange(kind.shape[axis]).astype(kind.dtype).reshape(along))
    spread, shape = engine.xp.broadcast_to, kind.shape
    return lambda: spread(numbers, shape)


@rule("pad")
def _pad(engine: Any, equation: Equation) -> Callable[..., Any]:
    kind, out, config = equation.inputs[0].type, equation.outputs[0].type, equation.attrs["config"]
    key = tuple(
        [
            slice(low, low + (n - 1) * (hole + 1) + 1 if n else low, hole + 1)
            for n, (low, _, hole) in zip(kind.shape, config, strict=True)
        ]
    )
    spread, fresh, put = engine.xp.broadcast_to, engine.fresh, engine.put_part
    return lambda x, value: put(fresh(spread(value, out.shape)), key, x)


# --- positions ------------------------------------------------------------------------------------


def _part(engine: Any, whole: Type, sizes: tuple[int, ...], starts: Any) -> tuple[Any, ...]:
    """The key of a part of a size, within the whole: where it starts is read from the device."""
    begin = [
        min(max(engine.integer(s), 0), n - k)
        for s, n, k in zip(starts, whole.shape, sizes, strict=True)
    ]
    return (*[slice(b, b + k) for b, k in zip(begin, sizes, strict=True)], ...)


@rule("dynamic_slice")
def _dynamic_slice(engine: Any, equation: Equation) -> Callable[..., Any]:
    part = partial(_part, engine, equation.inputs[0].type, equation.attrs["sizes"])
    return lambda x, *starts: x[part(starts)]


@rule("dynamic_update_slice")
def _dynamic_update_slice(engine: Any, equation: Equation) -> Callable[..., Any]:
    whole, new = equation.inputs[0].type, equation.inputs[1].type
    part, put, fresh = partial(_part, engine, whole, new.shape), engine.put_part, engine.fresh
    return lambda x, values, *starts: put(fresh(x), part(starts), values)


@rule("dynamic_update_slice in place")
def _update_in_place(engine: Any, equation: Equation) -> Callable[..., Any] | None:
    whole, new = equation.inputs[0].type, equation.inputs[1].type
    if not whole.shape:
        return None  # it may be a number of the library's, which can't be written
    part, put = partial(_part, engine, whole, new.shape), engine.put_part
    return lambda x, values, *starts: put(x, part(starts), values)


@rule("take")
def _take(engine: Any, equation: Equation) -> Callable[..., Any]:
    take, axis = engine.xp.take, equation.attrs["axis"]
    return lambda x, at: take(x, at, axis=axis)


@rule("put")
def _put(engine: Any, equation: Equation) -> Callable[..., Any]:
    made: Callable[..., Any] = engine.placement(
        equation.attrs["kind"], equation.inputs[0].type, equation.attrs["axis"]
    )
    return made


# --- reductions -----------------------------------------------------------------------------------


@rule("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or")
def _reduction(engine: Any, equation: Equation) -> Callable[..., Any]:
    name = {"reduce_and": "all", "reduce_or": "any"}.get(
        equation.name, equation.name.removeprefix("reduce_")
    )
    if name in ("all", "any") and dtype_of(equation) != onp.bool_:
        raise UnsupportedError(equation.name, "of integers")
    made: Callable[..., Any] = engine.reduction(
        name, equation.inputs[0].type, equation.attrs["axes"]
    )
    return made


@rule("argmax", "argmin")
def _position(engine: Any, equation: Equation) -> Callable[..., Any]:
    kind, axis, xp = equation.inputs[0].type, equation.attrs["axis"], engine.xp
    first = engine.first_position(equation.name, kind.dtype, axis)
    if kind.dtype.kind != "f" and kind.dtype.name != "bfloat16":
        return first  # type: ignore[no-any-return]
    flags = engine.first_position("argmax", onp.dtype(bool), axis)

    def compute(x: Any) -> Any:  # the first nan is both the largest and the smallest
        nan = xp.isnan(x)
        return xp.where(xp.any(nan, axis=axis), flags(nan), first(x))

    return compute


@rule("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
def _cumulative(engine: Any, equation: Equation) -> Callable[..., Any]:
    made: Callable[..., Any] = engine.cumulative(
        equation.name, dtype_of(equation), equation.attrs["axis"]
    )
    return made


# --- products -------------------------------------------------------------------------------------


@rule("matmul")
def _matmul(engine: Any, equation: Equation) -> Callable[..., Any]:
    made: Callable[..., Any] = engine.matmul(dtype_of(equation))
    return made


@rule("convolution")
def _convolution(engine: Any, equation: Equation) -> Callable[..., Any]:
    made: Callable[..., Any] = engine.convolution(equation)
    return made


# --- order ----------------------------------------------------------------------------------------


@rule("sort")
def _sort(engine: Any, equation: Equation) -> Callable[..., Any]:
    """By one array after the other, the last key first: each sort is stable."""
    axis, keys, xp = equation.attrs["axis"], equation.attrs["keys"], engine.xp
    if len(equation.inputs) == 1 and dtype_of(equation).kind != "c":
        alone: Callable[..., Any] = engine.sorted(dtype_of(equation), axis)
        return alone
    makers = [engine.sort_keys(dtype_of(equation, i)) for i in range(keys)]
    argsort = engine.argsort(axis)
    single = len(equation.outputs) == 1

    def compute(*arrays: Any) -> Any:
        order = None
        by = [k for a, make in zip(arrays, makers, strict=False) for k in make(a)]
        for key in reversed(by):
            moved = key if order is None else xp.take_along_axis(key, order, axis=axis)
            place = argsort(moved)
            order = place if order is None else xp.take_along_axis(order, place, axis=axis)
        found = [xp.take_along_axis(a, order, axis=axis) for a in arrays]
        return found[0] if single else found

    return compute


@rule("top_k")
def _top_k(engine: Any, equation: Equation) -> Callable[..., Any]:
    kind, count, xp = equation.inputs[0].type, equation.attrs["k"], engine.xp
    axis = equation.attrs.get("axis", -1) % kind.ndim
    argsort, keys = engine.argsort(axis, descending=True), engine.sort_keys(kind.dtype)
    cast = engine.caster(equation.outputs[1].type.dtype)
    part = (*(slice(None),) * axis, slice(0, count), ...)

    def compute(x: Any) -> Any:
        (key,) = keys(x)
        order = argsort(key)[part]
        return xp.take_along_axis(x, order, axis=axis), cast(order)

    return compute


__all__ = ["RULES"]
