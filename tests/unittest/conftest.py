"""Fixtures of the unit tests: the backend that new arrays are placed on, a fixed random stream,
JAX's settings as they were, and loops.
"""

import os
import subprocess
from contextlib import nullcontext

import jax
import pytest
from internals import cpu_rewrites, rewritten, roll_loops, tracing

from npcompat import np, npx

# `NPCOMPAT_TEST_BACKENDS=torch` runs the tests on plug-ins, in place of npcompat's own backends.
BACKENDS = os.environ.get("NPCOMPAT_TEST_BACKENDS", "").split()


@pytest.fixture(params=BACKENDS or ["jax", "numpy", "auto"])
def backend(request):
    """Run the test once for each backend."""
    with npx.backend(request.param):
        yield request.param


@pytest.fixture(params=BACKENDS or ["numpy", "jax"])
def placed(request):
    """Run the test once with its arrays on the host and once on XLA."""
    with npx.backend(request.param):
        yield request.param


@pytest.fixture
def numpy_mode():
    """NumPy's dtypes, for the length of a test."""
    npx.set_np(dtype=True)
    yield
    npx.reset_np()


@pytest.fixture
def rewritten_jaxprs(monkeypatch):
    """The jaxprs of the programs that are compiled, after they have been rewritten."""
    made = []

    def noted(jaxpr):
        made.append(rewritten(jaxpr))
        return made[-1]

    monkeypatch.setattr(cpu_rewrites, "rewritten", noted)
    return made


@pytest.fixture(autouse=True)
def known_state(request):
    """Every test begins with the same random stream and the default dtype policy; its module may
    say that arrays are placed on XLA.
    """
    mark = request.node.get_closest_marker("of_xla")
    if mark is not None and BACKENDS:
        pytest.skip(f"looks at XLA itself: {mark.args[0]}")
    np.random.seed(20260101)
    npx.reset_np()
    placement = getattr(request.module, "PLACEMENT", None)
    if BACKENDS and placement == "jax":
        placement = BACKENDS[0]
    with npx.backend(placement) if placement else nullcontext():
        yield
    npx.reset_np()
    assert not jax.config.jax_enable_x64, "the test left 64-bit dtypes switched on"


@pytest.fixture
def found(monkeypatch):
    """Record for each compiled program if it was rolled into loops; short loops are rolled, too."""
    seen = []

    def rolled(jaxpr, known):
        compute = roll_loops.rolled(jaxpr, known)
        seen.append(compute is not None)
        return compute

    monkeypatch.setattr(tracing, "rolled", rolled)
    monkeypatch.setattr(roll_loops, "MIN_EQNS", 8)
    monkeypatch.setattr(roll_loops, "MAX_FUSIBLE_EQNS", 0)
    return seen


@pytest.fixture
def on_the_host():
    """Compute on the host: formulas are tested where nothing is compiled for each of their steps, and
    tests of compiled code say so.
    """
    with npx.backend("numpy"):
        yield


@pytest.fixture
def no_code(monkeypatch):
    """Loading a library, and starting a program, fail the test."""

    def loads(*args, **options):
        raise AssertionError(f"code is loaded: {args}")

    monkeypatch.setattr("ctypes.CDLL", loads)
    monkeypatch.setattr("ctypes.PyDLL", loads)
    monkeypatch.setattr(os, "system", loads)
    monkeypatch.setattr(subprocess, "Popen", loads)
