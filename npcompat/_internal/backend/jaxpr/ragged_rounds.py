"""Rounds of a loop whose arrays differ in size, as one round that serves for all.

Along an axis that is longer in one round than in another, an array lies in a window of one that is
long enough in all of them: from `offset` on, `size` elements, both looked up by the number of the
round. What is around a window means nothing; it is covered before elements are put together. A
slice stays where it is, so that slices which grow or shrink are the whole axis, seen through a
window.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import ClosedJaxpr, JaxprEqn, Literal, Var
from npcompat._internal.backend.jaxpr.primitives import CALLS, ELEMENTWISE, called

WASTE = 8
"""So many times as many elements as the rounds have may be computed for them."""

Ints = tuple[int, ...]


class UnfitError(Exception):
    """The rounds are not computed by one."""


@dataclass(frozen=True)
class Window:
    """Where the elements of each round lie along an axis; without offsets, all are the same and the
    axis has one of them.
    """

    offsets: Ints | None
    sizes: Ints


@dataclass(frozen=True)
class Held:
    """An array of one of the rounds, whichever it is, and its windows by axis: None where the axis
    is as long in all of them.
    """

    value: Any
    windows: tuple[Window | None, ...]

    @property
    def even(self) -> bool:
        return not any(self.windows)


def one_for_all(
    body: Sequence[JaxprEqn],
    rounds: Sequence[Sequence[JaxprEqn]],
    given: Sequence[tuple[Var, Any, tuple[Window | None, ...]]],
    number: Var,
    known: dict[Var, Ints],
    results: Sequence[Var],
    alike: Callable[[Sequence[JaxprEqn]], bool],
) -> ClosedJaxpr:
    """The equations of one round that serves for all.

    Parameters
    ----------
    body : sequence of equations
        The first round, whose variables are those of what is `given` and of what it makes.
    rounds : sequence of sequences of equations
        All rounds, whose equations are alike but for shapes.
    given : sequence of (variable, type, windows)
        The inputs.
    number : variable
        Which of them is the number of the round.
    known : dict
        Inputs that are integers, by round.
    results : sequence of variables
        As large in each round.
    alike : callable
        Whether equations are the same also in their shapes.

    Raises
    ------
    UnfitError
        If there are none.
    """

    def once(*values: Any) -> list[Any]:
        env = {
            v: Held(value, windows) for (v, _, windows), value in zip(given, values, strict=True)
        }
        reader = _Reader(env[number].value, len(rounds), known, alike)
        reader.equations(body, rounds, env)
        _expect(reader.computed <= WASTE * reader.needed)
        return [_whole(env[v]) for v in results]

    types = [
        jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak_type)
        for _, kind, _ in given
    ]
    with jax.enable_x64(True):
        return jax.make_jaxpr(once)(*types)


class _Reader:
    """Computes the round with a number from equations of all rounds."""

    def __init__(
        self,
        number: Any,
        count: int,
        known: dict[Var, Ints],
        alike: Callable[[Sequence[JaxprEqn]], bool],
    ) -> None:
        self.number, self.count, self.known, self.alike = number, count, known, alike
        self.computed = self.needed = 0
        self._found: dict[Ints, Any] = {}

    def equations(
        self, body: Sequence[JaxprEqn], rounds: Sequence[Sequence[JaxprEqn]], env: dict[Var, Held]
    ) -> None:
        for i, equation in enumerate(body):
            inputs = [_literal(a) if type(a) is Literal else env[a] for a in equation.invars]
            each = [r[i] for r in rounds]
            if all([h.even for h in inputs]) and self.alike(each):
                outs = _computed(equation, [h.value for h in inputs], equation.params)
            else:
                rule = RULES.get(equation.primitive.name)
                if rule is None:
                    raise UnfitError
                outs = rule(self, equation, each, inputs)
                shapes = [shape_of(v) for e in each for v in e.outvars]
                self.needed += sum(map(math.prod, shapes))
                self.computed += self.count * sum([math.prod(h.value.shape) for h in outs])
            env.update(zip(equation.outvars, outs, strict=True))

    def now(self, by_round: Ints) -> Any:
        """What a number is in this round."""
        if len({*by_round}) == 1:
            return onp.int32(by_round[0])
        if by_round not in self._found:
            table = onp.array(by_round, "int32")
            self._found[by_round] = lax.dynamic_slice(
                table, (self.number,), (1,), allow_negative_indices=False
            ).reshape(())
        return self._found[by_round]

    def by_round(self, atom: Any) -> Ints:
        """What an integer is in each of the rounds, if that is known."""
        if type(atom) is Literal:
            return (int(atom.val),) * self.count
        _expect(atom in self.known)
        return self.known[atom]

    def inside(self, shape: Sequence[int], windows: Sequence[Window | None]) -> Any:
        """Which elements of an array lie in its windows."""
        found = onp.bool_(True)
        for axis, window in enumerate(windows):
            if window is not None and window.offsets is not None:
                place = lax.broadcasted_iota("int32", shape, axis)
                ends = tuple([o + n for o, n in zip(window.offsets, window.sizes, strict=True)])
                if any(window.offsets):
                    found = found & (place >= self.now(window.offsets))
                if ends != (shape[axis],) * self.count:
                    found = found & (place < self.now(ends))
        return jnp.broadcast_to(found, shape)

    def moved(self, held: Held, axis: int, wanted: Window, extent: int) -> Held:
        """The same with another window along an axis, which has that extent then."""
        window, value = held.windows[axis], held.value
        assert window is not None and wanted.offsets is not None
        windows = (*held.windows[:axis], wanted, *held.windows[axis + 1 :])
        had = value.shape[axis]
        if window.offsets is None:
            shape = (*value.shape[:axis], extent, *value.shape[axis + 1 :])
            return Held(jnp.broadcast_to(value, shape), windows)
        if window == wanted and had == extent:
            return held
        shifts = tuple([o - w for o, w in zip(window.offsets, wanted.offsets, strict=True)])
        low, high = max(0, -min(shifts)), max(0, max(shifts) + extent - had)
        edges = [(low, high, 0) if d == axis else (0, 0, 0) for d in range(value.ndim)]
        padded = lax.pad(value, jnp.zeros((), value.dtype), edges)
        starts = [
            self.now(tuple([s + low for s in shifts])) if d == axis else onp.int32(0)
            for d in range(value.ndim)
        ]
        spans = [extent if d == axis else n for d, n in enumerate(value.shape)]
        return Held(lax.dynamic_slice(padded, starts, spans, allow_negative_indices=False), windows)

    def settled(self, held: Held, axes: Sequence[int]) -> Held:
        """The same with as many elements along axes as there are in any round."""
        for axis in axes:
            window = held.windows[axis]
            if window is not None and window.offsets is None:
                held = self.moved(
                    held, axis, Window((0,) * self.count, window.sizes), max(window.sizes)
                )
        return held

    def aligned(self, inputs: Sequence[Held], places: Sequence[Sequence[int]]) -> list[Held]:
        """Arrays with the same windows along axes that belong together: the k-th of `places` for
        each of them.
        """
        found = list(inputs)
        for axes in zip(*places, strict=True):
            windows = [h.windows[a] for h, a in zip(found, axes, strict=True)]
            with_offsets = [
                i for i, w in enumerate(windows) if w is not None and w.offsets is not None
            ]
            if with_offsets:
                i = with_offsets[0]
                wanted, extent = windows[i], found[i].value.shape[axes[i]]
                assert wanted is not None
                found = [
                    h if h.windows[a] is None else self.moved(h, a, wanted, extent)
                    for h, a in zip(found, axes, strict=True)
                ]
        return found

    def covered(self, held: Held, axes: Sequence[int], fill: Any) -> Any:
        """An array with the same element all around its windows along some axes."""
        held = self.settled(held, axes)
        windows = [w if d in axes else None for d, w in enumerate(held.windows)]
        if not any(windows):
            return held.value
        value = held.value
        return jnp.where(self.inside(value.shape, windows), value, jnp.asarray(fill, value.dtype))


def _literal(atom: Literal) -> Held:
    return Held(atom.val, (None,) * onp.ndim(atom.val))


def _expect(holds: bool) -> None:
    if not holds:
        raise UnfitError


def _whole(held: Held) -> Any:
    _expect(held.even)
    return held.value


def _computed(equation: JaxprEqn, values: Sequence[Any], params: dict[str, Any]) -> list[Held]:
    with equation.ctx.manager:
        outs = equation.primitive.bind(*values, **equation.primitive.get_bind_params(params))
    return [
        Held(o, (None,) * o.ndim) for o in (outs if equation.primitive.multiple_results else [outs])
    ]


def _one(
    equation: JaxprEqn, values: Sequence[Any], windows: Sequence[Window | None], **params: Any
) -> list[Held]:
    (out,) = _computed(equation, values, {**equation.params, **params})
    return [replace(out, windows=tuple(windows))]


def shape_of(atom: Any) -> Ints:
    """The shape of a variable, or of a literal."""
    shape: Ints = atom.aval.shape
    return shape


def _lengths(atoms: Sequence[Any]) -> list[Ints]:
    """How long the axes of an array are, by round."""
    return [*zip(*map(shape_of, atoms), strict=True)]


def _varies(lengths: Sequence[int]) -> bool:
    return len({*lengths}) > 1


# --- rules ----------------------------------------------------------------------------------------

Rule = Callable[[_Reader, JaxprEqn, Sequence[JaxprEqn], Sequence[Held]], list[Held]]
RULES: dict[str, Rule] = {}
"""How each primitive is computed of arrays in windows."""


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return declare


@_rule(*ELEMENTWISE)
def _elementwise(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    arrays = [i for i, h in enumerate(inputs) if h.windows]
    axes = range(len(inputs[arrays[0]].windows))
    found = dict(
        zip(
            arrays, reader.aligned([inputs[i] for i in arrays], [axes for _ in arrays]), strict=True
        )
    )
    windows = [
        next((h.windows[d] for h in found.values() if h.windows[d] is not None), None) for d in axes
    ]
    return _one(equation, [found.get(i, h).value for i, h in enumerate(inputs)], windows)


@_rule("optimization_barrier")
def _barrier(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    outs = _computed(equation, [h.value for h in inputs], equation.params)
    return [replace(o, windows=h.windows) for o, h in zip(outs, inputs, strict=True)]


@_rule(*CALLS)
def _call(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    inner = [*map(called, each)]
    first = getattr(inner[0], "jaxpr", inner[0])
    consts = [Held(c, (None,) * onp.ndim(c)) for c in getattr(inner[0], "consts", ())]
    env = dict(zip([*first.constvars, *first.invars], [*consts, *inputs], strict=True))
    reader.equations(first.eqns, [getattr(j, "jaxpr", j).eqns for j in inner], env)
    return [_literal(a) if type(a) is Literal else env[a] for a in first.outvars]


@_rule("broadcast_in_dim")
def _broadcast(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    from_axis = {out: axis for axis, out in enumerate(equation.params["broadcast_dimensions"])}
    shape, windows = [], []
    for out, lengths in enumerate(_lengths([e.outvars[0] for e in each])):
        axis = from_axis.get(out)
        window = None if axis is None else inputs[0].windows[axis]
        if window is None and _varies(lengths):
            window = Window(None, lengths)
        windows.append(window)
        shape.append(
            lengths[0] if window is None else 1 if axis is None else inputs[0].value.shape[axis]
        )
    return _one(equation, [inputs[0].value], windows, shape=tuple(shape))


@_rule("iota")
def _iota(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    shape, windows = [], []
    for axis, lengths in enumerate(_lengths([e.outvars[0] for e in each])):
        along = axis == equation.params["dimension"]
        windows.append(
            Window((0,) * reader.count if along else None, lengths) if _varies(lengths) else None
        )
        shape.append(1 if _varies(lengths) and not along else max(lengths))
    return _one(equation, [], windows, shape=tuple(shape))


@_rule("reshape", "squeeze", "expand_dims")
def _reshape(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    """Axes in windows stay as they are; what is between them may be taken apart and put together."""
    (held,) = inputs
    _expect(equation.primitive.name != "reshape" or equation.params["dimensions"] is None)
    kept = [d for d, w in enumerate(held.windows) if w is not None]
    lengths = _lengths([e.outvars[0] for e in each])
    made = [d for d, n in enumerate(lengths) if _varies(n)]
    _expect(len(kept) == len(made))
    shape, windows = [n[0] for n in lengths], [None] * len(lengths)  # type: list[int], list[Window | None]
    for axis, out in zip(kept, made, strict=True):
        window = held.windows[axis]
        assert window is not None
        _expect(window.sizes == lengths[out])
        windows[out], shape[out] = window, held.value.shape[axis]
    for axis, out in zip([*kept, len(held.windows)], [*made, len(lengths)], strict=True):
        _expect(math.prod(held.value.shape[:axis]) == math.prod(shape[:out]))
    return [Held(held.value.reshape(shape), tuple(windows))]


@_rule("transpose")
def _transpose(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    return _one(
        equation, [inputs[0].value], [inputs[0].windows[d] for d in equation.params["permutation"]]
    )


@_rule(
    "reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "reduce_xor"
)
def _reduce(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    (held,) = inputs
    axes = equation.params["axes"]
    value = reader.covered(held, axes, _neutral(equation, held))
    return _one(equation, [value], [w for d, w in enumerate(held.windows) if d not in axes])


@_rule("cumsum", "cumprod", "cummax", "cummin")
def _accumulate(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    axis = equation.params["axis"]
    held = reader.settled(inputs[0], [axis])
    return _one(equation, [reader.covered(held, [axis], _neutral(equation, held))], held.windows)


@_rule("argmax", "argmin")
def _where_extreme(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    axes = equation.params["axes"]
    _expect(not any([inputs[0].windows[d] for d in axes]))
    return _one(
        equation, [inputs[0].value], [w for d, w in enumerate(inputs[0].windows) if d not in axes]
    )


@_rule("sort", "concatenate")
def _along(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    """Elements change places along one axis, which is as long in each round; what there is along
    the others keeps its place.
    """
    along, axes = equation.params["dimension"], range(len(inputs[0].windows))
    _expect(not any([h.windows[along] for h in inputs]))
    found = reader.aligned([reader.settled(h, axes) for h in inputs], [axes for _ in inputs])
    return [
        replace(o, windows=found[0].windows)
        for o in _computed(equation, [h.value for h in found], equation.params)
    ]


@_rule("rev")
def _reverse(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    windows = list(inputs[0].windows)
    for axis in equation.params["dimensions"]:
        window, extent = windows[axis], inputs[0].value.shape[axis]
        if window is not None and window.offsets is not None:
            offsets = tuple(
                [extent - o - n for o, n in zip(window.offsets, window.sizes, strict=True)]
            )
            windows[axis] = replace(window, offsets=offsets)
    return _one(equation, [inputs[0].value], windows)


def _neutral(equation: JaxprEqn, held: Held) -> Any:
    """What changes nothing where it is put together with elements."""
    name, dtype = (
        equation.primitive.name.removeprefix("reduce_").removeprefix("cum"),
        held.value.dtype,
    )
    if name in ("sum", "or", "xor"):
        return 0
    if name in ("prod", "and"):
        return onp.array(1 if name == "prod" else -1).astype(dtype)
    if jnp.issubdtype(dtype, jnp.floating):
        return -onp.inf if name == "max" else onp.inf
    _expect(not jnp.issubdtype(dtype, jnp.complexfloating))
    bounds = (
        (False, True)
        if jnp.issubdtype(dtype, jnp.bool_)
        else (onp.iinfo(dtype).min, onp.iinfo(dtype).max)
    )
    return bounds[name == "min"]


@_rule("dot_general")
def _dot(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    contracted, batch = equation.params["dimension_numbers"]
    settled = [reader.settled(h, axes) for h, axes in zip(inputs, contracted, strict=True)]
    settled = [reader.settled(h, axes) for h, axes in zip(settled, batch, strict=True)]
    found = reader.aligned(settled, [[*c, *b] for c, b in zip(contracted, batch, strict=True)])
    values = [reader.covered(h, axes, 0) for h, axes in zip(found, contracted, strict=True)]
    windows = [found[0].windows[d] for d in batch[0]]
    for side, h in enumerate(found):
        windows += [
            w for d, w in enumerate(h.windows) if d not in (*contracted[side], *batch[side])
        ]
    return _one(equation, values, windows)


def _place(
    reader: _Reader, equation: JaxprEqn, starts: Sequence[Held], whole: Any, sizes: Sequence[Ints]
) -> tuple[Any, Any, Any]:
    """Where a slice, so large in each round, lies in an array: starts, lengths, and windows, where
    it takes all of an axis.
    """
    begin, span, windows = [], [], []  # type: list[Any], list[int], list[Window | None]
    atoms = equation.invars[len(equation.invars) - len(starts) :]
    for start, atom, length, lengths in zip(starts, atoms, whole.shape, sizes, strict=True):
        if _varies(lengths):
            offsets = [
                max(0, min(o, length - n))
                for o, n in zip(reader.by_round(atom), lengths, strict=True)
            ]
            windows.append(Window(tuple(offsets), lengths))
            begin.append(onp.int32(0))
            span.append(length)
        else:
            windows.append(None)
            begin.append(lax.convert_element_type(start.value, "int32"))
            span.append(lengths[0])
    return begin, span, windows


@_rule("dynamic_slice")
def _dynamic_slice(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    whole, *starts = inputs
    value = _whole(whole)
    begin, span, windows = _place(
        reader, equation, starts, value, _lengths([e.outvars[0] for e in each])
    )
    if tuple(span) != value.shape:
        value = lax.dynamic_slice(value, begin, span, allow_negative_indices=False)
    return [Held(value, tuple(windows))]


@_rule("dynamic_update_slice")
def _dynamic_update(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    whole, new, *starts = inputs
    value = _whole(whole)
    begin, span, windows = _place(
        reader, equation, starts, value, _lengths([e.invars[1] for e in each])
    )
    for axis, window in enumerate(windows):
        if window is not None:
            new = reader.moved(new, axis, window, value.shape[axis])
    current = lax.dynamic_slice(value, begin, span, allow_negative_indices=False)
    written = jnp.where(reader.inside(span, windows), new.value, current)
    return [
        Held(
            lax.dynamic_update_slice(value, written, begin, allow_negative_indices=False),
            whole.windows,
        )
    ]


@_rule("gather")
def _gather(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    source, at = inputs
    _expect(
        not any([_varies(n) for n in zip(*[e.params["slice_sizes"] for e in each], strict=True)])
    )
    at = reader.settled(at, range(len(at.windows)))
    rest = iter(at.windows[:-1])
    offsets = equation.params["dimension_numbers"].offset_dims
    windows = [
        None if d in offsets else next(rest) for d in range(len(shape_of(each[0].outvars[0])))
    ]
    return _one(equation, [_whole(source), at.value], windows)


@_rule(
    "scatter",
    "scatter-add",
    "scatter_add",
    "scatter-mul",
    "scatter_mul",
    "scatter-min",
    "scatter_min",
    "scatter-max",
    "scatter_max",
)
def _scatter(
    reader: _Reader, equation: JaxprEqn, each: Sequence[JaxprEqn], inputs: Sequence[Held]
) -> list[Held]:
    """What is around the windows is written nowhere."""
    target, at, new = inputs
    mode, drop = equation.params["mode"], lax.GatherScatterMode.FILL_OR_DROP
    within = equation.params["dimension_numbers"].update_window_dims
    _expect(
        mode in (drop, lax.GatherScatterMode.PROMISE_IN_BOUNDS)
        and not any([new.windows[d] for d in within])
    )
    axes = range(len(at.windows) - 1)
    places = [d for d in range(len(new.windows)) if d not in within]
    found, updates = reader.aligned(
        [reader.settled(at, axes), reader.settled(new, places)], [axes, places]
    )
    params = {"mode": drop, "unique_indices": False, "indices_are_sorted": False}
    return _one(
        equation,
        [_whole(target), reader.covered(found, axes, -1), updates.value],
        target.windows,
        **params,
    )


SHAPES = {
    "dynamic_slice": "slice_sizes",
    "broadcast_in_dim": "shape",
    "iota": "shape",
    "reshape": "new_sizes",
}
"""What says in the parameters of an equation how large its results are."""

__all__ = ["RULES", "SHAPES", "WASTE", "Held", "UnfitError", "Window", "one_for_all"]
