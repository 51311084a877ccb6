"""The table that `Block.summary` prints."""

from collections.abc import Callable, Iterator
from typing import Any

from npcompat._internal import modes
from npcompat.gluon.parameter import Parameter, once


def print_summary(root: Any, inputs: tuple[Any, ...]) -> None:
    """Call a block in prediction mode, and print what each block in it gave."""
    rows: list[tuple[str, str, int]] = [("Input", _shapes(inputs), 0)]
    counted: set[int] = set()

    def note(path: str) -> Callable[..., None]:
        def hook(block: Any, args: Any, out: Any) -> None:
            own = [p for p in block.params.values() if id(p) not in counted]
            counted.update(map(id, own))
            rows.append((path, _shapes(out), sum(map(_count, own))))

        return hook

    blocks = list(_paths(root, "", 0))
    handles = [block.register_forward_hook(note(path)) for path, block in blocks]
    active = [(block, block._active) for _, block in blocks if hasattr(block, "_active")]
    try:
        for block, _ in active:
            block.__dict__["_active"] = False
        with modes.changed(recording=False, training=False):
            root(*inputs)
    finally:
        for block, was in active:
            block.__dict__["_active"] = was
        for handle in handles:
            handle.detach()
    _print(rows, list(once(root.collect_params()).values()))


def _paths(block: Any, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    yield f"{prefix}{type(block).__name__}", block
    for name, child in block._children.items():
        yield from _paths(child, "  " * (depth + 1) + f"{name}: ", depth + 1)


def _shapes(arrays: Any) -> str:
    if isinstance(arrays, list | tuple):
        return ", ".join(map(_shapes, arrays))
    return str(getattr(arrays, "shape", type(arrays).__name__))


def _count(parameter: Parameter) -> int:
    count: int = parameter.data().size
    return count


def _print(rows: list[tuple[str, str, int]], params: list[Parameter]) -> None:
    first = max(len(r[0]) for r in [*rows, ("Layer", "", 0)]) + 2
    second = max(len(r[1]) for r in [*rows, ("", "Output shape", 0)]) + 6
    line = "-" * (first + second + 14)
    print(f"{'Layer':<{first}}{'Output shape':>{second}}{'Parameters':>14}\n{line}")
    for layer, shape, count in rows:
        print(f"{layer:<{first}}{shape:>{second}}{count:>14}")
    trainable = sum(_count(p) for p in params if p.grad_req != "null")
    print(f"{line}\n{sum(map(_count, params))} parameters, {trainable} of them trainable")
