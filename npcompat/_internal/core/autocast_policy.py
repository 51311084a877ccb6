"""Autocast policy: the precision in which each operator computes, if not that of its operands.

`npcompat.amp` sets it for the whole process. It is read when a program is made, so it costs nothing
per call; a change of policy drops the programs of the operators that it concerns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.native import fast_path

_FLOAT32 = onp.dtype("float32")


@dataclass(frozen=True)
class Policy:
    """Operators by name: those of `narrow` compute in `target`, those of `wide` in float32.

    `conditional` gives, for operators of `narrow`, attributes with the values for which they are of
    `wide`.
    """

    target: onp.dtype[Any]
    narrow: frozenset[str]
    wide: frozenset[str]
    conditional: Mapping[str, tuple[tuple[str, frozenset[Any]], ...]] = field(default_factory=dict)

    def names(self) -> set[str]:
        """Names of the operators that the policy concerns."""
        return {*self.narrow, *self.wide, *self.conditional}


_current: list[Policy | None] = [None]


def current() -> Policy | None:
    """Return the policy in force, or None."""
    return _current[0]


def change(policy: Policy | None) -> None:
    """Set a policy, or none, and drop the programs of the operators that it concerns."""
    touched = {name for p in (_current[0], policy) if p is not None for name in p.names()}
    _current[0] = policy
    fast_path.use_only_programs(policy is not None)
    for name in touched:
        REGISTRY[name].programs.clear()


def adjusted(
    name: str, types: tuple[Any, ...], attrs: Mapping[str, Any], resolution: dtypes.Resolution
) -> dtypes.Resolution:
    """Apply the policy to the type resolution of an operator; an explicit `dtype` wins over it."""
    policy = _current[0]
    if policy is None or attrs.get("dtype") is not None:
        return resolution
    wide = name in policy.wide or any(
        attrs.get(key) in values for key, values in policy.conditional.get(name, ())
    )
    if not wide and name not in policy.narrow and name not in policy.conditional:
        return resolution
    casts, out = resolution
    wanted = [t if cast is None else cast for t, cast in zip(types, casts, strict=True)]
    if wide:
        if not any(_is_narrow(t) for t in types):
            return resolution
        return [
            _FLOAT32 if _is_narrow(t) else cast for t, cast in zip(wanted, casts, strict=True)
        ], _each(out, _FLOAT32)
    if not all(t == _FLOAT32 or _is_narrow(t) for t in wanted if _is_float(t)):
        return resolution  # float64 is never narrowed
    return [
        policy.target if _is_float(t) else cast for t, cast in zip(wanted, casts, strict=True)
    ], _each(out, policy.target)


def _is_float(dtype: Any) -> bool:
    return isinstance(dtype, onp.dtype) and dtypes.is_float(dtype)


def _is_narrow(dtype: Any) -> bool:
    return _is_float(dtype) and dtype.itemsize == 2


def _each(out: Any, dtype: onp.dtype[Any]) -> Any:
    """Replace floats of at most 32 bits in the dtype of the output, or in those of a tuple."""
    if isinstance(out, tuple):
        return tuple([_each(o, dtype) for o in out])
    return dtype if out == _FLOAT32 or _is_narrow(out) else out
