"""Kernels of operators with the type rule of their declaration, for both backends."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.core import autocast_policy
from npcompat._internal.core.dtypes import Type
from npcompat._internal.core.op import Attrs, Op


def kernel(
    op: Op,
    attrs: Attrs,
    namespace: Any,
    type_of: Callable[[Any], Type],
    as_array: Callable[[Any], Any] | None = None,
) -> Callable[..., Any]:
    """Return `f(*arrays) -> outputs` of an operator on one namespace.

    Inputs are cast by the type rule; outputs have the rule's dtype. `as_array` converts results
    that may be numbers to arrays.
    """
    named = op.named(attrs)
    compute = chosen(op, namespace.name)
    plans: dict[tuple[Type, ...], Any] = {}

    def planned(types: tuple[Type, ...]) -> tuple[list[tuple[int, Any]], Any]:
        """Return the operands to cast with their dtypes, and the dtype of each output."""
        casts, out = autocast_policy.adjusted(op.name, types, named, op.rule(types, named))
        outs = out if op.outputs == 1 or isinstance(out, tuple) else (out,) * op.outputs
        wanted = enumerate(zip(types, casts, strict=True))
        return [
            (i, dtype)
            for i, (t, dtype) in wanted
            if dtype is not None and not (isinstance(t, onp.dtype) and t == dtype)
        ], outs

    ordered = as_array is not None and op.in_c_order

    def finished(result: Any, dtype: Any, types: tuple[Type, ...]) -> Any:
        if as_array is not None and dtype == _OBJECT and _is_element(result, types):
            return boxed(result)
        if dtype is not None:
            result = cast(namespace, result, dtype)
        if as_array is None:
            return result
        result = as_array(result)
        return result.copy() if ordered and not result.flags.c_contiguous else result

    def apply(*arrays: Any) -> Any:
        if len(arrays) == 1:  # the most frequent case
            (a,) = arrays
            types: tuple[Type, ...] = (a.dtype if type(a) is onp.ndarray else type_of(a),)
        else:
            types = tuple([a.dtype if type(a) is onp.ndarray else type_of(a) for a in arrays])
        plan = plans.get(types)
        if plan is None:
            plan = plans[types] = planned(types)
        casts, out = plan
        if casts:
            inputs = list(arrays)
            for i, dtype in casts:
                inputs[i] = namespace.astype(arrays[i], dtype)
            arrays = tuple(inputs)
        result = compute(namespace, *arrays, **named)
        if op.outputs != 1:
            return tuple([finished(r, dtype, types) for r, dtype in zip(result, out, strict=True)])
        if type(result) is onp.ndarray and (out is None or result.dtype is out):
            # most frequent on the host
            return result.copy() if ordered and not result.flags.c_contiguous else result
        return finished(result, out, types)

    return apply


_OBJECT = onp.dtype(object)


def _is_element(result: Any, types: tuple[Type, ...]) -> bool:
    """Return True for an object that NumPy returns by itself: a sum of lists is a list."""
    if not isinstance(result, onp.ndarray):
        return True
    return result.dtype != _OBJECT and _OBJECT in types


def boxed(element: Any) -> onp.ndarray[Any, Any]:
    """Return an array of no axes with an object as its element, whatever the object is."""
    box = onp.empty((), object)
    box[()] = element
    return box


def chosen(op: Op, backend: str) -> Callable[..., Any]:
    """Return the compute of an operator on a backend, chosen by its strategy if there is one."""
    default = op.kernels.get(backend, op.compute)
    others = sorted([k for k in op.strategy if k.backend == backend], key=lambda k: -k.priority)
    if not others:
        return default

    def compute(namespace: Any, *arrays: Any, **attrs: Any) -> Any:
        everywhere = default
        on: dict[str, Callable[..., Any]] = {}
        for k in others:
            if k.condition is not None and not k.condition(arrays, attrs):
                continue
            if k.platform is None:
                everywhere = k.compute
                break
            on.setdefault(k.platform, k.compute)
        if not on:
            return everywhere(namespace, *arrays, **attrs)
        bound = {platform: partial(f, namespace, **attrs) for platform, f in on.items()}
        return namespace.on_platform(bound, partial(everywhere, namespace, **attrs), arrays)

    return compute


def cast(namespace: Any, array: Any, dtype: onp.dtype[Any]) -> Any:
    """Cast to the dtype; the array itself if it has the dtype and is no weak scalar."""
    if hasattr(array, "dtype") and array.dtype == dtype and not getattr(array, "weak_type", False):
        return array  # hasattr comes first, since NumPy's float64 equals None
    return namespace.astype(array, dtype)
