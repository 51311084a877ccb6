"""Namespace `xp` of an operator's compute on XLA, and the types of its operands."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp
from jax.core import Tracer

from npcompat._internal.backend.jax import kernels
from npcompat._internal.backend.jaxpr.compat import ArrayImpl
from npcompat._internal.core.dtypes import Type
from npcompat._internal.support.kernel_table import KernelNamespace
from npcompat._internal.support.lazy_import import LazyModule

_WEAK: dict[str, Type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
Array = ArrayImpl
"""The class of XLA arrays.

`jax.Array` is abstract: isinstance costs 0.4 us, `type(x) is` nothing.
"""
name = "jax"
_LATER = {
    f"{__package__}.random.keyed_draws": [
        "at",
        "each",
        "next_counter",
        "random_uniform",
        "random_integers",
    ],
    f"{__package__}.random.discrete": [
        "random_poisson",
        "random_binomial",
        "random_negative_binomial",
        "random_geometric",
        "random_hypergeometric",
        "random_multinomial",
        "random_multivariate_hypergeometric",
        "random_zipf",
        "random_logseries",
    ],
    f"{__package__}.random.continuous": [
        "random_normal",
        "random_lognormal",
        "random_exponential",
        "random_rayleigh",
        "random_pareto",
        "random_power",
        "random_weibull",
        "random_laplace",
        "random_gumbel",
        "random_logistic",
        "random_standard_cauchy",
        "random_triangular",
        "random_gamma",
        "random_beta",
        "random_chisquare",
        "random_f",
        "random_standard_t",
        "random_noncentral_chisquare",
        "random_noncentral_f",
        "random_wald",
        "random_vonmises",
        "random_dirichlet",
        "random_multivariate_normal",
    ],
    f"{__package__}.kernels.recurrence": ["scan", "recurrence"],
    f"{__package__}.kernels.attention": ["attended"],
    f"{__package__}.kernels.deconvolution": ["conv_transpose_nd"],
    f"{__package__}.kernels.loops": ["for_each", "sum_over", "for_range"],
    f"{__package__}.kernels.straight_through": ["straight_through"],
    f"{__package__}.optim.steps": [
        "optimizer_memory",
        "optimizer_step",
        "optax_state",
        "optax_step",
    ],
}
"""Modules that are imported when one of their kernels is first used, since they import slowly."""
xp = KernelNamespace(name, (jnp, LazyModule("jax.scipy.special"), LazyModule("jax.lax")), _LATER)


def is_payload(x: Any) -> bool:
    """Return True for a payload that this backend runs on: an XLA array, or a tracer of one."""
    return type(x) is Array or isinstance(x, Tracer)


def type_of(array: Any) -> Type:
    """Return the type of an operand inside a program; Python scalars are weak."""
    aval = jax.typeof(array)
    return _WEAK[aval.dtype.kind] if aval.weak_type else onp.dtype(aval.dtype)


# --- values that are known only when a program runs -----------------------------------------------


class Unknown:
    """Base of payloads of upper rooms that have no value before a program runs, like tracers."""

    __slots__ = ()


def is_tracer(payload: Any) -> bool:
    """Return True for a payload whose value is known only when a program runs."""
    return isinstance(payload, Tracer | Unknown)


__all__ = [
    "Array",
    "Unknown",
    "is_payload",
    "is_tracer",
    "kernels",
    "name",
    "type_of",
    "xp",
]
