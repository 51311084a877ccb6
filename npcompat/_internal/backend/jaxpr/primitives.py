"""Families of JAX's primitives, by name, and tables of rules for them.

The analyses of jaxprs (`row_independence`, `ragged_rounds`, `roll_loops`, `flop_count`) take their
sets from here, so that a new primitive is added in one place.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

_TABLE = {
    "elementwise": """
        abs acos acosh add and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil clz cos
        cosh digamma div erf erf_inv erfc exp exp2 expm1 floor igamma igammac integer_pow lgamma log
        log1p log2 logistic max min mul nextafter not one_minus_square or polygamma population_count
        pow random_gamma_grad
        regularized_incomplete_beta rem round rsqrt shift_left shift_right_arithmetic
        shift_right_logical sign sin sinh sqrt square sub tan tanh xor zeta
        """,
    "elementwise free": """
        clamp complex conj copy_p eq ge gt imag is_finite le le_to lt lt_to ne real reduce_precision
        select_n
        """,
    "elementwise free zero_preserving": "convert_element_type copy stop_gradient",
    "elementwise zero_preserving": "neg",
    "fusible free": """
        bitcast_convert_type dynamic_slice dynamic_update_slice optimization_barrier pad rev slice
        """,
    "fusible free along_axis": "concatenate",
    "fusible free positional": "iota",
    "fusible free placing zero_preserving": """
        broadcast_in_dim expand_dims reshape squeeze transpose
        """,
    "free": "device_put gather select_and_gather_add stack tile",
    "free along_axis": "approx_top_k sort split top_k",
    "reduction": "reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_xor",
    "reduction zero_preserving": "reduce_sum",
    "arg_reduction": "argmax argmin",
    "function_reduction": "reduce",
    "cumulative": "cumlogsumexp cummax cummin cumprod cumsum",
    "window": "reduce_window reduce_window_max reduce_window_min reduce_window_sum",
    "scatter free": "scatter",
    "scatter": """
        scatter-add scatter-max scatter-min scatter-mul scatter-sub scatter_add scatter_max
        scatter_min scatter_mul scatter_sub
        """,
    "product": "conv_general_dilated",
    "product zero_preserving": "dot_general",
    "linear_algebra": "cholesky eig eigh lu qr svd triangular_solve",
    "solver": "custom_linear_solve",
    "positional": """
        random_bits random_gamma random_split random_wrap rng_bit_generator rng_uniform threefry2x32
        """,
    "call": """
        checkpoint closed_call core_call custom_jvp_call custom_vjp_call eval_jaxpr remat remat2
        """,
    "call zero_preserving": "jit pjit",
    "control_flow": "cond scan while",
}
"""Primitives by their families.

- `elementwise`: an element of the result depends on the elements at the same place. Operands may
  have length 1 along an axis, or no axes.
- `fusible`: not elementwise, but XLA fuses it with its neighbours.
- `placing`: each element of the operand is in the result, at least once.
- `free`: moves, compares or converts numbers, and does no arithmetic.
- `zero_preserving`: zeros give zeros, or products are added up.
- `positional`: elements of the result differ from place to place, although the operands don't.
- `along_axis`: elements change places along one axis only.
- `reduction`, `arg_reduction`, `function_reduction`, `cumulative`, `window`: reductions by a known
  function, to positions, by a jaxpr, running, and over windows.
- `scatter`, `product`, `linear_algebra` (of stacked matrices), `solver`: by their names.
- `call`: a jaxpr that is run once. `control_flow`: jaxprs that may run several times, or never.
"""

FAMILIES: Mapping[str, frozenset[str]] = {
    name: frozenset(families.split())
    for families, names in _TABLE.items()
    for name in names.split()
}
"""Families of each primitive."""


def family(*names: str) -> frozenset[str]:
    """Return the primitives that belong to at least one of the families."""
    unknown = set(names).difference(*FAMILIES.values())
    if unknown:
        raise KeyError(f"no family of primitives is named {min(unknown)!r}")
    return frozenset([name for name, found in FAMILIES.items() if not found.isdisjoint(names)])


ELEMENTWISE = family("elementwise")
SAME = frozenset(["copy", "copy_p", "optimization_barrier"])
"""Primitives whose results are their operands."""
CALLS = family("call")


def called(eqn: Any) -> Any:
    """Return the jaxpr that a call runs, a ClosedJaxpr if the call has constants."""
    return next(
        eqn.params[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr") if name in eqn.params
    )


def elements(kind: Any) -> float:
    """Return the number of elements of a value of a type; infinity where a length is a symbol."""
    is_known = all([type(n) is int for n in kind.shape])
    return math.prod(kind.shape) if is_known else math.inf


def bytes_of(kind: Any) -> float:
    """Return the size of a value of a type in bytes; infinity where a length is a symbol."""
    size: int = kind.dtype.itemsize
    return elements(kind) * size


Rule = TypeVar("Rule", bound=Callable[..., Any])


class RuleTable(Mapping[str, Rule], Generic[Rule]):
    """Rules of an analysis by primitive, and the error of a failed analysis.

    Parameters
    ----------
    error : type
        Exception that says that the analysis fails; it is raised with the primitive's name.
    """

    def __init__(self, error: type[Exception]) -> None:
        self._error = error
        self._rules: dict[str, Rule] = {}

    def __getitem__(self, name: str) -> Rule:
        return self._rules[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def add(self, *names: str) -> Callable[[Rule], Rule]:
        """Declare the decorated function as the rule of primitives."""

        def declare(rule: Rule) -> Rule:
            self._rules.update(dict.fromkeys(names, rule))
            return rule

        return declare

    def of(self, eqn: Any) -> Rule:
        """Return the rule of an equation's primitive; fail if there is none."""
        self.expect(eqn.primitive.name in self._rules, eqn)
        return self._rules[eqn.primitive.name]

    def expect(self, holds: bool, eqn: Any = None) -> None:
        """Fail, at an equation if one is given, unless a condition holds."""
        if not holds:
            raise self._error("" if eqn is None else eqn.primitive.name)


__all__ = ["CALLS", "ELEMENTWISE", "FAMILIES", "RuleTable", "called", "elements", "family"]
