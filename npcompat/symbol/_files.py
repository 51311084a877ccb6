"""Serialization of graphs as JSON, with a version and a checksum."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as onp

from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.graph import op_serialization
from npcompat._internal.graph.symbolic import STREAM, Node, Symbolic
from npcompat._internal.support import atomic_file
from npcompat._internal.support.errors import DefinitionError
from npcompat.symbol import _scopes
from npcompat.symbol._graph import ordered

FORMAT, VERSION = "npcompat.symbol", 1


def to_json(heads: Sequence[Symbolic]) -> str:
    """Serialize a graph to text."""
    nodes = ordered(heads)
    numbers = {id(n): i for i, n in enumerate(nodes)}
    content = {
        "nodes": [_written(n, numbers) for n in nodes],
        "heads": [[numbers[id(h.node)], h.index] for h in heads],
    }
    return json.dumps(
        {"format": FORMAT, "version": VERSION, "checksum": _checksum(content), **content}
    )


def from_json(text: str, source: str = "the text") -> list[Symbolic]:
    """Load the outputs of a graph that `to_json` wrote.

    Raises
    ------
    DefinitionError
        If it is damaged, of another version, or names operators that are not known here.
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"character {error.pos} of {len(text)}"
        raise DefinitionError(
            f"{source} is no graph: its JSON ends, or is damaged, at {where}: {error.msg}"
        ) from error
    except (RecursionError, ValueError) as error:
        raise DefinitionError(f"{source} is no graph: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DefinitionError(
            f"{source} is no graph: expected an object whose format is {FORMAT!r}"
        )
    if found.get("version") != VERSION:
        raise DefinitionError(
            f"{source}: version {found.get('version')!r} of graphs is not known; this is version "
            f"{VERSION}"
        )
    missing = {"nodes", "heads", "checksum"} - found.keys()
    if missing:
        raise DefinitionError(f"{source} is damaged: {', '.join(sorted(missing))} is missing")
    content = {"nodes": found["nodes"], "heads": found["heads"]}
    if _checksum(content) != found["checksum"]:
        raise DefinitionError(
            f"{source} is damaged: its content does not have the checksum {found['checksum']} "
            "that was written with it"
        )
    for part in content:
        if not isinstance(content[part], list):
            raise DefinitionError(f"{source} is damaged: {part} is no list")
    nodes: list[Node] = []
    for number, written in enumerate(content["nodes"]):
        if not isinstance(written, dict):
            raise DefinitionError(f"{source}: node {number} is no object, but {written!r}")
        where = f"{source}: node {number} ({written.get('name', '?')})"
        try:
            nodes.append(_read(written, nodes))
        except KeyError as error:
            raise DefinitionError(f"{where}: {error.args[0]} is missing") from error
        except (AttributeError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise DefinitionError(f"{where}: {error}") from error
    try:
        return [_output(h, nodes) for h in content["heads"]]
    except ValueError as error:
        raise DefinitionError(f"{source}: heads: {error}") from error


def save(path: str | os.PathLike[str], heads: Sequence[Symbolic]) -> None:
    """Write a graph to a file, atomically."""
    atomic_file.write(path, to_json(heads).encode())


def load(path: str | os.PathLike[str]) -> list[Symbolic]:
    """Load the outputs of a graph from a file."""
    source = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DefinitionError(
            f"{source} is no graph: it is no text, at byte {error.start}"
        ) from error
    return from_json(text, source)


def _output(found: Any, nodes: Sequence[Node]) -> Symbolic:
    """Return the node output of a reference: indices of an earlier node, and of its output."""
    if not isinstance(found, list) or len(found) != 2 or not all(type(n) is int for n in found):
        raise ValueError(
            f"an output is given by the numbers of its node and of itself, got {found!r}"
        )
    node, index = found
    if not 0 <= node < len(nodes):
        raise ValueError(f"there is no node {node} before, only {len(nodes)}")
    if not 0 <= index < len(nodes[node].outputs):
        raise ValueError(
            f"node {node} ({nodes[node].name}) has no output {index}, only "
            f"{len(nodes[node].outputs)}"
        )
    return Symbolic(nodes[node], index)


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _written(node: Node, numbers: Mapping[int, int]) -> dict[str, Any]:
    labels = {"labels": dict(node.labels)} if node.labels else {}
    if node.op is not None:
        inputs = [
            [numbers[id(p.node)], p.index]
            if type(p) is Symbolic
            else {"scalar": op_serialization.to_json(p)}
            for p in node.inputs
        ]
        return {
            "name": node.name,
            **op_serialization.definition(node.op, node.attrs),
            "inputs": inputs,
            "outputs": [t.to_json() for t in node.outputs],
            **labels,
        }
    if node.value is not None:
        data = base64.b64encode(onp.ascontiguousarray(node.value).tobytes()).decode()
        return {"name": node.name, "constant": data, "type": node.outputs[0].to_json()}
    return {
        "name": node.name,
        "type": node.outputs[0].to_json(),
        **({"stream": STREAM.index(node)} if node in STREAM else {}),
        **labels,
    }


def _read(written: Mapping[str, Any], nodes: Sequence[Node]) -> Node:
    name, labels = written["name"], _scopes.checked(written.get("labels", {}), "labels")
    if "op" in written:
        op, attrs = op_serialization.from_definition(
            {key: written[key] for key in ("op", "version", "attrs")}
        )
        inputs = tuple(
            [
                op_serialization.from_json(p["scalar"])
                if isinstance(p, dict)
                else _output(p, nodes)
                for p in written["inputs"]
            ]
        )
        op.check_inputs(len(inputs))
        if len(written["outputs"]) != op.outputs:
            raise ValueError(
                f"{op.name} has {op.outputs} outputs, {len(written['outputs'])} are given"
            )
        outputs = tuple(map(TensorType.from_json, written["outputs"]))
        return Node(name, outputs, op, attrs, inputs, labels=labels)
    kind = TensorType.from_json(written["type"])
    if "stream" in written:
        if written["stream"] not in range(len(STREAM)):
            raise ValueError(
                f"the state of a random stream has the parts 0 and 1, got {written['stream']!r}"
            )
        return STREAM[written["stream"]]
    if "constant" not in written:
        return Node(name, (kind,), labels=labels)
    value = (
        onp.frombuffer(base64.b64decode(written["constant"]), kind.dtype)
        .reshape(kind.shape or ())
        .copy()
    )
    return Node(name, (kind,), value=value)


__all__ = ["from_json", "load", "save", "to_json"]
