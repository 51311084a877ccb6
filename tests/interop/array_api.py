"""Run the array API standard's own tests: `python -m tests.interop.array_api CHECKOUT [--module M]
[--backend B] [pytest's options]`.

CHECKOUT is a clone, with submodules, of https://github.com/data-apis/array-api-tests, whose
requirements.txt must be installed. The run is in NumPy mode (the default float is float64). In
`npcompat.array_api` the standard wins where NumPy disagrees, in `npcompat.numpy` NumPy does: what
fails for that is listed in `array_api.toml` with its reason, and everything else must pass.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.interop.verdict import Verdict, environment, listed

HERE = Path(__file__).parent
MODULES = ("npcompat.array_api", "npcompat.numpy")


def allowed(module):
    """The tests of the suite that may fail in a module, with the reason of each."""
    return listed(HERE / "array_api.toml", lambda _: module == "npcompat.numpy")


def command(module, backend, options):
    """The command line and the environment of a run of a module on a backend."""
    variables = environment(
        ARRAY_API_TESTS_MODULE=module, ARRAY_API_TESTS_VERSION="2025.12", NPCOMPAT_BACKEND=backend
    )
    plugins = ["-p", "tests.interop.array_api", "-p", "no:xdist", "-p", "no:cacheprovider"]
    return [
        *(sys.executable, "-m", "pytest", "array_api_tests", "-q", "-W", "ignore"),
        *("--disable-deadline", *plugins, *options),
    ], variables


def main():
    """Run the suite in a process of its own; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--module", choices=MODULES, default=MODULES[0])
    parser.add_argument("--backend", choices=["numpy", "jax", "auto"], default="numpy")
    given, options = parser.parse_known_args()
    arguments, variables = command(given.module, given.backend, options)
    return subprocess.run(arguments, cwd=given.checkout, env=variables).returncode


# --- within that process, a plugin ----------------------------------------------------------------


def pytest_configure(config):
    """Register the plugin."""
    module = os.environ["ARRAY_API_TESTS_MODULE"]
    known = {f"array_api_tests/{test}" for test in allowed(module)}
    config.pluginmanager.register(Verdict("the array API on npcompat", known))


if __name__ == "__main__":
    sys.exit(main())
