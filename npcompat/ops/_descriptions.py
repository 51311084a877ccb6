"""Descriptions of the arguments of operators.

A description is looked up in the operator's own docstring, in that of the public function (by name,
then by position), in the general vocabulary, and in the docstring of a function that the public one
refers to ("the arguments are those of `sum`").
"""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from npcompat._internal.core.op import Op
from npcompat.ops import _usage
from npcompat.ops._vocabulary import MEANINGS


class Said(NamedTuple):
    """Description of a parameter: its type, and a text."""

    type: str
    text: str


def of_arguments(op: Op) -> Mapping[str, Said]:
    """Return the description of each input and attribute of an operator; empty if unknown."""
    found: dict[str, Said] = {}
    names = (*op.inputs, *op.attrs)
    function = _function_of(op)
    own = parameters(inspect.cleandoc(op.doc))
    theirs, others = (
        ({}, {})
        if function is None
        else (parameters(inspect.getdoc(function) or ""), _referred(function))
    )
    by_position = {} if function is None else _by_position(op, function, names)
    meanings = {n: Said(*meaning) for n, meaning in MEANINGS.items()}
    for said in (own, theirs, by_position, meanings, others):
        for name in names:
            if name not in found and name in said and said[name].text:
                found[name] = said[name]
    return {n: found.get(n, Said("", "")) for n in names}


def _function_of(op: Op) -> Callable[..., Any] | None:
    """Return the function whose docstring describes the operator's arguments.

    That is the public function of its name, or the only one that calls it.
    """
    face = _usage.public_face(op)
    if face is not None:
        return face[1]
    callers = _usage.users(op)
    return callers[0][1] if len(callers) == 1 else None


def _referred(function: Callable[..., Any]) -> Mapping[str, Said]:
    """Return the parameters of functions that a docstring refers to for its arguments."""
    doc = inspect.getdoc(function) or ""
    named = re.findall(r"(?:those of|see|as(?: for)?) `(\w+)`", re.split(r"\n-{3,}", doc)[0])
    others = [vars(inspect.getmodule(function)).get(name) for name in named]
    return {
        n: said
        for other in others
        if callable(other)
        for n, said in parameters(inspect.getdoc(other) or "").items()
    }


def _by_position(
    op: Op, function: Callable[..., Any], names: tuple[str, ...]
) -> Mapping[str, Said]:
    """Match inputs with other names by position to the function's array arguments."""
    arrays = [
        (n, said)
        for n, said in parameters(inspect.getdoc(function) or "").items()
        if re.match("array|ndarray", said.type)
    ]
    if op.name.split("_", 2)[2] != getattr(function, "__name__", "") or len(arrays) < len(
        op.inputs
    ):
        return {}
    return {
        n: said
        for n, (theirs, said) in zip(op.inputs, arrays, strict=False)
        if n != theirs and theirs not in names and said.text
    }


def parameters(doc: str) -> Mapping[str, Said]:
    """Parse the parameters of a docstring."""
    lines = iter(doc.splitlines())
    for line in lines:
        if line.strip() == "Parameters":
            next(lines, None)
            break
    said: dict[str, Said] = {}
    names: list[str] = []
    for line in lines:
        if line and not line.startswith(" "):
            if re.fullmatch("-+", line):
                break
            head, _, kind = line.partition(" : ")
            names = [n.strip().lstrip("*") for n in head.split(",")]
            said.update(dict.fromkeys(names, Said(kind.strip(), "")))
        elif line.strip():
            for n in names:
                said[n] = Said(said[n].type, f"{said[n].text} {line.strip()}".strip())
    return said


__all__ = ["Said", "of_arguments", "parameters"]
