"""Rules of elementwise primitives."""

from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.backend.equations.program import Equation, UnsupportedError
from npcompat._internal.backend.kit.build import Rule

RULES: dict[str, Rule] = {}
STANDARD = {
    "abs": "abs", "floor": "floor", "ceil": "ceil", "exp": "exp", "expm1": "expm1", "log": "log",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
    "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh",
    "acosh": "acosh", "atanh": "atanh", "sqrt": "sqrt", "is_finite": "isfinite",
    "atan2": "atan2", "nextafter": "nextafter", "add": "add", "sub": "subtract",
    "mul": "multiply", "neg": "negative", "round": "round", "pow": "pow", "max": "maximum",
    "min": "minimum", "real": "real", "imag": "imag", "conj": "conj", "sign": "sign",
    "erf": "erf", "erf_inv": "erfinv", "lgamma": "lgamma", "digamma": "digamma",
    "complex": "complex", "zeta": "zeta", "bessel_i1e": "i1e",
}  # fmt: skip
"""Functions of the array-API standard by primitive, and what the standard lacks, by its usual name."""
COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Declare the decorated function as the rule of primitives."""

    def declare(made: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, made))
        return made

    return declare


def dtype_of(equation: Equation, operand: int = 0) -> onp.dtype[Any]:
    """The dtype of an operand."""
    return equation.inputs[operand].type.dtype


@rule(*STANDARD)
def _function(engine: Any, equation: Equation) -> Callable[..., Any]:
    standard, dtype = STANDARD[equation.name], dtype_of(equation)
    own = getattr(engine, f"function_{standard}", None)
    if own is not None:
        found: Callable[..., Any] | None = own(dtype)
        if found is not None:
            return found
    if equation.name in ("real", "conj") and dtype.kind != "c":
        return lambda x: x
    if equation.name == "pow" and dtype_of(equation, 1) != dtype:
        power, cast = engine.xp.pow, engine.caster(dtype)
        return lambda x, y: power(x, cast(y))
    named: Callable[..., Any] | None = getattr(engine.xp, standard, None)
    if named is None:
        raise UnsupportedError(equation.name)
    return named


@rule(*COMPARISONS)
def _comparison(engine: Any, equation: Equation) -> Callable[..., Any]:
    made: Callable[..., Any] = engine.comparison(COMPARISONS[equation.name], dtype_of(equation))
    return made


@rule("and", "or", "xor", "not")
def _logical(engine: Any, equation: Equation) -> Callable[..., Any]:
    if dtype_of(equation) == onp.bool_:
        name = f"logical_{equation.name}"
    else:
        name = "bitwise_invert" if equation.name == "not" else f"bitwise_{equation.name}"
    found: Callable[..., Any] = getattr(engine.xp, name)
    return found


@rule("div")
def _divide(engine: Any, equation: Equation) -> Callable[..., Any]:
    dtype = dtype_of(equation)
    found: Callable[..., Any] = (
        engine.integer_quotient(dtype) if dtype.kind in "iu" else engine.xp.divide
    )
    return found


@rule("rem")
def _remainder(engine: Any, equation: Equation) -> Callable[..., Any]:
    found: Callable[..., Any] = engine.remainder(dtype_of(equation))
    return found


@rule("shift_left", "shift_right_logical", "shift_right_arithmetic")
def _shift(engine: Any, equation: Equation) -> Callable[..., Any]:
    found: Callable[..., Any] = engine.shift(equation.name, dtype_of(equation))
    return found


@rule("select")
def _select(engine: Any, equation: Equation) -> Callable[..., Any]:
    where = engine.xp.where
    return lambda condition, no, yes: where(condition, yes, no)


@rule("convert")
def _convert(engine: Any, equation: Equation) -> Callable[..., Any]:
    found: Callable[..., Any] = engine.conversion(
        dtype_of(equation), equation.outputs[0].type.dtype
    )
    return found


@rule("bitcast")
def _bitcast(engine: Any, equation: Equation) -> Callable[..., Any]:
    found: Callable[..., Any] = engine.bitcast(equation.inputs[0].type, equation.outputs[0].type)
    return found


__all__ = ["RULES", "dtype_of", "rule"]
