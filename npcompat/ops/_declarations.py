"""Declarations of the operators, for listings and the manual."""

import builtins
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from npcompat._internal.core.op import PATTERNS, REGISTRY, REQUIRED, Op
from npcompat.ops import _descriptions, _usage

LEVELS = {
    1: "the operator of a public function, on all backends",
    2: "the operator of a public function, on one backend: arrays elsewhere are sent there",
    3: "a part of public functions, which may change with them",
}
"""Meanings of the support levels."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """Attribute of an operator: default (`<required>` if there is none), type, description."""

    name: str
    default: Any
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """Declaration of one operator.

    `level` is the support level: 1 is the operator of a public function on all backends, 2 on one
    of them, 3 a part of public functions. `inputs` maps the names of the input arrays to
    descriptions (any number of the last one if `variadic`). `public` is the public function of the
    operator's name, if there is one; `users` are all that call it.
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
    users: tuple[str, ...]
    doc: str


def listed(
    pattern: str | None = None, level: int | None = None, backend: str | None = None
) -> builtins.list[Declaration]:
    """List the declarations of the registered operators, by name.

    Parameters
    ----------
    pattern : {'elementwise', 'broadcast', 'injective', 'reduction', 'complex', 'opaque'}, optional
        Only operators of this dependence pattern of results on operands.
    level : int, optional
        Only operators of this support level.
    backend : {'jax', 'numpy'}, optional
        Only operators that have a kernel on this backend.

    Examples
    --------
    >>> [d.name for d in ops.list(pattern="reduction", backend="numpy")][:2]
    ['_npi_all', '_npi_all_nan']
    """
    for argument, given, known in (
        ("pattern", pattern, PATTERNS),
        ("level", level, tuple(LEVELS)),
        ("backend", backend, ("jax", "numpy")),
    ):
        if given is not None and given not in known:
            raise ValueError(
                f"ops.list({argument}={given!r}): expected one of {', '.join(map(str, known))}"
            )
    found = [declaration(REGISTRY[name]) for name in sorted(REGISTRY)]
    return [
        d
        for d in found
        if (pattern is None or d.pattern == pattern)
        and (level is None or d.level == level)
        and (backend is None or backend in d.backends)
    ]


def declaration(op: Op) -> Declaration:
    """Return the declaration of an operator."""
    users = _usage.users(op)
    face = _usage.public_face(op)
    said = _descriptions.of_arguments(op)
    backends = backends_of(op)
    attrs = {n: _attribute(n, default, said[n]) for n, default in op.attrs.items()}
    return Declaration(
        name=op.name,
        inputs={n: said[n].text for n in op.inputs},
        variadic=op.variadic,
        outputs=op.outputs,
        attrs=attrs,
        level=3 if face is None else 1 if len(backends) == 2 else 2,
        pattern=op.pattern,
        backends=backends,
        differentiable=op.differentiable,
        public=None if face is None else face[0],
        users=tuple([name for name, _ in users]),
        doc=(inspect.getdoc(face[1]) or "") if face is not None else inspect.cleandoc(op.doc),
    )


def backends_of(op: Op) -> tuple[str, ...]:
    """Return the backends that compute an operator."""
    return ("jax",) if op.only_on_xla else ("jax", "numpy")


def _attribute(name: str, default: Any, said: _descriptions.Said) -> Attribute:
    """Return an attribute.

    A public function's description of an omitted argument is dropped if the attribute has no
    default.
    """
    kind = said.type.replace("sequence of", "tuple of") or (
        "any" if default in (None, REQUIRED) else type(default).__name__
    )
    if default is not REQUIRED:
        return Attribute(name, default, kind, said.text)
    text = re.sub(r"; [^;]*\bif (not given|None)(?=\.)|, if not given", "", said.text)
    return Attribute(name, default, kind.removesuffix(", optional"), text)


__all__ = ["LEVELS", "Attribute", "Declaration", "backends_of", "declaration", "listed"]
