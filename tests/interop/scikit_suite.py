"""Run scikit-learn's own array API checks on npcompat: `python -m tests.interop.scikit_suite
[pytest's options]`.

They are those of the installed scikit-learn that take a namespace; they get `npcompat.array_api`,
alone and mixed with NumPy's arrays. What fails must be listed in `scikit_suite.toml` with its
reason.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.interop.verdict import Verdict, environment, listed, package, within

HERE = Path(__file__).parent
LIST = HERE / "scikit_suite.toml"
NAMESPACE = "npcompat.array_api"


def files():
    """The files of scikit-learn's tests that ask for namespaces."""
    asking = ("yield_namespace", "yield_mixed_namespace")
    return [
        path
        for path in sorted(package("sklearn").rglob("tests/test_*.py"))
        if any(name in path.read_text() for name in asking)
    ]


def main():
    """Run the checks in a process of its own; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    _, options = parser.parse_known_args()
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider"),
        *("-c", os.devnull, "-p", "tests.interop.scikit_suite", "-k", NAMESPACE),
        *within("sklearn"),
        *map(str, files()),
        *options,
    ]
    variables = environment(SCIPY_ARRAY_API="1")
    return subprocess.run(command, cwd=HERE, env=variables).returncode


# --- within that process, a plugin ----------------------------------------------------------------


def namespaces(include_numpy_namespaces=True):
    """npcompat's namespace, in place of those that scikit-learn knows."""
    yield NAMESPACE


def combinations(include_numpy_namespaces=True):
    """npcompat's namespace, its default device, and the two dtypes of scikit-learn's estimators."""
    for dtype in ("float64", "float32"):
        yield NAMESPACE, None, dtype


def mixtures():
    """Inputs of two namespaces: the second is converted to the first."""
    from sklearn.utils._array_api import NamespaceAndDevice

    ours, numpys = NamespaceAndDevice(NAMESPACE, None), NamespaceAndDevice("numpy", None)
    yield ours, numpys, f"{NAMESPACE} to numpy"
    yield numpys, ours, f"numpy to {NAMESPACE}"


def pytest_configure(config):
    """Register the plugin, before scikit-learn's tests are imported."""
    import sklearn.utils._array_api as given

    given.yield_namespaces = namespaces
    given.yield_namespace_device_dtype_combinations = combinations
    given.yield_mixed_namespace_input_permutations = mixtures
    config.pluginmanager.register(Verdict("scikit-learn on npcompat", listed(LIST)))


if __name__ == "__main__":
    sys.exit(main())
