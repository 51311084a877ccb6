"""Loops of short rounds, each compiled to one function of the CPU.

XLA's runtime for the CPU calls a kernel for each fusion of a round, which takes longer than a short
round itself. A call with the attribute `xla_cpu_small_call` is compiled to one function, loops
included. XLA gives it to loops whose rounds read and write less than 1,024 bytes; here it is given
to those whose rounds compute arrays of up to WIDE elements.
"""

from collections.abc import Callable, Iterator
from typing import Any

from jax.interpreters import mlir

from npcompat._internal.backend.jaxpr.compat import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Primitive,
    func_dialect,
    jaxpr_as_fun,
    stablehlo,
)
from npcompat._internal.backend.jaxpr.loop_bodies import is_apart
from npcompat._internal.backend.jaxpr.nested_jaxprs import NestedJaxprs
from npcompat._internal.backend.jaxpr.primitives import SAME, elements, family

WIDE = 2048
"""Elements of an array that a round computes or reduces, at most. Longer ones gain from vectors and
threads; reductions of 4,096 are another library's, which such a function can't call.
"""
MOST_EQUATIONS = 400
"""Equations of a loop, at most: one function of many takes long to compile."""
_ATTRIBUTES = {"xla_cpu_small_call": "true", "inlineable": "false"}
_LONG = frozenset(
    [
        "bessel_i0e",
        "bessel_i1e",
        "digamma",
        "erf_inv",
        "igamma",
        "igammac",
        "lgamma",
        "polygamma",
        "random_gamma_grad",
        "regularized_incomplete_beta",
        "zeta",
    ]
)
"""Primitives of which each is many operations of XLA's."""
_RUNS = family("call", "control_flow")
_READS = frozenset(["dynamic_slice", "gather", "slice", *SAME])
"""Primitives that read a part of their first operand, or nothing."""
KNOWN = (
    family("elementwise", "fusible", "reduction", "arg_reduction") | SAME | {"gather", "stack"}
) - _LONG
"""Primitives that XLA compiles into such a function."""

Call = Callable[[JaxprEqn, Callable[..., Any]], JaxprEqn]


def with_small_loops(jaxpr: Jaxpr, call: Call) -> Jaxpr:
    """Return a jaxpr in which each loop of short rounds is a call that XLA compiles as a whole.

    `call(equation, function)` is a call of a function in place of an equation.
    """
    return _SmallLoops(call).jaxpr(jaxpr)


class _Changed(NestedJaxprs):
    """Jaxprs of which some equations are replaced by others."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self._call = call

    def change(self, jaxpr: Jaxpr) -> Jaxpr:
        found = [self.equation(e) for e in jaxpr.eqns]
        same = all([a is b for a, b in zip(found, jaxpr.eqns, strict=True)])
        return jaxpr if same else jaxpr.replace(eqns=found)

    def equation(self, equation: JaxprEqn) -> JaxprEqn:
        """Return the equation, or another one in its place."""
        return self.with_jaxprs(equation)


class _SmallLoops(_Changed):
    """Jaxprs whose outermost loops of short rounds are calls."""

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self._sums = _Sums(call)

    def equation(self, equation: JaxprEqn) -> JaxprEqn:
        if is_apart(equation) or equation.primitive is _small_loop:
            return equation
        if equation.primitive.name not in ("scan", "while") or not _is_small(equation):
            return self.with_jaxprs(equation)
        loop = self._sums.with_jaxprs(equation)
        called = self._call(loop, lambda *given: loop.primitive.bind(*given, **loop.params))
        function = {"jaxpr": called.params["jaxpr"]}
        changed: JaxprEqn = called.replace(primitive=_small_loop, params=function)
        return changed


class _Sums(_Changed):
    """Jaxprs in which products of two vectors are sums, since XLA has a library for products."""

    def equation(self, equation: JaxprEqn) -> JaxprEqn:
        if _is_sum(equation):
            return self._call(equation, lambda a, b: (a * b).sum(dtype=a.dtype))
        return self.with_jaxprs(equation)


def _is_sum(equation: JaxprEqn) -> bool:
    """Return True for a product of two vectors, without any other axes, in one dtype.

    Those of floats of two bytes are added up in a wider dtype.
    """
    if equation.primitive.name != "dot_general":
        return False
    kinds: list[Any] = [v.aval for v in (*equation.invars, *equation.outvars)]
    dtype = kinds[0].dtype
    if [k.ndim for k in kinds] != [1, 1, 0] or any([k.dtype != dtype for k in kinds]):
        return False
    return dtype.kind in "iu" or (dtype.kind in "fc" and dtype.itemsize > 2)


def _is_small(loop: JaxprEqn) -> bool:
    """Return True for a loop of few equations that compute short arrays, by known primitives."""
    for count, equation in enumerate(_within(loop)):
        if count >= MOST_EQUATIONS or equation.effects:
            return False
        if equation.primitive.name in _RUNS:
            continue
        if equation.primitive.name not in KNOWN and not _is_sum(equation):
            return False
        if _width(equation) > WIDE:
            return False
    return True


def _width(equation: JaxprEqn) -> float:
    """Return how many elements of one array an equation reads or writes at most."""
    name = equation.primitive.name
    if name in SAME:
        return 0
    if name == "dynamic_update_slice":
        return elements(equation.invars[1].aval)
    arrays = [*equation.outvars, *([] if name in _READS else equation.invars)]
    return max([elements(v.aval) for v in arrays])


def _within(equation: JaxprEqn) -> Iterator[JaxprEqn]:
    """Iterate over the equations of the jaxprs that an equation runs, and of those within them."""
    for value in equation.params.values():
        for part in value if isinstance(value, tuple) else (value,):
            jaxpr = part.jaxpr if isinstance(part, ClosedJaxpr) else part
            if isinstance(jaxpr, Jaxpr):
                for inner in jaxpr.eqns:
                    yield inner
                    yield from _within(inner)


# --- the call -------------------------------------------------------------------------------------


_small_loop = Primitive("npcompat_small_loop")
_small_loop.multiple_results = True
_small_loop.def_impl(lambda *given, jaxpr: jaxpr_as_fun(jaxpr)(*given))
_small_loop.def_abstract_eval(lambda *_, jaxpr: jaxpr.out_avals)


def _lowered(context: Any, *given: Any, jaxpr: ClosedJaxpr) -> Any:
    """Lower to a call with a tuple as its only operand.

    Of several operands XLA may find that one is unused, and ends the process then.
    """
    module, ir = context.module_context, mlir.ir
    results = [mlir.aval_to_ir_type(module, kind) for kind in jaxpr.out_avals]
    operand = stablehlo.TupleOp([*given]).result
    with ir.InsertionPoint(module.module.body):
        function = func_dialect.FuncOp(
            "small_loop", ([operand.type], results), visibility="private"
        )
        name = module.symbol_table.insert(function)
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            whole = block.arguments[0]
            parts = [stablehlo.GetTupleElementOp(whole, i).result for i in range(len(given))]
            found = mlir.core_call_lowering(context, *parts, name="loop", call_jaxpr=jaxpr)
            func_dialect.ReturnOp([*found])
    call = func_dialect.CallOp(results, ir.FlatSymbolRefAttr.get(name.value), [operand])
    attributes: Any = {key: ir.StringAttr.get(value) for key, value in _ATTRIBUTES.items()}
    call.attributes["mhlo.frontend_attributes"] = ir.DictAttr.get(attributes)
    return [*call.results]


mlir.register_lowering(_small_loop, _lowered)


__all__ = ["KNOWN", "MOST_EQUATIONS", "WIDE", "with_small_loops"]
