"""Run the programs in all modes, and print a table; exits with 1 if the modes disagree."""

import argparse
import sys
import time
from types import ModuleType

from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from examples.gluon_programs import PROGRAMS
from examples.gluon_programs.modes import MODES, differences
from npcompat import npx


def main() -> int:
    """Train each program in each mode, print the table, and compare."""
    parser = argparse.ArgumentParser(prog="python -m examples.gluon_programs", description=__doc__)
    parser.add_argument(
        "programs",
        nargs="*",
        metavar="program",
        help=f"which to run, of {', '.join(PROGRAMS)} (default: all)",
    )
    parser.add_argument(
        "--steps",
        type=int,
        default=0,
        help="steps of training (default: as many as each needs to learn)",
    )
    parser.add_argument(
        "--device", default="cpu", help="where to train: cpu, gpu or gpu(1) (default: cpu)"
    )
    parser.add_argument(
        "--tolerance", type=float, default=2e-2, help="allowed relative difference (default: 0.02)"
    )
    options = parser.parse_args()
    unknown = [name for name in options.programs if name not in PROGRAMS]
    if unknown or options.steps < 0:
        parser.error(
            f"there is no program {unknown[0]}; choose of {', '.join(PROGRAMS)}"
            if unknown
            else "--steps must be at least 1"
        )

    console, problems = Console(), []
    table = Table(title="five programs, each trained in three modes")
    for column in ("program, mode", "first loss", "last", "reached", "time", "compiled"):
        table.add_column(
            column,
            justify="left" if column == "program, mode" else "right",
            no_wrap=column == "program, mode",
        )
    with (
        npx.device(options.device),
        tqdm(total=len(MODES) * len(options.programs or PROGRAMS), unit="training") as bar,
    ):
        for name in options.programs or PROGRAMS:
            program: ModuleType = PROGRAMS[name]
            outcomes, steps = {}, options.steps or program.STEPS
            table.add_row(f"[bold]{name}", "", "", program.SCORE, f"{steps} steps", "")
            for mode in MODES:
                bar.set_description(f"{name}, {mode}")
                start = time.perf_counter()
                with npx.compile_log() as log:
                    found = outcomes[mode] = program.train(mode, steps)
                bar.update()
                numbers = (found.losses[0], found.losses[-1], found.score)
                table.add_row(
                    f"  {mode}",
                    *[f"{x:.4f}" for x in numbers],
                    f"{time.perf_counter() - start:.1f} s",
                    str(len(log)),
                )
            table.add_section()
            problems += [f"{name}: {text}" for text in differences(outcomes, options.tolerance)]
    console.print(table)
    for problem in problems:
        console.print(f"[red]{problem}")
    console.print("the modes disagree" if problems else "all modes agree at every step")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
