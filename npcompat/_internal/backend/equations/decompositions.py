"""Primitives computed from simpler ones, as functions of JAX's arrays that are traced.

Each entry of `TABLE` takes the parameters of an equation and the types of its operands and results,
and returns the function. They are the composites that an engine may take whole.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as onp
from jax import lax

from npcompat._internal.backend.equations.program import UnsupportedError
from npcompat._internal.backend.jaxpr.compat import Primitive, ShapedArray, private

Decomposition = Callable[[Any, Sequence[Any], Sequence[Any]], Callable[..., Any]]
TABLE: dict[str, Decomposition] = {}


def _decompose(*names: str) -> Callable[[Decomposition], Decomposition]:
    def declare(make: Decomposition) -> Decomposition:
        TABLE.update(dict.fromkeys(names, make))
        return make

    return declare


def primitive(name: str, result: Callable[..., tuple[tuple[int, ...], Any]]) -> Any:
    """Make a primitive of the vocabulary that JAX has not, known by the type of its result."""
    made = Primitive(name)

    def abstract(*avals: Any, **attrs: Any) -> Any:
        shape, dtype = result(*avals, **attrs)
        return ShapedArray(shape, dtype)

    made.def_abstract_eval(abstract)
    return made


# --- keys of random streams -----------------------------------------------------------------------


def of_words(eqn: Any, keys: Sequence[bool]) -> Callable[..., Any]:
    """An equation of keys as a function of their words, which lie along the last axis."""
    name, params, avals = eqn.primitive.name, eqn.params, [v.aval for v in eqn.invars]
    impl = next(v.aval.dtype._impl for v, k in zip((*eqn.invars, *eqn.outvars), keys) if k)
    draws: dict[str, Any] = {
        "random_bits": lambda key: impl.random_bits(key, params["bit_width"], params["shape"]),
        "random_split": lambda key: impl.split(key, params["shape"]),
        "random_fold_in": lambda key, data: impl.fold_in(key, jnp.asarray(data, jnp.uint32)),
        "random_seed": lambda seed: impl.seed(seed),
    }
    draw: Any = draws.get(name)
    if draw is not None:
        shape = avals[0].shape
        inner = [0 if a.shape[: len(shape)] == shape else None for a in avals[1:]]
        for _ in shape:
            draw = jax.vmap(draw, (0, *inner))
        return draw  # type: ignore[no-any-return]
    here, out = keys[: len(avals)], keys[len(avals) :]
    bind = partial(eqn.primitive.bind, **params)
    words: Any = jax.vmap(
        bind,
        tuple([-1 if k else None for k in here]),
        [-1 if k else None for k in out] if eqn.primitive.multiple_results else -1,
    )
    return words  # type: ignore[no-any-return]


@_decompose("threefry2x32")
def _threefry(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    def rounds(k1: Any, k2: Any, a: Any, b: Any) -> Any:
        keys = (k1, k2, k1 ^ k2 ^ onp.uint32(0x1BD11BDA))
        a, b = a + keys[0], b + keys[1]
        for group in range(5):
            for distance in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
                left = lax.shift_left(b, lax.full_like(b, distance))
                a = a + b
                b = a ^ (left | lax.shift_right_logical(b, lax.full_like(b, 32 - distance)))
            a, b = a + keys[(group + 1) % 3], b + (keys[(group + 2) % 3] + onp.uint32(group + 1))
        return a, b

    return rounds


@_decompose("iota_2x32_shape")
def _iota_2x32(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    shape = outs[0].shape

    def compute() -> Any:
        counts = lax.iota(jnp.uint64, math.prod(shape)).reshape(shape)
        high = lax.shift_right_logical(counts, lax.full_like(counts, 32))
        return high.astype(jnp.uint32), (counts & onp.uint64(0xFFFFFFFF)).astype(jnp.uint32)

    return compute


# --- elementwise ----------------------------------------------------------------------------------


def _elementwise(name: str, function: Callable[..., Any]) -> None:
    TABLE[name] = lambda params, ins, outs: function


def _power(x: Any, y: int) -> Any:
    count, made, base = abs(y), None, x
    while count:
        if count & 1:
            made = base if made is None else made * base
        count >>= 1
        if count:
            base = base * base
    made = lax.full_like(x, 1) if made is None else made
    return lax.div(lax.full_like(x, 1), made) if y < 0 else made


def _clamp(low: Any, x: Any, high: Any) -> Any:
    return lax.min(lax.max(x, jnp.broadcast_to(low, x.shape)), jnp.broadcast_to(high, x.shape))


def _bits(x: Any) -> Any:
    """The bits of integers, as unsigned integers."""
    if x.dtype.kind == "u":
        return x
    return lax.bitcast_convert_type(x, f"u{x.dtype.name}")


def _population_count(x: Any) -> Any:
    bits, width = _bits(x), x.dtype.itemsize * 8
    one = lax.full_like(bits, 1)
    found = lax.full_like(bits, 0)
    for i in range(width):
        found = found + (lax.shift_right_logical(bits, lax.full_like(bits, i)) & one)
    return found.astype(x.dtype)


def _leading_zeros(x: Any) -> Any:
    bits, width = _bits(x), x.dtype.itemsize * 8
    shift = 1
    while shift < width:  # ones from the first one on
        bits = bits | lax.shift_right_logical(bits, lax.full_like(bits, shift))
        shift *= 2
    return (lax.full_like(bits, width) - _population_count(bits)).astype(x.dtype)


def _cube_root(x: Any) -> Any:
    third = lax.pow(lax.abs(x), lax.full_like(x, 1 / 3))
    whole = lax.is_finite(x) & (x != 0)
    size = lax.full_like(third, 3)
    near = third - (third * third * third - lax.abs(x)) / (size * third * third)  # Newton's
    return lax.select(whole, lax.sign(x) * near, x)


def _polygamma(n: Any, x: Any) -> Any:
    sign = lax.select(
        lax.rem(n, lax.full_like(n, 2)) == 0, lax.full_like(x, -1), lax.full_like(x, 1)
    )
    grown = lax.exp(lax.lgamma(n + 1)) * lax.zeta(n + 1, x)
    return lax.select(n == 0, lax.digamma(x), sign * grown)


def _before(strict: bool) -> Callable[..., Any]:
    """Comparison by the order in which nan is last."""

    def compute(a: Any, b: Any) -> Any:
        found = lax.lt(a, b) if strict else lax.le(a, b)
        if a.dtype.kind != "f":
            return found
        nan_a, nan_b = lax.ne(a, a), lax.ne(b, b)
        return found | (nan_b & ~nan_a) if strict else found | nan_b

    return compute


_SIMPLE: dict[str, Callable[..., Any]] = {
    "square": lambda x: x * x,
    "rsqrt": lambda x: lax.full_like(x, 1) / lax.sqrt(x),
    "cbrt": _cube_root,
    "exp2": lambda x: lax.exp(x * lax.full_like(x, math.log(2))),
    "log2": lambda x: lax.log(x) / lax.full_like(x, math.log(2)),
    "one_minus_square": lambda x: (lax.full_like(x, 1) - x) * (lax.full_like(x, 1) + x),
    "logistic": lambda x: lax.full_like(x, 1) / (lax.full_like(x, 1) + lax.exp(-x)),
    "erfc": lambda x: lax.full_like(x, 1) - lax.erf(x),
    "add_any": lax.add,
    "clamp": _clamp,
    "population_count": _population_count,
    "clz": _leading_zeros,
    "polygamma": _polygamma,
    "lt_to": _before(True),
    "le_to": _before(False),
}
for _name, _function in _SIMPLE.items():
    _elementwise(_name, _function)

for _name, _private in {
    "igamma": "igamma_impl",
    "igammac": "igammac_impl",
    "igamma_grad_a": "igamma_grad_a_impl",
    "random_gamma_grad": "random_gamma_grad_impl",
    "regularized_incomplete_beta": "regularized_incomplete_beta_impl",
    "bessel_i0e": "bessel_i0e_impl",
}.items():
    _compute: Any = private("jax._src.lax.special", _private)

    def _special(params: Any, ins: Any, outs: Any, compute: Any = _compute) -> Callable[..., Any]:
        def of_arrays(*arrays: Any) -> Any:
            wide = [a.astype(jnp.float32) if a.dtype.itemsize == 2 else a for a in arrays]
            shape = jnp.broadcast_shapes(*[a.shape for a in wide])
            wide = [jnp.broadcast_to(a, shape) for a in wide]
            try:
                found = compute(*wide, dtype=wide[0].dtype)
            except TypeError:  # some take none
                found = compute(*wide)
            return found.astype(outs[0].dtype)

        return of_arrays

    TABLE[_name] = _special


@_decompose("integer_pow")
def _integer_pow(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    return partial(_power, y=params["y"])


@_decompose("reduce_precision")
def _reduce_precision(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    wanted = (params["exponent_bits"], params["mantissa_bits"])
    for name in (str(ins[0].dtype), "bfloat16", "float16", "float32"):
        info: Any = ml_dtypes.finfo(name)  # type: ignore[no-untyped-call]
        if wanted == (info.nexp, info.nmant):
            return lambda x: x.astype(name).astype(x.dtype)
    raise UnsupportedError("reduce_precision", f"to {wanted[0]} and {wanted[1]} bits")


def select_by_number(which: Any, *cases: Any) -> Any:
    """Elements of the case that a number names."""
    which = jnp.broadcast_to(which, cases[0].shape).astype(jnp.int32)
    made = cases[0]
    for i, case in enumerate(cases[1:], 1):
        made = lax.select(lax.eq(which, lax.full_like(which, i)), case, made)
    return made


def round_away_from_zero(x: Any) -> Any:
    """Nearest integers, halves away from zero."""
    whole = lax.sign(x) * lax.floor(lax.abs(x))
    up = lax.ge(lax.abs(x - whole), lax.full_like(x, 0.5))
    return lax.select(lax.is_finite(x), lax.select(up, whole + lax.sign(x), whole), x)


# --- shapes ---------------------------------------------------------------------------------------


def cropped(config: Sequence[tuple[int, int, int]]) -> Callable[..., Any]:
    """Padding of which some is negative: what is outside is cut off."""
    grown = [(max(low, 0), max(high, 0), hole) for low, high, hole in config]

    def compute(x: Any, value: Any) -> Any:
        whole = lax.pad(x, value, grown)
        start = [max(-low, 0) for low, _, _ in config]
        stop = [n - max(-high, 0) for n, (_, high, _) in zip(whole.shape, config, strict=True)]
        return lax.slice(whole, start, [max(a, b) for a, b in zip(start, stop, strict=True)])

    return compute


@_decompose("stack")
def _stack(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    axis = params["axis"]
    return lambda *x: lax.concatenate([lax.expand_dims(a, (axis,)) for a in x], axis)


@_decompose("unstack")
def _unstack(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    axis = params["axis"]
    return lambda x: [lax.index_in_dim(x, i, axis, False) for i in range(x.shape[axis])]


@_decompose("split")
def _split(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    ends = list(itertools.accumulate(params["sizes"], initial=0))
    return lambda x: [
        lax.slice_in_dim(x, a, b, axis=params["axis"]) for a, b in itertools.pairwise(ends)
    ]


@_decompose("tile")
def _tile(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    reps = params["reps"]

    def compute(x: Any) -> Any:
        lead = (1,) * (len(reps) - x.ndim) + x.shape
        wide = x.reshape([k for n in lead for k in (1, n)])
        shape = [k for n, r in zip(lead, reps, strict=True) for k in (r, n)]
        return jnp.broadcast_to(wide, shape).reshape(outs[0].shape)

    return compute


# --- reductions -----------------------------------------------------------------------------------

_COMBINE: dict[str, Callable[..., Any]] = {
    "cumprod": lax.mul,
    "cummax": lax.max,
    "cummin": lax.min,
    "cumlogsumexp": lambda a, b: jnp.logaddexp(a, b),
}


def cumulative(name: str, axis: int) -> Callable[..., Any]:
    """Running reduction, by a tree of depth log2 of the length."""
    return lambda x: lax.associative_scan(_COMBINE[name], x, axis=axis) if x.shape[axis] else x


def reversed_cumulative(name: str, axis: int) -> Callable[..., Any]:
    """Running reduction from the end."""
    function = getattr(lax, name)
    return lambda x: lax.rev(function(lax.rev(x, (axis,)), axis), (axis,))


def reduce_by(params: Any) -> Callable[..., Any] | None:
    """Reduction by the function of a jaxpr, if that is one primitive with a reduction of its own."""
    jaxpr = params.get("jaxpr") or params["computation"]
    names = [e.primitive.name for e in jaxpr.jaxpr.eqns]
    known = {
        "add": ("reduce_sum", lax.add),
        "mul": ("reduce_prod", lax.mul),
        "max": ("reduce_max", lax.max),
        "min": ("reduce_min", lax.min),
        "and": ("reduce_and", lax.bitwise_and),
        "or": ("reduce_or", lax.bitwise_or),
    }
    if len(names) != 1 or names[0] not in known:
        return None
    name, combine = known[names[0]]
    reduction, axes = getattr(lax, name), params["dimensions"]
    return lambda x, start: combine(reduction(x, axes=axes), start)


@_decompose("reduce_xor")
def _reduce_xor(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    def compute(x: Any) -> Any:
        for axis in sorted(params["axes"], reverse=True):
            while x.shape[axis] > 1:
                half = x.shape[axis] // 2
                rest = lax.slice_in_dim(x, 2 * half, x.shape[axis], axis=axis)
                first = lax.slice_in_dim(x, 0, half, axis=axis)
                second = lax.slice_in_dim(x, half, 2 * half, axis=axis)
                x = lax.concatenate([first ^ second, rest], axis)
            x = x.any(axis) if x.dtype == onp.bool_ else x.sum(axis, dtype=x.dtype)
        return x

    return compute


def _windows(kind: str) -> Decomposition:
    reduction: Any = getattr(jnp, kind)

    def make(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
        sizes, steps = params["window_dimensions"], params["window_strides"]
        base, dilation = params["base_dilation"], params["window_dilation"]
        dtype, shape = ins[0].dtype, outs[0].shape
        start = onp.asarray(0 if kind == "sum" else _limit(dtype, kind == "max"), dtype)
        config = [(lo, hi, b - 1) for (lo, hi), b in zip(params["padding"], base, strict=True)]

        def compute(x: Any) -> Any:
            x = lax.pad(x, start, config)
            parts = []
            for place in itertools.product(*map(range, sizes)):
                begin = [p * d for p, d in zip(place, dilation, strict=True)]
                stop = [b + (n - 1) * s + 1 for b, n, s in zip(begin, shape, steps, strict=True)]
                parts.append(lax.slice(x, begin, stop, steps))
            return reduction(jnp.stack(parts), axis=0).astype(dtype)

        return compute if 0 not in shape else lambda x: jnp.zeros(shape, dtype)

    return make


def _limit(dtype: Any, lowest: bool) -> Any:
    if dtype.kind in "iu":
        return onp.iinfo(dtype).min if lowest else onp.iinfo(dtype).max
    if dtype.kind == "b":
        return not lowest
    return -onp.inf if lowest else onp.inf


for _kind in ("sum", "max", "min"):
    TABLE[f"reduce_window_{_kind}"] = _windows(_kind)


# --- products -------------------------------------------------------------------------------------

matmul = primitive("matmul", lambda a, b: ((*a.shape[:-1], b.shape[-1]), a.dtype))
"""Products of stacked matrices; stacks have equal shapes."""


@_decompose("dot_general")
def _dot(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    (left, right), (left_batch, right_batch) = params["dimension_numbers"]
    a, b = ins
    rows = [d for d in range(a.ndim) if d not in left and d not in left_batch]
    columns = [d for d in range(b.ndim) if d not in right and d not in right_batch]
    batch = tuple(a.shape[d] for d in left_batch)
    inner = math.prod([a.shape[d] for d in left])
    m, n = math.prod([a.shape[d] for d in rows]), math.prod([b.shape[d] for d in columns])
    dtype, shape = outs[0].dtype, outs[0].shape

    def compute(x: Any, y: Any) -> Any:
        x = lax.transpose(x, (*left_batch, *rows, *left)).reshape((*batch, m, inner))
        y = lax.transpose(y, (*right_batch, *right, *columns)).reshape((*batch, inner, n))
        if dtype == onp.bool_:
            found = matmul.bind(x.astype(jnp.int32), y.astype(jnp.int32)) != 0
        else:
            found = matmul.bind(x.astype(dtype), y.astype(dtype))
        return found.reshape(shape)

    return compute


def _convolved(x: Any, w: Any, *, shape: tuple[int, ...], **_: Any) -> tuple[tuple[int, ...], Any]:
    return shape, x.dtype


convolution = primitive("convolution", _convolved)
"""Correlation of (N, C, ...) with (O, C / groups, ...), padded by zeros on both sides."""


@_decompose("conv_general_dilated")
def _convolution(params: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    lhs, rhs, out = params["dimension_numbers"]
    space = len(lhs) - 2
    steps, dilation = params["window_strides"], params["rhs_dilation"] or (1,) * space
    holes = params["lhs_dilation"] or (1,) * space
    groups, batches = params["feature_group_count"], params["batch_group_count"]
    dtype = outs[0].dtype
    back = tuple(onp.argsort(out).tolist())
    shape = tuple(outs[0].shape[d] for d in out)
    if all(lo == hi >= 0 for lo, hi in params["padding"]) and set(holes) <= {1}:
        around, config = tuple([int(lo) for lo, _ in params["padding"]]), None
    else:
        edges = zip(params["padding"], holes, strict=True)
        around = (0,) * space
        config = [(0, 0, 0), (0, 0, 0), *[(lo, hi, d - 1) for (lo, hi), d in edges]]

    def compute(x: Any, w: Any) -> Any:
        x, w = lax.transpose(x, lhs).astype(dtype), lax.transpose(w, rhs).astype(dtype)
        if 0 in x.shape or 0 in w.shape or 0 in shape:
            return jnp.zeros(outs[0].shape, dtype)
        if config is not None:
            x = lax.pad(x, jnp.zeros((), dtype), config)
        if batches > 1:
            n, c = x.shape[:2]
            x = x.reshape((batches, n // batches, *x.shape[1:])).swapaxes(0, 1)
            x = x.reshape((n // batches, batches * c, *x.shape[3:]))
        found = convolution.bind(
            x,
            w,
            shape=shape,
            strides=tuple(map(int, steps)),
            dilation=tuple(map(int, dilation)),
            groups=int(groups * batches),
            padding=around,
        )
        return lax.transpose(found, back)

    return compute


__all__ = [
    "TABLE", "cropped", "cumulative", "of_words", "primitive", "reduce_by", "reversed_cumulative",
    "round_away_from_zero", "select_by_number",
]  # fmt: skip
