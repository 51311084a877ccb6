"""One program in one mode: whether it agrees, and the smallest one that does not."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as onp

from tests.programs import grammar, modes, state


@dataclass
class Failure:
    """A program that differs from NumPy."""

    mode: str
    lines: list[str]
    why: str
    start: list[onp.ndarray] = field(default_factory=list)

    def text(self) -> str:
        given = [f"v{i} = array({a.tolist()}, {a.dtype})" for i, a in enumerate(self.start)]
        return "\n".join([*given, *self.lines, f"# {self.why[:400]}"])

    def test(self) -> str:
        """Return the program as a test."""
        if self.mode == "state":
            return (
                "from tests.programs import state\n\n\ndef test_state():\n"
                f"    state.check({self.lines!r})\n"
            )
        start = ", ".join(f"onp.array({a.tolist()}, {str(a.dtype)!r})" for a in self.start)
        return (
            "import numpy as onp\nfrom numpy import inf, nan  # noqa: F401\n\n"
            "from npcompat import npx\nfrom tests.programs import modes\n\n\n"
            f"def test_program():\n    with npx.np_default_dtype():\n"
            f"        modes.MODES[{self.mode!r}]({self.lines!r}, [{start}])\n"
        )


def _failing(check: Callable[[], None]) -> str | None:
    try:
        check()
    except modes.DisagreementError as error:
        return str(error)
    except Exception as error:
        return f"NumPy returns, npcompat raises {type(error).__name__}: {error}"
    return None


def attempt(mode: str, rng: random.Random, shrinks: bool = True) -> Failure | None:
    """Write a program and run it; None if all agree, else the failure, shrunk if asked for."""
    if mode == "state":
        lines = state.draft(rng)
        check = lambda lines: _failing(lambda: state.check(lines))
        start: list[onp.ndarray] = []
    else:
        with_data = mode in ("host", "xla", "sharded")
        in_numpys_order = mode.startswith("host") or mode == "compiled"
        made = grammar.draft(rng, mode.endswith("gradients"), with_data, in_numpys_order)
        lines, start = made.lines, made.start
        check = lambda lines: _failing(lambda: modes.MODES[mode](lines, start))
    why = check(lines)
    if why is None or (start and not _runs(lines, start)):
        return None
    if shrinks:
        lines, why = _shrunk(lines, why, check, start)
    return Failure(mode, lines, why, start)


def _shrunk(
    lines: list[str], why: str, check: Callable[[list[str]], str | None], start: list[onp.ndarray]
) -> tuple[list[str], str]:
    """Leave lines out while the program still fails."""
    i = len(lines) - 1
    while i >= 0:
        fewer = lines[:i] + lines[i + 1 :]
        if not start or _runs(fewer, start):
            found = check(fewer)
            if found is not None:
                lines, why = fewer, found
        i -= 1
    return lines, why


def _runs(lines: list[str], start: list[onp.ndarray]) -> bool:
    try:
        modes.expected(lines, start)
    except Exception:
        return False
    return True
