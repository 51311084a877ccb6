"""Protocols of objects of upper rooms that the core calls: lenses, traces and the audit."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from npcompat._internal.core.handle import Handle, Value
    from npcompat._internal.core.modes import Mode
    from npcompat._internal.core.op import Attrs, Op

T = TypeVar("T")


class LensLike(Protocol):
    """Pair of operators with which a view reads and writes its base."""

    @property
    def get(self) -> "Op":
        """Operator `get(base, *operands)`."""

    @property
    def put(self) -> "Op | None":
        """Operator `put(base, new, *operands)`; None for a view that can't be written."""

    @property
    def attrs(self) -> "Attrs":
        """Attributes of both operators."""

    @property
    def look(self) -> Any:
        """Function of a NumPy array, the attributes and the operands that returns NumPy's view."""

    @property
    def operands(self) -> tuple[Any, ...]:
        """Operands of both operators beside the base: start positions."""

    def same(self, other: Any) -> bool:
        """Return True if both look at the same part in the same way."""

    def on_host(self, array: Any) -> Any:
        """View of a NumPy array through the lens."""


class TraceLike(Protocol):
    """Trace of a function in progress: reads, writes and operators are reported to it."""

    outer: Any
    recorded_outside: bool
    born: dict[int, Any]
    before: "dict[int, tuple[Handle, Value]]"
    numbers: dict[int, Any]
    lifted: "dict[int, Value]"
    versions: dict[int, tuple[int, int] | None]
    notes: dict[Any, Any]

    def read(self, handle: "Handle") -> "Value":
        """Return the value of a root handle; a handle from outside becomes an input."""

    def writing(self, handle: "Handle") -> None:
        """Note that a handle is about to be written."""

    def written(self) -> "list[Handle]":
        """Return the outside handles whose value was replaced."""

    def outside(self, handle: "Handle") -> bool:
        """Return True if a root handle existed before the trace."""

    def adopt(self, value: "Value") -> "Value":
        """Note that a value was made inside the trace; return it."""

    def run(
        self,
        op: "Op",
        values: "Sequence[Value]",
        payloads: Sequence[Any],
        attrs: "Attrs",
        mode: "Mode",
    ) -> Any:
        """Add a call of an operator to the program."""

    def expect(self, flag: Any, kind: type[Exception], message: str) -> None:
        """Make a condition an output of the program, which raises the error where it holds."""

    def knows_lengths(self, attrs: "Attrs") -> bool:
        """Return True if an attribute is the number of elements that a mask selects."""

    def same(self, one: Any, other: Any) -> bool:
        """Return True if two payloads come from the same operators on the same arrays."""


class AuditLike(Protocol):
    """Audit that records copies, transfers, fallbacks and compilations."""

    compiled: Callable[..., Any]
    compiling: Callable[..., Any]

    def record_event(
        self, kind: str, what: str, payload: Any, make: Callable[[], T], asked: bool = False
    ) -> T:
        """Record an event, and call `make`, which performs it."""

    def record_read(self, payload: Any, read: Callable[[], T], moving: bool = False) -> T:
        """Record a read of values on XLA, and read them."""

    def record_xla_fallback(self, name: str, arrays: Sequence[Any], run: Callable[[], T]) -> T:
        """Record an operator of the host that XLA computes, and run it."""

    def _check(self, event: Any, around: bool = True) -> None:
        """Raise AuditError for an event that a strict audit refuses."""

    def _keep(self, event: Any, around: bool = True) -> None:
        """Keep an event."""
