"""Random programs as lines of Python over arrays `v0`, `v1`, ...; `m` is NumPy or npcompat, `n` NumPy.

A line is kept if NumPy runs it and its numbers stay small: rounding errors must not grow until
programs differ.
"""

import ast
import random
import warnings
from collections.abc import Callable
from contextlib import nullcontext

import numpy as onp

SHAPES = [(6,), (4,), (16,), (2, 3), (3, 2), (2, 2, 3), (1, 3), (3, 3), ()]
LARGE = (70, 60)
"""Shape from whose size on XLA computes reductions otherwise."""
DTYPES = ["float64", "float64", "float32", "int64", "int32", "uint8", "bool", "complex128"]
LARGEST = 1e5
NOT_FINITE = [float("nan"), float("nan"), float("inf"), -float("inf")]


class Draft:
    """A program that is being written, and what its arrays hold on NumPy."""

    def __init__(
        self,
        rng: random.Random,
        floats: bool = False,
        data: bool = True,
        in_numpys_order: bool = True,
    ) -> None:
        self.rng, self.floats, self.data, self.in_numpys_order = rng, floats, data, in_numpys_order
        self.finite = floats or rng.random() < 0.8
        self.start: list[onp.ndarray] = []
        for number in range(rng.choice((1, 2, 2, 3))):
            shape = LARGE if rng.random() < 0.04 else rng.choice(SHAPES)
            dtype = "float64" if floats else rng.choice(DTYPES)
            size = int(onp.prod(shape))
            values = onp.array([rng.randrange(-6, 7) for _ in range(size)]).reshape(shape)
            values = abs(values) if dtype == "uint8" else values / 2 if dtype[0] in "fc" else values
            if floats:
                values = values + 0.3 + number / 7
            values = onp.asarray(values).astype(dtype)
            if not self.finite and dtype[0] == "f":
                for _ in range(rng.randrange(4)):
                    values.reshape(-1)[rng.randrange(size)] = rng.choice(NOT_FINITE)
            self.start.append(values)
        self.values = {f"v{i}": a.copy() for i, a in enumerate(self.start)}
        self.lines: list[str] = []
        self.has_kinks = False

    def name(self, wanted: Callable[[onp.ndarray], bool] = lambda a: True) -> str:
        found = [n for n, a in self.values.items() if wanted(a)]
        return self.rng.choice(found) if found else self.rng.choice(list(self.values))

    def new(self) -> str:
        return f"v{len(self.values)}"

    def add(self, line: str) -> bool:
        """Run a line on NumPy and keep it, if it runs and its numbers stay small."""
        before = {*self.values}
        try:
            if self.finite:
                _run(line, self.values)
            else:
                _run_loudly(line, self.values)
        except Exception:
            self.values = self._after(self.lines)
            return False
        new = [value for name, value in self.values.items() if name not in before]
        copying = _copying_first(line)  # NumPy may read what it has written (docs/known_gaps.md)
        if (
            not all([_tame(value, self.finite) for value in self.values.values()])
            or not (self.in_numpys_order or all([_in_xla_order(v, line) for v in new]))
            or (
                copying is not None and not _equal(self._after([*self.lines, copying]), self.values)
            )
        ):
            self.values = self._after(self.lines)
            return False
        self.lines.append(line)
        return True

    def _after(self, lines: list[str]) -> dict[str, onp.ndarray]:
        """Return the arrays after lines have been run."""
        values = {f"v{i}": a.copy() for i, a in enumerate(self.start)}
        for line in lines:
            _run(line, values)
        return values


def _run(line: str, values: dict[str, onp.ndarray]) -> None:
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        exec(line, {"m": onp, "n": onp, "pause": nullcontext}, values)


def _run_loudly(line: str, values: dict[str, onp.ndarray]) -> None:
    """Run a line; FloatingPointError where another backend may round, or cast, to another number."""
    with warnings.catch_warnings(record=True) as said, onp.errstate(all="warn", under="ignore"):
        warnings.simplefilter("always")
        exec(line, {"m": onp, "n": onp, "pause": nullcontext}, values)
    for warning in said:
        if any(word in str(warning.message) for word in ("overflow", "in cast")):
            raise FloatingPointError(str(warning.message))


def _equal(a: dict[str, onp.ndarray], b: dict[str, onp.ndarray]) -> bool:
    return all([_same(array, b[name]) for name, array in a.items()])


def _same(a: onp.ndarray, b: onp.ndarray) -> bool:
    return onp.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _copying_first(line: str) -> str | None:
    """Return a line whose assignments to parts of arrays copy what they assign; None without any."""
    tree, assigns = ast.parse(line), False
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            array = ast.Attribute(ast.Name("n", ast.Load()), "array", ast.Load())
            node.value, assigns = ast.Call(array, [node.value], []), True
    return ast.unparse(ast.fix_missing_locations(tree)) if assigns else None


_LARGE = (LARGE, LARGE[::-1], (LARGE[0] * LARGE[1],))


def _tame(value: object, finite: bool) -> bool:
    if not isinstance(value, onp.ndarray | onp.generic) or value.dtype.kind not in "biufc":
        return False
    if (value.size > 400 and value.shape[-2:] not in _LARGE) or value.ndim > 4:
        return False
    with onp.errstate(all="ignore"):
        if not finite and value.dtype.kind == "f":
            value = onp.where(onp.isfinite(value), value, 0)
        return bool(onp.isfinite(value).all() and (abs(value.astype(complex)) < LARGEST).all())


def _in_xla_order(value: onp.ndarray | onp.generic, line: str) -> bool:
    """Return True for results whose memory lies on XLA as NumPy's (docs/known_gaps.md)."""
    made = isinstance(value, onp.ndarray) and value.base is None
    return not made or value.flags.c_contiguous or "copy('F')" in line


# --- parts of lines -------------------------------------------------------------------------------


def index(d: Draft, shape: tuple[int, ...], basic: bool = False) -> str:
    """A key of an array: slices, integers, None, positions, masks."""
    rng = d.rng
    kind = rng.random()
    if not shape or kind < 0.08:
        return rng.choice(("...", "None" if not shape else "..."))
    if not basic and kind < 0.2:
        n = shape[0]
        return repr([rng.randrange(-n, n) for _ in range(rng.randrange(1, 4))]) if n else "..."
    if not basic and d.data and kind < 0.3:
        return repr([rng.random() < 0.5 for _ in range(shape[0])])
    keys = []
    for n in shape[: rng.randrange(1, len(shape) + 1)]:
        way = rng.randrange(6)
        if way == 0 and n:
            keys.append(str(rng.randrange(-n, n)))
        elif way == 1:
            keys.append("::-1")
        elif way == 2:
            keys.append(f"{rng.randrange(n + 1)}:")
        elif way == 3:
            keys.append(f":{rng.randrange(-n, n + 1)}")
        elif way == 4:
            start = rng.choice(("", "", str(rng.randrange(n + 1))))
            keys.append(f"{start}::{rng.choice((2, 2, 3, -2, 5))}")
        else:
            keys.append(":")
    if rng.random() < 0.1:
        keys.insert(rng.randrange(len(keys) + 1), "None")
    return ", ".join(keys)


def axis(d: Draft, a: onp.ndarray) -> str:
    return str(d.rng.choice([None, *range(-a.ndim, a.ndim)]))


def reshaped(d: Draft, name: str) -> str:
    size = d.values[name].size
    options = [f"{name}.reshape(-1)", f"{name}.ravel()", f"{name}[None]", f"{name}.T"]
    options += [f"{name}.reshape({k}, -1)" for k in (1, 2, 3, 4) if size and size % k == 0]
    options += [f"m.atleast_2d({name})", f"{name}.reshape(-1, 1)"]
    return d.rng.choice(options)


def number(d: Draft) -> str:
    return d.rng.choice(("2", "1", "-1", "0", "3", "0.5", "-2.5", "True"))


SMOOTH = ["sin", "cos", "tanh", "exp", "negative", "square", "arctan", "expm1", "sinh"]
UNARY = [*SMOOTH, "cbrt", "absolute", "sign", "sqrt", "log1p", "floor", "ceil", "rint", "conjugate"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "arctan2", "hypot", "fmax"]
INTEGERS = ["floor_divide", "remainder", "bitwise_and", "bitwise_or", "left_shift", "gcd"]
INTEGERS += ["power", "fmod", "bitwise_xor"]
REDUCTIONS = ["sum", "mean", "max", "min", "prod", "std", "var", "median", "ptp"]
COUNTS = ["any", "all", "argmax", "argmin", "count_nonzero"]


# --- lines ----------------------------------------------------------------------------------------


def unary(d: Draft) -> str:
    a = d.name()
    f = d.rng.choice(SMOOTH if d.floats else UNARY)
    line = f"m.{f}({a})"
    return f"{d.new()} = {line}"


def binary(d: Draft) -> str:
    a, b = d.name(), d.rng.choice((d.name(), d.name(), number(d)))
    if not d.floats and d.rng.random() < 0.25:
        return f"{d.new()} = m.{d.rng.choice(INTEGERS)}({a}, {b})"
    if d.rng.random() < 0.4:
        return f"{d.new()} = {a} {d.rng.choice('+-*/')} {b}"
    if d.rng.random() < 0.2:
        return f"{d.new()} = {a} ** {d.rng.choice(('2', '0', '3', '1', '[0, 1, 2]', '2.0'))}"
    return f"{d.new()} = m.{d.rng.choice(BINARY[:3] if d.floats else BINARY)}({a}, {b})"


def out(d: Draft) -> str:
    a, b, target = d.name(), d.name(), d.name()
    f = d.rng.choice(BINARY[: 3 if d.floats else 5])  # no ties, where there is no derivative
    if d.rng.random() < 0.5 and d.data and d.values[target].size <= 400:
        shape = d.values[target].shape
        mask = onp.array([d.rng.random() < 0.6 for _ in range(int(onp.prod(shape)))])
        return (
            f"m.{f}({a}, {b}, out={target}, "
            f"where=m.array({mask.tolist()}).reshape({shape}), casting='unsafe')"
        )
    return f"m.{f}({a}, {b}, out={target}, casting='unsafe')"


def into(d: Draft) -> str:
    """A reduction into an array of another dtype, which decides what it is computed in."""
    a = d.name(lambda v: isinstance(v, onp.ndarray) and v.ndim > 0)
    if not onp.ndim(d.values[a]):
        return unary(d)  # NumPy's scalars answer with scalars
    made, f = d.new(), d.rng.choice(("sum", "prod", "mean", "cumsum", "cumprod", "max", "einsum"))
    wide = ("float64", "complex128")
    whole = d.values[a].dtype.kind in "biu" and f in ("sum", "prod", "cumsum", "einsum")
    dtype = d.rng.choice((*wide, "int64") if whole else wide)
    if f == "einsum":
        return f"{made} = m.einsum('...i->...', {a}, out=m.zeros({a}.shape[:-1], '{dtype}'))"
    shape = f"{a}.shape" if f.startswith("cum") else f"{a}.shape[1:]"
    return f"{made} = m.{f}({a}, axis=0, out=m.zeros({shape}, '{dtype}'))"


def masked(d: Draft) -> str:
    """A ufunc that is not computed where it has no finite derivative."""
    a = d.name(lambda v: v.dtype.kind == "f")
    f = d.rng.choice(("log", "sqrt", "reciprocal"))
    return f"{d.new()} = m.{f}({a}, where={a} > 0.25, out=m.zeros({a}.shape, {a}.dtype))"


def view(d: Draft) -> str:
    a = d.name()
    if d.rng.random() < 0.4:
        return f"{d.new()} = {reshaped(d, a)}"
    return f"{d.new()} = {a}[{index(d, d.values[a].shape)}]"


def write(d: Draft) -> str:
    a = d.name(lambda v: isinstance(v, onp.ndarray))
    target = a if d.rng.random() < 0.7 else reshaped(d, a)
    shape = d.values[a].shape
    key = index(d, shape) if target == a else d.rng.choice(("0", "1:", "...", ":-1", "::2"))
    b = d.name()
    new = d.rng.choice((b, number(d), f"{b}[{index(d, d.values[b].shape)}]", reshaped(d, b)))
    operator = d.rng.choice(("=", "=", "=", "+=", "*=", "-="))
    return f"{target}[{key}] {operator} {new}"


def paused(d: Draft) -> str:
    """A write of a number while recording is paused: a constant, as it is to differences."""
    a = d.name(lambda v: isinstance(v, onp.ndarray) and v.ndim > 0)
    if d.rng.random() < 0.3:
        return f"with pause(): {a}[{a} > {number(d)}] = {number(d)}"
    target = a if d.rng.random() < 0.7 else reshaped(d, a)
    key = index(d, d.values[a].shape) if target == a else d.rng.choice(("0", "1:", ":-1", "::2"))
    return f"with pause(): {target}[{key}] = {number(d)}"


def shifted(d: Draft) -> str:
    """A copy of an array in another shape, and a write of a part of it elsewhere in it."""
    a = d.name(lambda v: isinstance(v, onp.ndarray) and v.ndim == 1 and v.size > 3)
    n, made = d.values[a].size, d.new()
    copy_ = d.rng.choice(
        (
            f"{a}[None].copy()",
            f"{a}[None, :] * 1",
            f"{a}.reshape(1, -1) * 1",
            f"m.tile({a}, (1, 1))",
        )
    )
    k = d.rng.randrange(1, max(2, n - 1))
    return d.rng.choice(
        (
            f"{made} = {copy_}; {made}[0, {k}:] = {a}[:-{k}]",
            f"{made} = {copy_}; {made}[:, {k}:] = {a}[:-{k}]",
            f"{made} = {a}[::-1].copy(); {made}[{k}:] = m.roll({made}, {k})[{k}:]",
        )
    )


def form(d: Draft) -> str:
    """Another shape of an array, whose views stay what they are."""
    a = d.name(lambda v: isinstance(v, onp.ndarray) and v.size > 1)
    n = d.values[a].size
    shapes = [f"({n},)", f"(1, {n})", "(-1, 1)", "(2, -1)", "(-1, 3)", f"{a}.shape[::-1]"]
    seen = f"{d.new()} = {a}[{index(d, d.values[a].shape)}]; " if d.rng.random() < 0.7 else ""
    return f"{seen}{a}.shape = {d.rng.choice(shapes)}"


def buffered(d: Draft) -> str:
    """A use of a buffer of NumPy's, which is written again afterwards."""
    a = d.name(lambda v: isinstance(v, onp.ndarray) and v.size <= 400)
    v = d.values[a]
    values = onp.array([d.rng.randrange(-3, 4) + 0.3 * d.floats for _ in range(v.size)])
    made = f"b = n.array({values.tolist()}, {v.dtype.name!r}).reshape({v.shape})"
    use = d.rng.choice(
        (
            f"{d.new()} = {a} {d.rng.choice('+-*')} b",
            f"{d.new()} = m.{d.rng.choice(('multiply', 'add', 'subtract'))}(b, {a})",
            f"{d.new()} = m.where(b > 0, {a}, b)",
            f"{a}[...] = b",
            f"{a}[{index(d, v.shape)}] {d.rng.choice(('=', '+=', '*='))} b[{index(d, v.shape)}]",
            f"{a} *= b",
        )
    )
    return f"{made}; {use}; b[...] = 2; del b"


def method(d: Draft) -> str:
    a = d.name(lambda v: isinstance(v, onp.ndarray) and v.ndim > 0)
    v = d.values[a]
    n = v.shape[0] if v.ndim else 1
    last = v.shape[-1] if v.ndim else 1
    positions = [d.rng.randrange(max(n, 1)) for _ in range(3)]
    others = [d.rng.randrange(max(last, 1)) for _ in range(2)]
    expressions = [
        f"m.take({a}, {others}, axis=-1)", f"m.take({a}, {positions}, axis=0)",
        f"m.delete({a}, 0, axis=-1)", f"m.insert({a}, 1, 2, axis=-1)", f"m.roll({a}, 1)",
        f"m.compress([True] * {last}, {a}, axis=-1)", f"m.repeat({a}, 2, axis=0)",
        f"m.tile({a}, 2)", f"m.flip({a}, -1)", f"m.concatenate([{a}, {a}])",
        f"m.stack([{a}, {a}], axis=-1)", f"m.cumsum({a}, axis=-1)", f"m.diff({a}, axis=-1)",
        f"m.broadcast_to({a}[:, None], {(n, 2, *v.shape[1:])}).copy()",
        f"m.outer({a}, {a})", f"m.where({a} > 0, {a}, -1)", f"m.clip({a}, {'-1.013, 2.017' if d.floats else '-1, 2'})",
        f"m.pad({a}, 1)", f"m.swapaxes({a}, 0, -1)", f"m.moveaxis({a}, 0, -1)",
        f"m.array([{a}, {a}])", f"m.sum([{a}, {a}])", f"m.mean([{a}[0], {a}[-1]], axis=0)",
        f"m.add({a}, [{a}[0], {a}[0]][0])", f"m.array([{a}.sum(), 1, {a}.sum()])",
        f"m.ravel({a}, 'F')", f"{a}.copy('F')", f"m.trapezoid({a})", f"m.tril({a})",
        f"m.einsum('i...->...', {a})", f"m.dot({a}, {a})", f"m.matmul({a}, {a}.T)",
    ]  # fmt: skip
    if not d.floats:
        expressions += [
            f"m.sort({a}, axis=-1)", f"m.argsort(m.round({a}, 3), axis=-1, kind='stable')",
            f"m.ravel({a}, 'K')", f"m.broadcast_to({a}, {(2, *v.shape)}).ravel('K')",
            f"m.round({a}, {d.rng.choice((-1, 0, 1))})", f"m.mean({a}, dtype='int8')",
            f"m.select([{a} < 1], [{a}], -1)", f"m.round({a}, 1) == m.round({a}.T, 1)", f"m.searchsorted(m.sort({a}), 1)",
            f"m.floor_divide({a}, 2)", f"{a} ** [0, 1, 70][{d.rng.randrange(3)}]",
            f"{a}.astype('int8')",
        ]  # fmt: skip
        if d.data:
            expressions += [f"m.unique({a})", f"{a}[{a} > 0]", f"m.nonzero({a})[0]"]
            expressions += [f"m.bincount(m.abs({a}).astype('int64').ravel())"]
    return f"{d.new()} = {d.rng.choice(expressions)}"


def reduction(d: Draft) -> str:
    a = d.name()
    names = ["sum", "mean", "var"] if d.floats else [*REDUCTIONS, *COUNTS]
    f = d.rng.choice(names)
    if f in ("var", "std") and onp.asarray(d.values[a]).dtype == "float16":
        f = "mean"  # docs/known_gaps.md: NumPy rounds each step
    keep = "" if f in ("argmax", "argmin") or d.rng.random() < 0.7 else ", keepdims=True"
    return f"{d.new()} = m.{f}({a}, axis={axis(d, onp.asarray(d.values[a]))}{keep})"


def then_write(d: Draft) -> str:
    """A write through the reshape of what a function made: lost if that is not in C order."""
    a = d.name(lambda v: isinstance(v, onp.ndarray) and v.ndim > 1)
    v, made = d.values[a], d.new()
    last = v.shape[-1] if v.ndim else 1
    f = d.rng.choice(
        (
            f"m.take({a}, {list(range(last))[::-1]}, axis=-1)",
            f"m.delete({a}, 0, axis=-1)",
            f"m.compress([True] * {last}, {a}, axis=-1)",
            f"m.insert({a}, 0, 1, axis=-1)",
            f"{a} + {a}",
            f"{a}.T * 2",
            f"m.cumsum({a}.T, axis=0)",
            f"m.flip({a}, 0).copy()",
        )
    )
    return f"{made} = {f}; {made}.reshape(-1)[{d.rng.choice((':', '0', '::2'))}] = 1"


def linear(d: Draft) -> str:
    a = d.name(lambda v: v.ndim == 2 and v.shape[0] == v.shape[1] and v.dtype.kind == "f")
    with onp.errstate(all="ignore"):
        matrix = onp.asarray(d.values[a])
        limit = onp.finfo(matrix.dtype).max ** 0.3 if matrix.dtype.kind == "f" else 1e100
        tame = (abs(matrix) < limit).all()  # so are their squares
    if not tame:
        return unary(d)  # LAPACK may iterate without end
    kind = d.rng.choice(("det", "norm", "inv", "solve", "eigh", "svd"))
    eye = f"m.eye({a}.shape[0])"
    symmetric = f"({a} @ {a}.T + {eye})"
    found = {
        "det": f"m.linalg.det({a})",
        "norm": f"m.linalg.norm({a})",
        "inv": f"m.linalg.inv({symmetric})",
        "solve": f"m.linalg.solve({symmetric}, {eye}[0])",
        "eigh": f"m.linalg.eigh({eye} * {a}[0, 0])[0]",
        "svd": f"m.linalg.svd({symmetric})[1]",
    }[kind]
    # Written into integers, a result of rounding errors must not be next to one.
    return f"{d.new()} = {found} + 0.0137"


def kink(d: Draft) -> str:
    """A function where it has a kink or a power of zero, which central differences can tell.

    Its argument is made of elements of the inputs: what is computed differs between backends in the
    last digit, and then they are on different sides of the kink.
    """
    inputs = onp.concatenate([v.ravel() for v in d.start])
    exact = [
        n
        for n, v in d.values.items()
        if v.dtype.kind == "f"
        and v.size
        and onp.isin(v, inputs).all()
        and not d.has_kinks  # a kink of a kink has a central difference of its own
    ]
    if not exact:
        return unary(d)
    a = d.rng.choice(exact)
    made = d.new()
    f = d.rng.choice(
        (
            f"{made} ** 0",
            f"m.array({made}).reshape(-1, 1) ** [0, 2, 1]",
            f"m.power({made}, 0.0)",
            f"m.absolute({made})",
            f"m.linalg.norm({made}.ravel())",
            f"m.std(m.ravel({made}))",
            f"m.hypot({made}, {made})",
            f"m.fmax({made}, 0.0)",
            f"m.ldexp({made}, 3)",
        )
    )
    d.has_kinks = True
    zero = f"{made} = {a} - m.array({onp.asarray(d.values[a]).tolist()!r})"
    return f"{zero}; {made} = {f} + {a}.sum()"


LINES = [unary, binary, binary, out, view, view, write, write, write, shifted, method, method]
LINES += [method, reduction, then_write, linear, masked, paused, form, buffered, into]


def draft(
    rng: random.Random, floats: bool = False, data: bool = True, in_numpys_order: bool = True
) -> Draft:
    made = Draft(rng, floats, data, in_numpys_order)
    # What only gradients, and only compiled functions can show is written more often there.
    pool = [*LINES, *[kink, masked] * 2] if floats else LINES if data else [*LINES, *[shifted] * 5]
    wanted, tries = rng.randrange(2, 9), 0
    while len(made.lines) < wanted and tries < 60:
        made.add(rng.choice(pool)(made))
        tries += 1
    return made
