"""The operator record and the registry, the only place with facts about operators.

An operator is declared by one function, `compute(xp, *arrays, **attributes)`, written once against
an array namespace:

    @operator("_npi_cumsum", rule=scan_type, pattern="opaque")
    def _cumsum(xp, a, *, axis=None, dtype=None):
        return xp.cumsum(a, axis=axis)

Its positional parameters are the inputs, its keyword-only ones the attributes with their defaults.
From the record come eager and compiled execution, the gradient, inference and the tests.
"""

import operator as python
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.program_cache import ProgramCache
from npcompat._internal.core.tensor_type import is_symbolic
from npcompat._internal.support.errors import OperatorError

Attrs = tuple[Any, ...]
"""The attributes of one call, in the order of the declaration."""


class _Required:
    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Any = _Required()
"""Default of an attribute that every call must give."""

PREFIXES = ("_npi_", "_np_", "_npx_")
PATTERNS = ("elementwise", "broadcast", "injective", "reduction", "complex", "opaque")


@dataclass(frozen=True, slots=True)
class Kernel:
    """Alternative kernel of an operator on a backend, used where its condition holds.

    A declaration lists its alternatives as `strategy`; the one of highest priority that fits is
    used. `condition(arrays, attrs)` gets the cast operands, of which only shapes and dtypes are
    known, and the attributes by name. `platform` is that of the device ('cpu', 'gpu', 'tpu'; None:
    any).
    """

    backend: str
    compute: Callable[..., Any]
    priority: int = 10
    platform: str | None = None
    condition: Callable[[Sequence[Any], Mapping[str, Any]], bool] | None = None


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Op:
    """Record of one primitive operator; immutable, compared by identity.

    `programs` is the dispatcher's cache of programs for it.
    """

    name: str
    compute: Callable[..., Any]
    inputs: tuple[str, ...] = ()
    variadic: bool = False
    attrs: Mapping[str, Any] = field(default_factory=dict)
    rule: Callable[[tuple[dtypes.Type, ...], Mapping[str, Any]], dtypes.Resolution] = dtypes.keep
    outputs: int = 1
    complete: Callable[[Sequence[Any], Mapping[str, Any]], Sequence[Any]] | None = (
        None  # infers unknown input types from the known ones
    )
    kernels: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    strategy: tuple[Kernel, ...] = ()  # faster alternatives to the kernel or the compute
    ufunc: onp.ufunc | None = None  # the NumPy ufunc that the operator is, if it is one
    pattern: str = "opaque"
    doc: str = ""
    differentiable: bool = True
    scalars: bool = False  # NumPy returns its 0-d results as scalars
    keeps_class: bool = True  # results of operands of a user's subclass are of that subclass
    needs_priority: bool = False  # only if its `__array_priority__` is above that of arrays
    numpy_function: Callable[[tuple[dtypes.Type, ...], Mapping[str, Any]], Any] | None = (
        None  # NumPy's own function for such operands, or None
    )
    numpy_constructor: Callable[..., Callable[[], Any]] | None = (
        None  # for operators without operands: NumPy's function, from the attributes in order
    )
    identity: Callable[[onp.dtype[Any]], Any] | None = (
        None  # identity element of a reduction that NumPy defines without one (min, max)
    )
    prefers_xla: bool = (
        False  # placement `auto` runs it on XLA, even if its operands are on the host
    )
    # Random draws that are prefix-stable (a sample is a prefix of every longer one): for each
    # parameter the number of trailing axes that belong to one element. The first attribute is the
    # size.
    element_axes: tuple[int, ...] | None = None
    # Prefix-stable draws from one block of bits, of which one program can make several ahead.
    prefetchable: bool = False
    # Prefix-stable draws whose functions round one number as they round many; vectorized code of
    # some CPUs does not.
    rounding_independent_of_size: bool = False
    overwrites: tuple[
        tuple[int, int], ...
    ] = ()  # (output, operand) pairs: the output is the operand's next value (running statistics)
    differentiable_outputs: tuple[bool, ...] | None = (
        None  # of a traced function: for each output, True if it depends on differentiated inputs
    )
    # The derivative of one output may be infinite or NaN where those of the others are finite.
    dependence: Callable[[], Sequence[frozenset[int]]] | None = None
    """For programs: the numbers of the inputs on which each output depends."""
    separate_outputs: bool = False
    reason: str = "first call with these types"
    groups: tuple[
        tuple[str, ...], ...
    ] = ()  # of a traced function: the names of operators that can be fused
    loops: tuple[str, ...] = ()  # of a traced function: a line for the compile log on each loop
    layout: Any = (
        None  # of a traced function: one of the arrays that it makes or lays out on a mesh
    )
    order: str | None = None
    """Memory order of results on the host: "C", "K" (as computed), None (the pattern's default)."""
    programs: ProgramCache = field(default_factory=ProgramCache)

    def __repr__(self) -> str:
        return f"<operator {self.name}({', '.join(self.inputs)})>"

    @property
    def only_on_xla(self) -> bool:
        """True if XLA computes the operator for the host, too.

        Operators on random bits do so, because all backends must draw the same numbers.
        """
        return "jax" in self.kernels and "numpy" not in self.kernels

    @property
    def in_c_order(self) -> bool:
        """True if results on the host are put into C order.

        That is the default. Results of elementwise operators and reductions keep NumPy's layout,
        which follows the operands, and so do those of operators that declare the order "K".
        """
        if self.order is None:
            return self.pattern not in ("elementwise", "broadcast", "reduction")
        return self.order == "C"

    def bind(self, **attrs: Any) -> Attrs:
        """Return the attribute tuple of a call from keywords; missing ones take their defaults."""
        unknown = attrs.keys() - self.attrs.keys()
        if unknown:
            raise OperatorError(
                f"{self.name} has no attribute {', '.join(sorted(unknown))}; it has "
                f"{', '.join(self.attrs) or 'none'}"
            )
        bound = tuple({**self.attrs, **attrs}.values())
        missing = [n for n, given in zip(self.attrs, bound, strict=True) if given is REQUIRED]
        if missing:
            raise OperatorError(f"{self.name}: attribute {', '.join(missing)} is missing")
        try:
            hash(bound)
        except TypeError:
            raise OperatorError(f"{self.name}: attributes must be hashable, got {attrs}") from None
        return bound

    def check_inputs(self, count: int) -> None:
        """Raise OperatorError if the operator does not take this number of operands."""
        least = len(self.inputs) - self.variadic
        if count < least or (count > least and not self.variadic):
            expected = f"{', '.join(self.inputs) or 'none'}{', ...' if self.variadic else ''}"
            raise OperatorError(f"{self.name}: expected the inputs {expected}; {count} are given")

    def named(self, attrs: Attrs) -> dict[str, Any]:
        """Return the attribute tuple of a call as a dict; the empty tuple means the defaults."""
        if not attrs:
            return dict(self.attrs)
        return dict(zip(self.attrs, attrs, strict=True))


def short_name(name: str) -> str:
    """Return the name of an operator without its prefix; compiled functions have no prefix."""
    prefix = next((p for p in PREFIXES if name.startswith(p)), "")
    return name.removeprefix(prefix)


REGISTRY: dict[str, Op] = {}


def register(op: Op) -> Op:
    """Add an operator to the registry; raise OperatorError if its name is taken."""
    if not op.name.startswith(PREFIXES):
        raise OperatorError(
            f"operator name {op.name!r}: expected one of the prefixes {', '.join(PREFIXES)}"
        )
    if op.pattern not in PATTERNS:
        raise OperatorError(
            f"{op.name}: unknown pattern {op.pattern!r}; expected one of {', '.join(PATTERNS)}"
        )
    if op.name in REGISTRY:
        raise OperatorError(f"operator {op.name} is declared twice")
    REGISTRY[op.name] = op
    return op


def operator(name: str, **declaration: Any) -> Callable[[Callable[..., Any]], Op]:
    """Declare the operator that the decorated function computes, and register it."""

    def declare(compute: Callable[..., Any]) -> Op:
        return register(from_function(name, compute, **declaration))

    return declare


def from_function(name: str, compute: Callable[..., Any], **declaration: Any) -> Op:
    """Return an operator, not registered, whose inputs and attributes are those of `compute`."""
    code = compute.__code__
    positional, keyword = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    inputs = names[1:positional]
    variadic = bool(code.co_flags & 0x04)
    if variadic:
        inputs += (names[positional + keyword],)
    defaults = compute.__kwdefaults__ or {}
    attrs = {n: defaults.get(n, REQUIRED) for n in names[positional : positional + keyword]}
    found = {
        "doc": compute.__doc__ or "",
        "scalars": declaration.get("pattern") in ("reduction", "complex"),
        **declaration,
    }
    return Op(name, compute, inputs, variadic, attrs, **found)


# --- kinds: what the members of a family share ----------------------------------------------------


def elementwise(
    name: str, ufunc: onp.ufunc, compute: Callable[..., Any] | None = None, **declaration: Any
) -> Op:
    """Declare an operator that is a NumPy ufunc: its arity and its type rule are the ufunc's.

    `compute` replaces the array library's function of that name. The attribute `dtype` selects a
    loop by the output's dtype, like the `dtype=` of ufuncs.
    """
    method = ufunc.__name__
    types = dtypes.ufunc_rule(ufunc)

    def generic(xp: Any, *arrays: Any, dtype: Any = None) -> Any:
        return getattr(xp, method)(*arrays)

    def rule(operands: tuple[dtypes.Type, ...], attrs: Mapping[str, Any]) -> dtypes.Resolution:
        return types(operands, attrs["dtype"])

    return register(
        Op(
            name,
            generic if compute is None else (lambda xp, *arrays, dtype=None: compute(xp, *arrays)),
            ("x",) if ufunc.nin == 1 else tuple(f"x{i + 1}" for i in range(ufunc.nin)),
            attrs={"dtype": None},
            ufunc=ufunc,
            **{
                "rule": rule,
                "outputs": ufunc.nout,
                "pattern": "elementwise" if ufunc.nin == 1 else "broadcast",
                "scalars": True,
                **declaration,
            },
        )
    )


def normalized_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return axes as non-negative ints; raise NumPy's `AxisError` for one that does not exist."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(onp.lib.array_utils.normalize_axis_tuple(axis, ndim))


def as_axis(axis: Any) -> int | tuple[int, ...] | None:
    """Return an axis argument as a hashable attribute: None, an int, or a tuple of ints."""
    if axis is None or type(axis) is int:
        return axis
    if isinstance(axis, Iterable) and not hasattr(axis, "__index__"):
        return tuple(map(_integer, axis))
    return _integer(axis)


def _integer(x: Any) -> int:
    """Return an integer argument as an int; raise TypeError for a bool."""
    if type(x) is bool:
        raise TypeError(f"an integer is required, got {x}")
    return python.index(x)


def as_attr(number: Any) -> Any:
    """Return a number as an attribute whose equality means the same number.

    NaN, -0.0 and complex numbers become a tuple with their text: NaN differs from itself, and -0.0
    and 0j equal 0.0.
    """
    if type(number) is complex or (
        type(number) is float and (number != number or (number == 0 and repr(number)[0] == "-"))
    ):
        return (repr(number),)
    return number


def from_attr(attr: Any) -> Any:
    """Return the number that `as_attr` was given."""
    if type(attr) is not tuple:
        return attr
    return complex(attr[0]) if "j" in attr[0] else float(attr[0])


MOST_AXES = 64
"""Maximum number of axes of a NumPy array."""


def as_shape(shape: Any) -> tuple[int, ...]:
    """Return a shape argument as a tuple of ints, or of symbols where a graph is built."""
    if type(shape) is int:
        return (shape,)
    if type(shape) is tuple or (
        isinstance(shape, Iterable)
        and not (hasattr(shape, "__index__") and getattr(shape, "ndim", 0) == 0)
    ):
        return tuple([s if type(s) is int else _length(s) for s in shape])
    return (_length(shape),)


def _length(given: Any) -> Any:
    return (
        given
        if getattr(given, "stands_for_length", False) or is_symbolic(given)
        else _integer(given)
    )
