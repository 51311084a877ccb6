"""Rules of loops and branches, which are Python's: each round waits for its condition."""

from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.backend.equations.program import Equation
from npcompat._internal.backend.kit.build import Rule, build

RULES: dict[str, Rule] = {}


def _cond(engine: Any, equation: Equation) -> Callable[..., Any]:
    branches = [build(engine, b) for b in equation.attrs["branches"]]
    last = len(branches) - 1
    return lambda which, *x: branches[min(max(engine.integer(which), 0), last)](*x)


def _while(engine: Any, equation: Equation) -> Callable[..., Any]:
    condition = build(engine, equation.attrs["cond"], apart=False)
    body = build(engine, equation.attrs["body"])
    first, second = equation.attrs["constants"]

    def compute(*x: Any) -> Any:
        of_condition, of_body = x[:first], x[first : first + second]
        state = list(x[first + second :])
        ran = False
        while engine.integer(condition(*of_condition, *state)[0]):
            state, ran = list(body(*of_body, *state)), True
        return state if ran else [engine.fresh(s) for s in state]

    return compute


def _scan(engine: Any, equation: Equation) -> Callable[..., Any]:
    attrs = equation.attrs
    body = build(engine, attrs["body"])
    constants, carried, length = attrs["constants"], attrs["carried"], attrs["length"]
    rounds = range(length - 1, -1, -1) if attrs["reverse"] else range(length)
    stacked = [v.type for v in equation.outputs[carried:]]
    empty = [onp.zeros(t.shape, t.dtype) for t in stacked] if not length else []
    stack = engine.xp.stack

    def compute(*x: Any) -> Any:
        fixed, carry, along = (
            x[:constants],
            list(x[constants : constants + carried]),
            x[constants + carried :],
        )
        made: list[Any] = []
        for i in rounds:
            out = body(*fixed, *carry, *[a[i, ...] for a in along])
            carry = list(out[:carried])
            made.append(out[carried:])
        if attrs["reverse"]:
            made.reverse()
        if not length:
            return [*map(engine.fresh, carry), *[engine.fresh(engine.constant(e)) for e in empty]]
        return [*carry, *[stack(list(parts), axis=0) for parts in zip(*made, strict=True)]]

    return compute


def _callback(engine: Any, equation: Equation) -> Callable[..., Any]:
    """A function of the host's, which is given copies of its operands."""
    function = equation.attrs["function"]
    operand_dtypes = [a.type.dtype for a in equation.inputs]
    types = [v.type for v in equation.outputs]

    def compute(*x: Any) -> Any:
        found = function(*[engine.to_host(a, d) for a, d in zip(x, operand_dtypes, strict=True)])
        found = found if isinstance(found, list | tuple) else [found]
        return [
            engine.from_host(onp.asarray(f, t.dtype).reshape(t.shape), None)
            for f, t in zip(found, types, strict=True)
        ]

    return compute


RULES.update(cond=_cond, scan=_scan, pure_callback=_callback)
RULES["while"] = _while

__all__ = ["RULES"]
