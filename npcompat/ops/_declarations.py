"""What the declarations say of the operators, for listing and for the manual."""

import builtins
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any

from npcompat._internal.op import PATTERNS, REGISTRY, REQUIRED, Op


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an operator: its default (`<required>` if there is none), and what the public function says of it."""

    name: str
    default: Any
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is declared of one operator.

    `level` says how far it is supported: 1 on all backends, 2 on one of them.  `inputs` are the names of the arrays it
    takes (the last one any number of times if `variadic`), with what the public function says of them.  `public` is that
    function's name, if there is one.
    """

    name: str
    inputs: Mapping[str, str]
    variadic: bool
    outputs: int
    attrs: Mapping[str, Attribute]
    level: int
    pattern: str
    backends: tuple[str, ...]
    differentiable: bool
    public: str | None
    doc: str


def listed(pattern: str | None = None, level: int | None = None, backend: str | None = None) -> builtins.list[Declaration]:
    """The declarations of the registered operators, by name.

    Parameters
    ----------
    pattern : {'elementwise', 'broadcast', 'injective', 'reduction', 'complex', 'opaque'}, optional
        How the results depend on the operands: only operators of this pattern.
    level : int, optional
        Only operators of this support level.
    backend : {'jax', 'numpy'}, optional
        Only operators that have a kernel on this backend.

    Examples
    --------
    >>> [d.name for d in ops.list(pattern="reduction", backend="numpy")][:2]
    ['_npi_all', '_npi_all_nan']
    """
    for argument, given, known in (("pattern", pattern, PATTERNS), ("level", level, (1, 2)), ("backend", backend, ("jax", "numpy"))):
        if given is not None and given not in known:
            raise ValueError(f"ops.list({argument}={given!r}): expected one of {', '.join(map(str, known))}")
    found = [declaration(REGISTRY[name]) for name in sorted(REGISTRY)]
    return [
        d
        for d in found
        if (pattern is None or d.pattern == pattern) and (level is None or d.level == level) and (backend is None or backend in d.backends)
    ]


def declaration(op: Op) -> Declaration:
    """What is declared of an operator."""
    function = _public_functions(len(REGISTRY)).get(op.name)
    said = {} if function is None else _parameters(inspect.getdoc(function) or "")
    backends = ("jax",) if "jax" in op.kernels and "numpy" not in op.kernels else ("jax", "numpy")
    attrs = {n: Attribute(n, default, _type(default), said.get(n, "")) for n, default in op.attrs.items()}
    return Declaration(
        name=op.name,
        inputs={n: said.get(n, "") for n in op.inputs},
        variadic=op.variadic,
        outputs=op.outputs,
        attrs=attrs,
        level=1 if len(backends) == 2 else 2,
        pattern=op.pattern,
        backends=backends,
        differentiable=op.differentiable,
        public=None if function is None else f"{_namespace(function)}.{function.__qualname__}",
        doc=(inspect.getdoc(function) if function is not None else op.doc) or "",
    )


def _type(default: Any) -> str:
    return "any" if default is None or default is REQUIRED else type(default).__name__


def _namespace(function: Callable[..., Any]) -> str:
    package = function.__module__.removeprefix("npcompat.").split("._")[0]
    return {"numpy": "np", "numpy_extension": "npx"}.get(package, package.replace("numpy.", "np.", 1))


@lru_cache(maxsize=1)
def _public_functions(count: int) -> Mapping[str, FunctionType]:
    """By operator, the function that wraps it: among those of its module that name it, the one of its name, or the first."""
    found: dict[str, FunctionType] = {}
    for module_name, module in builtins.list(sys.modules.items()):
        if not module_name.startswith("npcompat."):
            continue
        names = {n: v.name for n, v in vars(module).items() if isinstance(v, Op) and REGISTRY.get(v.name) is v}
        for function in vars(module).values():
            function = inspect.unwrap(function) if callable(function) else function
            if not isinstance(function, FunctionType) or function.__module__ != module_name or function.__name__.startswith("_"):
                continue
            for variable in names.keys() & set(function.__code__.co_names):
                own = function.__name__ == re.sub("^_np[ix]?_", "", names[variable])
                if own or names[variable] not in found:
                    found[names[variable]] = function
    return found


def _parameters(doc: str) -> dict[str, str]:
    """What a docstring says of each parameter."""
    lines = iter(doc.splitlines())
    for line in lines:
        if line.strip() == "Parameters":
            next(lines, None)
            break
    said: dict[str, str] = {}
    names: builtins.list[str] = []
    for line in lines:
        if line and not line.startswith(" "):
            if re.fullmatch("-+", line):
                break
            names = [n.strip().lstrip("*") for n in line.split(" :")[0].split(",")]
            said.update(dict.fromkeys(names, ""))
        elif line.strip():
            for n in names:
                said[n] = f"{said[n]} {line.strip()}".strip()
    return said


__all__ = ["Attribute", "Declaration", "declaration", "listed"]
