"""Training curves, plotted to a file by matplotlib, an optional dependency."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path


def curves_file(name: str) -> Path:
    """Return the file of `--plot`; raises before the training if it can't be plotted to."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise argparse.ArgumentTypeError(
            "curves are drawn by matplotlib, which is not installed: pip install matplotlib"
        ) from error
    path = Path(name)
    if path.suffix != ".png":
        raise argparse.ArgumentTypeError(
            f"expected the name of a PNG file, which ends in .png; got {name}"
        )
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


def draw(path: Path, panels: Mapping[str, Mapping[str, Sequence[float]]], along: str) -> None:
    """Plot one panel for each quantity, with a named curve for each sequence of values.

    Sequences of different lengths are spread over the same width: the axis `along` ends at the
    longest.
    """
    from matplotlib.figure import Figure

    longest = max(len(values) for curves in panels.values() for values in curves.values())
    figure = Figure(figsize=(4.5 * len(panels), 4), layout="constrained")
    for axes, (quantity, curves) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        for name, values in curves.items():
            marker = "o" if len(values) <= 20 else None
            axes.plot(
                [(i + 1) * longest / len(values) for i in range(len(values))],
                values,
                marker=marker,
                label=name,
            )
        axes.set(xlabel=along, ylabel=quantity)
        axes.legend()
    figure.savefig(path)


__all__ = ["curves_file", "draw"]
