"""Rules of torch's own functions: primitives taken whole, several equations in one, and writes in place."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from npcompat._internal.backend.equations.program import Equation
from npcompat._internal.backend.kit import fusions
from npcompat._internal.backend.kit.array_api import ArrayAPIEngine
from npcompat._internal.backend.kit.build import Rule
from npcompat._internal.backend.kit.simplification import Fusion
from npcompat._internal.backend.kit.torch_namespace import torch

COMPOSITES = frozenset((
    "top_k", "square", "rsqrt", "exp2", "log2", "logistic", "erfc", "cumprod", "cummax", "cummin",
    "cumlogsumexp", "bessel_i0e", "bessel_i1e", "stack",
))  # fmt: skip


def _own(function: Callable[..., Any]) -> Rule:
    return lambda engine, equation: function


def _stack(engine: Any, equation: Equation) -> Callable[..., Any]:
    axis = equation.attrs["axis"]
    return lambda *arrays: torch.stack(arrays, axis)


def _matmul(engine: Any, equation: Equation) -> Callable[..., Any]:
    kind = equation.inputs[0].type
    if kind.ndim == 2 and kind.dtype.kind not in "iub":
        return torch.mm  # type: ignore[no-any-return]
    return engine.matmul(kind.dtype)  # type: ignore[no-any-return]


def _scaled_sum(engine: Any, equation: Equation) -> Callable[..., Any]:
    return partial(torch.add, alpha=equation.attrs["factor"])


def _scaled_sum_in_place(engine: Any, equation: Equation) -> Callable[..., Any]:
    return partial(torch.Tensor.add_, alpha=equation.attrs["factor"])


def _part_above(engine: Any, equation: Equation) -> Callable[..., Any]:
    limit, backward = engine.constant(equation.attrs["limit"]), torch.ops.aten.threshold_backward
    compare, empty = torch.gt, torch.empty_like
    # ones and zeros of the floats' dtype: twice as fast as truth values and `torch.where`
    return lambda x, y: backward(y, compare(x, limit, out=empty(x)), 0.0)


def _in_place(name: str) -> Rule:
    """Write floats in place by the method of a name."""
    method: Callable[..., Any] = getattr(torch.Tensor, f"{name}_")

    def rule(engine: Any, equation: Equation) -> Callable[..., Any] | None:
        return method if equation.outputs[0].type.dtype.kind in "fV" else None

    return rule


FUSIONS: Mapping[str, Sequence[Fusion]] = {
    "add": (
        fusions.sum_with_bias,
        fusions.scaled_sum,
    ),
    "sub": (fusions.scaled_sum,),
    "select": (fusions.part_above,),
    "matmul": (fusions.product_with_transpose,),
}
RULES: Mapping[str, Rule] = {
    **ArrayAPIEngine.rules,
    "square": _own(torch.square),
    "rsqrt": _own(torch.rsqrt),
    "exp2": _own(torch.exp2),
    "log2": _own(torch.log2),
    "logistic": _own(torch.sigmoid),
    "erfc": _own(torch.erfc),
    "bessel_i0e": _own(torch.special.i0e),
    "bessel_i1e": _own(torch.special.i1e),
    "stack": _stack,
    "matmul": _matmul,
    "linear": _own(torch.nn.functional.linear),
    "part_above": _part_above,
    "scaled_sum": _scaled_sum,
}
IN_PLACE: Mapping[str, Rule] = {
    **{
        f"{primitive} in place": _in_place(method)
        for primitive, method in (
            ("add", "add"), ("sub", "sub"), ("mul", "mul"), ("div", "div"), ("sqrt", "sqrt"),
            ("exp", "exp"), ("log", "log"), ("tanh", "tanh"), ("neg", "neg"),
        )
    },
    "scaled_sum in place": _scaled_sum_in_place,
}  # fmt: skip

__all__ = ["COMPOSITES", "FUSIONS", "IN_PLACE", "RULES"]
