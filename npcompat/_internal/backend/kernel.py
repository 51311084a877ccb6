"""What both backends do with a declaration: apply its type rule, then its compute."""

from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.dtypes import Type
from npcompat._internal.op import Attrs, Op


def kernel(op: Op, attrs: Attrs, namespace: Any, type_of: Callable[[Any], Type]) -> Callable[..., Any]:
    """`f(*arrays) -> outputs` of an operator on one namespace: inputs cast by the rule, outputs of the rule's dtype."""
    named = op.named(attrs)
    compute = op.kernels.get(namespace.name, op.compute)

    def apply(*arrays: Any) -> Any:
        casts, out = op.rule(tuple([type_of(a) for a in arrays]), named)
        inputs = [a if dtype is None else cast(namespace, a, dtype) for a, dtype in zip(arrays, casts, strict=True)]
        result = compute(namespace, *inputs, **named)
        if op.outputs == 1:
            return result if out is None else cast(namespace, result, out)
        outs = out if isinstance(out, tuple) else (out,) * len(result)
        return tuple([r if dtype is None else cast(namespace, r, dtype) for r, dtype in zip(result, outs, strict=True)])

    return apply


def cast(namespace: Any, array: Any, dtype: onp.dtype[Any]) -> Any:
    """The array in the dtype; itself if it has it and is no weak scalar."""
    if hasattr(array, "dtype") and array.dtype == dtype and not getattr(array, "weak_type", False):
        return array  # (NumPy's float64 equals None)
    return namespace.astype(array, dtype)
