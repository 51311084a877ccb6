"""Cases of operators, and their inputs.

    case("_npi_take", lambda xp, a, i: xp.take(a, i, axis=0), "3,2", "4 below3 int64")

The function calls the public face of the operator; with `xp` the real NumPy it is its own oracle,
else `oracle` or `holds` is one. An operand is a shape, and optionally a domain and a dtype that it
has in every run.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as onp

ALL = "? b B h H i I l L e f d F D"
REAL = "? b B h H i I l L e f d"
NUMBERS = "b B i l L e f d F D"
INTS = "? b B h H i I l L"
FLOATS = "e f d"
INEXACT = "e f d F D"
FEW = "? i l f d F"
FEW_REAL = "? i l f d"
LINEAR = "f d F D"
HALVES = "bfloat16"
LAYOUTS = ("ordinary", "0-d", "empty", "view")
BFLOAT16 = onp.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True)
class Operand:
    """One input: shape, domain of values, and the dtype if it is always the same."""

    shape: tuple[int, ...]
    domain: str = "any"
    dtype: str | None = None


@dataclass(frozen=True)
class Case:
    """Call of an operator, its operands, and its oracle."""

    name: str
    call: Callable[..., Any]
    operands: tuple[Operand, ...]
    oracle: Callable[..., Any] | None
    holds: Callable[..., bool] | None = None
    dtypes: str = FEW
    grad: tuple[int, ...] | None = (
        None  # positions of the operands that are differentiated; None: all floats
    )
    second: bool = False
    layouts: tuple[str, ...] = LAYOUTS
    smooth: bool = True  # whether it has a derivative at 0-d arrays
    special: bool = False  # also run on nan, infinities and signed zeros
    loose: float = 1.0  # factor on the tolerances of the dtype
    bad: tuple[tuple[Any, ...], ...] = ()  # arguments that must raise what the oracle raises
    policy: Callable[[Any, Any], Any] | None = (
        None  # the default policy's dtype, where it is not the usual narrowing
    )
    value_dtype: bool = True  # whether the oracle's dtypes count
    on_host: bool = True  # False: arrays of the host never reach the operator


def KEPT(dtype: Any, arrays: Any) -> Any:
    """The policy where a dtype was asked for: it is the same in both."""
    return dtype


CASES: dict[str, list[Case]] = {}


def operand(text: str) -> Operand:
    """An operand from its notation: `2,3 positive`, `() any`, `4 below3 int64`."""
    shape, *rest = text.split()
    domain, dtype = "any", None
    for word in rest:
        if word in DOMAINS or word.rstrip("0123456789") in ("below", "index"):
            domain = word
        else:
            dtype = word
    return Operand(() if shape == "()" else tuple(int(n) for n in shape.split(",")), domain, dtype)


def case(
    name: str, call: Callable[..., Any], *operands: str, oracle: Any = "numpy", **options: Any
) -> None:
    """Declare a case; `oracle` is NumPy itself, a function of host arrays, or None if `holds` says
    what must hold.
    """
    theirs = (lambda *arrays: call(onp, *arrays)) if oracle == "numpy" else oracle
    CASES.setdefault(name, []).append(
        Case(name, call, tuple(map(operand, operands)), theirs, **options)
    )


# --- values ---------------------------------------------------------------------------------------


def _spread(low: float, high: float) -> Callable[[Any, Any], Any]:
    return lambda rng, shape: rng.uniform(low, high, shape)


def _distinct(rng: Any, shape: Any) -> Any:
    """Values that are 0.6 apart, in random order: extremes and order have derivatives."""
    size = int(onp.prod(shape))
    return (rng.permutation(size) - size // 2).reshape(shape) * 0.6 + 0.1


def _positive_definite(rng: Any, shape: Any) -> Any:
    a = rng.uniform(-1, 1, shape)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        return a
    return a @ onp.swapaxes(a, -1, -2) + 1.5 * onp.eye(shape[-1])


def _with_nan(rng: Any, shape: Any) -> Any:
    a = onp.asarray(rng.uniform(-2, 2, shape))
    if a.size:
        a.reshape(-1)[0] = onp.nan
    return a


def _mask(rng: Any, shape: Any) -> Any:
    """A mask that selects something along each axis."""
    found = onp.asarray(rng.random(shape) < 0.6)
    if found.ndim and found.size:
        found[0] = True
        found[..., 0] = True
    return found


DOMAINS: dict[str, Callable[[Any, Any], Any]] = {
    "any": _spread(-2, 2),
    "positive": _spread(0.4, 2.5),
    "unit": _spread(-0.9, 0.9),
    "fraction": _spread(0.1, 0.9),
    "above1": _spread(1.2, 3),
    "wide": _spread(-20, 20),
    "nonzero": lambda rng, shape: rng.choice([-1.0, 1.0], shape) * rng.uniform(0.6, 2.2, shape),
    "noninteger": lambda rng, shape: rng.integers(-3, 3, shape) + rng.uniform(0.2, 0.8, shape),
    "distinct": _distinct,
    "sorted": lambda rng, shape: (
        onp.sort(_distinct(rng, shape), axis=-1) if shape else _distinct(rng, shape)
    ),
    "definite": _positive_definite,
    "dominant": lambda rng, shape: (
        rng.uniform(-1, 1, shape)
        + (2 * onp.eye(shape[-1]) if len(shape) > 1 and shape[-1] == shape[-2] else 0)
    ),
    "nan": _with_nan,
    "bits": lambda rng, shape: rng.integers(0, 6, shape),
    "mask": _mask,
    "probability": lambda rng, shape: (lambda p: p / p.sum() if p.size else p)(
        rng.uniform(0.1, 1, shape)
    ),
    "hermitian": lambda rng, shape: (
        lambda a: a + onp.swapaxes(a, -1, -2) if len(shape) > 1 and shape[-1] == shape[-2] else a
    )(rng.uniform(-1, 1, shape)),
}
SPECIAL = [onp.nan, onp.inf, -onp.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e4]


def as_dtype(code: str) -> Any:
    """A dtype from its code."""
    return BFLOAT16 if code == "bfloat16" else onp.dtype(code)


def draw(operand: Operand, shape: tuple[int, ...], dtype: Any, rng: Any) -> Any:
    """An array of values of the operand's domain, in a shape and a dtype."""
    return onp.asarray(_drawn(operand, shape, dtype, rng))


def _drawn(operand: Operand, shape: tuple[int, ...], dtype: Any, rng: Any) -> Any:
    if operand.domain.startswith("below"):
        n = int(operand.domain[5:])
        return onp.asarray(rng.integers(-n, n, shape)).astype(dtype)
    if operand.domain.startswith("index"):
        return onp.asarray(rng.integers(0, int(operand.domain[5:]), shape)).astype(dtype)
    values = onp.asarray(DOMAINS[operand.domain](rng, shape))
    kind = "f" if dtype == BFLOAT16 else dtype.kind
    if kind == "b":
        return (
            values
            if values.dtype == bool
            else values != 0
            if operand.domain in ("nonzero", "positive", "above1")
            else values > 0.3
        )
    if kind in "iu" and operand.domain not in ("bits", "mask"):
        # integers of the domain: further apart, never zero where the domain has none
        values = onp.nan_to_num(values)
        values = onp.where(values < 0, onp.floor(values * 2), onp.ceil(values * 2))
        return (abs(values) if kind == "u" else values).astype(dtype)
    if kind == "c" and operand.domain not in ("sorted", "mask"):
        if operand.domain == "hermitian" and len(shape) > 1 and shape[-1] == shape[-2]:
            b = rng.uniform(-1, 1, shape)
            return (values + 1j * (b - onp.swapaxes(b, -1, -2))).astype(dtype)
        other = onp.asarray(DOMAINS[operand.domain](rng, shape))
        return (
            values
            + (0.3 if operand.domain in ("definite", "dominant") else 1)
            * 1j
            * (other * 0 if operand.domain == "definite" else other)
        ).astype(dtype)
    return values.astype(dtype)


@dataclass(frozen=True)
class Sample:
    """Host arrays for one call, and which of them are given as views of larger arrays."""

    layout: str
    dtype: str
    arrays: tuple[Any, ...]


def shapes_of(case: Case, layout: str) -> Iterator[list[tuple[int, ...]]]:
    """The operands' shapes for a layout; none if the layout says nothing of this case."""
    shapes = [o.shape for o in case.operands]
    if layout == "0-d":
        if any(shapes):
            yield [()] * len(shapes)
    elif layout == "empty":
        for n in sorted({n for s in shapes for n in s} & {2, 3}):
            yield [tuple(0 if m == n else m for m in s) for s in shapes]
    elif layout != "special":
        yield shapes


def samples(case: Case, codes: list[str], layouts: tuple[str, ...]) -> Iterator[Sample]:
    """The calls of a case: each layout with each dtype."""
    for layout in layouts:
        for code in codes:
            for shapes in shapes_of(case, layout):
                rng = onp.random.default_rng(zlib.crc32(f"{case.name} {layout} {code}".encode()))
                arrays = [
                    draw(o, s, as_dtype(o.dtype or code), rng)
                    for o, s in zip(case.operands, shapes, strict=True)
                ]
                yield Sample(layout, code, tuple(arrays))
    if case.special and "view" in layouts:
        for code in [c for c in codes if c in "fd"]:
            a = onp.array(SPECIAL, code)
            count = len(case.operands)
            yield Sample(
                "special", code, (a,) if count == 1 else (a[:, None], a[None], *[a] * (count - 2))
            )
