"""Analysis of row independence: proves that a function treats the rows along an axis separately.

Then each row of a result depends only on the same row of the operands. Each primitive has a rule
that maps the axis of the rows in its operands to that in its results. A primitive that mixes rows,
or that has no rule, raises `RowsMixedError`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax

from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.backend.jaxpr.compat import scan_counts
from npcompat._internal.backend.jaxpr.primitives import (
    CALLS,
    ELEMENTWISE,
    RuleTable,
    called,
    family,
)

Axis = int | None
"""Axis of the rows in an array; None for an array that does not depend on the rows."""


class RowsMixedError(Exception):
    """Failure of the analysis: a function mixes rows, or a primitive has no rule."""


def through(
    function: Callable[[int], Callable[..., Any]],
    operands: Sequence[Any],
    axes: Sequence[Axis],
    ordered: bool,
    zeros: bool = False,
) -> list[Axis]:
    """Find the axis of the rows in each result, given their `axes` in the operands.

    Parameters
    ----------
    function : callable
        Returns the function for operands with the given number of rows.
    operands : sequence of payloads
        Operands, of which only shapes and dtypes are used.
    axes : sequence of int or None
        Axis of the rows in each operand.
    ordered : bool
        If False, results must not depend on a row's position: values that don't depend on the
        operands, such as random numbers, must be the same for all rows.
    zeros : bool
        If True, padded rows are zero: reductions by addition along the rows are allowed, and before
        them only data movement (transpose, reshape, cast).

    Raises
    ------
    RowsMixedError
        If a result mixes rows.
    """
    length = _unlike([n for a in operands for n in getattr(a, "shape", ())])
    jaxpr = _traced(function, operands, axes, length)
    found = _Interpreter(length, ordered, zeros).run(
        jaxpr, [axis for a, axis in zip(operands, axes, strict=True) if hasattr(a, "shape")]
    )
    if any([axis is None and v.aval.shape for axis, v in zip(found, jaxpr.outvars, strict=True)]):
        # some results don't depend on the operands; they may still have as many rows
        lengths = _lengthened(jaxpr, _traced(function, operands, axes, length + 1), length)
        found = [
            axis if known is None else known for known, axis in zip(found, lengths, strict=True)
        ]
    return found


def as_long(
    function: Callable[[int], Callable[..., Any]], operands: Sequence[Any], axes: Sequence[Axis]
) -> list[Axis]:
    """Find the axis of each result whose length is the number of rows, even if rows are mixed.

    Parameters and errors are those of `through`.
    """
    length = _unlike([n for a in operands for n in getattr(a, "shape", ())])
    jaxpr, other = [_traced(function, operands, axes, n) for n in (length, length + 1)]
    return _lengthened(jaxpr, other, length)


def _lengthened(jaxpr: Any, other: Any, length: int) -> list[Axis]:
    """Return the axis of each result that is longer in `other`, a jaxpr for one more row."""
    found: list[Axis] = []
    for v, w in zip(jaxpr.outvars, other.outvars, strict=True):
        before, after = v.aval.shape, w.aval.shape
        varying = [axis for axis, (n, m) in enumerate(zip(before, after, strict=True)) if n != m]
        if len(varying) > 1 or (varying and before[varying[0]] != length):
            raise RowsMixedError(f"axes {varying} of a result depend on how many rows there are")
        found.append(varying[0] if varying else None)
    return found


def _traced(
    function: Callable[[int], Callable[..., Any]],
    operands: Sequence[Any],
    axes: Sequence[Axis],
    length: int,
) -> Any:
    """Trace a function for a number of rows."""
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
        remaining = iter(arrays)
        return function(length)(*[next(remaining) if hasattr(a, "shape") else a for a in operands])

    try:
        return tracing.trace(call, types).jaxpr
    except (TypeError, ValueError, IndexError) as error:
        # the trace's length differs from that of an operand which is not padded
        raise RowsMixedError(str(error)) from None


def _unlike(lengths: Sequence[int]) -> int:
    """Return an odd length, at least 101, of which no axis length is a multiple."""
    n = 101
    while any(length % n == 0 and length for length in lengths):
        n += 2
    return n


_POSITIONAL = family("positional")
_ZERO_PRESERVING = family("zero_preserving")


class _Interpreter:
    """Interpreter of jaxprs that propagates the axis of the rows."""

    def __init__(self, length: int, ordered: bool, zeros: bool) -> None:
        self.length, self.ordered, self.zeros = length, ordered, zeros

    def run(self, jaxpr: Any, axes: Sequence[Axis]) -> list[Axis]:
        """Return the axes of the rows in the outputs, given those in the inputs."""
        at: dict[Any, Axis] = dict(zip(jaxpr.invars, axes, strict=True))
        for eqn in jaxpr.eqns:
            name = eqn.primitive.name
            found = [None if hasattr(v, "val") else at.get(v) for v in eqn.invars]
            if all([axis is None for axis in found]):
                _RULES.expect(
                    self.ordered
                    or name not in _POSITIONAL
                    or all([self.length not in v.aval.shape for v in eqn.outvars]),
                    eqn,
                )
                continue
            _RULES.expect(not self.zeros or name in _ZERO_PRESERVING, eqn)
            results = _RULES.of(eqn)(eqn, found, self)
            if not isinstance(results, list):
                results = [results] * len(eqn.outvars)
            at.update(zip(eqn.outvars, results, strict=True))
        return [None if hasattr(v, "val") else at.get(v) for v in jaxpr.outvars]


# --- rules: each returns the axis of all results, or a list with one for each ---------------------

Rule = Callable[[Any, Sequence[Axis], _Interpreter], Axis | list[Axis]]
_RULES: RuleTable[Rule] = RuleTable(RowsMixedError)


def _only(eqn: Any, axes: Sequence[Axis]) -> int:
    """Return the axis of the rows, which must be the same in all operands that have rows."""
    found = {axis for axis in axes if axis is not None}
    _RULES.expect(len(found) == 1, eqn)
    return found.pop()


@_RULES.add(*ELEMENTWISE)
def _element_by_element(
    eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter
) -> Axis | list[Axis]:
    axis = _only(eqn, axes)
    shape = eqn.outvars[0].aval.shape
    for v, of_rows in zip(eqn.invars, axes, strict=True):
        fits = v.aval.shape == () or (
            len(v.aval.shape) == len(shape)
            and all([n in (1, m) for n, m in zip(v.aval.shape, shape, strict=True)])
        )
        _RULES.expect(fits and (of_rows is None or v.aval.shape[axis] == interpreter.length), eqn)
    return axis


@_RULES.add("optimization_barrier")
def _barrier(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> list[Axis]:
    return list(axes)


@_RULES.add("broadcast_in_dim")
def _broadcast(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    return int(eqn.params["broadcast_dimensions"][_only(eqn, axes[:1])])


@_RULES.add("transpose")
def _transpose(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    return int(eqn.params["permutation"].index(axes[0]))


@_RULES.add("reshape")
def _reshape(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    axis = _only(eqn, axes[:1])
    before, after = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    for place, n in enumerate(after):
        if (
            n == interpreter.length
            and math.prod(after[:place]) == math.prod(before[:axis])
            and math.prod(after[place:]) == math.prod(before[axis:])
        ):
            return place
    raise RowsMixedError("reshape")


@_RULES.add("squeeze")
def _squeeze(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    axis = _only(eqn, axes)
    return int(axis - sum([d < axis for d in eqn.params["dimensions"]]))


@_RULES.add("expand_dims")
def _expand(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    kept = [d for d in range(len(eqn.outvars[0].aval.shape)) if d not in eqn.params["dimensions"]]
    return kept[_only(eqn, axes)]


@_RULES.add(*family("reduction", "arg_reduction", "function_reduction"))
def _reduce(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    reduced = eqn.params.get("axes", eqn.params.get("dimensions"))
    axis = _only(eqn, axes)
    if interpreter.zeros and axis in reduced and eqn.primitive.name == "reduce_sum":
        return None
    _RULES.expect(axis not in reduced, eqn)
    return int(axis - sum([d < axis for d in reduced]))


@_RULES.add(*family("cumulative"))
def _scan_along(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    _RULES.expect(eqn.params["axis"] != axes[0], eqn)
    return axes[0]


@_RULES.add(*family("along_axis"))
def _along_another(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    """Sort, split or join along an axis, which must not be that of the rows."""
    axis, params = _only(eqn, axes), eqn.params
    along = params.get(
        "dimension",
        params.get("axis", params.get("operand_axis", params.get("reduction_dimension"))),
    )
    along = len(eqn.invars[0].aval.shape) - 1 if along is None else along
    _RULES.expect(
        along != axis and all([v.aval.shape[axis] == interpreter.length for v in eqn.invars]),
        eqn,
    )
    return axis


@_RULES.add("stack")
def _stack(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    axis = _only(eqn, axes)
    _RULES.expect(all([v.aval.shape[axis] == interpreter.length for v in eqn.invars]), eqn)
    return int(axis + (eqn.params["axis"] <= axis))


@_RULES.add("tile")
def _tile(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    axis = _only(eqn, axes)
    _RULES.expect(eqn.params["reps"][axis] == 1, eqn)
    return axis


@_RULES.add("rev")
def _reverse(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    _RULES.expect(axes[0] not in eqn.params["dimensions"], eqn)
    return axes[0]


@_RULES.add("pad")
def _pad(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    _RULES.expect(
        axes[1] is None
        and axes[0] is not None
        and tuple(eqn.params["padding_config"][axes[0]]) == (0, 0, 0),
        eqn,
    )
    return axes[0]


@_RULES.add("slice")
def _slice(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    axis, params = _only(eqn, axes), eqn.params
    step = 1 if params["strides"] is None else params["strides"][axis]
    _RULES.expect(
        (params["start_indices"][axis], params["limit_indices"][axis], step)
        == (0, interpreter.length, 1),
        eqn,
    )
    return axis


@_RULES.add("dynamic_slice")
def _dynamic_slice(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    axis = axes[0]
    _RULES.expect(
        axis is not None
        and axes[1:] == [None] * len(axes[1:])
        and eqn.params["slice_sizes"][axis] == interpreter.length,
        eqn,
    )
    return axis


@_RULES.add("dynamic_update_slice")
def _dynamic_update(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    axis = _only(eqn, axes[:2])
    whole, part = (v.aval.shape for v in eqn.invars[:2])
    _RULES.expect(
        axes[2:] == [None] * len(axes[2:]) and whole[axis] == part[axis] == interpreter.length, eqn
    )
    return axis


@_RULES.add("dot_general")
def _dot(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    contracted, batch = eqn.params["dimension_numbers"]
    if interpreter.zeros and all(
        [axis is None or axis in of_side for axis, of_side in zip(axes, contracted, strict=True)]
    ):
        places = [
            of_side.index(axis)
            for axis, of_side in zip(axes, contracted, strict=True)
            if axis is not None
        ]
        _RULES.expect(len(set(places)) == 1, eqn)
        return None
    places = []
    for side, axis in enumerate(axes):
        if axis is None:
            continue
        _RULES.expect(axis not in contracted[side], eqn)
        if axis in batch[side]:
            place = batch[side].index(axis)
            _RULES.expect(axes[1 - side] in (None, batch[1 - side][place]), eqn)
        else:
            free = [
                d
                for d in range(len(eqn.invars[side].aval.shape))
                if d not in (*contracted[side], *batch[side])
            ]
            before = len(batch[0])
            if side == 1:
                before += len(eqn.invars[0].aval.shape) - len(contracted[0]) - len(batch[0])
            place = before + free.index(axis)
        places.append(place)
    _RULES.expect(len(set(places)) == 1, eqn)
    return int(places[0])


@_RULES.add("conv_general_dilated")
def _convolution(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    numbers = eqn.params["dimension_numbers"]
    _RULES.expect(
        axes[1] is None and axes[0] == numbers.lhs_spec[0] and eqn.params["batch_group_count"] == 1,
        eqn,
    )
    return int(numbers.out_spec[0])


@_RULES.add(*family("window"))
def _windows(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    axis, params = _only(eqn, axes), eqn.params
    alone = params["window_dimensions"][axis] == params["window_strides"][axis] == 1 and tuple(
        params["padding"][axis]
    ) == (0, 0)
    _RULES.expect(alone, eqn)
    return axis


@_RULES.add("gather")
def _gather(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    operand, indices = axes
    rank = len(eqn.outvars[0].aval.shape)
    # axes of the result that come from the indices
    taken = [d for d in range(rank) if d not in numbers.offset_dims]
    places = []
    if indices is not None:
        places.append(taken[indices])
    if operand is not None and operand in numbers.operand_batching_dims:
        along = numbers.start_indices_batching_dims[numbers.operand_batching_dims.index(operand)]
        places.append(taken[along])
    elif operand is not None:
        left_out = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
        _RULES.expect(
            operand not in left_out
            and sizes[operand] == interpreter.length
            and operand not in numbers.start_index_map,
            eqn,
        )
        kept = [d for d in range(len(sizes)) if d not in left_out]
        places.append(numbers.offset_dims[kept.index(operand)])
    _RULES.expect(len(set(places)) == 1, eqn)
    return int(places[0])


@_RULES.add(*family("linear_algebra"))
def _matrices(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> Axis:
    axis = _only(eqn, axes)
    _RULES.expect(
        all(
            [
                axis < len(v.aval.shape) - 2 and v.aval.shape[axis] == interpreter.length
                for v in eqn.invars
            ]
        ),
        eqn,
    )
    return axis


@_RULES.add("custom_linear_solve")
def _solve(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> list[Axis]:
    lengths, functions = eqn.params["const_lengths"], eqn.params["jaxprs"]
    before = lengths.matvec + lengths.vecmat
    return interpreter.run(
        functions.solve.jaxpr, [*axes[before : before + lengths.solve], *axes[sum(lengths) :]]
    )


@_RULES.add(*CALLS)
def _call(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> list[Axis]:
    return interpreter.run(getattr(called(eqn), "jaxpr", called(eqn)), axes)


@_RULES.add("cond")
def _branches(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> list[Axis]:
    _RULES.expect(axes[0] is None, eqn)
    found = [interpreter.run(branch.jaxpr, axes[1:]) for branch in eqn.params["branches"]]
    return [_joined(eqn, of_one) for of_one in zip(*found, strict=True)]


@_RULES.add("scan")
def _scan(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> list[Axis]:
    params = eqn.params
    held, carried = scan_counts(params)
    constants, carry = list(axes[:held]), list(axes[held : held + carried])
    scanned = axes[held + carried :]
    _RULES.expect(0 not in scanned, eqn)
    steps = [None if axis is None else axis - 1 for axis in scanned]
    while True:
        found = interpreter.run(params["jaxpr"].jaxpr, [*constants, *carry, *steps])
        after = [_joined(eqn, pair) for pair in zip(carry, found[:carried], strict=True)]
        if after == carry:
            return [*carry, *[None if axis is None else axis + 1 for axis in found[carried:]]]
        carry = after


@_RULES.add("while")
def _while(eqn: Any, axes: Sequence[Axis], interpreter: _Interpreter) -> list[Axis]:
    params = eqn.params
    a, b = params["cond_nconsts"], params["body_nconsts"]
    asked, held, carry = list(axes[:a]), list(axes[a : a + b]), list(axes[a + b :])
    while True:
        _RULES.expect(interpreter.run(params["cond_jaxpr"].jaxpr, [*asked, *carry]) == [None], eqn)
        after = [
            _joined(eqn, p)
            for p in zip(
                carry, interpreter.run(params["body_jaxpr"].jaxpr, [*held, *carry]), strict=True
            )
        ]
        if after == carry:
            return carry
        carry = after


def _joined(eqn: Any, axes: Sequence[Axis]) -> Axis:
    """Return the axis of the rows in several arrays, which must agree; None if none has rows."""
    found = {axis for axis in axes if axis is not None}
    _RULES.expect(len(found) <= 1, eqn)
    return found.pop() if found else None


__all__ = ["RowsMixedError", "as_long", "through"]
