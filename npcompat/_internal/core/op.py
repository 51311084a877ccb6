"""The operator record and the registry: what is known of an operator stands here and nowhere else.

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
"""The default of an attribute that has none."""

PREFIXES = ("_npi_", "_np_", "_npx_")
PATTERNS = ("elementwise", "broadcast", "injective", "reduction", "complex", "opaque")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One more compute of an operator, for a backend: taken where its condition holds, before those
    of less priority.

    A declaration has a tuple of them, `strategy`. `condition(arrays, attrs)` sees the operands,
    cast, of which only shapes and dtypes are known, and the attributes by name. `platform` is that
    of the device ('cpu', 'gpu', 'tpu'; None: any).
    """

    backend: str
    compute: Callable[..., Any]
    priority: int = 10
    platform: str | None = None
    condition: Callable[[Sequence[Any], Mapping[str, Any]], bool] | None = None


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Op:
    """One primitive operator; immutable, compared by identity.

    `programs` is the dispatcher's cache of what was compiled or built for it.
    """

    name: str
    compute: Callable[..., Any]
    inputs: tuple[str, ...] = ()
    variadic: bool = False
    attrs: Mapping[str, Any] = field(default_factory=dict)
    rule: Callable[[tuple[dtypes.Type, ...], Mapping[str, Any]], dtypes.Resolution] = dtypes.keep
    outputs: int = 1
    complete: Callable[[Sequence[Any], Mapping[str, Any]], Sequence[Any]] | None = (
        None  # input types from the known ones
    )
    kernels: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    strategy: tuple[Kernel, ...] = ()  # where the kernel, or the compute, is not the best one
    ufunc: onp.ufunc | None = None  # NumPy's own function, where the operator is one
    pattern: str = "opaque"
    doc: str = ""
    differentiable: bool = True
    scalars: bool = False  # NumPy returns scalars for its results of no axes
    keeps_class: bool = (
        True  # of operands of a class that users derive from arrays, results are of it, too
    )
    numpy_function: Callable[[tuple[dtypes.Type, ...], Mapping[str, Any]], Any] | None = (
        None  # NumPy's own function for such operands, or None
    )
    numpy_constructor: Callable[..., Callable[[], Any]] | None = (
        None  # of no operands: by the attributes, in their order, NumPy's own function
    )
    identity: Callable[[onp.dtype[Any]], Any] | None = (
        None  # of a reduction that NumPy refuses on nothing: what leaves any element as it is
    )
    prefers_xla: bool = (
        False  # placement `auto` runs it on XLA, also where its operands are on the host
    )
    # draws of which a sample is the beginning of each longer one: how many axes at the end of each
    # parameter belong to one element. The first attribute is the size.
    element_axes: tuple[int, ...] | None = None
    # such draws: made of one block of bits, so that several can be made ahead by one program
    prefetchable: bool = False
    # such draws: by no function that some CPUs round otherwise for a single number than for many
    rounding_independent_of_size: bool = False
    overwrites: tuple[
        tuple[int, int], ...
    ] = ()  # outputs, and the operands whose next value they are: running statistics
    differentiable_outputs: tuple[bool, ...] | None = (
        None  # of a traced function: which outputs depend on what is differentiated
    )
    # derivatives of some outputs may not be finite where those of others are
    separate_outputs: bool = False
    reason: str = "first call with these types"
    groups: tuple[
        tuple[str, ...], ...
    ] = ()  # of a traced function: the names of operators that can be computed together
    loops: tuple[str, ...] = ()  # of a traced function: what became of its loops
    order: str | None = None
    """Memory order of results on the host: "C", "K" for as computed, None for the pattern's."""
    programs: ProgramCache = field(default_factory=ProgramCache)

    def __repr__(self) -> str:
        return f"<operator {self.name}({', '.join(self.inputs)})>"

    @property
    def only_on_xla(self) -> bool:
        """Whether XLA computes it for the host, too: random bits, whose numbers must be the same
        everywhere.
        """
        return "jax" in self.kernels and "numpy" not in self.kernels

    @property
    def in_c_order(self) -> bool:
        """True if results on the host lie in C order, whatever the computation leaves.

        That is so by default. Elementwise operators and reductions lie as NumPy lays them out, which
        is the order of their operands, and so do others that declare the order "K".
        """
        if self.order is None:
            return self.pattern not in ("elementwise", "broadcast", "reduction")
        return self.order == "C"

    def bind(self, **attrs: Any) -> Attrs:
        """The attribute tuple of a call, from keywords; what is not given takes its default."""
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
        """Raise OperatorError unless so many operands can be given."""
        least = len(self.inputs) - self.variadic
        if count < least or (count > least and not self.variadic):
            expected = f"{', '.join(self.inputs) or 'none'}{', ...' if self.variadic else ''}"
            raise OperatorError(f"{self.name}: expected the inputs {expected}; {count} are given")

    def named(self, attrs: Attrs) -> dict[str, Any]:
        """The attribute tuple of a call as a dict; the empty tuple means the defaults."""
        if not attrs:
            return dict(self.attrs)
        return dict(zip(self.attrs, attrs, strict=True))


def short_name(name: str) -> str:
    """The name of an operator without its prefix; that of a compiled function as it is."""
    prefix = next((p for p in PREFIXES if name.startswith(p)), "")
    return name.removeprefix(prefix)


REGISTRY: dict[str, Op] = {}


def register(op: Op) -> Op:
    """Add an operator to the registry; a name is given once."""
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
    """An operator from its compute function, not registered: the signature gives inputs and
    attributes.
    """
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
    """Declare an operator that is a NumPy ufunc: its arity, its types and (unless given) its kernel
    are that ufunc's.

    Its attribute `dtype` asks for the loop of one output dtype, as the `dtype=` argument of ufuncs
    does.
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
    """Axes as non-negative ints; NumPy's `AxisError` for one that does not exist."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(onp.lib.array_utils.normalize_axis_tuple(axis, ndim))


def as_axis(axis: Any) -> int | tuple[int, ...] | None:
    """An axis argument made hashable: None, an int, or a tuple of ints."""
    if axis is None or type(axis) is int:
        return axis
    if isinstance(axis, Iterable) and not hasattr(axis, "__index__"):
        return tuple(map(_integer, axis))
    return _integer(axis)


def _integer(x: Any) -> int:
    """What counts axes or elements: an integer, but no bool."""
    if type(x) is bool:
        raise TypeError(f"an integer is required, got {x}")
    return python.index(x)


def as_attr(number: Any) -> Any:
    """A number made an attribute: by their text, if they are equal and yet differ (-0.0 and 0.0, 0j
    and 0), or do not equal themselves.
    """
    if type(number) is complex or (
        type(number) is float and (number != number or (number == 0 and repr(number)[0] == "-"))
    ):
        return (repr(number),)
    return number


def from_attr(attr: Any) -> Any:
    """The number that `as_attr` was given."""
    if type(attr) is not tuple:
        return attr
    return complex(attr[0]) if "j" in attr[0] else float(attr[0])


MOST_AXES = 64
"""NumPy's arrays have no more."""


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape argument made a tuple of ints (of symbols, where a graph is built)."""
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
