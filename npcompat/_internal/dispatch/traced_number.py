"""Numbers that are known when a compiled function runs, and are Python's for all that: they have no
say in dtypes.
"""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from npcompat._internal.backend.jaxpr import tracing
from npcompat._internal.support.errors import TracedValueError, user_location


class TracedNumber:
    """What arithmetic of lengths and Python's numbers gives; with arrays it takes part in operators
    as Python's do.
    """

    __slots__ = ("_payload",)

    def __init__(self, payload: Any) -> None:
        self._payload = payload

    @property
    def payload(self) -> Any:
        """The number, weakly typed."""
        return self._payload

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
"""What an int that is an operand of a program must be less than."""
_WIDEST = 2**63


class NumberGuards:
    """What a compiled function does with numbers among its arguments that are operands of its
    program; a context to trace it in.

    The context raises TracedValueError if a value was asked for, whatever the function made of that
    error.
    """

    __slots__ = ("asked", "limits")

    def __init__(self) -> None:
        self.asked: set[int] = (
            set()
        )  # positions of those whose values it asks for, so that they can't be operands
        self.limits: list[
            tuple[Callable[[Sequence[Any]], int], int]
        ] = []  # positions in axes, as functions of the arguments, and lengths

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
        """Whether the program can be run: all positions are in their axes."""
        return all([-size <= position(arguments) < size for position, size in self.limits])


class NumberArgument(TracedNumber):
    """A number among the arguments of a compiled function, or made of some, that is an operand of
    the program.

    It is an int, a float or one of NumPy's for all that ask what it is, and takes part in what
    gives the same as with that number: arithmetic with arrays, sums, differences and products of
    numbers, positions. Whatever else asks for the value is an error.

    Parameters
    ----------
    payload : tracer
        The number, weakly typed if it is Python's.
    kind : type
        int, float or a class of NumPy's.
    bound : int
        What an int is not greater than, nor less than its negative; 64 bits must hold it.
    positions : frozenset of int
        Of which arguments the number was made.
    of : callable
        Makes it of the arguments.
    uses : Uses
        Where is noted what is done with it.
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
        """Ask for the value, which is an error."""
        return self._unknown()

    def check(self, op: Any, dtype: Any) -> None:
        """Ask for the value where it decides whether a dtype can hold it, or an error."""
        narrow = dtype is not None and dtype.kind in "iu" and dtype.itemsize < 8
        unsigned = dtype is not None and dtype.kind == "u"
        if op.name == "_npi_power" or (self.kind is int and (narrow or unsigned)):
            self.value()

    def __getattr__(self, name: str) -> Any:
        if hasattr(self.kind, name):
            self.value()
        raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")

    def within(self, size: int) -> "Position":
        """The position in an axis of this length; before each run of the program it is looked
        whether there is one.
        """
        if type(size) is not int:
            self.value()
        limit = self.of, size
        if limit not in self.uses.limits:
            self.uses.limits.append(limit)
        return Position(tracing.counted_from_zero(self.payload, size), limit)

    def _made(self, compute: Any, *numbers: Any) -> Any:
        """What arithmetic gives, if it is the same as with Python's numbers."""
        if not all([_kind(n) in (int, float) for n in numbers]):
            return self._unknown()  # NumPy's have a dtype, and warn
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
    """Where a number among the arguments points in an axis."""

    __slots__ = ("limit",)

    def __init__(self, payload: Any, limit: tuple[Any, int]) -> None:
        super().__init__(payload)
        self.limit = limit

    def place(self, arguments: Sequence[Any]) -> int:
        """The position itself, counted from zero."""
        position, size = int(self.limit[0](arguments)), self.limit[1]
        return position + size if position < 0 else position

    def __eq__(self, other: object) -> bool:
        return type(other) is Position and self.limit == other.limit

    def __hash__(self) -> int:
        return hash(self.limit)


def _kind(number: Any) -> type:
    return number.kind if type(number) is NumberArgument else type(number)


def _exact(name: str, reflected: bool) -> Any:
    """A sum, difference or product of numbers."""
    compute = getattr(operator, name)

    def method(self: NumberArgument, other: Any) -> Any:
        if type(other) not in (int, float, NumberArgument):
            return _asking(self, other)
        return self._made(compute, *((other, self) if reflected else (self, other)))

    return method


def _asking(self: NumberArgument, other: Any, *_: Any) -> Any:
    """Quotients and powers: of numbers they round otherwise, or raise."""
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


__all__ = ["INT_OPERAND_LIMIT", "NumberArgument", "NumberGuards", "Position", "TracedNumber"]
