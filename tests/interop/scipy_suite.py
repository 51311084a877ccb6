"""Run SciPy's own array API tests on npcompat: `python -m tests.interop.scipy_suite [MODULE ...]
[pytest's options]`.

They are those of the installed SciPy, of the modules that are named (`special`, `stats`, ...) or of
all; those for NumPy alone are left out. What fails must be listed in `scipy_suite.toml` with its
reason.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.verdict import Verdict, environment, listed, within

HERE = Path(__file__).parent
LIST = HERE / "scipy_suite.toml"
MODULES = (
    "special", "fft", "signal", "cluster", "linalg", "spatial", "stats", "ndimage", "integrate",
    "interpolate", "optimize", "differentiate",
)  # fmt: skip


def main():
    """Run the suite in a process of its own; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", choices=[[], *MODULES], default=[])
    given, options = parser.parse_known_args()
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider"),
        *("-c", os.devnull, "-p", "tests.interop.scipy_suite"),
        *within("scipy"),
        *("-m", "not slow and not xslow", "-k", "npcompat"),
        *(option for name in given.modules or MODULES for option in ("--pyargs", f"scipy.{name}")),
        *options,
    ]
    variables = environment(SCIPY_ARRAY_API='["numpy"]')
    return subprocess.run(command, cwd=HERE, env=variables).returncode


# --- within that process, a plugin ----------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Give npcompat to the tests that take a namespace, in place of NumPy."""
    import scipy.conftest

    import npcompat.numpy as np

    scipy.conftest.xp_known_backends.add(np.__name__)  # so that tests for NumPy alone are skipped
    for fixture in metafunc._arg2fixturedefs.get("xp", ()):
        fixture.params = (np,)
        fixture.ids = ("npcompat",)


def pytest_configure(config):
    """Register the plugin."""
    config.pluginmanager.register(Verdict("SciPy on npcompat", listed(LIST)))


if __name__ == "__main__":
    sys.exit(main())
