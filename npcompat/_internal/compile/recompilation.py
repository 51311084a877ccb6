"""Recompilations of compiled functions: their reasons, and advice to avoid them."""

import warnings
from typing import Any

from npcompat._internal.backend.jax import language
from npcompat._internal.compile.call_arguments import is_operand
from npcompat._internal.support.errors import CompileWarning, user_location

_ENTRY = (
    "shape",
    "dtype",
    "strides",
    "grad_req",
    "recorded",
    "class",
    "read-only",
    "layout",
    "aliasing",
)
WARN_AFTER_COMPILES = 8
"""Number of recompilations for one line of the user's at which a warning is given."""

_ADVICE = {
    "shape": "give bucket=, which pads arrays to one of a few lengths, bring them to one length "
    "yourself, or leave out what does not "
    "fill a batch",
    "dtype": "cast the array to one dtype before the call",
    "strides": "pass arrays that lie in memory in the same way each time: "
    "np.ascontiguousarray(array)",
    "layout": "lay arrays out in the same way each time: npx.shard(array, layout)",
    "static": "what is neither an array nor a number that is only computed with is part of the "
    "program; pass what changes as an array: "
    "np.array(value)",
    "nested": "pass the same arguments in each call",
    "mode": "call it in the same mode each time, inside or outside of autograd.record()",
    "captured": "an array from outside is replaced by one of another type; keep one, and write "
    "into it",
    "guard": "pass what changes as an argument, or keep it in an array, and write into that",
    "alias": "pass arrays that share memory in the same way each time, or copies",
}


def reason(key: Any, before: Any) -> tuple[str, str]:
    """Return how the key of a program differs from the one before, and the kind of advice."""
    if before is None:
        return "first call", ""
    if key == before:
        return "what was compiled has been forgotten", ""
    tree, places, entries, statics = key[0]
    tree_before, places_before, entries_before, statics_before = before[0]
    for name, now, was in zip(
        ("recording", "training", "numpy dtypes"), key[1:4], before[1:4], strict=True
    ):
        if now != was:
            return f"{name}: {was} became {now}", "mode"
    if tree != tree_before:
        return _restructured(tree, tree_before), "nested"
    labels = _labels(tree)
    if places != places_before:
        for label, now, was in zip(labels, places, places_before, strict=True):
            if (now is None) != (was is None):
                return f"{label}: {_kind(was)} became {_kind(now)}", "nested"
        return "an array is passed several times, or no longer", "alias"
    if statics != statics_before:
        of_statics = [label for label, place in zip(labels, places, strict=True) if place is None]
        for label, now, was in zip(of_statics, statics, statics_before, strict=True):
            if now != was:
                return f"static {label}: {was.value!r} became {now.value!r}", "static"
    for i, (now, was) in enumerate(zip(entries, entries_before, strict=False)):
        for what, new, old in zip(_ENTRY, now, was, strict=False):
            if new != old:
                label = labels[places.index(i)] if i in places else "the gradient of an argument"
                return f"{label}: {what} {old} became {new}", what if what in _ADVICE else "mode"
    return "arguments alias otherwise", "alias"


def numbers(key: Any, before: Any) -> frozenset[int]:
    """Return the leaves in which two keys differ, if these are only numbers of equal classes."""
    if key[1:] != before[1:] or key[0][:3] != before[0][:3]:
        return frozenset()
    places = [i for i, place in enumerate(key[0][1]) if place is None]
    differing = [
        (i, a.value, b.value)
        for i, a, b in zip(places, key[0][3], before[0][3], strict=True)
        if a != b
    ]
    alike = all([type(a) is type(b) and is_operand(a) and is_operand(b) for _, a, b in differing])
    return frozenset([i for i, *_ in differing]) if alike else frozenset()


def _kind(place: int | None) -> str:
    return "what is no array" if place is None else "an array"


def _labels(tree: Any) -> list[str]:
    """Return the names of the argument leaves: `argument 0`, `argument 1[2]`, `argument scale`."""
    labels = []
    for (_, first, *rest), _ in language.flatten_with_paths(
        language.unflatten(tree, [0] * tree.num_leaves)
    ):
        name = f"argument {getattr(first, 'idx', getattr(first, 'key', None))}"
        labels.append(name + "".join(map(str, rest)))
    return labels


def _restructured(tree: Any, before: Any) -> str:
    """Describe how the structure of the arguments has changed."""
    args, kwargs = language.unflatten(tree, [0] * tree.num_leaves)
    args_before, kwargs_before = language.unflatten(before, [0] * before.num_leaves)
    given, gone = (
        [n for n in kwargs if n not in kwargs_before],
        [n for n in kwargs_before if n not in kwargs],
    )
    if given or gone:
        changes = [f"argument {n}: given by keyword now" for n in given]
        return "; ".join(changes + [f"argument {n}: no longer given by keyword" for n in gone])
    if len(args) != len(args_before):
        plural = "" if len(args_before) == 1 else "s"
        return f"{len(args_before)} positional argument{plural} became {len(args)}"
    for name, now, was in [
        *zip(range(len(args)), args, args_before, strict=True),
        *[(n, kwargs[n], kwargs_before[n]) for n in kwargs],
    ]:
        if language.flatten(now)[1] != language.flatten(was)[1]:
            return f"argument {name}: nested otherwise"
    return "the arguments are nested otherwise"


class Misses:
    """Counter of recompilations of a compiled function by the line that calls it."""

    __slots__ = ("_counts", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._counts: dict[str, int] = {}

    def note(self, why: str, kind: str) -> None:
        """Count a recompilation for which there is advice; warn if a line has too many."""
        if not kind:
            return
        location = user_location()
        count = self._counts[location] = self._counts.get(location, 0) + 1
        if count == WARN_AFTER_COMPILES:
            message = (
                f"{location}: {self._name} was compiled again {count} times for calls in "
                f"this line, at last because of {why}"
            )
            warnings.warn(
                CompileWarning(f"{message}. To compile it once: {_ADVICE[kind]}"), stacklevel=2
            )


__all__ = ["Misses", "numbers", "reason"]
