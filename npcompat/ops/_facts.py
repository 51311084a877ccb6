"""Facts that follow from a declaration: types, gradient, differences from NumPy."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as onp

import npcompat
from npcompat._internal.backend.jax import language
from npcompat._internal.core.op import Op
from npcompat.ops._usage import names_in, public_face

_DTYPES = tuple(
    [onp.dtype(name) for name in ("bool", "int8", "int64", "float16", "float32", "complex64")]
)
_BY_HAND = ("custom_jvp", "custom_vjp")


# --- types ----------------------------------------------------------------------------------------


def types(op: Op) -> str:
    """Return the type rule's docstring, and its results for operands of one dtype."""
    said = [] if op.ufunc is None else [f"those of NumPy's `{op.ufunc.__name__}`."]
    own = (inspect.getdoc(op.rule) or "").split("\n\n")[0].replace("\n", " ")
    own = own.removeprefix("Type rule: ")
    own = own[:1].upper() + own[1:]
    said += [own] if own else []
    least = len(op.inputs) - (op.variadic and len(op.inputs) > 1)
    made = list(_made(op, least)) or list(_made(op, len(op.inputs)))
    if made and all(source == result for source, result in made):
        said += [] if own else ["The result has the dtype of the operands."]
    elif made:
        results = dict.fromkeys(result for _, result in made)
        said.append(
            "; ".join(
                f"{', '.join(s for s, r in made if r == result)} → {result}" for result in results
            )
            + "."
        )
    return " ".join(said) or (
        "the dtype that is asked for." if "dtype" in op.attrs else "what the computation gives."
    )


def _made(op: Op, count: int) -> Iterator[tuple[str, str]]:
    """Iterate over the usual dtypes that the rule accepts for all operands, with the result's."""
    if not count or "key" in op.inputs:
        return
    for dtype in _DTYPES:
        try:
            _, out = op.rule((dtype,) * count, op.attrs)
        except (TypeError, ValueError, KeyError, AttributeError, IndexError):
            continue
        outs = out if isinstance(out, tuple) else (out,)
        if all(isinstance(o, onp.dtype) and not o.hasobject for o in outs):
            yield dtype.name, " and ".join(o.name for o in dict.fromkeys(outs))


# --- the gradient, and inference ------------------------------------------------------------------


def gradient(op: Op) -> str:
    """Describe the gradient of an operator."""
    if not op.differentiable:
        return "none: the result is a constant."
    compute = op.kernels.get("jax", op.compute)
    if _has_rule(compute, compute.__module__, set(), (op.name.split("_", 2)[2],)):
        return "by a rule by hand, beside the computation."
    return "the derivative of the computation."


def _has_rule(function: Any, module: str, seen: set[int], kernels: Iterable[str] = ()) -> bool:
    """Return True if a function, or an XLA kernel that it calls, has a custom derivative.

    Only functions of the operator's module are followed.
    """
    home = getattr(function, "__module__", None) or ""
    if not home.startswith(("npcompat._internal.backend.jax.", module)) or id(function) in seen:
        return False
    seen.add(id(function))
    code = getattr(function, "__code__", None)
    if code is None:
        return type(function).__name__ in _BY_HAND
    names = (*names_in(code), *kernels)
    mentioned = [cell.cell_contents for cell in function.__closure__ or ()] + [
        function.__globals__.get(name) for name in names
    ]
    if home == module:
        mentioned += [getattr(language.xp, name, None) for name in names]
    return any(_has_rule(found, module, seen) for found in mentioned)


def inferred(op: Op) -> str:
    """Describe the type inference of an operator."""
    ufunc = "the computation, run on types"
    return (
        f"{ufunc}; a rule by hand completes the types of inputs."
        if op.complete is not None
        else f"{ufunc}."
    )


# --- NumPy ----------------------------------------------------------------------------------------


def differences(op: Op) -> list[str]:
    """Return the public function's differences from NumPy's.

    These are additional arguments, and entries of docs/known_gaps.md.
    """
    face = public_face(op)
    if face is None or not _numpys(face[0]):
        return []
    added = added_arguments(face[0], face[1])
    named = ", ".join(
        f"`{p}`" + (f" (NumPy from {_IN_NUMPY_FROM[p]} on)" if p in _IN_NUMPY_FROM else "")
        for p in added
    )
    said = [f"Also takes {named}."] if added else []
    return said + [text for names, text in _listed()[1] if face[0].rsplit(".", 1)[-1] in names]


_IN_NUMPY_FROM = {"check_bounds": "2.5", "descending": "2.5"}
"""Arguments that the oldest supported NumPy lacks, so that pages are those of every version."""


def added_arguments(name: str, function: Callable[..., Any]) -> list[str]:
    """Return the arguments of a public function that NumPy's, such as `np.fft.fft`, does not have.

    If NumPy's signature shows `*args` or `**kwargs`, its arguments are unknown: returns nothing.
    """
    theirs = _numpys(name)
    if not theirs or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in theirs.values()):
        return []
    places = sum(p.kind is not p.KEYWORD_ONLY for p in theirs.values())
    mine = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    return [
        p.name
        for i, p in enumerate(mine)
        if (p.name not in theirs or p.name in _IN_NUMPY_FROM)
        and (i >= places or p.kind is p.KEYWORD_ONLY)
    ]


def not_supported(op: Op) -> list[str]:
    """Return the entries of docs/known_gaps.md for the public function."""
    face = public_face(op)
    return [] if face is None else gaps_of([face[1]])


def gaps_of(functions: Iterable[FunctionType]) -> list[str]:
    """Return the entries of docs/known_gaps.md for functions of this package."""
    own = {f"{f.__module__.replace('.', '/')}.py::{f.__qualname__}" for f in functions}
    return [text for places, text in _listed()[0] if not own.isdisjoint(places)]


def _numpys(name: str) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of NumPy's function of a name; empty if there is none."""
    found: Any = onp
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    try:
        shown = (
            {}
            if found is None or not name.startswith("np.")
            else inspect.signature(found).parameters
        )
    except (TypeError, ValueError):
        return {}
    return {n: p for n, p in shown.items() if n != "self"}


_Listed = list[tuple[frozenset[str], str]]


@lru_cache(maxsize=1)
def _listed() -> tuple[_Listed, _Listed]:
    """Return the gaps in docs/known_gaps.md by code location, and the differences by names.

    Both are empty if the sources are not available.
    """
    path = Path(npcompat.__file__).parents[1] / "docs" / "known_gaps.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    rows = re.findall(r"^\| (.*`.*) \| (.*) \| (`npcompat/.*`) \|$", text, flags=re.MULTILINE)
    gaps = [
        (frozenset(re.findall("`([^`]+)`", places)), f"{what}: {why}.")
        for what, why, places in rows
    ]
    bullets = re.split(r"^- ", text.partition("## Different on purpose")[2], flags=re.MULTILINE)[1:]
    names = [
        [n.rsplit(".", 1)[-1].partition("(")[0] for n in re.findall("`([^`]+)`", bullet)]
        for bullet in bullets
    ]
    return gaps, [
        (frozenset(n), " ".join(bullet.split())) for n, bullet in zip(names, bullets, strict=True)
    ]


__all__ = [
    "added_arguments",
    "differences",
    "gaps_of",
    "gradient",
    "inferred",
    "not_supported",
    "types",
]
