"""Lists of operators that compute in 16 bits or in float32."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as onp

import npcompat.gluon  # noqa: F401  so that all operators are declared
from npcompat._internal.autograd import whole_graph
from npcompat._internal.core import autocast_policy, dtypes
from npcompat._internal.core.op import REGISTRY
from npcompat.numpy._typing import DTypeLike

_EXACT_PRODUCTS = ("_npi_matrix_power", "_npi_convolve", "_npi_correlate")
_WIDE = (
    *(
        "_npx_softmax",
        "_npx_log_softmax",
        "_npx_masked_softmax",
        "_npx_masked_log_softmax",
        "_npx_softplus",
        "_npx_log_sigmoid",
    ),
    *(
        "_npx_global_norm",
        "_npx_l2_normalization",
        "_npx_smooth_l1",
        "_npx_ctc_loss",
        "_npx_erfinv",
        "_npx_gamma",
        "_npx_gammaln",
    ),
    *(
        "_npi_exp",
        "_npi_exp2",
        "_npi_expm1",
        "_npi_log",
        "_npi_log2",
        "_npi_log10",
        "_npi_log1p",
        "_npi_logaddexp",
        "_npi_power",
    ),
    *(
        "_npi_sum",
        "_npi_mean",
        "_npi_var",
        "_npi_std",
        "_npi_prod",
        "_npi_cumsum",
        "_npi_cumprod",
        "_npi_norm",
        "_npi_vector_norm",
    ),
    *("_npi_reciprocal", "_npi_tan", "_npi_sinh", "_npi_cosh", "_npi_arccos", "_npi_arcsin"),
)


def _target(dtype: DTypeLike) -> onp.dtype[Any]:
    found = dtypes.canonical(dtype)
    if str(found) not in ("float16", "bfloat16"):
        raise ValueError(f"amp: target_dtype must be 'float16' or 'bfloat16', got {dtype!r}")
    return found


def list_lp16_ops(target_dtype: DTypeLike = "float16") -> list[str]:
    """List the operators that compute in 16 bits by default.

    These are products, convolutions and recurrent layers.

    Examples
    --------
    >>> from npcompat import amp
    >>> "_npx_fully_connected" in amp.list_lp16_ops()
    True
    """
    _target(target_dtype)
    return sorted(
        [
            name
            for name, op in REGISTRY.items()
            if op.pattern == "complex" and name not in _EXACT_PRODUCTS
        ]
    )


def list_fp32_ops(target_dtype: DTypeLike = "float16") -> list[str]:
    """List the operators that compute in float32 by default.

    These are sums, exponentials, softmax and norms.

    Examples
    --------
    >>> from npcompat import amp
    >>> "_npx_softmax" in amp.list_fp32_ops()
    True
    """
    _target(target_dtype)
    return sorted([name for name in _WIDE if name in REGISTRY])


def _known(names: Iterable[str], argument: str) -> frozenset[str]:
    found = frozenset(names)
    unknown = sorted(found - REGISTRY.keys())
    if unknown:
        raise ValueError(
            f"amp.init({argument}=...): there are no operators {', '.join(unknown)}; "
            "list_lp16_ops() shows what names look like"
        )
    return found


def _conditions(
    given: Sequence[tuple[str, str, Sequence[Any]]] | None,
) -> Mapping[str, tuple[tuple[str, frozenset[Any]], ...]]:
    found: dict[str, tuple[tuple[str, frozenset[Any]], ...]] = {}
    for name, attribute, values in given or ():
        _known([name], "conditional_fp32_ops")
        if attribute not in REGISTRY[name].attrs:
            has = ", ".join(REGISTRY[name].attrs) or "none"
            raise ValueError(
                f"amp.init(conditional_fp32_ops=...): {name} has no attribute {attribute!r}; it "
                f"has {has}"
            )
        found[name] = (*found.get(name, ()), (attribute, frozenset(values)))
    return found


def init(
    target_dtype: DTypeLike = "float16",
    target_precision_ops: Iterable[str] | None = None,
    conditional_fp32_ops: Sequence[tuple[str, str, Sequence[Any]]] | None = None,
    fp32_ops: Iterable[str] | None = None,
    layout_optimization: bool = False,
) -> None:
    """Enable automatic mixed precision for the whole process.

    From now on, products of float32 arrays are computed in 16 bits, and sensitive operators in
    float32. Parameters stay float32. Functions and blocks that were compiled before do not change,
    so call it first. A second call changes the lists; `reset` disables it.

    Parameters
    ----------
    target_dtype : {'float16', 'bfloat16'}
        The 16-bit dtype.
    target_precision_ops : iterable of str, optional
        Operators that compute in it; `list_lp16_ops()` if not given.
    conditional_fp32_ops : sequence of (str, str, list), optional
        An operator, one of its attributes, and values of the attribute for which it computes in
        float32.
    fp32_ops : iterable of str, optional
        Operators that compute in float32; `list_fp32_ops()` if not given.
    layout_optimization : bool
        XLA chooses layouts itself: True raises NotImplementedError.

    Examples
    --------
    >>> from npcompat import amp
    >>> amp.init("bfloat16")
    >>> (np.ones((2, 2)) @ np.ones((2, 2))).dtype
    dtype(bfloat16)
    >>> amp.reset()
    """
    if layout_optimization:
        raise NotImplementedError("amp.init(layout_optimization=True): XLA chooses layouts itself")
    target = _target(target_dtype)
    wide = _known(list_fp32_ops() if fp32_ops is None else fp32_ops, "fp32_ops")
    narrow = _known(
        list_lp16_ops() if target_precision_ops is None else target_precision_ops,
        "target_precision_ops",
    ) - (wide if target_precision_ops is None else frozenset())
    if narrow & wide:
        raise ValueError(
            "amp.init: in target_precision_ops and in fp32_ops, too: "
            f"{', '.join(sorted(narrow & wide))}"
        )
    _change(autocast_policy.Policy(target, narrow, wide, _conditions(conditional_fp32_ops)))


def reset() -> None:
    """Disable automatic mixed precision."""
    _change(None)


def _change(policy: autocast_policy.Policy | None) -> None:
    autocast_policy.change(policy)
    whole_graph.forget_programs()


__all__ = ["init", "list_fp32_ops", "list_lp16_ops", "reset"]
