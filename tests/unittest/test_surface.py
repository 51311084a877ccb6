"""The names of MXNet 2's NumPy interface, with their signatures: the lists in surface/ against the
package and docs/known_gaps.md.

Each list is of one namespace, one name a line: `name(signature)`, `name = namespace.name` for one
object under two names, `Class.method(signature)` without `self`, or a name alone. In a signature, a
default that MXNet makes when it is imported (an initializer, a device, a folder) is `...`, and a
parameter that MXNet names `_` is given by position only. Hooks that layers and cells call on
themselves, such as `infer_shape`, have no signature there.
"""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import npcompat

LISTS = {
    path.stem: path.read_text().splitlines()
    for path in sorted((Path(__file__).parent / "surface").glob("*.txt"))
}
GAPS = (Path(__file__).parents[2] / "docs" / "known_gaps.md").read_text()
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
NONE = inspect.Parameter.empty


def listed() -> dict[str, str]:
    """Read the lists: for each name nothing, a signature, or the object that it is."""
    found: dict[str, str] = {}
    for space, lines in LISTS.items():
        for line in lines:
            name, text = re.fullmatch(r"([\w.]+)(| = [\w.]+|\(.*\))", line).groups()
            assert f"{space}.{name}" not in found, f"{space}.{name} is listed twice"
            found[f"{space}.{name}"] = text
    return found


def gaps(heading: str) -> dict[str, str]:
    """The names in the first column of a table of docs/known_gaps.md, with their reasons.

    A name without a namespace has that of the name before it.
    """
    (section,) = re.findall(rf"^## {heading}$(.*?)^## ", GAPS, flags=re.MULTILINE | re.DOTALL)
    found = {}
    for names, reason in re.findall(r"^\| (`.*?) \| (.*) \|$", section, flags=re.MULTILINE):
        space = ""
        for name in re.findall(r"`([\w.]+)`", names):
            space = name.rpartition(".")[0] or space
            found[f"{space}.{name.rpartition('.')[2]}"] = reason
    return found


NAMES = listed()
MISSING, DIFFERENT = (
    gaps("Names of MXNet that are missing"),
    gaps("Signatures of MXNet that differ"),
)


def lookup(name: str) -> Any:
    """The object of a name; AttributeError if there is none.

    Attributes that instances alone have are annotated.
    """
    at: Any = npcompat
    for part in name.removeprefix("npcompat.").split("."):
        if (
            isinstance(at, type)
            and not hasattr(at, part)
            and any(part in vars(c).get("__annotations__", ()) for c in at.__mro__)
        ):
            return None
        at = getattr(at, part)
    return at


def parameters(name: str) -> list[inspect.Parameter]:
    """The parameters of a function, a class, or a method but for `self`."""
    found = list(inspect.signature(lookup(name)).parameters.values())
    owner, _, last = name.rpartition(".")
    holder = lookup(owner)
    bound = not isinstance(holder, type) or isinstance(
        inspect.getattr_static(holder, last), staticmethod | classmethod
    )
    return found if bound else found[1:]


def wanted(text: str) -> list[inspect.Parameter]:
    """The parameters of a signature that is written out."""
    scope: dict[str, Any] = {}
    exec(f"def function{text}: pass", scope)
    return list(inspect.signature(scope["function"]).parameters.values())


def same_default(mine: Any, its: Any) -> bool:
    return its is NONE or (
        mine is not NONE
        and (its is ... or mine is its or (type(mine) is not type(None) and mine == its))
    )


def difference(ours: list[inspect.Parameter], theirs: list[inspect.Parameter]) -> str | None:
    """Which calls of MXNet's signature ours does not take with the same meaning; None if there are
    none.

    Keyword-only parameters may be added, what MXNet requires may have a default, and what it takes
    as `*args` or `**kwargs` may have names.
    """
    kinds = {p.kind for p in ours}
    if {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds and len(
        ours
    ) == 2:
        return None
    here, there = ([p for p in some if p.kind in POSITIONAL] for some in (ours, theirs))
    for mine, its in zip(here, there, strict=False):
        if mine.name != its.name and its.name != "_":
            return f"{mine.name} stands in the place of {its.name}"
        if not same_default(mine.default, its.default):
            return f"{mine.name}={mine.default!r} in the place of {its.default!r}"
    if len(here) < len(there):
        return f"{there[len(here)].name} is missing"
    added = [p.name for p in here[len(there) :]]
    keywords = {p.name: p for p in ours if p.kind is inspect.Parameter.KEYWORD_ONLY}
    for its in theirs:
        if its.kind is inspect.Parameter.VAR_POSITIONAL and its.kind not in kinds and not added:
            return f"*{its.name} is missing"
        if (
            its.kind is inspect.Parameter.VAR_KEYWORD
            and its.kind not in kinds
            and not added
            and not keywords
        ):
            return f"**{its.name} is missing"
        if its.kind is inspect.Parameter.KEYWORD_ONLY:
            mine = keywords.get(its.name)
            if mine is None and inspect.Parameter.VAR_KEYWORD not in kinds:
                return f"{its.name}= is missing"
            if mine is not None and not same_default(mine.default, its.default):
                return f"{its.name}={mine.default!r} in the place of {its.default!r}"
    if added and not any(
        p.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD) for p in theirs
    ):
        return f"{', '.join(added)} can be given by position"
    required = [
        n for n, p in keywords.items() if p.default is NONE and n not in {p.name for p in theirs}
    ]
    return f"{', '.join(required)} must be given" if required else None


def missing() -> set[str]:
    found = set()
    for name in NAMES:
        try:
            lookup(name)
        except AttributeError:
            found.add(name)
    return found


def differing() -> dict[str, str]:
    """Names whose object or signature is not the listed one."""
    found = {}
    for name in NAMES.keys() - missing():
        text = NAMES[name]
        if text.startswith(" = "):
            if lookup(name) is not lookup(text[3:]):
                found[name] = f"it is not {text[3:]}"
        elif text and (reason := difference(parameters(name), wanted(text))):
            found[name] = reason
    return found


def test_names_that_are_missing_are_known_gaps():
    assert missing() - MISSING.keys() == set(), "missing, and not listed in docs/known_gaps.md"
    assert MISSING.keys() - missing() == set(), (
        "listed in docs/known_gaps.md as missing, but there, or not a name of MXNet"
    )


def test_signatures_that_differ_are_known_gaps():
    found = differing()
    assert {n: r for n, r in found.items() if n not in DIFFERENT} == {}
    assert DIFFERENT.keys() - found.keys() == set(), (
        "listed in docs/known_gaps.md as different, but as in MXNet"
    )


def test_at_most_three_percent_are_gaps_each_with_a_reason():
    assert len(MISSING.keys() | DIFFERENT.keys()) <= 0.03 * len(NAMES)
    assert all(len(reason) > 10 for reason in [*MISSING.values(), *DIFFERENT.values()])


@pytest.mark.parametrize(("mine", "its", "reason"), [
    ("(a, b=1, *, c=2)", "(a, b=1)", None),
    ("(a=0)", "(a)", None),
    ("(a, b)", "(a, *args)", None),
    ("(a=1, b=2)", "(**kwargs)", None),
    ("(*args, **kwargs)", "(a, b=1)", None),
    ("(a='float32')", "(a=...)", None),
    ("(labels)", "(_)", None),
    ("(a)", "(a, b=1)", "b is missing"),
    ("(b, a)", "(a, b)", "b stands in the place of a"),
    ("(a=2)", "(a=1)", "a=2 in the place of 1"),
    ("(a)", "(a=1)", "in the place of 1"),
    ("(a=None)", "(a=0)", "a=None in the place of 0"),
    ("(a, b=1)", "(a)", "b can be given by position"),
    ("(a, *, b)", "(a)", "b must be given"),
    ("(a)", "(a, *args)", "\\*args is missing"),
    ("(a)", "(a, *, b=1)", "b= is missing"),
    ("(a, *, b=2)", "(a, *, b=1)", "b=2 in the place of 1"),
])  # fmt: skip
def test_the_comparison_sees_differences(mine, its, reason):
    found = difference(wanted(mine), wanted(its))
    assert found is None if reason is None else re.search(reason, found)


# --- arguments that MXNet's functions have and NumPy's have not -----------------------------------

MAKERS = "arange array asarray empty empty_like eye full full_like identity indices linspace logspace ones ones_like tri zeros zeros_like"
DRAWS = "beta chisquare choice exponential f gamma gumbel laplace logistic lognormal normal pareto power rand randint randn rayleigh uniform weibull"


@pytest.mark.parametrize(
    "name", [f"np.{n}" for n in MAKERS.split()] + [f"np.random.{n}" for n in DRAWS.split()]
)
def test_what_makes_arrays_takes_their_device_under_both_names(name):
    function = lookup(name)
    arguments = {
        "np.full": (2, 1),
        "np.full_like": ([1, 2], 1),
        "np.linspace": (0, 1),
        "np.logspace": (0, 1),
    }.get(name)
    if arguments is None:  # sizes and parameters that are 2
        required = [
            p
            for p in inspect.signature(function).parameters.values()
            if p.default is NONE and p.kind in POSITIONAL
        ]
        arguments = (2,) * len(required)
    for given in ({"device": npcompat.cpu()}, {"ctx": npcompat.cpu(0)}, {"ctx": "cpu"}):
        assert function(*arguments, **given).device == npcompat.cpu()
    with pytest.raises(ValueError, match="does not exist"):
        function(*arguments, ctx=npcompat.cpu(99))


def test_what_takes_a_device_takes_it_as_ctx():
    without = set()
    for name, text in NAMES.items():
        if re.search(r"\bdevice=(None|\.\.\.)", text) and name not in MISSING:
            found = {p.name for p in parameters(name)} | {p.kind for p in parameters(name)}
            if not found & {"ctx", inspect.Parameter.VAR_KEYWORD}:
                without.add(name)
    assert without == {"gluon.contrib.estimator.Estimator"}, "whose older name is context"
