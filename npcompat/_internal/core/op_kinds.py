"""Kinds of operators: a kind holds the code that a family shares, a member only its own function.

    @for_axis("_npx_scan_sum", rule=dtypes.first)
    def _scan_sum(xp, a, axis):
        return xp.cumsum(a, axis=axis)

A kind adds inputs and attributes to the member's own, handles axes and windows, and sets the
pattern. Inference, gradients and tests are those of any operator. NumPy's ufuncs are declared by
`op.elementwise`.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import REQUIRED, Op, from_function, normalized_axes, register
from npcompat._internal.support.errors import OperatorError

Compute = Callable[..., Any]
Declare = Callable[[Compute], Op]


def unary(name: str, **declaration: Any) -> Declare:
    """Declare an elementwise operator of one operand: `f(xp, x, *, ...)`."""
    return _plain(name, 1, {"pattern": "elementwise", "rule": dtypes.floating, **declaration})


def binary(name: str, **declaration: Any) -> Declare:
    """Declare an operator of two operands, which broadcast: `f(xp, x1, x2, *, ...)`."""
    return _plain(name, 2, {"pattern": "broadcast", "rule": dtypes.promote, **declaration})


def broadcast(name: str, **declaration: Any) -> Declare:
    """Declare an operator of operands that broadcast: `f(xp, x, y, z, *, ...)`.

    If the last parameter has a star, `f(xp, *arrays)`, the number of operands is free.
    """
    return _plain(name, None, {"pattern": "broadcast", "rule": dtypes.promote, **declaration})


def for_axis(name: str, **declaration: Any) -> Declare:
    """Declare an operator along an axis that keeps the shape: `f(xp, a, axis, *, ...)`.

    Its attribute `axis` is an int, or None for all elements in C order; the function gets a valid,
    non-negative axis.
    """

    def around(compute: Compute, xp: Any, a: Any, *, axis: int | None, **attrs: Any) -> Any:
        a = (
            xp.reshape(a, (-1,)) if axis is None or a.ndim == 0 else a
        )  # NumPy counts a scalar as an array of one axis, too
        if axis is None or not 0 <= axis < a.ndim:
            (axis,) = normalized_axes(axis or 0, a.ndim)
        return compute(xp, a, axis, **attrs)

    return _around(name, around, ("a",), {"axis": None}, {"rule": dtypes.first, **declaration})


def reduce_axis(name: str, **declaration: Any) -> Declare:
    """Declare a reduction: `f(xp, a, axes, *, ...)`.

    Its attributes are `axis` (None, an int, or a tuple) and `keepdims`. The function gets a tuple
    of valid, non-negative axes, and its result lacks them.
    """

    def around(
        compute: Compute, xp: Any, a: Any, *, axis: Any, keepdims: bool, **attrs: Any
    ) -> Any:
        axes = normalized_axes(axis, a.ndim)
        found = compute(xp, a, axes, **attrs)
        return xp.expand_dims(found, axes) if keepdims else found

    return _around(
        name,
        around,
        ("a",),
        {"axis": None, "keepdims": False},
        {"pattern": "reduction", "rule": dtypes.floating, **declaration},
    )


def convolution(name: str, fill: float = 0, **declaration: Any) -> Declare:
    """Declare a convolution of data with filters: `f(xp, windows, weight, *, ...)`.

    The inputs are a batch `x` (N, C, ...) and filters `weight` (F, C, ...). The attributes
    `stride`, `dilate` and `pad` are tuples of one int for each spatial axis; padding has the value
    `fill`. The function gets windows (N, 1, C, K, ...) and weights (F, C, K, 1, ...) with K
    elements in each window. It reduces axes 2 and 3, so its result is (N, F, ...).
    """

    def around(
        compute: Compute,
        xp: Any,
        x: Any,
        weight: Any,
        *,
        stride: Any,
        dilate: Any,
        pad: Any,
        **attrs: Any,
    ) -> Any:
        if x.ndim < 3 or weight.ndim != x.ndim or weight.shape[1] != x.shape[1]:
            raise ValueError(
                f"{name}: expected data (N, C, ...) and weight (F, C, ...) with as many axes and "
                f"channels, got {x.shape} and {weight.shape}"
            )
        found = windows(xp, name, x, weight.shape[2:], stride, dilate, pad, fill)
        flat = xp.reshape(weight, (*weight.shape[:2], -1, *(1,) * (x.ndim - 2)))
        return compute(xp, xp.expand_dims(found, 1), flat, **attrs)

    attributes = {"stride": (), "dilate": (), "pad": ()}
    chosen = {"pattern": "complex", "scalars": False, "rule": dtypes.floating, **declaration}
    return _around(name, around, ("x", "weight"), attributes, chosen)


def pooling(name: str, fill: float = 0, **declaration: Any) -> Declare:
    """Declare a pooling operator, which reduces each window: `f(xp, windows, *, ...)`.

    The input is a batch `x` (N, C, ...). The attributes `kernel`, `stride` and `pad` are tuples of
    one int for each spatial axis; padding has the value `fill`. The function gets windows
    (N, C, K, ...) and reduces axis 2, so its result is (N, C, ...).
    """

    def around(
        compute: Compute, xp: Any, x: Any, *, kernel: Any, stride: Any, pad: Any, **attrs: Any
    ) -> Any:
        if x.ndim < 3:
            raise ValueError(f"{name}: expected data (N, C, ...), got shape {x.shape}")
        return compute(xp, windows(xp, name, x, kernel, stride, (), pad, fill), **attrs)

    chosen = {"pattern": "complex", "scalars": False, "rule": dtypes.floating, **declaration}
    return _around(name, around, ("x",), {"kernel": REQUIRED, "stride": (), "pad": ()}, chosen)


def windows(
    xp: Any,
    name: str,
    x: Any,
    kernel: Sequence[int],
    stride: Any,
    dilate: Any,
    pad: Any,
    fill: float,
) -> Any:
    """Return the sliding windows of data (N, C, ...), as (N, C, K, ...).

    Axis 2 runs over the K places of a window in C order, the last axes over the windows.
    """
    spatial = x.ndim - 2
    geometry = {
        "kernel": kernel,
        "stride": stride or (1,) * spatial,
        "dilate": dilate or (1,) * spatial,
        "pad": pad or (0,) * spatial,
    }
    for argument, sizes in geometry.items():
        if len(sizes) != spatial or any([n < (argument != "pad") for n in sizes]):
            least = 0 if argument == "pad" else 1
            raise ValueError(
                f"{name}: {argument} needs an int of at least {least} for each of {spatial} "
                f"spatial axes, got {sizes}"
            )
    covered = [(k - 1) * d + 1 for k, d in zip(geometry["kernel"], geometry["dilate"], strict=True)]
    lengths = [
        (n + 2 * p - c) // s + 1
        for n, p, c, s in zip(
            x.shape[2:], geometry["pad"], covered, geometry["stride"], strict=True
        )
    ]
    if any([n < 1 for n in lengths]):
        raise ValueError(
            f"{name}: windows of {tuple(covered)} do not fit into data of shape {x.shape} with "
            f"padding {tuple(geometry['pad'])}"
        )
    padded = xp.pad(x, [(0, 0), (0, 0), *[(p, p) for p in geometry["pad"]]], constant_values=fill)
    parts = []
    for place in itertools.product(*map(range, geometry["kernel"])):
        starts = [i * d for i, d in zip(place, geometry["dilate"], strict=True)]
        taken = [
            slice(b, b + (n - 1) * s + 1, s)
            for b, n, s in zip(starts, lengths, geometry["stride"], strict=True)
        ]
        parts.append(padded[(slice(None), slice(None), *taken)])
    return xp.stack(parts, axis=2)


def _plain(name: str, inputs: int | None, declaration: dict[str, Any]) -> Declare:
    """Declare an operator with the function's own inputs, whose number the kind prescribes."""

    def declare(compute: Compute) -> Op:
        op = from_function(name, compute, **declaration)
        if inputs is not None and (len(op.inputs) != inputs or op.variadic):
            raise OperatorError(
                f"{name}: this kind of operators has {inputs} inputs, the function has "
                f"{', '.join(op.inputs) or 'none'}"
            )
        return register(op)

    return declare


def _around(
    name: str,
    around: Compute,
    inputs: tuple[str, ...],
    attributes: dict[str, Any],
    declaration: dict[str, Any],
) -> Declare:
    """Declare an operator whose compute is `around` with the function as its first argument.

    The inputs are the kind's, the attributes those of the kind and of the function. Kernels of
    backends are wrapped in the same way.
    """

    def declare(compute: Compute) -> Op:
        own = from_function(name, compute, **declaration)

        def within_kind(kernel: Compute) -> Compute:
            @functools.wraps(kernel)
            def whole(xp: Any, *arrays: Any, **attrs: Any) -> Any:
                return around(kernel, xp, *arrays, **attrs)

            return whole

        return register(
            dataclasses.replace(
                own,
                compute=within_kind(compute),
                kernels={b: within_kind(k) for b, k in own.kernels.items()},
                strategy=tuple(
                    [dataclasses.replace(k, compute=within_kind(k.compute)) for k in own.strategy]
                ),
                inputs=inputs,
                variadic=False,
                attrs={**attributes, **own.attrs},
            )
        )

    return declare


__all__ = [
    "binary",
    "broadcast",
    "convolution",
    "for_axis",
    "pooling",
    "reduce_axis",
    "unary",
    "windows",
]
