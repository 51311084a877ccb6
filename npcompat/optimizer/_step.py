"""Step operators: all parameters are updated in one program, in place.

Everything that a step reads and writes (weights, states, counts, the learning rate, multipliers) is
an array. So a step can be compiled with the rest of training, and changing the learning rate does
not recompile.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as onp

from npcompat._internal.core import modes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import execution, ownership

_float64 = onp.dtype("float64")


def step_types(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    return [_float64, _float64, *[None] * (len(types) - 2)], None


def _step(
    xp: Any,
    *arrays: Any,
    places: Any,
    groups: int,
    sizes: Any,
    rule: str,
    hyper: Any,
    clip: float | None,
    masters: Any,
    marks: Any,
    guarded: bool,
) -> Any:
    """Optimizer step of a rule, as an operator.

    Learning rate, gradient scale, counts, factors, decays, weights, gradients, states -> weights,
    states, counts.
    """
    rest = iter(arrays)
    lr, rescale = next(rest), next(rest)
    usable = next(rest) if guarded else None
    counts, factors, decays = ([next(rest) for _ in range(groups)] for _ in range(3))
    weights, grads = ([next(rest) for _ in places] for _ in range(2))
    states = [[next(rest) for _ in range(size)] for size in sizes]
    for weight, state, master in zip(weights, states, masters, strict=True):
        if master:
            state[0] = master_of(xp, weight, state[0])
    new = xp.optimizer_step(
        lr,
        rescale,
        counts,
        factors,
        decays,
        weights,
        grads,
        states,
        places,
        rule,
        hyper,
        clip,
        masters,
        marks,
    )
    return tuple(
        kept_unless(xp, usable, new, [*weights, *[a for state in states for a in state], *counts])
    )


def master_of(xp: Any, weight: Any, master: Any) -> Any:
    """Return the float32 copy of a weight, made anew where the weight was set since the last step.

    A step rounds the copy to the weight. Bits are compared, as XLA may leave out that a float is
    rounded before it is compared.
    """
    bits = f"uint{8 * weight.dtype.itemsize}"
    same = master.astype(weight.dtype).view(bits) == weight.view(bits)
    return xp.where(same, master, weight.astype(master.dtype))


def kept_unless(xp: Any, usable: Any, new: Sequence[Any], old: Sequence[Any]) -> Sequence[Any]:
    """Return the new values of a step; the old ones if its gradients are not usable."""
    return (
        new if usable is None else [xp.where(usable, a, b) for a, b in zip(new, old, strict=True)]
    )


@cache
def _step_op(outputs: int) -> Op:
    """Return the step operator for a number of outputs; the backend caches by everything else."""
    names = ("places", "groups", "sizes", "rule", "hyper", "clip", "masters", "marks", "guarded")
    compute = _step if outputs > 1 else lambda xp, *arrays, **attrs: _step(xp, *arrays, **attrs)[0]
    return Op(
        "_npx_optimizer_step",
        compute,
        ("arrays",),
        variadic=True,
        attrs=dict.fromkeys(names),
        rule=step_types,
        outputs=outputs,
        kernels={"jax": compute},
        differentiable=False,
    )


def run_in_place(
    op: Op, values: list[Value], attrs: Any, written: Sequence[Handle], positions: tuple[int, ...]
) -> Any:
    """Run an operator that reuses the buffers of its written operands.

    Buffers that are shared with others are copied first.
    """
    if modes.current().trace is not None or any(
        h._view is not None or isinstance(h._value.payload, onp.ndarray) for h in written
    ):
        return execution.run(op, values, attrs)
    payloads = [v.payload for v in values]
    ownership.release(values, payloads, [i in positions for i in range(len(values))])
    return execution.run(
        op,
        [Value(p) if v is None else v for v, p in zip(values, payloads, strict=True)],
        attrs,
        positions,
    )
