"""Traced numbers: Python numbers, weakly typed, that are known when a compiled function runs."""

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.core.handle import Value
from npcompat._internal.support.errors import TracedValueError, user_location


class TracedNumber:
    """Weakly typed number of a trace, such as a result of arithmetic with lengths.

    Operators on arrays take it like a Python number.
    """

    __slots__ = ("_payload",)

    def __init__(self, payload: Any) -> None:
        self._payload = payload

    @property
    def payload(self) -> Any:
        """The number, weakly typed."""
        return self._payload

    def as_operand(self) -> Value:
        """Return the number as an operand of an operator."""
        return Value(self.payload)

    @property
    def may_be(self) -> tuple[Any, ...]:
        """Types that the number may have, as data decide; empty if it is a number of Python's."""
        return ()

    def check_stored(self, dtype: Any) -> None:
        """Raise, or let the program raise, if the number can't be an element of a dtype."""

    def needs_wider(self, op: Any, dtype: Any) -> bool:
        """Return True if an operator with elements of a dtype computes with 64 bits."""
        return False

    def check_default(self, use: str) -> None:
        """Raise if it is not known which dtype an array has that is made of the number."""

    def as_result(self) -> Value:
        """Return the number as a scalar, which a compiled function can return."""
        return Value(self.payload)

    def _unknown(self, *_: Any) -> Any:
        raise TracedValueError(
            f"{user_location()}: a number is asked for while the function is being compiled, when "
            "it is not known yet"
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TracedNumber | int | float):
            self._unknown()
        return False

    def __hash__(self) -> int:
        return id(self)

    __bool__ = __index__ = __int__ = __float__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown


def has_one_meaning(op: Any, types: Sequence[Any], numbers: Sequence[Any], attrs: Any) -> bool:
    """Return True if an operator has the same dtypes, whichever types its operands have.

    Parameters
    ----------
    types : sequence
        Types of the operands.
    numbers : sequence of TracedNumber or None
        Operands that may have several types.
    """
    several = [() if number is None else number.may_be for number in numbers]
    if not any(several):
        return True
    options = [kinds or (kind,) for kind, kinds in zip(types, several, strict=True)]
    found = []
    for own in itertools.product(*options):
        casts, dtype = op.rule(own, attrs)
        found.append(([c or t for c, t in zip(casts, own, strict=True)], dtype))
    return all([one == found[0] for one in found])


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


INT_OPERAND_LIMIT = 2**31
"""Upper bound, exclusive, of an int argument that is an operand of a program."""
_WIDEST = 2**63


class NumberGuards:
    """Guards on numbers among a compiled function's arguments that are operands of its program.

    The function is traced inside this context. On exit it raises TracedValueError if the function
    has read a value, even if the function caught the first error.
    """

    __slots__ = ("asked", "limits")

    def __init__(self) -> None:
        self.asked: set[int] = (
            set()
        )  # positions of the arguments whose values were read, which can't be operands
        self.limits: list[
            tuple[Callable[[Sequence[Any]], int], int]
        ] = []  # (position in an axis as a function of the arguments, length of the axis)

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: Any
    ) -> None:
        if self.asked and (kind is None or issubclass(kind, Exception)):
            raise TracedValueError(
                "a compiled function asks for the value of a number among its arguments"
            ) from error

    def hold(self, arguments: Sequence[Any]) -> bool:
        """True if all positions are within their axes, so that the program can run."""
        return all([-size <= position(arguments) < size for position, size in self.limits])


class NumberArgument(TracedNumber):
    """Number among a compiled function's arguments, or computed from some, that is an operand.

    `isinstance` takes it for an int, a float or a NumPy scalar. It supports the operations that
    give the same result as with that number: arithmetic with arrays, sums, differences and products
    of numbers, positions. Everything else needs the value, and raises TracedValueError.

    Parameters
    ----------
    payload : tracer
        The number, weakly typed if it is Python's.
    kind : type
        int, float or a class of NumPy's.
    bound : int
        Upper bound of the absolute value of an int; 64 bits must hold it.
    positions : frozenset of int
        Positions of the arguments that the number was computed from.
    of : callable
        Computes the number from the arguments.
    uses : NumberGuards
        Guards of the program, to which positions and reads of values are added.
    """

    __slots__ = ("bound", "kind", "of", "positions", "uses")

    def __init__(
        self,
        payload: Any,
        kind: type,
        bound: int,
        positions: frozenset[int],
        of: Callable[[Sequence[Any]], Any],
        uses: NumberGuards,
    ) -> None:
        super().__init__(payload)
        self.kind, self.bound, self.positions, self.of, self.uses = kind, bound, positions, of, uses

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.kind

    def _unknown(self, *_: Any, **__: Any) -> Any:
        self.uses.asked |= self.positions
        return TracedNumber._unknown(self)

    def value(self) -> Any:
        """Raise TracedValueError, and note that the arguments can't be operands."""
        return self._unknown()

    def check(self, op: Any, dtype: Any) -> None:
        """Raise if the value decides about an error: whether it fits a dtype, or is a power."""
        narrow = dtype is not None and dtype.kind in "iu" and dtype.itemsize < 8
        unsigned = dtype is not None and dtype.kind == "u"
        if op.name == "_npi_power" or (self.kind is int and (narrow or unsigned)):
            self.value()

    def __getattr__(self, name: str) -> Any:
        if hasattr(self.kind, name):
            self.value()
        raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")

    def within(self, size: int) -> "Position":
        """Return the position in an axis of this length; the bounds are a guard of the program."""
        if type(size) is not int:
            self.value()
        limit = self.of, size
        if limit not in self.uses.limits:
            self.uses.limits.append(limit)
        return Position(tracing.counted_from_zero(self.payload, size), limit)

    def _made(self, compute: Any, *numbers: Any) -> Any:
        """Return the result of arithmetic if it equals that of Python's numbers, else raise."""
        if not all([_kind(n) in (int, float) for n in numbers]):
            return self._unknown()  # arithmetic of NumPy scalars has a dtype, and may warn
        bounds = [
            n.bound if type(n) is NumberArgument else abs(n) for n in numbers if _kind(n) is int
        ]
        bound = math.prod(bounds) if compute is operator.mul else sum(bounds)
        kind = int if len(bounds) == len(numbers) else float
        if max(bounds, default=0) >= _WIDEST or (kind is int and bound >= _WIDEST):
            return self._unknown()
        positions = frozenset[int]().union(
            *[n.positions for n in numbers if type(n) is NumberArgument]
        )
        payload = tracing.exactly(
            compute, *[n.payload if type(n) is NumberArgument else n for n in numbers]
        )

        def of(arguments: Sequence[Any]) -> Any:
            return compute(*[n.of(arguments) if type(n) is NumberArgument else n for n in numbers])

        return NumberArgument(payload, kind, bound, positions, of, self.uses)

    def __neg__(self) -> Any:
        return self._made(operator.neg, self)

    def __pos__(self) -> Any:
        return self

    __eq__ = __ne__ = __hash__ = __str__ = __repr__ = __format__ = __array__ = __reduce_ex__ = (
        _unknown
    )
    __bool__ = __index__ = __int__ = __float__ = __complex__ = __lt__ = __le__ = __gt__ = __ge__ = (
        _unknown
    )
    __abs__ = __round__ = __trunc__ = __floor__ = __ceil__ = _unknown


class Position(TracedNumber):
    """Position in an axis that a number among the arguments gives."""

    __slots__ = ("limit",)

    def __init__(self, payload: Any, limit: tuple[Any, int]) -> None:
        super().__init__(payload)
        self.limit = limit

    def place(self, arguments: Sequence[Any]) -> int:
        """Return the position for these arguments, counted from zero."""
        position, size = int(self.limit[0](arguments)), self.limit[1]
        return position + size if position < 0 else position

    def __eq__(self, other: object) -> bool:
        return type(other) is Position and self.limit == other.limit

    def __hash__(self) -> int:
        return hash(self.limit)


def _kind(number: Any) -> type:
    return number.kind if type(number) is NumberArgument else type(number)


def _exact(name: str, reflected: bool) -> Any:
    """Return the method of a sum, difference or product, which are exact for numbers."""
    compute = getattr(operator, name)

    def method(self: NumberArgument, other: Any) -> Any:
        if type(other) not in (int, float, NumberArgument):
            return _asking(self, other)
        return self._made(compute, *((other, self) if reflected else (self, other)))

    return method


def _asking(self: NumberArgument, other: Any, *_: Any) -> Any:
    """Raise for an operator that XLA rounds differently, or for which Python may raise."""
    return (
        self.value()
        if type(other) in (int, float, complex, bool, NumberArgument)
        else NotImplemented
    )


for _name in ("add", "sub", "mul"):
    setattr(NumberArgument, f"__{_name}__", _exact(_name, False))
    setattr(NumberArgument, f"__r{_name}__", _exact(_name, True))
for _name in (
    "floordiv",
    "truediv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
    "matmul",
):
    setattr(NumberArgument, f"__{_name}__", _asking)
    setattr(NumberArgument, f"__r{_name}__", _asking)


__all__ = [
    "INT_OPERAND_LIMIT",
    "NumberArgument",
    "NumberGuards",
    "Position",
    "TracedNumber",
    "has_one_meaning",
]
