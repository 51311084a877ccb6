"""Several equations that one function of an engine computes.

An engine names its fusions by primitive. Each makes an equation that the engine has a rule for.
Integers, nan and infinity stay as they are; floats change by roundings, where a docstring says so.
"""

import numpy as onp

from npcompat._internal.backend.equations.program import Atom, Equation
from npcompat._internal.backend.kit.simplification import Graph


def _is_single_or_double(equation: Equation) -> bool:
    return equation.outputs[0].type.dtype in (onp.float32, onp.float64)


def scaled_sum(graph: Graph, equation: Equation) -> Equation | None:
    """Join `a + c * x` with a known number c of at most one, rounded once instead of twice.

    So the product can't overflow, and infinity and nan stay as they are.
    """
    out = equation.outputs[0]
    if not _is_single_or_double(equation):
        return None
    orders = (
        [equation.inputs] if equation.name == "sub" else [equation.inputs, equation.inputs[::-1]]
    )
    for base, product in sorted(orders, key=lambda pair: not _reads_an_input(graph, pair[0])):
        found = graph.maker(product, "mul")
        if found is None or base.type != out.type or not graph.only_for_one(product):
            continue
        for x, other in (found.inputs, found.inputs[::-1]):
            c = graph.number(other)
            if c is not None and x.type == out.type and abs(c) <= 1:
                factor = -float(c) if equation.name == "sub" else float(c)
                return Equation("scaled_sum", (base, x), equation.outputs, {"factor": factor})
    return None


def _reads_an_input(graph: Graph, atom: Atom) -> bool:
    """Return True for the product of an input and a number: that is the state of an optimizer."""
    found = graph.maker(atom, "mul")
    return found is not None and any(
        [graph.is_input(a) and a.type == atom.type for a in found.inputs]
    )


def product_with_transpose(graph: Graph, equation: Equation) -> Equation | None:
    """Join `x @ w.T`, exactly."""
    x, w = equation.inputs
    turned = graph.maker(w, "transpose")
    if turned is None or tuple(turned.attrs["axes"]) != (1, 0):
        return None
    if len(x.type.shape) != 2 or x.type.dtype.kind != "f":
        return None
    return Equation("linear", (x, turned.inputs[0]), equation.outputs)


def sum_with_bias(graph: Graph, equation: Equation) -> Equation | None:
    """Join `x @ w.T + b` with a vector b: the sum may begin with it, in place of zero."""
    for product, bias in (equation.inputs, equation.inputs[::-1]):
        found, spread = graph.maker(product, "linear"), graph.made_by(bias)
        if found is None or spread is None or len(found.inputs) != 2:
            continue
        columns = product.type.shape[1:]
        is_row = spread.name == "reshape" and bias.type.shape == (1, *columns)
        is_row = is_row or (spread.name == "broadcast" and tuple(spread.attrs["axes"]) == (1,))
        vector = spread.inputs[0] if is_row else bias
        if vector.type.shape == columns and graph.only_for_one(product):
            return Equation("linear", (*found.inputs, vector), equation.outputs)
    return None


def part_above(graph: Graph, equation: Equation) -> Equation | None:
    """Join `where(x > c, y, 0)` with a known number c, exactly: the derivative of a rectifier."""
    condition, no, yes = equation.inputs
    above, out = graph.maker(condition, "gt"), equation.outputs[0]
    if above is None or not _is_single_or_double(equation) or not graph.only_for_one(condition):
        return None
    x, limit = above.inputs
    zero, number = graph.number(no), graph.number(limit)
    if zero is None or zero != 0 or onp.signbit(zero) or number is None or onp.isnan(number):
        return None
    if x.type != out.type or yes.type != out.type:
        return None
    return Equation("part_above", (x, yes), equation.outputs, {"limit": number})


__all__ = [
    "part_above",
    "product_with_transpose",
    "scaled_sum",
    "sum_with_bias",
]
