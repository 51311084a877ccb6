"""Tables of measurements and ratios: printed, saved as JSON, compared with an older run."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.timing import (
    SHORTEST,
    Context,
    Function,
    Ratio,
    Timings,
    geometric_mean,
    interleaved,
)

LIBRARIES = ("npcompat", "numpy", "jax", "jaxlib", "optax", "flax", "torch")
NOTICED = 1.1  # smaller changes of ratios are not reported


class Table:
    """Table of measurements, one column for each subject, and ratios of some columns.

    Parameters
    ----------
    title : str
        Measured quantity and unit.
    pairs : sequence of (str, str)
        The ratios to show, of one column to another.
    columns : sequence of str
        Columns in order; a row may lack some.
    digits : int
        Decimal digits of a figure.
    """

    def __init__(
        self, title: str, pairs: Sequence[tuple[str, str]], columns: Sequence[str], digits: int = 1
    ) -> None:
        self.title, self.pairs, self.columns, self.digits = (
            title,
            list(pairs),
            list(columns),
            digits,
        )
        self.rows: dict[str, dict[str, Any]] = {}
        self._widths = [max(9, len(c) + 2) for c in self.columns] + [
            max(8, len(f"{a}/{b}") + 2) for a, b in self.pairs
        ]
        headings = [*self.columns, *[f"{a}/{b}" for a, b in self.pairs]]
        print(
            f"\n{title}\n{'':<34}"
            + "".join(f"{h:>{w}}" for h, w in zip(headings, self._widths, strict=True))
        )

    def measure(
        self,
        row: str,
        functions: Mapping[str, Function],
        seconds: float,
        *,
        contexts: Mapping[str, Context] | None = None,
        pause: float = 0.0,
        turn: float = SHORTEST,
    ) -> None:
        """Time functions, one for each column, and add the row."""
        times = interleaved(functions, seconds, contexts=contexts, pause=pause, turn=turn)
        self.add_times(row, times)

    def add_times(self, row: str, times: Timings) -> None:
        """Add a row of times of the same rounds."""
        pairs = [(a, b) for a, b in self.pairs if a in times.samples and b in times.samples]
        self._add(
            row,
            {name: times[name] for name in times.samples},
            {f"{a}/{b}": times.ratio(a, b) for a, b in pairs},
        )

    def add(self, row: str, figures: Mapping[str, float]) -> None:
        """Add a row of figures that were measured once."""
        pairs = [(a, b) for a, b in self.pairs if a in figures and b in figures]
        self._add(
            row, figures, {f"{a}/{b}": Ratio(*[figures[a] / figures[b]] * 3) for a, b in pairs}
        )

    def _add(self, row: str, figures: Mapping[str, float], ratios: Mapping[str, Ratio]) -> None:
        self.rows[row] = {
            "figures": dict(figures),
            "ratios": {k: [r.median, r.low, r.high] for k, r in ratios.items()},
        }
        shown = [f"{figures[c]:.{self.digits}f}" if c in figures else "-" for c in self.columns]
        shown += [
            f"{ratios[f'{a}/{b}'].median:.2f}" if f"{a}/{b}" in ratios else "-"
            for a, b in self.pairs
        ]
        print(
            f"{row:<34}" + "".join(f"{s:>{w}}" for s, w in zip(shown, self._widths, strict=True)),
            flush=True,
        )

    def close(self, groups: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Print the geometric means of the ratios; returns the table as JSON values.

        `groups` names the group of each row, for means by group.
        """
        means = self._means(list(self.rows))
        for pair, mean in means.items():
            print(
                f"  {pair}: {mean['mean']:.2f} in the mean of {mean['rows']}, at most "
                f"{mean['most']:.2f} ({mean['most in']})"
            )
        table = {"title": self.title, "rows": self.rows, "means": means}
        if groups is not None:
            found = {
                g: self._means([row for row in self.rows if groups[row] == g])
                for g in dict.fromkeys(groups.values())
            }
            table["groups"] = {group: means for group, means in found.items() if means}
            for group, found in table["groups"].items():
                print(
                    f"  {group}: "
                    + ", ".join(f"{pair} {mean['mean']:.2f}" for pair, mean in found.items())
                )
        return table

    def _means(self, rows: Sequence[str]) -> dict[str, dict[str, Any]]:
        means = {}
        for a, b in self.pairs:
            found = {
                row: self.rows[row]["ratios"][f"{a}/{b}"][0]
                for row in rows
                if f"{a}/{b}" in self.rows[row]["ratios"]
            }
            if found:
                most = max(found, key=found.__getitem__)
                means[f"{a}/{b}"] = {
                    "mean": geometric_mean(list(found.values())),
                    "rows": len(found),
                    "most": found[most],
                    "most in": most,
                }
        return means


def machine() -> dict[str, Any]:
    """Return the machine and library versions of the measurements."""
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    limited = hasattr(os, "sched_getaffinity")
    return {
        "cores": len(os.sched_getaffinity(0)) if limited else os.cpu_count(),
        "processor": _processor(),
        "python": platform.python_version(),
        "libraries": versions,
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def save(path: Path, tables: Mapping[str, Any]) -> None:
    """Write the tables of a run to a file."""
    path.write_text(json.dumps({"machine": machine(), "tables": tables}, indent=1) + "\n")


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the differences between the tables of two runs, one line each.

    These are means, rows whose ratio changed by more than its variation within a run, and new or
    missing rows.
    """
    lines = []
    for name, table in after.items():
        if name not in before:
            lines.append(f"{name}: new")
            continue
        old = before[name]
        for pair, mean in table["means"].items():
            if pair in old["means"] and _noticed(old["means"][pair]["mean"], mean["mean"]):
                lines.append(
                    f"{name}, mean {pair}: {old['means'][pair]['mean']:.2f} -> {mean['mean']:.2f}"
                )
        for row, values in table["rows"].items():
            if row not in old["rows"]:
                lines.append(f"{name}, {row}: new")
                continue
            for pair, (median, low, high) in values["ratios"].items():
                if pair not in old["rows"][row]["ratios"]:
                    lines.append(f"{name}, {row}, {pair}: new")
                    continue
                median_before, low_before, high_before = old["rows"][row]["ratios"][pair]
                if _noticed(median_before, median) and (low > high_before or high < low_before):
                    lines.append(f"{name}, {row}, {pair}: {median_before:.2f} -> {median:.2f}")
        lines += [f"{name}, {row}: gone" for row in old["rows"] if row not in table["rows"]]
    return lines


def _noticed(before: float, after: float) -> bool:
    return max(before, after) > NOTICED * min(before, after)


def compare(path: Path, tables: Mapping[str, Any]) -> None:
    """Print the changes since a saved run; tables that were not measured now are ignored."""
    old = json.loads(path.read_text())
    now = machine()
    print(f"\n--- changes since {path}")
    for what, value in now.items():
        if old["machine"].get(what) != value:
            print(f"another machine: {what} {old['machine'].get(what)} -> {value}")
    found = changes(old["tables"], tables)
    print("\n".join(found) if found else "none")
