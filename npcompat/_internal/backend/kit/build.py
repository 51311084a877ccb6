"""Program of equations made a Python function, by a table of rules.

All that depends on types is decided here, once. A primitive without a rule is refused now, and not
when the function has run halfway.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from npcompat._internal.backend.equations.program import (
    Atom,
    Constant,
    Equation,
    Function,
    Program,
    UnsupportedError,
    Variable,
)
from npcompat._internal.backend.kit.simplification import simplified

Rule = Callable[[Any, Equation], Any]
"""From an engine and an equation, the function of its operands' arrays; a rule "in place" may have None."""


class Executor(Protocol):
    """Members of an engine whose programs are built by rules.

    Attributes
    ----------
    name : str
        Name of the backend.
    rules : mapping
        Rules by primitive.
    broadcasts : bool
        Whether elementwise functions broadcast numbers over arrays.

    An executor may have `fusions`, by primitive: see `kit/fusions.py`. A rule named "add in place"
    makes the function that writes its result into the first operand, or None; it is asked where
    nothing else will read that one.
    """

    name: str
    broadcasts: bool

    @property
    def rules(self) -> Mapping[str, Rule]: ...

    def constant(self, value: Any) -> Any:
        """Return an array of a value that programs share and never write."""

    def fresh(self, data: Any) -> Any:
        """Return the same values in a buffer of their own."""

    def finished(self, equation: Equation, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with what each result of its primitive needs."""


ALIASING = frozenset(
    [
        "reshape",
        "broadcast",
        "transpose",
        "slice",
        "flip",
        "real",
        "imag",
        "conj",
        "convert",
        "bitcast",
        "dynamic_slice",
    ]
)
"""Primitives whose results may look into the memory of their first operand."""
BROADCASTING = frozenset((
    "add", "sub", "mul", "div", "max", "min", "pow", "atan2", "eq", "ne", "lt", "le", "gt", "ge",
    "and", "or", "xor", "rem", "nextafter", "select",
))  # fmt: skip
"""Primitives that take numbers beside arrays where an engine broadcasts."""
_LISTS = frozenset(("cond", "while", "scan", "pure_callback"))
"""Primitives whose rules return lists, of one result, too."""
_OWNED = frozenset((
    "add", "sub", "mul", "div", "max", "min", "exp", "log", "sqrt", "tanh", "select", "matmul",
    "reduce_sum", "dynamic_update_slice", "square", "linear", "scaled_sum", "part_above",
))  # fmt: skip
"""Primitives whose result is always a buffer of its own, which a later equation may write."""
_MAY_RAISE = _LISTS | {
    "cholesky", "eig", "eigh", "svd", "qr", "lu", "triangular_solve", "fft", "householder_product",
    "geqrf", "lu_pivots_to_permutation",
}  # fmt: skip
"""Primitives that may raise while a program runs: its inputs are not written before."""
_COMMUTATIVE = frozenset(("add", "mul", "max", "min"))
_FOLDED = frozenset((
    *BROADCASTING, "iota", "broadcast", "reshape", "transpose", "slice", "concatenate", "convert",
    "neg", "not", "flip", "exp", "log", "sqrt",
)) - {"rem", "pow", "nextafter"}  # fmt: skip
"""Primitives that are computed while a program is built, if all their operands are known then."""
_KEPT_BYTES = 1 << 16
"""Bytes up to which results that are known are kept with the program."""


def build(
    executor: Executor, program: Program, donate: Collection[int] = (), apart: bool = True
) -> Function:
    """Return a program as a function of an engine's arrays that returns a list of them.

    Parameters
    ----------
    executor : Executor
        Engine with rules.
    program : Program
        What to execute.
    donate : collection of int
        Inputs whose buffers may be written.
    apart : bool
        Whether each result has a buffer of its own, which neither an input nor another result
        looks into.

    Raises
    ------
    UnsupportedError
        If there is no rule for a primitive, or for it with these types.
    """
    program = simplified(program, getattr(executor, "fusions", {}))
    return _Builder(executor, program, frozenset(donate), apart).function()


class _Builder:
    """Source of the function that a program becomes: a line for each equation."""

    def __init__(
        self, executor: Executor, program: Program, donate: frozenset[int], apart: bool
    ) -> None:
        self._executor, self._program, self._apart = executor, program, apart
        self._scope: dict[str, Any] = {"fresh": executor.fresh}
        self._names: dict[Atom, str] = {v: f"v{i}" for i, v in enumerate(program.inputs)}
        self._last: dict[Atom, int] = {}
        for i, equation in enumerate(program.equations):
            self._last.update(dict.fromkeys(equation.inputs, i))
        self._ends = frozenset(program.outputs)
        self._numbers = self._broadcast_by_engine() if executor.broadcasts else {}
        self._held = frozenset(self._numbers.values())
        self._root: dict[Atom, Atom] = {}
        self._donated = frozenset([program.inputs[i] for i in donate])
        self._writable = set[Atom](self._donated)
        risky = [i for i, e in enumerate(program.equations) if e.name in _MAY_RAISE]
        self._last_risk = max(risky, default=-1)
        for equation in program.equations:
            if equation.name in ALIASING:
                source = equation.inputs[0]
                root = self._root.get(source, source)
                self._root.update(dict.fromkeys(equation.outputs, root))
            elif equation.name in _OWNED:
                self._writable.update(equation.outputs)
        self._last_of_root: dict[Atom, int] = {}
        end = len(program.equations)
        for atom, i in (*self._last.items(), *[(a, end) for a in self._ends]):
            root = self._root.get(atom, atom)
            self._last_of_root[root] = max(i, self._last_of_root.get(root, 0))
        self._spread: set[Atom] = set()  # what lies in memory once, and counts as many elements
        self._known: set[Atom] = set()  # what was computed while this was built

    def _broadcast_by_engine(self) -> dict[Atom, Atom]:
        """Numbers that are broadcast for elementwise work alone: the engine broadcasts them."""
        uses: dict[Atom, list[Equation]] = {}
        for equation in self._program.equations:
            for atom in equation.inputs:
                uses.setdefault(atom, []).append(equation)
        found: dict[Atom, Atom] = {}
        for equation in self._program.equations:
            if equation.name != "broadcast" or equation.inputs[0].type.shape:
                continue
            (made,) = equation.outputs
            if made in self._ends or not made.type.shape:
                continue
            if all([_is_beside_an_array(e, made, found) for e in uses.get(made, ())]):
                found[made] = equation.inputs[0]
        return found

    def _name(self, atom: Atom) -> str:
        name = self._names.get(atom)
        if name is None:
            assert isinstance(atom, Constant)
            name = self._names[atom] = f"c{len(self._scope)}"
            self._scope[name] = self._executor.constant(atom.value)
        return name

    def _rule(self, equation: Equation, inputs: list[Atom], position: int) -> Callable[..., Any]:
        """The function of an equation; `inputs` are put in its order."""
        rules = self._executor.rules
        rule = rules.get(equation.name)
        if rule is None:
            raise UnsupportedError(equation.name)
        in_place = rules.get(f"{equation.name} in place")
        orders = [inputs, inputs[::-1]] if equation.name in _COMMUTATIVE else [inputs]
        for order in orders:
            if in_place is not None and self._may_be_written(order, equation, position):
                found = in_place(self._executor, equation)
                if found is not None:
                    inputs[:] = order
                    return self._executor.finished(equation, found)
        return self._executor.finished(equation, rule(self._executor, equation))

    def _may_be_written(self, inputs: Sequence[Atom], equation: Equation, position: int) -> bool:
        """Return True if the result fits into the first operand, which nothing reads afterwards."""
        target = inputs[0]
        return (
            target in self._writable
            and target not in self._known
            and target.type == equation.outputs[0].type
            and self._last_of_root[target] <= position
            and (target not in self._donated or position > self._last_risk)
            and all([a is target or self._root.get(a, a) is not target for a in inputs])
        )

    def _is_known(self, equation: Equation, inputs: Sequence[Atom]) -> bool:
        """Return True for an equation of constants whose result is small, or spread."""
        if equation.name not in _FOLDED:
            return False
        if not all([isinstance(a, Constant) or a in self._known for a in inputs]):
            return False
        kind = equation.outputs[0].type
        if equation.name in ("broadcast", "iota"):
            return True
        return kind.size * kind.dtype.itemsize <= _KEPT_BYTES

    def _lines(self) -> list[str]:
        lines = []
        for i, equation in enumerate(self._program.equations):
            if equation.outputs and equation.outputs[0] in self._numbers:
                continue
            inputs = [self._numbers.get(a, a) for a in equation.inputs]
            function = self._rule(equation, inputs, i)
            if equation.name in ("broadcast", "iota") or (
                equation.name in ALIASING and inputs[0] in self._spread
            ):
                self._spread.update(equation.outputs)
            if self._is_known(equation, inputs):
                (variable,) = equation.outputs
                operands = [self._scope[self._name(a)] for a in inputs]
                self._names[variable] = name = f"k{i}"
                self._scope[name] = function(*operands)
                self._known.add(variable)
                continue
            self._scope[f"f{i}"] = function
            for variable in equation.outputs:
                self._names[variable] = f"v{len(self._names)}"
            targets = ", ".join([self._names[v] for v in equation.outputs])
            if equation.name in _LISTS or len(equation.outputs) != 1:
                targets = f"[{targets}]"
            lines.append(f"{targets} = f{i}({', '.join(map(self._name, inputs))})")
            lines += self._freed(inputs, i)
        return lines

    def _freed(self, inputs: list[Atom], position: int) -> list[str]:
        """Lines that let go of what is not used again."""
        gone = [
            self._names[a]
            for a in dict.fromkeys(inputs)
            if isinstance(a, Variable)
            and a not in self._ends
            and a not in self._held
            and a not in self._known
            and self._last.get(a, position) <= position
        ]
        return [f"{' = '.join(gone)} = None"] if gone else []

    def _results(self) -> list[str]:
        found, seen = [], set(self._program.inputs)
        for atom in self._program.outputs:
            root = self._root.get(atom, atom)
            shared = isinstance(root, Constant) or root in self._known or root in seen
            shared = shared or atom in self._known or atom in self._spread
            shared = shared or root.type.size > 2 * atom.type.size  # would hold all that memory
            seen.add(root)  # type: ignore[arg-type]
            name = self._name(atom)
            found.append(f"fresh({name})" if shared and self._apart else name)
        return found

    def function(self) -> Function:
        """Compile the source."""
        parameters = ", ".join([self._names[v] for v in self._program.inputs])
        lines = self._lines()
        lines.append(f"return [{', '.join(self._results())}]")
        body = "\n    ".join(lines)
        source = f"def program({parameters}):\n    {body}\n"
        exec(compile(source, f"<{self._program.name}>", "exec"), self._scope)
        made: Function = self._scope["program"]
        return made


def _is_beside_an_array(equation: Equation, number: Atom, known: Mapping[Atom, Atom]) -> bool:
    """Return True if an elementwise equation has another operand of the shape of its result."""
    if equation.name not in BROADCASTING:
        return False
    if equation.name == "select" and equation.inputs[0] is number:
        return False
    shape = equation.outputs[0].type.shape
    others = [a for a in equation.inputs if a is not number and a not in known]
    return any([a.type.shape == shape for a in others])


__all__ = ["ALIASING", "Executor", "Rule", "build"]
