"""How long `import npcompat` takes, against `import jax`: fresh processes, in turn, with compiled bytecode."""

import os
import subprocess
import sys

from benchmarks.timing import Timings

_PROGRAM = "import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"


def run(seconds: float) -> dict[str, float]:
    """Print and return the ratio."""
    rounds = 5 if seconds < 0.2 else 11
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    samples: dict[str, list[float]] = {"npcompat": [], "jax": []}
    for _ in range(rounds + 1):  # the first round writes the bytecode
        for module, times in samples.items():
            program = _PROGRAM.format(module=module)
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
            times.append(float(done.stdout))
    times = Timings({module: [t * 1e6 for t in found[1:]] for module, found in samples.items()})
    ratio = times.ratio("npcompat", "jax")
    print(f"import npcompat: {times['npcompat'] / 1e3:.0f} ms, import jax: {times['jax'] / 1e3:.0f} ms, ratio {ratio:.2f}")
    return {"import": ratio}
