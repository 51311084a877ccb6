"""Inference of an operator's output types from partly known input types.

No operator has a rule for shapes: its compute runs on types (`jax.eval_shape`), with a symbol for
each unknown dimension. The answer is checked at lengths that computes treat specially (1, 2, 3), so
that it holds for every length. If a compute can't run on symbols, small lengths and those that
occur in the call are tried: if one is accepted, too little is known; if none is, the types
contradict each other.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.op import Attrs, Op
from npcompat._internal.core.tensor_type import TensorType, dims, substituted, symbols_in
from npcompat._internal.dispatch.numpy_errors import CALL_ERRORS, explained
from npcompat._internal.support.errors import InferenceError

Operand = TensorType | type
"""Type of an operand: that of an array, or the class of a Python scalar."""

_SCALARS: Mapping[type, Any] = {bool: True, int: 1, float: 1.0, complex: 1j}
_UNKNOWN = "_unknown_"
_CHECKED = (1, 2, 3)
_TRIED = 2
_UNIFORM = frozenset(("elementwise", "broadcast", "reduction"))
"""Patterns whose operators treat no length specially."""
_REFUSALS = (*CALL_ERRORS, ArithmeticError, NotImplementedError, dims.Inconclusive)
"""Errors of a compute for operands that it refuses, or for lengths that it must know."""
_DTYPES = tuple(sorted(dtypes.everywhere(), key=str))


@dataclass(frozen=True, slots=True)
class Inference:
    """Types of a call: of its inputs, completed from one another, and of its outputs."""

    inputs: tuple[Operand, ...]
    outputs: tuple[TensorType, ...]

    @property
    def known(self) -> bool:
        """True if the types of all outputs are fully known."""
        return all([t.known for t in self.outputs])


def infer(op: Op, types: Iterable[Operand], attrs: Attrs = ()) -> Inference:
    """Infer the types of an operator's outputs; parts that can't be inferred are unknown.

    Raises
    ------
    InferenceError
        If no arrays of these types can be operands of one call.
    """
    operands = tuple(types)
    op.check_inputs(len(operands))
    return _inferred(op, operands, attrs, modes.current().numpy_dtypes)


@lru_cache(maxsize=8192)
def _inferred(op: Op, types: tuple[Operand, ...], attrs: Attrs, policy: int) -> Inference:
    if op.complete is not None:
        completed = op.complete(
            [t if isinstance(t, TensorType) else TensorType((), t) for t in types], op.named(attrs)
        )
        types = tuple(
            [
                c.joined(t, f"{op.name}: argument {name}") if isinstance(t, TensorType) else t
                for t, c, name in zip(types, completed, _names(op, len(types)), strict=True)
            ]
        )
    return Inference(types, _outputs(op, types, attrs))


def _outputs(op: Op, types: tuple[Operand, ...], attrs: Attrs) -> tuple[TensorType, ...]:
    arrays = [t for t in types if isinstance(t, TensorType)]
    if any([t.shape is None for t in arrays]):
        return tuple([TensorType(None, dtype) for dtype in _output_dtypes(op, types, attrs)])
    if all([t.dtype is not None for t in arrays]):
        return _of_known_dtypes(op, types, attrs)
    found: list[tuple[TensorType, ...]] = []
    error: InferenceError | None = None
    for dtype in _DTYPES:
        try:
            found.append(_of_known_dtypes(op, _with_dtypes(types, itertools.repeat(dtype)), attrs))
        except InferenceError as refused:
            error = refused
    if not found:
        assert error is not None
        raise error
    outs = _output_dtypes(op, types, attrs)
    if (
        sum([t.dtype is None for t in arrays]) == 1 and None in outs
    ):  # the loop above has tried every dtype of the only unknown one
        outs = [
            o[0].dtype if len({t.dtype for t in o}) == 1 else None for o in zip(*found, strict=True)
        ]
    shapes = [
        o[0].shape if len({t.shape for t in o}) == 1 else None for o in zip(*found, strict=True)
    ]
    return tuple(map(TensorType, shapes, outs))


def _with_dtypes(types: Sequence[Operand], chosen: Iterator[Any]) -> tuple[Operand, ...]:
    """Replace unknown dtypes by chosen ones, in order."""
    return tuple(
        [
            TensorType(t.shape, next(chosen))
            if isinstance(t, TensorType) and t.dtype is None
            else t
            for t in types
        ]
    )


def _output_dtypes(op: Op, types: Sequence[Operand], attrs: Attrs) -> list[Any]:
    """Infer the dtypes of the outputs by the type rule; None if they depend on unknown inputs."""
    unknown = sum([isinstance(t, TensorType) and t.dtype is None for t in types])
    found: set[tuple[Any, ...]] = set()
    if unknown <= 2:
        for chosen in itertools.product(_DTYPES, repeat=unknown):
            operands = tuple(
                [
                    t.dtype if isinstance(t, TensorType) else t
                    for t in _with_dtypes(types, iter(chosen))
                ]
            )
            try:
                out = op.rule(operands, op.named(attrs))[1]
            except (TypeError, ValueError):
                continue  # the operator refuses these dtypes
            found.add(out if isinstance(out, tuple) else (out,) * op.outputs)
    return [o[0] if len(set(o)) == 1 else None for o in zip(*found, strict=True)] or [
        None
    ] * op.outputs


def _of_known_dtypes(op: Op, types: tuple[Operand, ...], attrs: Attrs) -> tuple[TensorType, ...]:
    named = _named(types)
    names = sorted(
        symbols_in(tuple([t.shape for t in named if isinstance(t, TensorType)])) | symbols_in(attrs)
    )
    found = _evaluated(op, named, attrs, {})
    if isinstance(found, Exception):
        if not names or not _some_fit(op, named, attrs, names):
            raise _contradiction(op, types, attrs, found) from found
        return tuple([TensorType(None, dtype) for dtype in _output_dtypes(op, types, attrs)])
    if names and op.pattern not in _UNIFORM and not _holds(op, named, attrs, names, found):
        return tuple([TensorType(None, t.dtype) for t in found])
    return tuple(
        [
            TensorType(
                tuple([None if _depends_on_unknown(d) else d for d in t.shape or ()]), t.dtype
            )
            for t in found
        ]
    )


def _named(types: Sequence[Operand]) -> tuple[Operand, ...]:
    """Replace each unknown dimension by a new symbol."""
    count = itertools.count()
    return tuple(
        [
            TensorType(
                tuple(
                    [
                        dims.parse(f"{_UNKNOWN}{next(count)}") if d is None else d
                        for d in t.shape or ()
                    ]
                ),
                t.dtype,
            )
            if isinstance(t, TensorType)
            else t
            for t in types
        ]
    )


def _depends_on_unknown(dim: Any) -> bool:
    return type(dim) is not int and any([name.startswith(_UNKNOWN) for name in dims.symbols(dim)])


def _evaluated(
    op: Op, types: Sequence[Operand], attrs: Attrs, lengths: Mapping[str, int]
) -> tuple[TensorType, ...] | Exception:
    """Evaluate the output types with these lengths for symbols, or return the compute's error."""
    arguments = [
        (substituted(t.shape, lengths), t.dtype) if isinstance(t, TensorType) else _SCALARS[t]
        for t in types
    ]
    try:
        outs = dims.output_types(language.function(op, substituted(attrs, lengths)), arguments)
    except _REFUSALS as error:
        return error
    return tuple([TensorType(*out) for out in outs])


def _holds(
    op: Op,
    types: Sequence[Operand],
    attrs: Attrs,
    names: Sequence[str],
    found: Sequence[TensorType],
) -> bool:
    """True if the types found for symbols hold for the lengths that computes treat specially."""
    for length in _CHECKED:
        lengths = dict.fromkeys(names, length)
        at_length = _evaluated(op, types, attrs, lengths)
        if isinstance(at_length, tuple) and list(at_length) != [
            t.substituted(lengths) for t in found
        ]:
            return False
    return True


def _some_fit(op: Op, types: Sequence[Operand], attrs: Attrs, names: Sequence[str]) -> bool:
    """True if the operator may accept the types for some lengths of the symbols.

    With more than `_TRIED` symbols no lengths are tried, and the answer is True.
    """
    ints = sorted(
        {
            *range(10),
            *_ints(attrs),
            *_ints(tuple([t.shape for t in types if isinstance(t, TensorType)])),
        }
    )
    if len(names) > _TRIED:
        return True
    lengths = [
        dict(zip(names, chosen, strict=True))
        for chosen in itertools.product(ints, repeat=len(names))
    ]
    return any(isinstance(_evaluated(op, types, attrs, chosen), tuple) for chosen in lengths)


def _ints(found: Any) -> Iterator[int]:
    """Iterate over candidate lengths from an attribute or a shape: its ints, and their products."""
    if type(found) is tuple:
        numbers = [n for part in found for n in _ints(part)]
        yield from numbers
        if numbers and 0 not in numbers and len(numbers) < 8:
            yield int(onp.prod(numbers, dtype=object))
    elif type(found) is int and found >= 0:
        yield found


def _names(op: Op, count: int) -> list[str]:
    """Return the names of a call's inputs."""
    if not op.variadic:
        return list(op.inputs)
    first = len(op.inputs) - 1
    return [*op.inputs[:first], *[f"{op.inputs[first]}[{i}]" for i in range(count - first)]]


def _contradiction(
    op: Op, types: Sequence[Operand], attrs: Attrs, error: Exception
) -> InferenceError:
    """Return the error for contradictory types, with NumPy's message if all are known."""
    reported = error
    if all([t.known for t in types if isinstance(t, TensorType)]):
        reported = explained(
            op, [t if isinstance(t, TensorType) else _SCALARS[t] for t in types], attrs, error
        )
    arguments = ", ".join(
        [
            f"{name}: {t if isinstance(t, TensorType) else t.__name__}"
            for name, t in zip(_names(op, len(types)), types, strict=True)
        ]
    )
    reason = str(reported).splitlines()[0] if str(reported) else type(reported).__name__
    return InferenceError(f"{op.name}({arguments}): {reason}")


__all__ = ["Inference", "Operand", "infer"]
