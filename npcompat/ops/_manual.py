"""The manual page of an operator, from its declaration."""

from npcompat._internal.op import REQUIRED, Op
from npcompat.ops._classes import get
from npcompat.ops._declarations import Declaration, declaration


def page(op: Op) -> str:
    """The page of an operator, as Markdown."""
    found = declaration(op)
    lines = [f"# {found.name}", "", _summary(found), "", f"`npcompat.ops.{get(found.name).__name__}{_signature(found)}`"]
    if found.public:
        lines += ["", f"Called by `{found.public}`."]
    lines += ["", "| input | |", "| --- | --- |"]
    for i, (name, text) in enumerate(found.inputs.items()):
        several = found.variadic and i == len(found.inputs) - 1
        lines.append(f"| `{name}`{', any number of times' if several else ''} | {_cell(text)} |")
    if not found.inputs:
        lines.append("| none | |")
    if found.attrs:
        lines += ["", "| attribute | default | |", "| --- | --- | --- |"]
        for attribute in found.attrs.values():
            default = "required" if attribute.default is REQUIRED else f"`{attribute.default!r}`"
            lines.append(f"| `{attribute.name}` | {default} | {_cell(attribute.description)} |")
    lines += ["", "| | |", "| --- | --- |", f"| outputs | {found.outputs} |", f"| pattern | {found.pattern} |"]
    lines += [f"| support level | {found.level} |", f"| backends | {', '.join(found.backends)} |"]
    lines += [f"| gradient | {'that of the computation' if found.differentiable else 'none'} |", f"| types | {_rule(op)} |"]
    lines.append(f"| inference | by its computation on types{', and a rule for types of inputs' if op.complete else ''} |")
    example = _example(found)
    if example:
        lines += ["", "```python", *example, "```"]
    return "\n".join(lines) + "\n"


def _summary(found: Declaration) -> str:
    return found.doc.split("\n\n")[0].replace("\n", " ").strip()


def _signature(found: Declaration) -> str:
    return f"({', '.join(n if a.default is REQUIRED else f'{n}={a.default!r}' for n, a in found.attrs.items())})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _rule(op: Op) -> str:
    """What the declaration's type rule does, by its own docstring."""
    said = (op.rule.__doc__ or "").strip().split("\n")[0]
    if op.ufunc is not None:
        return f"those of NumPy's ufunc `{op.ufunc.__name__}`"
    return said or "as its rule says"


def _example(found: Declaration) -> list[str]:
    lines = found.doc.splitlines()
    if "Examples" not in lines:
        return []
    rest = lines[lines.index("Examples") + 2 :]
    return [line for line in rest if line.strip()]


__all__ = ["page"]
