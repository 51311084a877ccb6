"""How long `import npcompat` takes, against `import jax`: fresh processes, in turn."""

import subprocess
import sys

_PROGRAM = "import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"


def run(seconds: float) -> dict[str, float]:
    """Print and return the ratio of the medians."""
    rounds = 5 if seconds < 0.2 else 11
    samples: dict[str, list[float]] = {"npcompat": [], "jax": []}
    for _ in range(rounds):
        for module, times in samples.items():
            done = subprocess.run([sys.executable, "-c", _PROGRAM.format(module=module)], capture_output=True, text=True, check=True)
            times.append(float(done.stdout))
    middle = {module: sorted(times)[rounds // 2] for module, times in samples.items()}
    ratio = middle["npcompat"] / middle["jax"]
    print(f"import npcompat: {middle['npcompat'] * 1e3:.0f} ms, import jax: {middle['jax'] * 1e3:.0f} ms, ratio {ratio:.2f}")
    return {"import": ratio}
