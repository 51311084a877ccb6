"""Graphs as JSON, with a version and a checksum, and back."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as onp

from npcompat._internal import atomic, definition
from npcompat._internal.backend.symbolic import Node, Symbolic
from npcompat._internal.errors import DefinitionError
from npcompat._internal.tensortype import TensorType
from npcompat.symbol._graph import ordered

FORMAT, VERSION = "npcompat.symbol", 1


def to_json(heads: Sequence[Symbolic]) -> str:
    """The graph as a text."""
    nodes = ordered(heads)
    numbers = {id(n): i for i, n in enumerate(nodes)}
    content = {
        "nodes": [_written(n, numbers) for n in nodes],
        "heads": [[numbers[id(h.node)], h.index] for h in heads],
    }
    return json.dumps({"format": FORMAT, "version": VERSION, "checksum": _checksum(content), **content})


def from_json(text: str, source: str = "the text") -> list[Symbolic]:
    """The outputs of a graph that `to_json` wrote.

    Raises
    ------
    DefinitionError
        If it is damaged, of another version, or names operators that are not known here.
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"character {error.pos} of {len(text)}"
        raise DefinitionError(f"{source} is no graph: its JSON ends, or is damaged, at {where}: {error.msg}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DefinitionError(f"{source} is no graph: expected an object whose format is {FORMAT!r}")
    if found.get("version") != VERSION:
        raise DefinitionError(f"{source}: version {found.get('version')!r} of graphs is not known; this is version {VERSION}")
    missing = {"nodes", "heads", "checksum"} - found.keys()
    if missing:
        raise DefinitionError(f"{source} is damaged: {', '.join(sorted(missing))} is missing")
    content = {"nodes": found["nodes"], "heads": found["heads"]}
    if _checksum(content) != found["checksum"]:
        raise DefinitionError(f"{source} is damaged: its content does not have the checksum {found['checksum']} that was written with it")
    nodes: list[Node] = []
    for number, written in enumerate(content["nodes"]):
        try:
            nodes.append(_read(written, nodes))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise DefinitionError(f"{source}: node {number} ({written.get('name', '?')}): {error}") from error
    return [Symbolic(nodes[i], index) for i, index in content["heads"]]


def save(path: str | os.PathLike[str], heads: Sequence[Symbolic]) -> None:
    """Write a graph into a file, atomically."""
    atomic.write(path, to_json(heads).encode())


def load(path: str | os.PathLike[str]) -> list[Symbolic]:
    """The outputs of a graph in a file."""
    return from_json(Path(path).read_text(encoding="utf-8"), os.fspath(path))


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _written(node: Node, numbers: Mapping[int, int]) -> dict[str, Any]:
    if node.op is not None:
        inputs = [[numbers[id(p.node)], p.index] if type(p) is Symbolic else {"scalar": definition.to_json(p)} for p in node.inputs]
        return {
            "name": node.name,
            **definition.definition(node.op, node.attrs),
            "inputs": inputs,
            "outputs": [t.to_json() for t in node.outputs],
        }
    if node.value is not None:
        data = base64.b64encode(onp.ascontiguousarray(node.value).tobytes()).decode()
        return {"name": node.name, "constant": data, "type": node.outputs[0].to_json()}
    return {"name": node.name, "type": node.outputs[0].to_json()}


def _read(written: Mapping[str, Any], nodes: Sequence[Node]) -> Node:
    name = written["name"]
    if "op" in written:
        op, attrs = definition.from_definition({key: written[key] for key in ("op", "version", "attrs")})
        inputs = tuple(
            [Symbolic(nodes[p[0]], p[1]) if isinstance(p, list) else definition.from_json(p["scalar"]) for p in written["inputs"]]
        )
        op.check_inputs(len(inputs))
        return Node(name, tuple(map(TensorType.from_json, written["outputs"])), op, attrs, inputs)
    kind = TensorType.from_json(written["type"])
    if "constant" not in written:
        return Node(name, (kind,))
    value = onp.frombuffer(base64.b64decode(written["constant"]), kind.dtype).reshape(kind.shape or ()).copy()
    return Node(name, (kind,), value=value)


__all__ = ["from_json", "load", "save", "to_json"]
