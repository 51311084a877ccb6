"""Fusion groups: the operators of a graph that can be computed together, by their patterns.

The rules are those of Relay's pass (Chen et al., 2018, "TVM: an automated end-to-end optimizing
compiler for deep learning"). A node can be fused with its post-dominator, the node at which all
paths from it to results meet:

- elementwise, broadcast and injective nodes join others of these, or a reduction, which ends the
  group;
- a complex node begins a group, which elementwise and broadcast nodes join;
- opaque nodes stay alone, and so does a node whose value is a result.

A group has at most one complex node or reduction.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MAPS = frozenset(("elementwise", "broadcast", "injective"))
_IN_PLACE = frozenset(("elementwise", "broadcast"))
_ANCHORS = frozenset(("complex", "reduction"))
_END = -1


@dataclass(frozen=True, slots=True)
class Step:
    """Call of an operator: its pattern, and the numbers of the steps whose outputs it reads."""

    pattern: str
    inputs: tuple[int, ...]


def groups(steps: Sequence[Step], results: Iterable[int]) -> list[list[int]]:
    """Return the fusion groups of a graph that have at least two steps.

    Parameters
    ----------
    steps : sequence of Step
        Steps in topological order.
    results : iterable of int
        Numbers of the steps whose values are results.
    """
    users: list[list[int]] = [[] for _ in steps]
    for i, step in enumerate(steps):
        for source in dict.fromkeys(step.inputs):
            users[source].append(i)
    after = _post_dominators(users, frozenset(results))
    heads = list(
        range(len(steps))
    )  # union-find: for each step the head of its group, or a step nearer to it

    def head(i: int) -> int:
        while heads[i] != i:
            heads[i] = heads[heads[i]]
            i = heads[i]
        return i

    anchors = [{i} if step.pattern in _ANCHORS else set() for i, step in enumerate(steps)]
    order = sorted(range(len(steps)), key=lambda i: (steps[i].pattern != "complex", i))
    for i in order:
        end = after[i]
        pattern = (
            "complex"
            if any([steps[j].pattern == "complex" for j in anchors[head(i)]])
            else steps[i].pattern
        )
        if end == _END or not _joins(steps, pattern, end, between := _between(users, i, end)):
            continue
        members = {head(j) for j in (i, *between, end)}
        found = set().union(*[anchors[j] for j in members])
        if len(found) > 1:
            continue
        for j in members:
            heads[j] = head(end)
        anchors[head(end)] = found
    gathered: dict[int, list[int]] = {}
    for i in range(len(steps)):
        gathered.setdefault(head(i), []).append(i)
    return sorted([members for members in gathered.values() if len(members) > 1])


def _joins(steps: Sequence[Step], pattern: str, end: int, between: set[int]) -> bool:
    """True if a group of this pattern can be fused with its post-dominator `end` and `between`."""
    last = steps[end].pattern
    if pattern == "complex":
        return last in _IN_PLACE and all(steps[i].pattern in _IN_PLACE for i in between)
    return (
        pattern in _MAPS
        and last in _MAPS | {"reduction"}
        and all(steps[i].pattern in _MAPS for i in between)
    )


def _between(users: Sequence[Sequence[int]], start: int, end: int) -> set[int]:
    """Return the steps on all paths from a step to its post-dominator, without these two."""
    found: set[int] = set()
    waiting = [i for i in users[start] if i != end]
    while waiting:
        i = waiting.pop()
        if i not in found:
            found.add(i)
            waiting.extend([j for j in users[i] if j != end])
    return found


def _post_dominators(users: Sequence[Sequence[int]], results: frozenset[int]) -> list[int]:
    """Return the immediate post-dominator of each step, `_END` for steps without one.

    That is the nearest step which all paths from a step to results pass through.
    """
    found = [_END] * len(users)
    depth = [0] * len(users)

    def common(a: int, b: int) -> int:
        while a != b:
            if a == _END or b == _END:
                return _END
            if depth[a] < depth[b]:
                a, b = b, a
            a = found[a]
        return a

    for i in reversed(range(len(users))):
        if i not in results and users[i]:
            nearest = users[i][0]
            for user in users[i][1:]:
                nearest = common(nearest, user)
            found[i] = nearest
            depth[i] = 0 if nearest == _END else depth[nearest] + 1
    return found


__all__ = ["Step", "groups"]
