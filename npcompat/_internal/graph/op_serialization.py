"""Serialisation of operators and their attributes to JSON.

A definition is the operator's name, its version, and its attributes by name. Most attribute values
are JSON's own. A list is a tuple; other values are objects with one key, their kind.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import ml_dtypes
import numpy as onp

from npcompat._internal.backend.plugin import registry
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.op import REGISTRY, Attrs, Op
from npcompat._internal.core.tensor_type import dims
from npcompat._internal.dispatch.devices import Device, as_device
from npcompat._internal.support.errors import DefinitionError, OperatorError

VERSION = 1
"""Version of the format of definitions."""


def to_json(value: Any) -> Any:
    """Convert an attribute's value to JSON's types."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if type(value) is complex:
        return {"complex": [to_json(value.real), to_json(value.imag)]}
    if type(value) is tuple:
        return list(map(to_json, value))
    if isinstance(value, onp.dtype):
        return {"dtype": value.name if _named_dtype(value.name) == value else value.str}
    if isinstance(value, Device):
        return {"device": repr(value)}
    if dims.is_symbolic(value):
        return {"dim": str(value)}
    raise DefinitionError(
        f"an attribute of type {type(value).__name__} can't be written: {value!r}"
    )


def from_json(found: Any) -> Any:
    """Convert what `to_json` returned to an attribute's value."""
    if isinstance(found, list):
        return tuple(map(from_json, found))
    if not isinstance(found, dict):
        return found
    if len(found) != 1 or (kind := next(iter(found))) not in _KINDS:
        raise DefinitionError(
            "an attribute's value is a JSON value, or an object of one of the keys "
            f"{', '.join(_KINDS)}; got {found!r}"
        )
    try:
        return _KINDS[kind](found[kind])
    except (TypeError, ValueError, RecursionError) as error:
        raise DefinitionError(f"{kind} {found[kind]!r} can't be read: {error}") from error


def _named_dtype(name: str) -> onp.dtype[Any] | None:
    kind = getattr(ml_dtypes, name, None)
    if isinstance(kind, type) and issubclass(kind, onp.generic):
        extended: onp.dtype[Any] = onp.dtype(kind)
        return extended
    try:
        return dtypes.canonical(name)
    except (TypeError, ValueError):
        return None


def _dtype(name: str) -> onp.dtype[Any]:
    found = _named_dtype(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError("no such dtype")
    return found


def _complex(parts: Any) -> complex:
    real, imag = map(from_json, parts)
    return complex(real, imag)


def _device(name: Any) -> Any:
    """Return the device of a name; a file imports no plug-in that the program does not use."""
    found = as_device(name)
    backend = getattr(found, "backend", None)
    if backend not in (None, *modes.BACKENDS, *registry.engines):
        raise ValueError(f"the backend {backend!r} is not in use: enter npx.backend first")
    return found


_KINDS: Mapping[str, Any] = {
    "float": float,
    "complex": _complex,
    "dtype": _dtype,
    "device": _device,
    "dim": lambda text: dims.parse(text),
}


class Family(Protocol):
    """Operators that a user has named, by number of outputs and attributes."""

    func: Any

    def operator(self, outputs: int, names: tuple[str, ...]) -> Op:
        """Return the operator with a number of outputs and attributes of these names."""


CUSTOM = "_npx_custom_"
"""Prefix of the names of custom operators.

A name of several outputs ends with a colon and their number.
"""
_COUNT = re.compile("[0-9]{0,4}")
_named: dict[str, Family] = {}


def name_custom(name: str, family: Family) -> None:
    """Name a custom operator, so that graphs with it can be written and read.

    Raises
    ------
    ValueError
        If the name is that of a custom operator of another function.
    """
    if not name.isidentifier():
        raise ValueError(f"the name of a custom operator is an identifier, got {name!r}")
    before = _named.get(name)
    if before is not None and _place(before.func) != _place(family.func):
        raise ValueError(
            f"a custom operator {name!r} of another function, {_place(before.func)}, exists already"
        )
    _named[name] = family


def _place(function: Any) -> str:
    """Return the qualified name of a function, which is the same each time its definition runs."""
    if isinstance(function, str):
        return function
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', '?')}.{name}"


def _custom(name: str, attrs: Iterable[str]) -> Op | None:
    """Return the custom operator of a name in a definition; None if there is none."""
    short, _, outputs = name.removeprefix(CUSTOM).partition(":")
    if not name.startswith(CUSTOM) or short not in _named or _COUNT.fullmatch(outputs) is None:
        return None
    return _named[short].operator(int(outputs or 1), tuple(sorted(attrs)))


def definition(op: Op, attrs: Attrs) -> dict[str, Any]:
    """Return the definition of an operator with its attributes.

    Raises
    ------
    DefinitionError
        If it is a custom operator without a name.
    """
    if op.name.startswith(CUSTOM) and _custom(op.name, op.attrs) is not op:
        raise DefinitionError(
            f"{op.name.removeprefix(CUSTOM).partition(':')[0]} is a custom operator without a "
            "name, which can't be written; "
            "make it with npx.Custom(..., name='...')"
        )
    return {
        "op": op.name,
        "version": VERSION,
        "attrs": {name: to_json(value) for name, value in op.named(attrs).items()},
    }


def from_definition(found: Mapping[str, Any]) -> tuple[Op, Attrs]:
    """Return the operator and the attributes of a definition.

    Raises
    ------
    DefinitionError
        If the operator, an attribute or the version is unknown; the message lists known ones.
    """
    if not isinstance(found, Mapping):
        raise DefinitionError(
            f"a definition is an object with the keys op, version and attrs; got {found!r}"
        )
    missing = {"op", "version", "attrs"} - found.keys()
    if missing:
        raise DefinitionError(
            f"a definition has the keys op, version and attrs; {', '.join(sorted(missing))} is "
            f"missing in {dict(found)!r}"
        )
    if found["version"] != VERSION:
        raise DefinitionError(
            f"{found['op']}: version {found['version']!r} of definitions is not known; this is "
            f"version {VERSION}"
        )
    if not isinstance(found["op"], str) or not isinstance(found["attrs"], Mapping):
        raise DefinitionError(
            f"a definition's op is a name, its attrs are an object; got {found['op']!r} and "
            f"{found['attrs']!r}"
        )
    op = REGISTRY.get(found["op"]) or _custom(found["op"], found["attrs"])
    if op is None and found["op"].startswith(CUSTOM):
        name = found["op"].removeprefix(CUSTOM).partition(":")[0]
        known = ", ".join(sorted(_named)) or "none"
        raise DefinitionError(
            f"no custom operator is named {name!r}: make it with npx.Custom(..., name={name!r}) "
            f"first; there is {known}"
        )
    if op is None:
        raise DefinitionError(
            f"no operator {found['op']!r}{nearest(found['op'], REGISTRY)}; ops.list() gives all "
            f"{len(REGISTRY)}"
        )
    unknown = found["attrs"].keys() - op.attrs.keys()
    if unknown:
        raise DefinitionError(
            f"{op.name} has no attribute {', '.join(sorted(unknown))}; it has "
            f"{', '.join(op.attrs) or 'none'}"
        )
    try:
        return op, op.bind(**{name: from_json(value) for name, value in found["attrs"].items()})
    except OperatorError as error:
        raise DefinitionError(str(error)) from error


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest known names that are similar to an unknown one, for an error's text."""
    near = difflib.get_close_matches(name, known)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


__all__ = ["VERSION", "definition", "from_definition", "from_json", "nearest", "to_json"]
