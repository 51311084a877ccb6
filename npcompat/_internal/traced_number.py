"""Numbers that are known when a compiled function runs, and are Python's for all that: they have no say in dtypes."""

import operator
from typing import Any

from npcompat._internal.backend import jax_tracing as tracing
from npcompat._internal.errors import TracedValueError, user_location


class TracedNumber:
    """What arithmetic of lengths and Python's numbers gives; with arrays it takes part in operators as Python's do."""

    __slots__ = ("_payload",)

    def __init__(self, payload: Any) -> None:
        self._payload = payload

    @property
    def payload(self) -> Any:
        """The number, weakly typed."""
        return self._payload

    def _unknown(self, *_: Any) -> Any:
        raise TracedValueError(f"{user_location()}: a number is asked for while the function is being compiled, when it is not known yet")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TracedNumber | int | float):
            self._unknown()
        return False

    def __hash__(self) -> int:
        return id(self)

    __bool__ = __index__ = __int__ = __float__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown


def _arithmetic(name: str, reflected: bool) -> Any:
    compute = getattr(operator, name)

    def method(self: TracedNumber, other: Any) -> Any:
        if not isinstance(other, TracedNumber | int | float):
            return NotImplemented
        numbers = self.payload, other.payload if isinstance(other, TracedNumber) else other
        return TracedNumber(tracing.exactly(compute, *(numbers[::-1] if reflected else numbers)))

    return method


for _name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow"):
    setattr(TracedNumber, f"__{_name}__", _arithmetic(_name, False))
    setattr(TracedNumber, f"__r{_name}__", _arithmetic(_name, True))


__all__ = ["TracedNumber"]
