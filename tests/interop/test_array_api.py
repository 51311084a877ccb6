"""The array API standard's own suite, with few examples, where a clone of it is at hand: its path
in ARRAY_API_TESTS.
"""

import os
import subprocess

import pytest

from tests.interop.array_api import MODULES, allowed, command


@pytest.mark.skipif(
    "ARRAY_API_TESTS" not in os.environ,
    reason="ARRAY_API_TESTS does not name a clone of data-apis/array-api-tests",
)
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("module", MODULES)
def test_what_fails_is_what_numpy_does_in_another_way(module, backend):
    arguments, environment = command(module, backend, ["--max-examples=2"])
    done = subprocess.run(
        arguments,
        cwd=os.environ["ARRAY_API_TESTS"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_what_is_listed_are_tests_of_the_suite():
    of_standard, of_numpy = map(allowed, MODULES)
    assert of_standard.keys() < of_numpy.keys()
    assert all(test.startswith("test_") and "::" in test for test in of_numpy)
