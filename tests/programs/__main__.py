"""`python -m tests.programs --seed 1 --count 1000 --minutes 10 --modes host,xla,compiled`."""

import argparse
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import jax
import numpy as onp

import npcompat
from npcompat import npx
from tests.programs import machine
from tests.programs.mutations import MUTATIONS, mutated


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.programs", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="programs, each in one mode")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--modes", default="host,xla,compiled,gradients,state,sharded")
    parser.add_argument("--mutation", choices=sorted(MUTATIONS), help="a fault to put back")
    parser.add_argument("--write", type=Path, help="folder for the tests of what was found")
    given = parser.parse_args()
    modes, counts, found = given.modes.split(","), Counter(), 0
    if given.mutation:
        modes = [MUTATIONS[given.mutation][0]]
    if "sharded" in modes:  # XLA, which is not started yet, makes devices of a CPU
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count=2"
    npx.set_np(dtype=True)
    print(
        f"seed {given.seed}, modes {','.join(modes)}, npcompat {npcompat.__version__}, NumPy "
        f"{onp.__version__}, JAX {jax.__version__}",
        flush=True,
    )
    end = time.monotonic() + 60 * given.minutes
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    for number in range(given.count):
        if stopped or time.monotonic() > end:
            break
        mode = modes[number % len(modes)]
        rng = random.Random(f"{given.seed} {number}")
        if given.mutation:
            with mutated(given.mutation):
                failure = machine.attempt(mode, rng, shrinks=False)
            if failure:
                print(f"{given.mutation}: found by program {number + 1}\n{failure.text()}")
                return 0
        elif failure := machine.attempt(mode, rng):
            found += 1
            print(f"--- program {number}, {mode}\n{failure.text()}", flush=True)
            if given.write:
                given.write.mkdir(exist_ok=True)
                (given.write / f"test_{given.seed}_{number}.py").write_text(failure.test())
        counts[mode] += 1
        # programs that are compiled whole share nothing; eager ones share their operators
        if number % (200 if {"compiled", "gradients", "state"} & {*modes} else 4000) == 199:
            jax.clear_caches()
    print(f"{sum(counts.values())} programs {dict(counts)}, {found} disagreements")
    if given.mutation:
        print(f"{given.mutation}: not found")
        return 1
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
