"""Values without their history, which are constants in derivatives."""

from typing import Any

from npcompat._internal.core import modes
from npcompat._internal.core.handle import Value
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.execution import run


@operator("_npi_stop_gradient", pattern="elementwise", differentiable=False)
def _stop_gradient(xp: Any, x: Any) -> Any:
    """Identity without a derivative."""
    return xp.stop_gradient(x)


def detached(value: Value) -> Value:
    """Return the same payload without its node.

    In a trace it is also a constant in the derivative of the whole program.
    """
    if modes.current().trace is None:
        return Value(value.payload)
    result: Value = run(_stop_gradient, [value])
    return result


__all__ = ["detached"]
