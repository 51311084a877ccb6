"""Symbolic numbers: Python ints, floats and bools inside a compiled loop or branch.

An int carries an interval, and an affine form: a sum of multiples of other ints (loop indices,
lengths) and an offset. A loop index also knows the affine forms that bound it: in a loop over
`range(i)`, `i - 1 - j` is never negative. So comparisons that have the same result in every round
are Python bools, positions that are always within an axis are not checked, and slices with equal
bounds are known to be equal.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.dispatch.traced_number import NumberArgument, TracedNumber
from npcompat._internal.support.errors import TracedValueError, user_location

INFINITE = math.inf
Interval = tuple[float, float]
Terms = tuple[tuple[int, int], ...]
"""Affine terms, sorted: (number of the int, coefficient)."""
Form = tuple[Terms, int]
Limits = dict[int, tuple[Form, Form]]
"""Loop indices that occur in an affine form, each with its least and its greatest affine form."""
_WIDE, _EXACT = 2**63, 2**53
_counted = [0]


class SymbolicNumber(TracedNumber):
    """Number whose value is only known when the program runs.

    Parameters
    ----------
    payload : tracer
        The number, weakly typed.
    kind : type
        int, float or bool.
    low, high : int
        The interval that an int lies in.
    terms, offset : Terms, int
        Affine form of an int. Without terms the int becomes a new variable.
    limits : Limits
        Forms that bound the loop indices in the terms.
    """

    __slots__ = ("high", "kind", "limits", "low", "offset", "terms")
    __array_priority__ = 0.0  # NumPy's scalars leave operators to this class

    def __init__(
        self,
        payload: Any,
        kind: type,
        low: float = -INFINITE,
        high: float = INFINITE,
        terms: Terms | None = None,
        offset: int = 0,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(payload)
        self.kind = kind
        self.low: float = 0 if kind is bool else low
        self.high: float = 1 if kind is bool else high
        if terms is None:
            _counted[0] += 1
            terms = ((_counted[0], 1),)
        self.terms, self.offset, self.limits = terms, offset, limits or {}

    def limit(self, least: Form, greatest: Form) -> None:
        """Note the affine forms between which a loop index lies in every round."""
        ((which, _),) = self.terms
        self.limits = {which: (least, greatest)}

    @property
    def form(self) -> Form:
        """Affine form; numbers with equal forms are equal in every round."""
        return self.terms, self.offset

    def _unknown(self, *_: Any, **__: Any) -> Any:
        raise TracedValueError(
            f"{user_location()}: the value of a number is asked for, which is only known when the "
            "compiled loop or branch runs"
        )

    def value(self) -> Any:
        """Raise TracedValueError, because the value is not known."""
        return self._unknown()

    def check(self, op: Op, dtype: Any) -> None:
        """Let the program raise NumPy's error if the number does not fit the operand's dtype."""
        if op.name == "_npi_power" and self.kind is int and self.low < 0:
            self.value()
        if dtype is None or onp.dtype(dtype).kind not in "iu":
            return
        if self.kind is not int:
            self.check_stored(onp.dtype(dtype))
            return
        if op.name in _COMPARING and onp.dtype(dtype) != onp.int64 and not self.fits(dtype):
            self.value()
        self.expect_fits(onp.dtype(dtype))

    def check_stored(self, dtype: Any) -> None:
        """Let the program raise NumPy's error if the number can't be an element of a dtype."""
        if dtype.kind not in "iu":
            return
        if self.kind is float:
            message = "cannot convert float NaN to integer"
            expect(numbers.is_nan(self.payload), ValueError, message)
            message = "cannot convert float infinity to integer"
            expect(numbers.is_infinite(self.payload), OverflowError, message)
        elif self.kind is int:
            self.expect_fits(dtype)

    def needs_wider(self, op: Op, dtype: Any) -> bool:
        """Return True if an operator with elements of a dtype computes with 64 bits: comparisons
        are exact, also with ints that the dtype does not hold.
        """
        narrow = dtype.kind in "iu" and dtype.itemsize < 8
        return self.kind is int and op.name in _COMPARING and narrow and not self.fits(dtype)

    def fits(self, dtype: Any) -> bool:
        """Return True if the int fits a dtype in every round."""
        info = onp.iinfo(dtype)
        return bool(info.min <= self.low and self.high <= info.max)

    def expect_fits(self, dtype: onp.dtype[Any]) -> None:
        """Let the program raise NumPy's error if the int does not fit a dtype."""
        if self.fits(dtype) or (dtype == onp.int64):
            return
        info = onp.iinfo(dtype)
        low, high = max(info.min, -_WIDE), min(info.max, _WIDE - 1)
        expect(
            numbers.outside(self.payload, low, high),
            OverflowError,
            f"a Python integer is out of bounds for {dtype}",
        )

    def as_number(self) -> "SymbolicNumber":
        """Return a bool as an int, as arithmetic does; other numbers unchanged."""
        if self.kind is not bool:
            return self
        return SymbolicNumber(numbers.weak(int, self.payload), int, 0, 1)

    def __repr__(self) -> str:
        return f"<{self.kind.__name__} known when the program runs>"

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and hasattr(self.kind, name):
            raise TracedValueError(
                f"{user_location()}: the attribute {name!r} of a number is asked for, which is "
                "only known when the compiled loop or branch runs"
            )
        kind = self.kind.__name__
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    @property
    def __array_interface__(self) -> Any:
        # NumPy would make an array of objects of it
        return self._unknown()

    @property
    def real(self) -> "SymbolicNumber":
        """The number itself; an int for a bool."""
        return self.as_number() if self.kind is bool else self

    @property
    def imag(self) -> Any:
        """Zero."""
        return 0.0 if self.kind is float else 0

    def conjugate(self) -> "SymbolicNumber":
        """Return the number itself; an int for a bool."""
        return self.real

    def __neg__(self) -> Any:
        return self._floating("neg") if self.kind is float else arithmetic("mul", self, -1)

    def __pos__(self) -> Any:
        return self.as_number()

    def __abs__(self) -> Any:
        number = self.as_number()
        if number.kind is float:
            return number._floating("abs")
        if number.low >= 0:
            return number
        if number.low <= -_WIDE:
            expect(numbers.outside(number.payload, -_WIDE + 1, _WIDE - 1), OverflowError, _TOO_LONG)
        return SymbolicNumber(
            numbers.computed("abs", int, number.payload), int, *_absolute(interval(number))
        )

    def _floating(self, name: str) -> "SymbolicNumber":
        return SymbolicNumber(numbers.computed(name, float, self.payload), float)

    def __invert__(self) -> Any:
        if self.kind is float:
            raise TypeError("bad operand type for unary ~: 'float'")
        return arithmetic("sub", -1, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __hash__(self) -> int:
        found: int = self._unknown()
        return found

    __bool__ = __index__ = __int__ = __float__ = __complex__ = __str__ = __format__ = _unknown
    __round__ = __trunc__ = __floor__ = __ceil__ = __reduce_ex__ = _unknown


_TOO_LONG = "an int of Python's has more than 64 bits in a compiled loop"
_COMPARING = frozenset(
    [f"_npi_{n}" for n in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")]
)
Number = SymbolicNumber | int | float | bool


def expect(flag: Any, kind: type[Exception], message: str) -> None:
    """Let the program raise an error if a flag is set."""
    trace = modes.current().trace
    assert trace is not None
    trace.expect(flag, kind, f"{user_location()}: {message}")


def symbolic(number: Any) -> Any:
    """Return a number among a compiled function's arguments as a symbolic one; others unchanged."""
    if type(number) is not NumberArgument or number.kind not in (int, float):
        return number
    bounds = (-number.bound, number.bound) if number.kind is int else (-INFINITE, INFINITE)
    return SymbolicNumber(numbers.weak(number.kind, number.payload), number.kind, *bounds)


def payload_of(number: Any) -> Any:
    """Return the payload of a symbolic number; a Python number unchanged."""
    return number.payload if isinstance(number, SymbolicNumber) else number


def interval(number: Number) -> Interval:
    """Return the interval of an int."""
    if isinstance(number, SymbolicNumber):
        return number.low, number.high
    return number, number


def kind_of(number: Any) -> type:
    """Return the Python class of a number."""
    kind: type = number.kind if isinstance(number, SymbolicNumber) else type(number)
    return kind


def affine_form(number: Number) -> Form:
    """Return the affine form of an int; ints with equal forms are equal in every round."""
    return number.form if isinstance(number, SymbolicNumber) else ((), int(number))


def _summed(a: Any, b: Any, times: int) -> Form:
    """Return the affine form of `a + times * b`."""
    return _added(affine_form(a), affine_form(b), times)


def _added(one: Form, other: Form, times: int) -> Form:
    terms, offset = dict(one[0]), one[1]
    for which, factor in other[0]:
        terms[which] = terms.get(which, 0) + times * factor
    return tuple(sorted((k, v) for k, v in terms.items() if v)), offset + times * other[1]


def _limits(a: Any, b: Any) -> Limits:
    """Return what is known of the loop indices of two numbers."""
    one, other = [getattr(n, "limits", {}) for n in (a, b)]
    return one if not other else other if not one else {**one, **other}


def _extreme(form: Form, limits: Limits, greatest: bool) -> float:
    """Return the least or the greatest value of an affine form, if the limits of its loop indices
    tell it; else an infinite number.

    Indices of inner loops come first: their limits are forms in those of outer ones.
    """
    terms, offset = form
    while terms:
        which, factor = terms[-1]
        if which not in limits:
            return INFINITE if greatest else -INFINITE
        bound = limits[which][greatest == (factor > 0)]
        terms, offset = _added((terms[:-1], offset), bound, factor)
    return offset


def _narrowed(form: Form, limits: Limits, low: float, high: float) -> Interval:
    """Return the interval of an affine form of several ints, as the limits of loop indices say."""
    if not limits or len(form[0]) < 2:
        return low, high
    return max(low, _extreme(form, limits, False)), min(high, _extreme(form, limits, True))


def _absolute(a: Interval) -> Interval:
    low, high = a
    return (0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high)))


def _product(a: Interval, b: Interval) -> Interval:
    found = [0 if 0 in (x, y) else x * y for x in a for y in b]
    return min(found), max(found)


def _quotient(a: Interval, b: Interval) -> Interval:
    if b[0] != b[1] or b[0] <= 0:
        return -INFINITE, INFINITE
    low, high = [x if math.isinf(x) else x // b[0] for x in a]
    return low, high


def _remainder(a: Interval, b: Interval) -> Interval:
    return (0, b[1] - 1) if b[0] > 0 else (-INFINITE, INFINITE)


def _common_bits(a: Interval, b: Interval) -> Interval:
    most = [x[1] for x in (a, b) if x[0] >= 0]
    return (0, min(most)) if most else (-INFINITE, INFINITE)


def _shifted_down(a: Interval, b: Interval) -> Interval:
    if b[0] != b[1] or math.isinf(a[0]) or math.isinf(a[1]):
        return (0, a[1]) if a[0] >= 0 else (-INFINITE, INFINITE)
    return int(a[0]) >> int(b[0]), int(a[1]) >> int(b[0])


def _any(a: Interval, b: Interval) -> Interval:
    return -INFINITE, INFINITE


_INTERVALS: dict[str, Callable[[Interval, Interval], Interval]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _product,
    "floordiv": _quotient,
    "mod": _remainder,
    "and_": _common_bits,
    "rshift": _shifted_down,
}
_OF_BOOLS = ("and_", "or_", "xor")
_OF_INTS = (*_OF_BOOLS, "lshift", "rshift")
_CAN_OVERFLOW = ("add", "sub", "mul", "lshift", "pow")


def is_number(x: Any) -> bool:
    """Return True for Python's real numbers and for symbolic ones."""
    return type(x) in (int, float, bool) or isinstance(x, SymbolicNumber)


def arithmetic(name: str, a: Any, b: Any) -> Any:
    """Apply an arithmetic operator to two numbers, at least one of which is symbolic."""
    if name in _OF_BOOLS and kind_of(a) is kind_of(b) is bool:
        return SymbolicNumber(numbers.computed(name, bool, payload_of(a), payload_of(b)), bool)
    a, b = [n.as_number() if isinstance(n, SymbolicNumber) else n for n in (a, b)]
    a, b = [int(n) if type(n) is bool else n for n in (a, b)]
    floating = float in (kind_of(a), kind_of(b))
    if floating and name in _OF_INTS:
        raise TypeError(f"unsupported operand types for {name.strip('_')}: 'float' among them")
    if any([type(n) is int and not -_WIDE <= n < _WIDE for n in (a, b)]):
        raise TracedValueError(f"{user_location()}: an int of more than 64 bits in a compiled loop")
    _check_operands(name, a, b, floating)
    x, y = payload_of(a), payload_of(b)
    if floating or name == "truediv":
        return SymbolicNumber(numbers.computed(name, float, x, y), float)
    payload = numbers.computed(name, int, x, y)
    low, high = _INTERVALS.get(name, _any)(interval(a), interval(b))
    if math.isnan(low) or math.isnan(high):
        low, high = -INFINITE, INFINITE
    if name in ("add", "sub"):
        form, limits = _summed(a, b, 1 if name == "add" else -1), _limits(a, b)
        if not form[0]:
            return form[1]
        low, high = _narrowed(form, limits, low, high)
    if name in _CAN_OVERFLOW and not (low >= -_WIDE and high < _WIDE):
        expect(numbers.overflowed(name, x, y, payload), OverflowError, _TOO_LONG)
        low, high = max(low, -_WIDE), min(high, _WIDE - 1)
    if name in ("add", "sub"):
        return SymbolicNumber(payload, int, low, high, *form, limits)
    if name == "mul" and int in (type(a), type(b)):
        times, number = (a, b) if type(a) is int else (b, a)
        if not times:
            return 0
        terms = tuple([(k, v * times) for k, v in number.terms])
        offset = number.offset * times
        return SymbolicNumber(payload, int, low, high, terms, offset, number.limits)
    return SymbolicNumber(payload, int, low, high)


def _check_operands(name: str, a: Any, b: Any, floating: bool) -> None:
    """Raise for operands for which Python raises or returns another type.

    If the intervals don't decide that, the program raises.
    """
    if name in ("floordiv", "mod", "truediv"):
        low, high = interval(b)
        if not isinstance(b, SymbolicNumber):
            if b == 0:
                raise ZeroDivisionError("division by zero")
        elif b.kind is float or low <= 0 <= high:
            expect(numbers.is_zero(b.payload), ZeroDivisionError, "division by zero")
        if name == "truediv" and not floating:
            for n in (a, b):
                low, high = interval(n)
                if isinstance(n, SymbolicNumber) and not -_EXACT <= low <= high <= _EXACT:
                    flag = numbers.outside(n.payload, -_EXACT, _EXACT)
                    expect(flag, OverflowError, "a quotient of ints of more than 53 bits")
    elif name == "pow" and not (type(b) is int and b >= 0):
        raise TracedValueError(
            f"{user_location()}: a power of Python's numbers with an exponent that is no known "
            "int >= 0 may be of another type; use np.power"
        )
    elif name in ("lshift", "rshift"):
        low, high = interval(b)
        if low < 0 or high > 62:
            flag = numbers.outside(payload_of(b), 0, 62)
            expect(flag, ValueError, "a shift by a negative number, or by more than 62 bits")


def compared(name: str, a: Any, b: Any) -> Any:
    """Compare two numbers: return a bool if intervals or forms decide, else a symbolic number."""
    if float not in (kind_of(a), kind_of(b)):
        decided = _decided(name, a, b)
        if decided is not None:
            return decided
    return SymbolicNumber(numbers.computed(name, bool, payload_of(a), payload_of(b)), bool)


def _decided(name: str, a: Any, b: Any) -> bool | None:
    if any([isinstance(n, SymbolicNumber) and n.kind is bool for n in (a, b)]):
        low, high = _INTERVALS["sub"](interval(a), interval(b))
    else:
        form = _summed(a, b, -1)
        x, y = interval(a), interval(b)
        low, high = (x[0] - y[1], x[1] - y[0]) if form[0] else (form[1], form[1])
        if not math.isnan(low) and not math.isnan(high):
            low, high = _narrowed(form, _limits(a, b), low, high)
    if math.isnan(low) or math.isnan(high):
        return None
    if name in ("eq", "ne"):
        if low == high == 0:
            return name == "eq"
        return name == "ne" if low > 0 or high < 0 else None
    holds = {
        "lt": (high < 0, low >= 0),
        "le": (high <= 0, low > 0),
        "gt": (low > 0, high <= 0),
        "ge": (low >= 0, high < 0),
    }[name]
    return True if holds[0] else False if holds[1] else None


def _operator(name: str, reflected: bool) -> Any:
    def method(self: SymbolicNumber, other: Any) -> Any:
        other = symbolic(other)
        if not is_number(other):
            return _beside(name, self, other, reflected)
        return arithmetic(name, *((other, self) if reflected else (self, other)))

    return method


def _comparison(name: str) -> Any:
    def method(self: SymbolicNumber, other: Any) -> Any:
        other = symbolic(other)
        return compared(name, self, other) if is_number(other) else _beside(name, self, other)

    return method


def _beside(name: str, number: SymbolicNumber, other: Any, reflected: bool = False) -> Any:
    """Apply an operator to a number and something else: a scalar of NumPy's has its dtype."""
    if type(other) is complex:
        raise TracedValueError(
            f"{user_location()}: a number that is only known when the compiled loop or branch runs "
            "meets a complex number of Python's; use np.complex128(..), or an array"
        )
    if not isinstance(other, onp.generic) or isinstance(other, Handle):
        return NotImplemented
    if not dtypes.on_devices(other.dtype):
        return NotImplemented
    scalar = handles.as_scalar(array_like.array_of(onp.asarray(other)))
    pair = (scalar, number) if reflected else (number, scalar)
    with modes.changed(numpy_dtypes=1):
        return getattr(operator, name)(*pair)


for _name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", *_OF_INTS):
    setattr(SymbolicNumber, f"__{_name.strip('_')}__", _operator(_name, False))
    setattr(SymbolicNumber, f"__r{_name.strip('_')}__", _operator(_name, True))
for _name in numbers.COMPARISONS:
    setattr(SymbolicNumber, f"__{_name}__", _comparison(_name))


__all__ = [
    "INFINITE",
    "SymbolicNumber",
    "affine_form",
    "arithmetic",
    "expect",
    "interval",
    "is_number",
    "kind_of",
    "payload_of",
    "symbolic",
]
