"""Equations of JAX's traces made a program of npcompat's vocabulary.

Calls are inlined, weak types dropped, keys of random streams made their words. A primitive of JAX's
becomes one of the vocabulary, or what `decompositions.py` computes it from. What an engine names
among its composites is handed on whole.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import jax
import numpy as onp

from npcompat._internal.backend.equations import decompositions, positions
from npcompat._internal.backend.equations.program import (
    Atom,
    Constant,
    Equation,
    Program,
    Type,
    UnsupportedError,
    Variable,
    needed,
)
from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, Literal, scan_counts
from npcompat._internal.backend.jaxpr.primitives import CALLS, called

_IDENTITIES = frozenset((
    "stop_gradient", "optimization_barrier", "npcompat_exact", "copy_p", "copy", "device_put", "pvary",
    "random_wrap", "random_unwrap", "random_clone",
))  # fmt: skip
_PLAIN = frozenset((
    "abs", "neg", "sign", "floor", "ceil", "exp", "expm1", "log", "log1p", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sqrt", "is_finite",
    "atan2", "add", "sub", "mul", "div", "rem", "pow", "max", "min", "nextafter", "eq", "ne", "lt",
    "le", "gt", "ge", "and", "or", "xor", "not", "shift_left", "shift_right_logical",
    "shift_right_arithmetic", "complex", "real", "imag", "conj", "erf", "erf_inv", "lgamma",
    "digamma",
))  # fmt: skip
_AXES = frozenset(
    ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"]
)


def program_of(
    name: str,
    function: Callable[..., Any],
    avals: Sequence[Any],
    composites: Collection[str] = (),
    platform: str = "cpu",
) -> tuple[Program, list[Type]]:
    """Trace a function of JAX's arrays; returns it as a program, and the types of its results.

    Parameters
    ----------
    name : str
        Name of what is computed, for errors.
    function : callable
        Function of arrays that returns an array or a tuple of them.
    avals : sequence
        Types of the arrays, as JAX has them.
    composites : collection of str
        Primitives with a decomposition that are not to be decomposed.
    platform : str
        Kind of device, by which operators may choose their kernels.
    """
    with jax.enable_x64(True):
        closed = jax.make_jaxpr(function)(*avals)
        return _normalised(name, closed, frozenset(composites), platform)


def _normalised(
    name: str, closed: Any, composites: frozenset[str], platform: str
) -> tuple[Program, list[Type]]:
    walk = _Walk(composites, platform)
    inputs = tuple([Variable(type_of(v.aval)) for v in closed.jaxpr.invars])
    outputs = tuple(walk.run(closed.jaxpr, closed.consts, inputs))
    program = Program(name, inputs, tuple(needed(walk.equations, outputs)), outputs)
    return program, [type_of(a) for a in closed.out_avals]


def type_of(aval: Any) -> Type:
    """Type of a variable of JAX's; a key of a random stream is its words."""
    if is_key(aval):
        return Type((*aval.shape, *aval.dtype._impl.key_shape), onp.dtype("uint32"))
    return Type(tuple(aval.shape), onp.dtype(aval.dtype))


def is_key(aval: Any) -> bool:
    """Return True for the type of keys of random streams."""
    return not isinstance(aval.dtype, onp.dtype)


def as_aval(kind: Type) -> Any:
    """Type as an argument of one of JAX's traces."""
    return jax.ShapeDtypeStruct(kind.shape, kind.dtype)


class _Walk:
    """The equations of a program, while they are made."""

    def __init__(self, composites: frozenset[str], platform: str) -> None:
        self.composites, self.platform = composites, platform
        self.equations: list[Equation] = []

    def emit(
        self, name: str, inputs: Sequence[Atom], types: Sequence[Type], **attrs: Any
    ) -> list[Atom]:
        """Add an equation; returns its results."""
        outputs = tuple([Variable(t) for t in types])
        self.equations.append(Equation(name, tuple(inputs), outputs, attrs))
        return list(outputs)

    def expand(self, function: Callable[..., Any], inputs: Sequence[Atom]) -> list[Atom]:
        """Add the equations of a function of JAX's arrays; returns its results."""
        closed = jax.make_jaxpr(function)(*[as_aval(a.type) for a in inputs])
        return self.run(closed.jaxpr, closed.consts, inputs)

    def program(self, name: str, jaxpr: Any) -> Program:
        """A body of a loop or branch as a program."""
        closed = jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(jaxpr, ())
        return _normalised(name, closed, self.composites, self.platform)[0]

    def run(self, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Atom]) -> list[Atom]:
        """Add the equations of a jaxpr; returns its results."""
        known: dict[Any, Atom] = {}
        known.update(zip(jaxpr.constvars, map(_constant, consts), strict=True))
        known.update(zip(jaxpr.invars, inputs, strict=True))

        def read(atom: Any) -> Atom:
            if isinstance(atom, Literal):
                return Constant(onp.asarray(atom.val, type_of(atom.aval).dtype))
            return known[atom]

        for eqn in jaxpr.eqns:
            made = self.equation(eqn, [read(v) for v in eqn.invars])
            known.update(zip(eqn.outvars, made, strict=True))
        return [read(v) for v in jaxpr.outvars]

    def equation(self, eqn: Any, inputs: list[Atom]) -> list[Atom]:
        """Add what one equation of JAX's is; returns its results."""
        name, params = eqn.primitive.name, eqn.params
        if name in CALLS or name in ("custom_vjp_call_jaxpr", "custom_lin", "named_call"):
            body = called(eqn)
            return self.run(getattr(body, "jaxpr", body), getattr(body, "consts", ()), inputs)
        if name in _IDENTITIES:
            return inputs
        types = [type_of(v.aval) for v in eqn.outvars]
        rule = _RULES.get(name)
        if rule is not None:
            return rule(self, eqn, inputs, types)
        keys = [is_key(v.aval) for v in (*eqn.invars, *eqn.outvars)]
        if any(keys):
            return self.expand(decompositions.of_words(eqn, keys), inputs)
        if name in self.composites:
            return self.emit(name, inputs, types, **params)
        decompose = decompositions.TABLE.get(name) or positions.TABLE.get(name)
        if decompose is not None:
            avals = [v.aval for v in eqn.invars]
            return self.expand(decompose(params, avals, [v.aval for v in eqn.outvars]), inputs)
        if name in _PLAIN:
            return self.emit(name, inputs, types)
        return self.emit(name, inputs, types, **params)


def _constant(value: Any) -> Constant:
    if is_key(jax.typeof(value)):
        value = jax.random.key_data(value)
    return Constant(onp.asarray(value))


Rule = Callable[[_Walk, Any, list[Atom], list[Type]], list[Atom]]
_RULES: dict[str, Rule] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(names, rule))
        return rule

    return declare


@_rule("convert_element_type")
def _convert(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    (given,), (wanted,) = inputs, types
    if given.type.dtype == wanted.dtype:
        return inputs
    if isinstance(given, Constant) and given.type.size == 1 and _fits(given.value, wanted.dtype):
        return [Constant(given.value.astype(wanted.dtype))]
    return walk.emit("convert", inputs, types)


def _fits(value: Any, dtype: onp.dtype[Any]) -> bool:
    """Return True if NumPy casts a number as XLA does; floats beyond a dtype's integers differ."""
    if value.dtype.kind in "biu":
        return True
    return dtype.kind not in "biu" and (value.dtype.kind != "c" or dtype.kind == "c")


@_rule("bitcast_convert_type")
def _bitcast(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    return walk.emit("bitcast", inputs, types)


@_rule("broadcast_in_dim")
def _broadcast(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    axes = tuple(eqn.params["broadcast_dimensions"])
    words = types[0].ndim - len(eqn.outvars[0].aval.shape)  # those of a key come last
    axes += tuple(range(types[0].ndim - words, types[0].ndim))
    source = inputs[0].type
    if source.shape == types[0].shape and axes == tuple(range(source.ndim)):
        return inputs[:1]
    return walk.emit("broadcast", inputs[:1], types, axes=axes)


@_rule("reshape", "squeeze", "expand_dims")
def _reshape(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    order = eqn.params.get("dimensions") if eqn.primitive.name == "reshape" else None
    if order is not None:
        inputs = walk.expand(lambda x: jax.lax.transpose(x, order), inputs[:1])
    if inputs[0].type.shape == types[0].shape:
        return inputs[:1]
    return walk.emit("reshape", inputs[:1], types)


@_rule("transpose")
def _transpose(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    axes = tuple(eqn.params["permutation"])
    axes += tuple(range(len(axes), types[0].ndim))  # words of a key come last
    if axes == tuple(range(len(axes))):
        return inputs
    return walk.emit("transpose", inputs, types, axes=axes)


@_rule("concatenate")
def _concatenate(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    return walk.emit("concatenate", inputs, types, axis=eqn.params["dimension"])


@_rule("slice")
def _slice(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    p = eqn.params
    ends = list(zip(p["start_indices"], p["limit_indices"], strict=True))
    steps = p["strides"] or (1,) * len(ends)
    key = [(int(a), int(b), int(s)) for (a, b), s in zip(ends, steps, strict=True)]
    key += [(0, n, 1) for n in inputs[0].type.shape[len(key) :]]  # words of a key
    if types[0].shape == inputs[0].type.shape:
        return inputs
    return walk.emit("slice", inputs, types, key=tuple(key))


@_rule("rev")
def _flip(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    axes = tuple(eqn.params["dimensions"])
    return walk.emit("flip", inputs, types, axes=axes) if axes else inputs


@_rule("iota")
def _iota(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    return walk.emit("iota", (), types, axis=eqn.params["dimension"])


@_rule("empty", "empty2")
def _empty(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    return walk.expand(lambda: jax.numpy.zeros(types[0].shape, types[0].dtype), ())


@_rule("pad")
def _pad(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    config = [(int(a), int(b), int(c)) for a, b, c in eqn.params["padding_config"]]
    if any(low < 0 or high < 0 for low, high, _ in config):
        return walk.expand(decompositions.cropped(config), inputs)
    return walk.emit("pad", inputs, types, config=tuple(config))


@_rule("select_n")
def _select(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    if len(inputs) == 3 and inputs[0].type.dtype == onp.bool_:
        return walk.emit("select", inputs, types)
    return walk.expand(decompositions.select_by_number, inputs)


@_rule("round")
def _round(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    if int(eqn.params["rounding_method"]) == 1:
        return walk.emit("round", inputs, types)
    return walk.expand(decompositions.round_away_from_zero, inputs)


@_rule(*_AXES)
def _reduction(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    axes = tuple(map(int, eqn.params["axes"]))
    return walk.emit(eqn.primitive.name, inputs, types, axes=axes) if axes else inputs


@_rule("argmax", "argmin")
def _arg(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    (axis,) = eqn.params["axes"]
    wide = Type(types[0].shape, onp.dtype("int64"))
    found = walk.emit(eqn.primitive.name, inputs, [wide], axis=int(axis))
    return found if types[0] == wide else walk.emit("convert", found, types)


@_rule("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
def _cumulative(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    name, axis = eqn.primitive.name, int(eqn.params["axis"])
    if eqn.params["reverse"]:
        return walk.expand(decompositions.reversed_cumulative(name, axis), inputs)
    if name != "cumsum" and name not in walk.composites:
        return walk.expand(decompositions.cumulative(name, axis), inputs)
    return walk.emit(name, inputs, types, axis=axis)


@_rule("sort")
def _sort(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    axis, keys = int(eqn.params["dimension"]), int(eqn.params["num_keys"])
    return walk.emit("sort", inputs, types, axis=axis, keys=keys)


@_rule("dynamic_slice")
def _dynamic_slice(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    whole, *starts = inputs
    sizes = tuple(map(int, eqn.params["slice_sizes"]))
    words = whole.type.shape[len(sizes) :]
    if all(isinstance(s, Constant) for s in starts):
        begin = [
            min(max(int(s.value), 0), n - k)  # type: ignore[union-attr]
            for s, n, k in zip(starts, whole.type.shape, sizes, strict=False)
        ]
        key = [(b, b + k, 1) for b, k in zip(begin, sizes, strict=True)]
        return walk.emit("slice", [whole], types, key=(*key, *[(0, n, 1) for n in words]))
    zeros = [Constant(onp.asarray(0)) for _ in words]
    return walk.emit("dynamic_slice", [*inputs, *zeros], types, sizes=(*sizes, *words))


@_rule("dynamic_update_slice")
def _dynamic_update(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    zeros = [Constant(onp.asarray(0)) for _ in range(inputs[0].type.ndim - len(inputs) + 2)]
    return walk.emit("dynamic_update_slice", [*inputs, *zeros], types)


@_rule("cond")
def _cond(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    branches, chosen = eqn.params["branches"], inputs[0]
    if isinstance(chosen, Constant):
        taken = branches[min(max(int(chosen.value), 0), len(branches) - 1)]
        return walk.run(taken.jaxpr, taken.consts, inputs[1:])
    programs = tuple([walk.program("branch", b) for b in branches])
    return walk.emit("cond", inputs, types, branches=programs)


@_rule("while")
def _while(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    p = eqn.params
    return walk.emit(
        "while",
        inputs,
        types,
        cond=walk.program("condition", p["cond_jaxpr"]),
        body=walk.program("body", p["body_jaxpr"]),
        constants=(p["cond_nconsts"], p["body_nconsts"]),
    )


@_rule("scan")
def _scan(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    p = eqn.params
    constants, carried = scan_counts(p)
    return walk.emit(
        "scan",
        inputs,
        types,
        body=walk.program("body", p["jaxpr"]),
        constants=constants,
        carried=carried,
        length=p["length"],
        reverse=bool(p["reverse"]),
    )


@_rule("platform_index")
def _platform(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    names = eqn.params["platforms"]
    kind = {"gpu": ("cuda", "rocm", "gpu")}.get(walk.platform, (walk.platform,))
    found = [i for i, n in enumerate(names) if n is not None and not set(n).isdisjoint(kind)]
    found += [i for i, n in enumerate(names) if n is None]
    if not found:
        raise UnsupportedError("platform_index", f"no kernel for devices of kind {walk.platform!r}")
    return [Constant(onp.asarray(found[0], types[0].dtype))]


@_rule("custom_linear_solve")
def _linear_solve(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    counts, solve = eqn.params["const_lengths"], eqn.params["jaxprs"].solve
    skipped, total = counts.matvec + counts.vecmat, sum(counts)
    operands = [*inputs[skipped : skipped + counts.solve], *inputs[total:]]
    return walk.run(solve.jaxpr, solve.consts, operands)


@_rule("pure_callback")
def _callback(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    return walk.emit("pure_callback", inputs, types, function=eqn.params["callback"])


@_rule("reduce")
def _reduce(walk: _Walk, eqn: Any, inputs: list[Atom], types: list[Type]) -> list[Atom]:
    function = decompositions.reduce_by(eqn.params)
    if function is None or len(inputs) != 2:
        return walk.emit("reduce", inputs, types, **eqn.params)
    return walk.expand(function, inputs)


__all__ = ["as_aval", "program_of", "type_of"]
