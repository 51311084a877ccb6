"""Manual of the operators, generated from their declarations.

It has one page for each operator, and one chapter for each module.
"""

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import npcompat.gluon  # declares operators, too
from npcompat._internal.core.op import PATTERNS, REGISTRY, REQUIRED, Kernel, Op
from npcompat._internal.support import atomic_file
from npcompat.ops import _facts
from npcompat.ops._classes import get
from npcompat.ops._declarations import LEVELS, Declaration, declaration
from npcompat.ops._usage import public_face

assert npcompat.gluon
PATTERN_MEANINGS = {
    "elementwise": "each element of the result depends on the operand's at the same index",
    "broadcast": "the same for several operands, which are broadcast",
    "injective": "each element of the result is a copy of one of an operand, at any index",
    "reduction": "elements along axes are reduced to one",
    "complex": "products and the like: elementwise operators on the result can be fused",
    "opaque": "nothing can be fused with it",
}
_MOST = 8

# --- a page ---------------------------------------------------------------------------------------


def page(op: Op) -> str:
    """Return the page of an operator, as Markdown."""
    found = declaration(op)
    parts = [f"## {found.name}", *_described(found), _call(found)]
    if found.inputs or found.attrs:
        parts.append("\n".join(_arguments(found)))
    parts.append("\n".join(f"- **{name}**: {text}" for name, text in _properties(op, found)))
    example = _section(found.doc, "Examples")
    if example:
        parts.append("\n".join(["```pycon", *[line for line in example if line.strip()], "```"]))
    return "\n\n".join(parts) + "\n"


def _described(found: Declaration) -> Iterator[str]:
    """Iterate over the paragraphs of the docstring before its sections."""
    for paragraph in found.doc.split("\n\n"):
        if len(paragraph.splitlines()) > 1 and set(paragraph.splitlines()[1]) == {"-"}:
            return
        yield paragraph.strip()


def _section(doc: str, title: str) -> list[str]:
    """Return the lines of a section of a docstring."""
    lines = doc.splitlines()
    if title not in lines:
        return []
    rest = lines[lines.index(title) + 2 :]
    ends = [i for i, line in enumerate(rest) if line and set(line) == {"-"}]
    return rest[: ends[0] - 1] if ends else rest


def _call(found: Declaration) -> str:
    attrs = ", ".join(
        n if a.default is REQUIRED else f"{n}={a.default!r}" for n, a in found.attrs.items()
    )
    names = list(found.inputs)
    inputs = ", ".join([*names[:-1], f"*{names[-1]}"] if found.variadic else names)
    said = f"`ops.{get(found.name).__name__}({attrs})({inputs})`"
    if not found.users:
        return f"{said}."
    shown = [f"`{name}`" for name in found.users[:_MOST]]
    callers = ", ".join(shown) + (" and others" if len(found.users) > _MOST else "")
    return f"{said}; called by {callers}."


def _arguments(found: Declaration) -> Iterator[str]:
    yield from ("| argument | type | default | |", "| --- | --- | --- | --- |")
    for i, (name, text) in enumerate(found.inputs.items()):
        several = found.variadic and i == len(found.inputs) - 1
        yield (
            f"| `{'*' if several else ''}{name}` | array{', any number' if several else ''} | | "
            f"{_cell(text)} |"
        )
    for a in found.attrs.values():
        default = "required" if a.default is REQUIRED else f"`{_cell(repr(a.default))}`"
        yield f"| `{a.name}` | {_cell(a.type)} | {default} | {_cell(a.description)} |"


def _properties(op: Op, found: Declaration) -> Iterator[tuple[str, str]]:
    yield "Types", _facts.types(op)
    if found.outputs != 1:
        yield "Results", str(found.outputs)
    if op.overwrites:
        names = ", ".join(
            [f"`{op.inputs[operand]}` by result {output}" for output, operand in op.overwrites]
        )
        yield "Overwrites", f"{names}, counted from 0: auxiliary states of graphs."
    yield "Pattern", found.pattern
    yield "Support level", f"{found.level} ({', '.join(found.backends)})"
    if op.strategy:
        yield "Strategy", "; ".join(map(_chosen, sorted(op.strategy, key=lambda k: -k.priority)))
    yield "Gradient", _facts.gradient(op)
    yield "Inference", _facts.inferred(op)
    for name, found_of in (
        ("Different from NumPy", _facts.differences(op)),
        ("Not supported", _facts.not_supported(op)),
    ):
        if found_of:
            yield name, " ".join(found_of)


def _chosen(kernel: Kernel) -> str:
    """Describe a kernel of a strategy, and its conditions."""
    place = (
        kernel.backend
        if kernel.platform is None
        else f"{kernel.backend}, platform {kernel.platform}"
    )
    condition = (
        ""
        if kernel.condition is None
        else f": {inspect.getdoc(kernel.condition) or kernel.condition.__name__}"
    )
    return (
        f"`{kernel.compute.__name__.strip('_')}` on {place} (priority {kernel.priority}){condition}"
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# --- the manual -----------------------------------------------------------------------------------


def chapter_of(op: Op) -> str:
    """Return the module of an operator's chapter.

    It is the module of the public function, or of the computation.
    """
    face = public_face(op)
    return op.compute.__module__ if face is None else face[1].__module__


def file_of(module: str) -> str:
    """Return the file name of a chapter."""
    words = [word.strip("_") for word in module.split(".")[1:] or [module]]
    short = {"numpy": "np", "numpy_extension": "npx"}
    return "_".join([short.get(words[0], words[0]), *words[1:]]) + ".md"


def manual() -> Mapping[str, str]:
    """Return the files of the manual by name: an index, and one chapter for each module.

    Only modules of this package have chapters.
    """
    chapters: dict[str, list[Op]] = {}
    for name in sorted(REGISTRY):
        module = chapter_of(REGISTRY[name])
        if module.startswith("npcompat."):
            chapters.setdefault(module, []).append(REGISTRY[name])
    files = {file_of(module): (_title(module), ops) for module, ops in chapters.items()}
    pages = {
        name: "\n".join([f"# {title}\n", *map(page, ops)]) for name, (title, ops) in files.items()
    }
    return {"README.md": "\n".join(_index(files)), **pages}


def _title(module: str) -> str:
    first = (inspect.getdoc(sys.modules[module]) or module).split("\n\n")[0]
    return first.replace("\n", " ").rstrip(".")


def _index(files: Mapping[str, tuple[str, list[Op]]]) -> Iterator[str]:
    yield "# Operators\n"
    yield (
        "Made from the declarations by `python -m npcompat.ops --write docs/operators`.  "
        "`python -m npcompat.ops cumsum` prints a page.\n"
    )
    yield (
        "A page says how the operator is called as an object (`ops.Cumsum(axis=1)(x)` returns a "
        "tuple), and:\n"
    )
    yield (
        "- **Types**: which dtypes results have, and what becomes of operands of one dtype.  "
        "The default float is float32;"
    )
    yield "  under `npx.set_np(dtype=True)` all types are NumPy's."
    yield (
        "- **Pattern**: how results depend on operands, and so what can be computed together "
        "(`Symbol.fusable_groups`)."
    )
    yield from [f"  - {name}: {PATTERN_MEANINGS[name]}." for name in PATTERNS]
    yield "- **Support level**, and on which backends the operator is computed."
    yield from [f"  - {level}: {meaning}." for level, meaning in LEVELS.items()]
    yield "- **Gradient**: how it is made."
    yield (
        "- **Inference**: how types of results follow from types of which not everything is "
        "known.\n"
    )
    for name in sorted(files):
        title, ops = files[name]
        yield f"## [{title}]({name})\n"
        yield from (
            "| operator | function | pattern | level | |",
            "| --- | --- | --- | --- | --- |",
        )
        for op in ops:
            found = declaration(op)
            summary = " ".join(next(_described(found)).split())
            public = f"`{found.public}`" if found.public else ""
            yield (
                f"| [{op.name}]({name}#{op.name}) | {public} | {found.pattern} | {found.level} "
                f"| {_cell(summary)} |"
            )
        yield ""


def write(folder: str | os.PathLike[str]) -> list[str]:
    """Write the manual to a folder, and remove outdated chapters; returns changed file names."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    wanted, before = (
        manual(),
        {path.name: path.read_text(encoding="utf-8") for path in target.glob("*.md")},
    )
    for name in before.keys() - wanted.keys():
        (target / name).unlink()
    changed = [name for name, text in wanted.items() if before.get(name) != text]
    for name in changed:
        atomic_file.write(target / name, wanted[name].encode())
    return sorted({*changed, *(before.keys() - wanted.keys())})


__all__ = ["PATTERN_MEANINGS", "chapter_of", "file_of", "manual", "page", "write"]
