"""Guards: what a function has read of Python's state while it was traced, checked before each use.

Arrays are operands of a program. Attributes, items of containers, global and enclosed variables are
not: their values are part of it. While a function is traced, each call of a function of the user's
shows which names it uses, and the objects at hand. What can be reached again later, from the traced
function and from the modules, becomes a guard: where to look, and what was there at first. A program
whose guards don't hold is not used, and the function is traced again.

Objects of npcompat's own classes (blocks, optimizers, parameters) say themselves when an attribute
is set (`changes.note`). Their guards are looked at only after such a change.
"""

import ast
import inspect
import random
import textwrap
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as onp

from npcompat._internal.compile.staged_runs import check_call
from npcompat._internal.core import changes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch.traced_number import TracedNumber
from npcompat._internal.native import fast_path
from npcompat._internal.source.conversion import original
from npcompat._internal.support.errors import CompileWarning, is_library, user_location

_Result = TypeVar("_Result")
ITEM, SEQUENCE, MAPPING, ATTRIBUTE, CHECK = range(5)
"""Kinds of guards: an item of a dict, all items of a list, of a dict, an attribute, a function."""

Guard = tuple[int, Any, Any, Any]
"""Kind, object, key, and what was found there."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_IMMUTABLE = frozenset((*_PLAIN, type, range, slice, onp.dtype, types.BuiltinFunctionType))
_FUNCTIONS = (types.FunctionType, types.MethodType)
_LARGEST = 10_000
"""Items of a container that are looked at; of a longer one, the items are compared, not what they
hold."""
_DEEPEST = 6
_DYNAMIC = frozenset(("__dict__", "vars", "getattr", "hasattr", "globals", "attrgetter"))
"""Names of what finds attributes by names that no code shows: all attributes are guarded then."""


class Guards:
    """What a program depends on beside its operands."""

    __slots__ = ("_owned", "always", "stamp")

    def __init__(self, always: Sequence[Guard], owned: Sequence[Guard], stamp: int) -> None:
        self.always, self._owned, self.stamp = tuple(always), tuple(owned), stamp

    def hold(self) -> bool:
        """Return True if everything is as it was when the function was traced."""
        if self.stamp != changes.count[0]:
            if not fast_path.guards_hold(self._owned):
                return False
            self.stamp = changes.count[0]
        return not self.always or fast_path.guards_hold(self.always)

    def broken(self) -> str:
        """Say what has changed, for the compile log."""
        for guard in (*self._owned, *self.always):
            if not fast_path.guards_hold((guard,)):
                return _described(guard)
        return "something that the function reads has changed"


_ALL = "any attribute"
"""Key of the guard of all attributes of an object, also of those that it has not yet."""


def _described(guard: Guard) -> str:
    kind, container, key, before = guard
    if kind == CHECK:
        return str(key)
    if kind in (ITEM, ATTRIBUTE):
        found = (
            container.get(key, "nothing") if kind == ITEM else getattr(container, key, "nothing")
        )
        where = f"variable or attribute {key!r}" if kind == ITEM else f"attribute {key!r}"
        return f"{where}: {_short(before)} became {_short(found)}"
    return f"a {type(container).__name__} that the function reads has other items"


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, _PLAIN) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


class Watch:
    """Context in which a function is traced, which collects what it may read."""

    def __init__(self, function: Callable[..., Any], static: Sequence[Any], name: str) -> None:
        self._function, self._static, self._name = function, static, name
        self._names: set[str] = set()
        self._edges: dict[int, tuple[Any, dict[Any, Guard]]] = {}
        self._codes: dict[types.CodeType, list[dict[str, Any]]] = {}
        self._globals: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._owned: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._streams: list[tuple[Any, Callable[[], Any], Any, str]] = []
        self._cell_names: dict[int, set[str]] = {}
        self._stamp = changes.count[0]

    # --- while the function is traced

    def run(self, trace: Callable[[], _Result]) -> _Result:
        """Trace, and look at each call of a user's function and at streams of random numbers."""
        self._streams += [
            (random, random.getstate, random.getstate(), "Python's random"),
            (onp.random, _numpys_state, _numpys_state(), "NumPy's random"),
        ]
        found: _Result = fast_path.profiled(trace, self.classify, self.visit)
        for _, state, before, what in self._streams:
            if not _same_state(state(), before):
                warnings.warn(
                    CompileWarning(
                        f"{user_location()}: {what} was drawn from while {self._name} was "
                        "compiled; its compiled calls use the same numbers again. Draw them with "
                        "np.random, which goes on in compiled functions, or pass them as arguments"
                    ),
                    stacklevel=2,
                )
        return found

    def classify(self, code: types.CodeType) -> bool:
        """Return True if calls of a function are to be looked at."""
        return not is_library(code.co_filename) or changes.is_owned(code.co_filename)

    def visit(self, frame: types.FrameType) -> None:
        """Note what a function of the user's can read, when it is called."""
        code, names = frame.f_code, _names_of(frame.f_code)
        if changes.is_owned(code.co_filename):
            mine = frame.f_locals.get("self")
            if mine is not None and changes.is_tracked(mine):
                self._note_owned(mine)
            return
        if str(frame.f_globals.get("__name__", "")).startswith("namedtuple_"):
            return  # code that the standard library makes
        check_call(frame)
        own = original(code)
        if own is None:
            return  # a part of a function, which was looked at when that was called
        code, names = own, _names_of(own)
        self._names |= names
        found = frame.f_locals
        self._codes.setdefault(code, []).append({n: found.get(n) for n in code.co_freevars})
        _, variables = self._globals.setdefault(id(frame.f_globals), (frame.f_globals, {}))
        for name in names & frame.f_globals.keys():
            if name not in variables:
                variables[name] = value = frame.f_globals[name]
                self._note(value, names, 0)
        for value in found.values():
            self._note(value, names, 0)

    def _note(self, value: Any, names: set[str], depth: int) -> None:
        """Note the items and attributes of an object as they are at first."""
        kind = type(value)
        if kind in _IMMUTABLE or isinstance(value, Handle | TracedNumber) or depth > _DEEPEST:
            return
        known = self._edges.get(id(value))
        if known is None:
            known = self._edges[id(value)] = (value, {})
            whole = _contents(value)
            if whole is not None:
                known[1][None] = whole
            elif isinstance(value, onp.ndarray):
                known[1][None] = _of_array(value)
            self._note_stream(value)
        elif (None in known[1]) and depth:
            return
        if None in known[1]:
            items = _items(value)
            for item in items if len(items) <= _LARGEST else ():
                self._note(item, names, depth + 1)
            return
        if changes.is_tracked(value):
            self._note_owned(value)
        if names & _DYNAMIC and type(getattr(value, "__dict__", None)) is dict:
            state = value.__dict__
            if not changes.is_tracked(value) and not isinstance(value, types.ModuleType | type):
                known[1].setdefault(_ALL, (MAPPING, state, _ALL, dict(state)))
        for name in _attributes(value, names):
            if name not in known[1]:
                guard = _attribute(value, name)
                if guard is not None:
                    known[1][name] = guard
                    self._note(guard[3], names, depth + 1)

    def _note_owned(self, value: Any) -> None:
        if id(value) not in self._owned:
            state = {k: v for k, v in vars(value).items() if k not in value._untracked}
            self._owned[id(value)] = value, {k: v for k, v in state.items() if _is_plain(v)}
            for registry in value._registries:
                held = state.get(registry)
                if held is not None:
                    self._owned[id(held)] = held, dict(held)

    def _note_stream(self, value: Any) -> None:
        if isinstance(value, random.Random):
            self._streams.append((value, value.getstate, value.getstate(), "a random.Random"))
        elif isinstance(value, onp.random.Generator):
            bits: Any = value.bit_generator
            self._streams.append((value, lambda: bits.state, bits.state, "a Generator of NumPy's"))
        elif isinstance(value, onp.random.RandomState):
            state = partial(value.get_state, legacy=False)
            self._streams.append((value, state, state(), "a RandomState of NumPy's"))

    # --- when it has been

    def guards(self, more: Sequence[Guard] = (), noted: Sequence[Guard] = ()) -> Guards:
        """The guards of the program: what can be found again from the function and its modules.

        `more` changes only where changes are counted; `noted` is what the trace was told.
        """
        if not self._codes and not self._owned and not more and not noted:
            return Guards((), (), self._stamp)
        always: dict[tuple[int, Any], Guard] = {}
        owned: dict[tuple[int, Any], Guard] = {}
        reached: set[int] = set()
        waiting: deque[Any] = deque([self._function, *self._static])
        for variables, used in self._globals.values():
            for name, value in used.items():
                always[id(variables), name] = (ITEM, variables, name, value)
                waiting.append(value)
        while waiting:
            value = waiting.popleft()
            if id(value) in reached or type(value) in _IMMUTABLE or isinstance(value, Handle):
                continue
            reached.add(id(value))
            waiting.extend(self._of_function(value, always))
            _, edges = self._edges.get(id(value), (None, {}))
            target = owned if changes.is_tracked(value) else always
            for key, guard in edges.items():
                (always if key is None else target)[id(value), key] = guard
                if key is _ALL:
                    waiting.extend(guard[3].values())
                elif key is not None:
                    waiting.append(guard[3])
                elif guard[0] in (SEQUENCE, MAPPING) or isinstance(value, tuple):
                    waiting.extend(_items(value))
        self._add_owned(owned)
        kept = self._without_logs([g for g in always.values() if not _is_frozen(g)])
        return Guards([*kept, *noted], [*self._without_logs([*owned.values()]), *more], self._stamp)

    def _without_logs(self, guards: list[Guard]) -> list[Guard]:
        """Guards but for those of state that the function writes itself and never reads.

        `calls.append(1)` and `count += 1` do not decide on what is computed. State that is written
        and read has to be traced at each call, as its value is another one each time.
        """
        names: dict[int, set[str]] = {}
        for kind, _, key, value in guards:
            if kind in (ITEM, ATTRIBUTE):
                names.setdefault(id(value), set()).add(key)
        for seen in self._codes.values():
            for variables in seen:
                for name, value in variables.items():
                    names.setdefault(id(value), set()).add(name)
        read = [_read_names(code) for code in self._codes]
        kept = []
        for guard in guards:
            if not fast_path.guards_hold((guard,)):
                kind, container, key, _ = guard
                own = {key} if kind == ITEM else names.get(id(container), set())
                if type(container) is types.CellType:
                    own = {n for code in self._codes for n in code.co_freevars} & self._cells(
                        container
                    )
                if own and all([r is not None and r.isdisjoint(own) for r in read]):
                    continue
            kept.append(guard)
        return kept

    def _cells(self, cell: types.CellType) -> set[str]:
        return self._cell_names.get(id(cell), set())

    def _add_owned(self, owned: dict[tuple[int, Any], Guard]) -> None:
        """Guards of attributes of npcompat's objects, but for those that tracing itself changed."""
        for value, state in self._owned.values():
            now = value if type(value) is dict else vars(value)
            for name, before in state.items():
                if name in now and now[name] is before:
                    owned.setdefault((id(value), name), (ITEM, now, name, before))
            if type(value) is dict:
                owned[id(value), None] = (MAPPING, value, None, dict(state))

    def _of_function(self, value: Any, always: dict[tuple[int, Any], Guard]) -> list[Any]:
        """What a function encloses, and what its variables were when it was first called."""
        found: list[Any] = []
        if isinstance(value, types.MethodType):
            found.append(value.__self__)
            value = value.__func__
        wrapped = getattr(value, "func", None) if type(value).__name__ == "partial" else None
        if wrapped is not None:
            return [wrapped, *value.args, *value.keywords.values()]
        if not isinstance(value, types.FunctionType):
            return found
        found += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        seen = self._codes.get(value.__code__, [])
        cells = value.__closure__ or ()
        for name, cell in zip(value.__code__.co_freevars, cells, strict=True):
            try:
                now = cell.cell_contents
            except ValueError:
                continue
            before = next((s[name] for s in seen if name in s), now)
            found.append(before)
            if value.__code__ in self._codes:
                always[id(cell), None] = (ATTRIBUTE, cell, "cell_contents", before)
                self._cell_names.setdefault(id(cell), set()).add(name)
        return found


def _names_of(code: types.CodeType) -> set[str]:
    """Names that the code uses for variables and attributes, and strings that may be some."""
    found = _KNOWN_NAMES.get(code)
    if found is None:
        texts = [c for c in code.co_consts if type(c) is str and c.isidentifier()]
        found = _KNOWN_NAMES[code] = {*code.co_names, *texts}
        if len(_KNOWN_NAMES) > 4096:
            _KNOWN_NAMES.clear()
    return found


_KNOWN_NAMES: dict[types.CodeType, set[str]] = {}


_MUTATORS: frozenset[str] = frozenset(
    ("append", "extend", "add", "update", "insert", "appendleft", "clear")
)

"""Methods of containers that write and return None."""


class _Reads(ast.NodeVisitor):
    """Names of variables and attributes that are used for more than to be written."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.add(node.attr)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
            self._written(node.func.value)
            for argument in (*node.args, *[k.value for k in node.keywords]):
                self.visit(argument)
        else:
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._written(node.target)
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load):
            self.generic_visit(node)
        else:
            self._written(node)

    def _written(self, node: ast.expr) -> None:
        """Visit what is written: the object that holds it is read, its name is not."""
        if isinstance(node, ast.Subscript):
            self.visit(node.slice)
            self._written(node.value)
        elif isinstance(node, ast.Attribute):
            self.visit(node.value)
        elif not isinstance(node, ast.Name):
            self.visit(node)


_KNOWN_READS: dict[types.CodeType, set[str] | None] = {}


def _read_names(code: types.CodeType) -> set[str] | None:
    """Names that a function reads, by its source; None if that is not there."""
    if code not in _KNOWN_READS:
        if len(_KNOWN_READS) > 4096:
            _KNOWN_READS.clear()
        reads = _Reads()
        try:
            reads.visit(ast.parse(textwrap.dedent(inspect.getsource(code))))
            _KNOWN_READS[code] = reads.found
        except (OSError, SyntaxError, TypeError, IndentationError):
            _KNOWN_READS[code] = _reads_of_lambda(code)
    return _KNOWN_READS[code]


def _reads_of_lambda(code: types.CodeType) -> set[str] | None:
    """All names of a function whose source can't be parsed alone, which are taken to be read."""
    return {*code.co_names, *code.co_freevars, *code.co_varnames}


def _attributes(value: Any, names: set[str]) -> Iterator[str]:
    """Names of attributes of an object that code with such names may read."""
    if isinstance(value, types.ModuleType):
        return iter(() if is_library(getattr(value, "__file__", "") or "") else sorted(names))
    if isinstance(value, _FUNCTIONS) or is_library_class(type(value)):
        return iter(())
    state = getattr(value, "__dict__", None)
    if names & _DYNAMIC and type(state) is dict:
        return iter([n for n in state if type(n) is str])
    return iter(sorted(names))


_STATELESS = ("builtins", "npcompat", "jax", "jaxlib", "numpy", "optax", "ml_dtypes")


def is_library_class(kind: type) -> bool:
    """Return True for classes of what npcompat stands on, whose instances hold no user's state."""
    return not changes.is_tracked_class(kind) and kind.__module__.partition(".")[0] in _STATELESS


def _attribute(value: Any, name: str) -> Guard | None:
    """The guard of an attribute as it is found in an object or its class; None if there is none."""
    if isinstance(value, types.ModuleType):
        return (ITEM, vars(value), name, vars(value)[name]) if name in vars(value) else None
    state = getattr(value, "__dict__", None)
    if type(state) is dict and name in state:
        if changes.is_tracked(value) and name in value._untracked:
            return None
        return (ITEM, state, name, state[name])
    for klass in value.__mro__ if isinstance(value, type) else type(value).__mro__:
        if name not in klass.__dict__:
            continue
        found = klass.__dict__[name]
        if isinstance(found, types.MemberDescriptorType):
            return (ATTRIBUTE, value, name, getattr(value, name, None))
        if callable(found) or hasattr(type(found), "__get__"):
            return None  # methods and properties are functions, which are looked at when called
        return (ATTRIBUTE, value, name, found)
    return None


def _contents(value: Any) -> Guard | None:
    """The guard of all items of a container; None for other objects."""
    if isinstance(value, list):
        return (SEQUENCE, value, None, tuple(value))
    if isinstance(value, dict):
        return (MAPPING, value, None, dict(value))
    if isinstance(value, tuple):
        return (CHECK, _always, "a tuple", None)
    if isinstance(value, set | deque | bytearray):
        copy = type(value)(value)
        return (CHECK, lambda: value == copy, f"a {type(value).__name__} has other items", None)
    return None


def _numpys_state() -> Any:
    return onp.random.get_state(legacy=False)


def _always() -> bool:
    return True


def _of_array(array: onp.ndarray[Any, Any]) -> Guard:
    copy = array.copy()

    def same() -> bool:
        if array.shape != copy.shape or array.dtype != copy.dtype:
            return False
        return array.tobytes() == copy.tobytes() if not array.dtype.hasobject else True

    return (CHECK, same, "an array of NumPy's has other elements", None)


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.values()]
    return [*value] if isinstance(value, list | tuple | set | deque) else []


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) or (
        isinstance(value, tuple) and all([isinstance(v, _PLAIN) for v in value])
    )


def _is_frozen(guard: Guard) -> bool:
    """Return True for guards of what can't change."""
    return guard[0] == CHECK and guard[1] is _always


def _same_state(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all([_same_state(one[k], other[k]) for k in one])
    return onp.array_equal(one, other) if isinstance(one, onp.ndarray) else bool(one == other)


__all__ = ["Guard", "Guards", "Watch"]
