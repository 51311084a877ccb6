"""Table of layers that `Block.summary` prints."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from npcompat._internal.backend.jax import language
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles as _handles
from npcompat._internal.graph.symbolic import Node, Symbolic
from npcompat.gluon._parameter import Parameter, once
from npcompat.numpy import ndarray
from npcompat.symbol import var


class _Row(NamedTuple):
    """Row of the table: one call of a block."""

    layer: str
    shape: str
    parameters: int
    flops: int | None


def print_summary(root: Any, inputs: tuple[Any, ...]) -> None:
    """Run a block in prediction mode; print outputs, parameters and FLOPs of each block."""
    calls: list[tuple[str, str, int]] = []
    counted: set[int] = set()

    def note(path: str, block: Any, args: Any, out: Any) -> None:
        own = [p for p in block.params.values() if id(p) not in counted]
        counted.update(map(id, own))
        calls.append((path, _shapes(out), sum(map(_count, own))))

    with _hooked(root, note):
        root(*inputs)
    counts = _computed(root, inputs)
    if counts is None or len(counts) != len(calls):
        counts = [None] * len(calls)
    rows = [
        _Row("Input", _shapes(inputs), 0, 0),
        *[_Row(*call, count) for call, count in zip(calls, counts, strict=True)],
    ]
    _print(rows, list(once(root.collect_params()).values()))


@contextmanager
def _hooked(root: Any, note: Callable[..., None]) -> Iterator[None]:
    """Context manager that notes each call of a block, without compiling or recording."""
    blocks: dict[int, tuple[str, Any]] = {}
    for path, block in _paths(root, "", 0):
        blocks.setdefault(id(block), (path, block))  # a shared block has its first name
    handles = [
        block.register_forward_hook(
            lambda block, args, out, path=path: note(path, block, args, out)
        )
        for path, block in blocks.values()
    ]
    active = [(block, block._active) for _, block in blocks.values() if hasattr(block, "_active")]
    try:
        for block, _ in active:
            block.__dict__["_active"] = False
        with modes.changed(recording=False, training=False):
            yield
    finally:
        for block, was in active:
            block.__dict__["_active"] = was
        for handle in handles:
            handle.detach()


def _paths(block: Any, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    yield f"{prefix}{type(block).__name__}", block
    for name, child in block._blocks().items():
        yield from _paths(child, "  " * (depth + 1) + f"{name}: ", depth + 1)


def _shapes(arrays: Any) -> str:
    if isinstance(arrays, list | tuple):
        return ", ".join(map(_shapes, arrays))
    return str(getattr(arrays, "shape", type(arrays).__name__))


def _count(parameter: Parameter) -> int:
    count: int = parameter.data().size
    return count


# --- operations -----------------------------------------------------------------------------------


def _computed(root: Any, inputs: tuple[Any, ...]) -> list[int | None] | None:
    """Count the FLOPs of each call of a block, without those of its child blocks.

    Returns None if the block can't be called on symbols.
    """
    counts: list[int | None] = []
    seen: set[int] = set()
    kept: list[Node] = []  # keeps nodes alive, so that their ids are not reused

    def note(path: str, block: Any, args: Any, out: Any) -> None:
        made = _between(_nodes(out), {id(node) for node in _nodes(args)})
        own = [node for node in made if id(node) not in seen]
        seen.update(map(id, own))
        kept.extend(own)
        counts.append(sum([_operations(node) for node in own]))

    leaves, tree = language.flatten(inputs)
    symbols = [
        var(f"data{i}", a.shape, a.dtype) if isinstance(a, ndarray) else a
        for i, a in enumerate(leaves)
    ]
    try:
        with _hooked(root, note):
            root(*language.unflatten(tree, symbols))
    except Exception:  # a user's block may use arrays in ways that symbols do not support
        return None
    return counts


def _nodes(result: Any) -> list[Node]:
    """Return the graph nodes of the arrays in a result."""
    payloads = [
        _handles.read(a).payload for a in language.flatten(result)[0] if isinstance(a, Handle)
    ]
    return [p.node for p in payloads if type(p) is Symbolic]


def _between(heads: Sequence[Node], ends: set[int]) -> list[Node]:
    """Return the nodes that the heads depend on, up to the nodes in `ends`."""
    found: dict[int, Node] = {}
    waiting = list(heads)
    while waiting:
        node = waiting.pop()
        if id(node) not in ends and id(node) not in found:
            found[id(node)] = node
            waiting.extend([p.node for p in node.inputs if type(p) is Symbolic])
    return list(found.values())


def _operations(node: Node) -> int:
    if node.op is None:
        return 0
    return language.operations(
        node.op, node.attrs, tuple([p.type if type(p) is Symbolic else p for p in node.inputs])
    )


# --- the table ------------------------------------------------------------------------------------


def _print(rows: list[_Row], params: list[Parameter]) -> None:
    first = max(len(name) for name in ("Layer", *[r.layer for r in rows])) + 2
    second = max(len(shape) for shape in ("Output shape", *[r.shape for r in rows])) + 6
    line = "-" * (first + second + 30)
    print(f"{'Layer':<{first}}{'Output shape':>{second}}{'Parameters':>14}{'FLOPs':>16}\n{line}")
    for row in rows:
        flops = "?" if row.flops is None else row.flops
        print(f"{row.layer:<{first}}{row.shape:>{second}}{row.parameters:>14}{flops:>16}")
    trainable = sum(_count(p) for p in params if p.grad_req != "null")
    known = [r.flops for r in rows if r.flops is not None]
    total = (
        f"{sum(known)} FLOPs"
        if len(known) == len(rows)
        else "FLOPs unknown: the block can't be called on symbols"
    )
    print(f"{line}\n{sum(map(_count, params))} parameters, {trainable} of them trainable; {total}")
