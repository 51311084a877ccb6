"""Whether a function treats what lies along an axis one by one: its rows depend on the same row of
the operands only.

The question is put to the equations of the function. Each primitive says to which axis of its
results the axis of its operands goes; one that puts rows together, or that is not known here,
raises `MixedError`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax

from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.backend.jaxpr.primitives import CALLS, ELEMENTWISE, called

Axis = int | None
"""Which axis the rows lie along; None for what does not depend on them."""


class MixedError(Exception):
    """Rows are put together, or what becomes of them is not known."""


def through(
    function: Callable[[int], Callable[..., Any]],
    operands: Sequence[Any],
    axes: Sequence[Axis],
    ordered: bool,
    zeros: bool = False,
) -> list[Axis]:
    """To which axis of each result the rows along `axes` of the operands go.

    Parameters
    ----------
    function : callable
        Gives the function for operands of so many rows.
    operands : sequence of payloads
        Of which shape and dtype matter.
    axes : sequence of int or None
        Where the rows lie in each operand.
    ordered : bool
        Whether the place of a row counts: else what the function makes for each row itself must be
        the same for all.
    zeros : bool
        Whether rows of zeros are as good as none: then they may be added up, but only be moved
        before.

    Raises
    ------
    MixedError
        If a result puts rows together.
    """
    length = _unlike([n for a in operands for n in getattr(a, "shape", ())])
    equations = _traced(function, operands, axes, length)
    reader = _Reader(length, ordered, zeros)
    found = reader.equations(
        equations, [axis for a, axis in zip(operands, axes, strict=True) if hasattr(a, "shape")]
    )
    if any(
        [axis is None and v.aval.shape for axis, v in zip(found, equations.outvars, strict=True)]
    ):  # or the same for each row
        lengths = _lengthened(equations, _traced(function, operands, axes, length + 1), length)
        found = [
            axis if known is None else known for known, axis in zip(found, lengths, strict=True)
        ]
    return found


def as_long(
    function: Callable[[int], Callable[..., Any]], operands: Sequence[Any], axes: Sequence[Axis]
) -> list[Axis]:
    """Which axis of each result is as long as there are rows, whatever they are to it; parameters
    and errors as of `through`.
    """
    length = _unlike([n for a in operands for n in getattr(a, "shape", ())])
    equations, others = [_traced(function, operands, axes, n) for n in (length, length + 1)]
    return _lengthened(equations, others, length)


def _lengthened(equations: Any, others: Any, length: int) -> list[Axis]:
    """Which axis of each result of equations for so many rows is longer in those for one more."""
    found: list[Axis] = []
    for v, w in zip(equations.outvars, others.outvars, strict=True):
        shape, other = v.aval.shape, w.aval.shape
        varying = [axis for axis, (n, m) in enumerate(zip(shape, other, strict=True)) if n != m]
        if len(varying) > 1 or (varying and shape[varying[0]] != length):
            raise MixedError(f"axes {varying} of a result depend on how many rows there are")
        found.append(varying[0] if varying else None)
    return found


def _traced(
    function: Callable[[int], Callable[..., Any]],
    operands: Sequence[Any],
    axes: Sequence[Axis],
    length: int,
) -> Any:
    """The equations of a function for so many rows."""
    types = []
    for a, axis in zip(operands, axes, strict=True):
        if hasattr(a, "shape"):
            kind = tracing.abstract(a)
            shape = (
                kind.shape
                if axis is None
                else (*kind.shape[:axis], length, *kind.shape[axis + 1 :])
            )
            types.append(jax.ShapeDtypeStruct(shape, kind.dtype, weak_type=kind.weak_type))

    def call(*arrays: Any) -> Any:
        given = iter(arrays)
        return function(length)(*[next(given) if hasattr(a, "shape") else a for a in operands])

    try:
        return tracing.trace(call, types).jaxpr
    except (
        TypeError,
        ValueError,
        IndexError,
    ) as error:  # an operand that has as many rows, but is not of them, fits no longer
        raise MixedError(str(error)) from None


def _unlike(lengths: Sequence[int]) -> int:
    """A length that no axis has, nor several of them together."""
    n = 101
    while any(length % n == 0 and length for length in lengths):
        n += 2
    return n


class _Reader:
    """Follows the rows through equations."""

    def __init__(self, length: int, ordered: bool, zeros: bool) -> None:
        self.length, self.ordered, self.zeros = length, ordered, zeros

    def equations(self, jaxpr: Any, axes: Sequence[Axis]) -> list[Axis]:
        """The axes of what some equations give, from those of what they are given."""
        at: dict[Any, Axis] = dict(zip(jaxpr.invars, axes, strict=True))
        for equation in jaxpr.eqns:
            name = equation.primitive.name
            found = [None if hasattr(v, "val") else at.get(v) for v in equation.invars]
            if all([axis is None for axis in found]):
                _expect(
                    self.ordered
                    or name not in _PLACES
                    or all([self.length not in v.aval.shape for v in equation.outvars]),
                    equation,
                )
                continue
            rule = _RULES.get(name)
            if rule is None or (self.zeros and name not in _MOVES.split()):
                raise MixedError(name)
            results = rule(equation, found, self)
            at.update(
                zip(
                    equation.outvars,
                    results if isinstance(results, list) else [results] * len(equation.outvars),
                    strict=True,
                )
            )
        return [None if hasattr(v, "val") else at.get(v) for v in jaxpr.outvars]


_PLACES = frozenset(
    [
        "iota",
        "random_bits",
        "random_wrap",
        "threefry2x32",
        "rng_bit_generator",
        "rng_uniform",
        "random_gamma",
    ]
)
"""Primitives whose results differ from place to place, although their operands don't."""
_MOVES = """
broadcast_in_dim convert_element_type copy dot_general expand_dims jit neg pjit reduce_sum reshape
squeeze stop_gradient transpose
"""
"""Primitives that make zeros of zeros, or add up products."""


# --- rules: the axis of the results, or a list of one for each ------------------------------------

Rule = Callable[[Any, Sequence[Axis], "_Reader"], Axis | list[Axis]]
_RULES: dict[str, Rule] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(names, rule))
        return rule

    return declare


def _expect(holds: bool, equation: Any) -> None:
    if not holds:
        raise MixedError(equation.primitive.name)


def _one(equation: Any, axes: Sequence[Axis]) -> int:
    """The axis of all operands that have rows."""
    found = {axis for axis in axes if axis is not None}
    _expect(len(found) == 1, equation)
    return found.pop()


@_rule(*ELEMENTWISE)
def _element_by_element(
    equation: Any, axes: Sequence[Axis], reader: "_Reader"
) -> Axis | list[Axis]:
    axis = _one(equation, axes)
    shape = equation.outvars[0].aval.shape
    for v, of_rows in zip(equation.invars, axes, strict=True):
        fits = v.aval.shape == () or (
            len(v.aval.shape) == len(shape)
            and all([n in (1, m) for n, m in zip(v.aval.shape, shape, strict=True)])
        )
        _expect(fits and (of_rows is None or v.aval.shape[axis] == reader.length), equation)
    return axis


@_rule("optimization_barrier")
def _barrier(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> list[Axis]:
    return list(axes)


@_rule("broadcast_in_dim")
def _broadcast(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    return int(equation.params["broadcast_dimensions"][_one(equation, axes[:1])])


@_rule("transpose")
def _transpose(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    return int(equation.params["permutation"].index(axes[0]))


@_rule("reshape")
def _reshape(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    before, after, axis = (
        equation.invars[0].aval.shape,
        equation.outvars[0].aval.shape,
        _one(equation, axes[:1]),
    )
    for place, n in enumerate(after):
        if (
            n == reader.length
            and math.prod(after[:place]) == math.prod(before[:axis])
            and math.prod(after[place:]) == math.prod(before[axis:])
        ):
            return place
    raise MixedError("reshape")


@_rule("squeeze")
def _squeeze(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    axis = _one(equation, axes)
    return int(axis - sum([d < axis for d in equation.params["dimensions"]]))


@_rule("expand_dims")
def _expand(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    kept = [
        d
        for d in range(len(equation.outvars[0].aval.shape))
        if d not in equation.params["dimensions"]
    ]
    return kept[_one(equation, axes)]


@_rule(
    "reduce_sum",
    "reduce_prod",
    "reduce_max",
    "reduce_min",
    "reduce_and",
    "reduce_or",
    "reduce_xor",
    "argmax",
    "argmin",
    "reduce",
)
def _reduce(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    reduced = equation.params.get("axes", equation.params.get("dimensions"))
    axis = _one(equation, axes)
    if reader.zeros and axis in reduced and equation.primitive.name == "reduce_sum":
        return None
    _expect(axis not in reduced, equation)
    return int(axis - sum([d < axis for d in reduced]))


@_rule("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
def _scan_along(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    _expect(equation.params["axis"] != axes[0], equation)
    return axes[0]


@_rule("sort", "concatenate", "iota", "top_k", "approx_top_k", "split")
def _along_another(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    """Elements change places along one axis; what there is along the others keeps it."""
    axis, params = _one(equation, axes), equation.params
    along = params.get(
        "dimension",
        params.get("axis", params.get("operand_axis", params.get("reduction_dimension"))),
    )
    along = len(equation.invars[0].aval.shape) - 1 if along is None else along
    _expect(
        along != axis and all([v.aval.shape[axis] == reader.length for v in equation.invars]),
        equation,
    )
    return axis


@_rule("stack")
def _stack(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    axis = _one(equation, axes)
    _expect(all([v.aval.shape[axis] == reader.length for v in equation.invars]), equation)
    return int(axis + (equation.params["axis"] <= axis))


@_rule("tile")
def _tile(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    axis = _one(equation, axes)
    _expect(equation.params["reps"][axis] == 1, equation)
    return axis


@_rule("rev")
def _reverse(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    _expect(axes[0] not in equation.params["dimensions"], equation)
    return axes[0]


@_rule("pad")
def _pad(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    _expect(
        axes[1] is None
        and axes[0] is not None
        and tuple(equation.params["padding_config"][axes[0]]) == (0, 0, 0),
        equation,
    )
    return axes[0]


@_rule("slice")
def _slice(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    axis, params = _one(equation, axes), equation.params
    step = 1 if params["strides"] is None else params["strides"][axis]
    _expect(
        (params["start_indices"][axis], params["limit_indices"][axis], step)
        == (0, reader.length, 1),
        equation,
    )
    return axis


@_rule("dynamic_slice")
def _dynamic_slice(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    axis = axes[0]
    _expect(
        axis is not None
        and axes[1:] == [None] * len(axes[1:])
        and equation.params["slice_sizes"][axis] == reader.length,
        equation,
    )
    return axis


@_rule("dynamic_update_slice")
def _dynamic_update(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    axis = _one(equation, axes[:2])
    whole, part = (v.aval.shape for v in equation.invars[:2])
    _expect(
        axes[2:] == [None] * len(axes[2:]) and whole[axis] == part[axis] == reader.length, equation
    )
    return axis


@_rule("dot_general")
def _dot(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    contracted, batch = equation.params["dimension_numbers"]
    if reader.zeros and all(
        [axis is None or axis in of_side for axis, of_side in zip(axes, contracted, strict=True)]
    ):
        places = [
            of_side.index(axis)
            for axis, of_side in zip(axes, contracted, strict=True)
            if axis is not None
        ]
        _expect(len(set(places)) == 1, equation)
        return None
    places = []
    for side, axis in enumerate(axes):
        if axis is None:
            continue
        _expect(axis not in contracted[side], equation)
        if axis in batch[side]:
            place = batch[side].index(axis)
            _expect(axes[1 - side] in (None, batch[1 - side][place]), equation)
        else:
            free = [
                d
                for d in range(len(equation.invars[side].aval.shape))
                if d not in (*contracted[side], *batch[side])
            ]
            before = len(batch[0])
            if side == 1:
                before += len(equation.invars[0].aval.shape) - len(contracted[0]) - len(batch[0])
            place = before + free.index(axis)
        places.append(place)
    _expect(len(set(places)) == 1, equation)
    return int(places[0])


@_rule("conv_general_dilated")
def _convolution(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    numbers = equation.params["dimension_numbers"]
    _expect(
        axes[1] is None
        and axes[0] == numbers.lhs_spec[0]
        and equation.params["batch_group_count"] == 1,
        equation,
    )
    return int(numbers.out_spec[0])


@_rule("reduce_window_sum", "reduce_window_max", "reduce_window_min", "reduce_window")
def _windows(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    axis, params = _one(equation, axes), equation.params
    alone = params["window_dimensions"][axis] == params["window_strides"][axis] == 1 and tuple(
        params["padding"][axis]
    ) == (0, 0)
    _expect(alone, equation)
    return axis


@_rule("gather")
def _gather(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
    operand, indices = axes
    rank = len(equation.outvars[0].aval.shape)
    taken = [
        d for d in range(rank) if d not in numbers.offset_dims
    ]  # of the result: where the indices' axes are
    places = []
    if indices is not None:
        places.append(taken[indices])
    if operand is not None and operand in numbers.operand_batching_dims:
        along = numbers.start_indices_batching_dims[numbers.operand_batching_dims.index(operand)]
        places.append(taken[along])
    elif operand is not None:
        left_out = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
        _expect(
            operand not in left_out
            and sizes[operand] == reader.length
            and operand not in numbers.start_index_map,
            equation,
        )
        kept = [d for d in range(len(sizes)) if d not in left_out]
        places.append(numbers.offset_dims[kept.index(operand)])
    _expect(len(set(places)) == 1, equation)
    return int(places[0])


@_rule("cholesky", "lu", "qr", "eigh", "svd", "triangular_solve")
def _matrices(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> Axis:
    axis = _one(equation, axes)
    _expect(
        all(
            [
                axis < len(v.aval.shape) - 2 and v.aval.shape[axis] == reader.length
                for v in equation.invars
            ]
        ),
        equation,
    )
    return axis


@_rule("custom_linear_solve")
def _solve(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> list[Axis]:
    lengths, functions = equation.params["const_lengths"], equation.params["jaxprs"]
    before = lengths.matvec + lengths.vecmat
    return reader.equations(
        functions.solve.jaxpr, [*axes[before : before + lengths.solve], *axes[sum(lengths) :]]
    )


@_rule(*CALLS)
def _call(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> list[Axis]:
    return reader.equations(getattr(called(equation), "jaxpr", called(equation)), axes)


@_rule("cond")
def _branches(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> list[Axis]:
    _expect(axes[0] is None, equation)
    found = [reader.equations(branch.jaxpr, axes[1:]) for branch in equation.params["branches"]]
    return [_joined(equation, of_one) for of_one in zip(*found, strict=True)]


@_rule("scan")
def _scan(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> list[Axis]:
    params = equation.params
    held, carried = params["num_consts"], params["num_carry"]
    constants, carry, given = (
        list(axes[:held]),
        list(axes[held : held + carried]),
        axes[held + carried :],
    )
    _expect(0 not in given, equation)
    steps = [None if axis is None else axis - 1 for axis in given]
    while True:
        found = reader.equations(params["jaxpr"].jaxpr, [*constants, *carry, *steps])
        after = [_joined(equation, pair) for pair in zip(carry, found[:carried], strict=True)]
        if after == carry:
            return [*carry, *[None if axis is None else axis + 1 for axis in found[carried:]]]
        carry = after


@_rule("while")
def _while(equation: Any, axes: Sequence[Axis], reader: "_Reader") -> list[Axis]:
    params = equation.params
    a, b = params["cond_nconsts"], params["body_nconsts"]
    asked, held, carry = list(axes[:a]), list(axes[a : a + b]), list(axes[a + b :])
    while True:
        _expect(reader.equations(params["cond_jaxpr"].jaxpr, [*asked, *carry]) == [None], equation)
        after = [
            _joined(equation, p)
            for p in zip(
                carry, reader.equations(params["body_jaxpr"].jaxpr, [*held, *carry]), strict=True
            )
        ]
        if after == carry:
            return carry
        carry = after


def _joined(equation: Any, axes: Sequence[Axis]) -> Axis:
    found = {axis for axis in axes if axis is not None}
    _expect(len(found) <= 1, equation)
    return found.pop() if found else None


__all__ = ["MixedError", "as_long", "through"]
