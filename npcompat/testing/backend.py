"""Check a plug-in backend: `python -m npcompat.testing.backend NAME`.

Its levels are transfers, equations in corners, random programs of views and writes, compiled
functions, and, where the registry's cases are at hand, every operator and its gradient. A table of
what is right, missing, wrong or raised comes at the end; the exit status is 0 if nothing is wrong.
"""

import argparse
import json
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from npcompat import npx
from npcompat._internal.backend.plugin import registry
from npcompat._internal.support.errors import BackendError
from npcompat.testing import _levels, _operators

KINDS = ("right", "missing", "wrong", "raised")


def report(
    name: str,
    cases: str | None = None,
    programs: int = 25,
    quick: bool = False,
    device: str | None = None,
) -> dict[str, Any]:
    """Check a backend; returns what was found, level by level.

    Parameters
    ----------
    name : str
        Name of the backend.
    cases : str, optional
        Folder `tests/unittest` of npcompat's sources; by default that of a checkout.
    programs : int
        Random programs of views and writes.
    quick : bool
        Leave out operators and gradients.
    device : str, optional
        Device of the backend, such as "cuda:0"; by default its first.

    Returns
    -------
    dict
        By level, a dict by check: "right", or what was found.

    Raises
    ------
    ValueError
        If there is no such backend, or no such device of it.
    BackendError
        If its engine can't be made.
    """
    plugin = registry.get(name)
    found: dict[str, Any] = {}
    with npx.backend(name, device, fallback="error"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        levels: dict[str, Iterable[_levels.Finding]] = {
            "transfers": _levels.transfers(plugin),
            "equations": _levels.equation_corners(plugin),
            "memory": _levels.memory(plugin, programs),
            "compiled": _levels.compiled(plugin),
        }
        folder = None if quick else _operators.folder_of_cases(cases)
        if folder is not None:
            os.environ["NPCOMPAT_TEST_BACKENDS"] = name  # which the template reads
            tests = _operators.template(folder, "test_registry")
            of_gradients = _operators.template(folder, "test_registry_gradients")
            levels["operators"] = _operators.operators(tests)
            levels["gradients"] = _operators.gradients(of_gradients)
        for level, findings in levels.items():
            found[level] = dict(findings)
    return found


def counts(findings: Iterable[str]) -> dict[str, int]:
    """Count findings by kind."""
    counted = Counter([text.partition(":")[0] for text in findings])
    return {kind: counted[kind] for kind in KINDS}


def table(found: dict[str, dict[str, str]], seconds: float) -> str:
    """Return the findings as lines of text."""
    lines = [f"{'level':<12}{''.join([f'{k:>9}' for k in KINDS])}"]
    for level, checks in found.items():
        counted = counts(checks.values())
        lines.append(f"{level:<12}{''.join([f'{counted[k]:>9}' for k in KINDS])}")
    if "operators" not in found:
        lines.append("operators and gradients were not checked: --cases DIR names npcompat's tests")
    lines.append(f"{seconds:.0f} s")
    details = [
        f"  {level}, {check}: {text}"
        for level, checks in found.items()
        for check, text in checks.items()
        if text != "right"
    ]
    return "\n".join([*details, *lines])


def page(name: str, found: dict[str, dict[str, str]]) -> str:
    """Page about a backend for its manual, as Markdown, from what was found.

    Parameters
    ----------
    name : str
        Name of the backend.
    found : dict
        What `report` returned.
    """
    plugin = registry.get(name)
    dtypes = sorted([d.name for d in plugin.engine.dtypes(plugin.devices[0])])
    differences = getattr(plugin.engine, "known_differences", {})
    lines = [
        f"# The backend `{name}`",
        "",
        f"Written by `python -m npcompat.testing.backend {name} --page FILE`; see [backends.md](../backends.md).",
        "",
        f"- **dtypes**: {', '.join([f'`{d}`' for d in dtypes])}",
        f"- **primitives taken whole**: {', '.join([f'`{c}`' for c in sorted(plugin.composites)])}",
        f"- **views in the memory of the whole**: {', '.join(sorted(plugin._views)) or 'none'}",
        f"- **writes in place**: {', '.join(sorted(plugin._writes)) or 'none'}",
        "",
        "| checks | " + " | ".join(KINDS) + " |",
        "| --- | " + " | ".join(["---"] * len(KINDS)) + " |",
    ]
    for level, checks in found.items():
        counted = counts(checks.values())
        lines.append(f"| {level} | " + " | ".join([str(counted[k]) for k in KINDS]) + " |")
    others = {
        f"{check}": text
        for checks in found.values()
        for check, text in checks.items()
        if text != "right"
    }
    lines += ["", "| what is not right | reason |", "| --- | --- |"] if others else []
    lines += [f"| `{check}` | {text.partition('; it has')[0]} |" for check, text in others.items()]
    lines += [f"- `{operator}` differs: {text}" for operator, text in differences.items()]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a backend as the command line says; returns the exit status.

    0 means that nothing is wrong, 1 that something is or raised, 2 that the backend can't be used.
    """
    parser = argparse.ArgumentParser(
        prog="python -m npcompat.testing.backend",
        description="Check a plug-in backend of npcompat.",
    )
    parser.add_argument("name", help="name of the backend, as npx.backend takes it")
    parser.add_argument("--device", help="device of the backend, such as cuda:0; default its first")
    parser.add_argument("--json", action="store_true", help="print all findings as JSON")
    parser.add_argument("--cases", help="folder tests/unittest of npcompat's sources")
    parser.add_argument(
        "--programs", type=int, default=25, help="random programs of views and writes"
    )
    parser.add_argument("--quick", action="store_true", help="leave out operators and gradients")
    parser.add_argument("--page", help="write a page about the backend, as Markdown, to this file")
    given = parser.parse_args(arguments)
    begun = time.perf_counter()
    try:
        found = report(given.name, given.cases, given.programs, given.quick, given.device)
    except (ValueError, BackendError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    seconds = time.perf_counter() - begun
    if given.page:
        Path(given.page).write_text(page(given.name, found), encoding="utf-8")
    if given.json:
        summary = {level: counts(checks.values()) for level, checks in found.items()}
        print(
            json.dumps(
                {"backend": given.name, "seconds": seconds, "counts": summary, "found": found}
            )
        )
    else:
        print(table(found, seconds))
    bad = [t for checks in found.values() for t in checks.values() if t.startswith(KINDS[2:])]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())


__all__ = ["main", "page", "report"]
