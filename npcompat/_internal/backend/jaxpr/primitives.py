"""What is known of JAX's primitives by their names."""

from typing import Any

_ELEMENTWISE = """
abs acos acosh add and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil clamp clz complex
conj convert_element_type copy copy_p cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor
ge gt igamma igammac imag integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg
nextafter not or polygamma population_count pow random_gamma_grad real reduce_precision
regularized_incomplete_beta rem round rsqrt select_n shift_left shift_right_arithmetic
shift_right_logical sign sin sinh sqrt square stop_gradient sub tan tanh xor zeta
"""
ELEMENTWISE = frozenset(_ELEMENTWISE.split())
"""Each element of the result is made of those at the same place; of operands that have one along an
axis, or no axes, of that.
"""

CALLS = frozenset(
    [
        "jit",
        "pjit",
        "closed_call",
        "core_call",
        "custom_jvp_call",
        "custom_vjp_call",
        "checkpoint",
        "remat",
        "remat2",
    ]
)
"""Equations within an equation, computed once."""


def called(equation: Any) -> Any:
    """The equations within a call, with their constants where it keeps them."""
    return next(
        equation.params[name]
        for name in ("jaxpr", "call_jaxpr", "fun_jaxpr")
        if name in equation.params
    )


__all__ = ["CALLS", "ELEMENTWISE", "called"]
