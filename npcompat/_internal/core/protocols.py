"""Protocols of what the core calls on objects of upper rooms: lenses, traces and the audit."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from npcompat._internal.core.handle import Handle, Value
    from npcompat._internal.core.modes import Mode
    from npcompat._internal.core.op import Attrs, Op

T = TypeVar("T")


class LensLike(Protocol):
    """Pair of operators by which a view reads and writes its base."""

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
        """Function of an array, the attributes and the operands: NumPy's own view."""

    @property
    def operands(self) -> tuple[Any, ...]:
        """Operands of both operators beside the base: start positions."""

    def same(self, other: Any) -> bool:
        """Return True if both look at the same part in the same way."""

    def on_host(self, array: Any) -> Any:
        """View of a NumPy array through the lens."""


class TraceLike(Protocol):
    """Function that is being traced: it sees what is read, written and run."""

    outer: Any
    born: dict[int, Any]
    before: "dict[int, tuple[Handle, Value]]"
    numbers: dict[int, Any]
    lifted: "dict[int, Value]"
    versions: dict[int, tuple[int, int] | None]
    notes: dict[Any, Any]

    def read(self, handle: "Handle") -> "Value":
        """Value of a root handle, which becomes an input if it is from outside."""

    def writing(self, handle: "Handle") -> None:
        """Note that a handle is about to be written."""

    def written(self) -> "list[Handle]":
        """Outside handles whose value was replaced."""

    def outside(self, handle: "Handle") -> bool:
        """Return True if a root handle existed before the trace."""

    def adopt(self, value: "Value") -> "Value":
        """Note that a value is made inside of the trace; returns it."""

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
        """Carry a condition out of the program, which raises an error when it holds."""

    def knows_lengths(self, attrs: "Attrs") -> bool:
        """Return True if attributes ask for as many elements as a mask selects."""

    def same(self, one: Any, other: Any) -> bool:
        """Return True if two payloads were computed in the same way from the same ones."""


class AuditLike(Protocol):
    """Audit that records copies, transfers, fallbacks and compilations."""

    compiled: Callable[..., Any]
    compiling: Callable[..., Any]

    def record_event(
        self, kind: str, what: str, payload: Any, make: Callable[[], T], asked: bool = False
    ) -> T:
        """Record an event, and make what it is about."""

    def record_read(self, payload: Any, read: Callable[[], T], moving: bool = False) -> T:
        """Record a read of values on XLA, and read them."""

    def record_xla_fallback(self, name: str, arrays: Sequence[Any], run: Callable[[], T]) -> T:
        """Record an operator of the host that XLA computes, and run it."""

    def _check(self, event: Any, around: bool = True) -> None:
        """Raise AuditError for an event that a strict audit refuses."""

    def _keep(self, event: Any, around: bool = True) -> None:
        """Keep an event."""
