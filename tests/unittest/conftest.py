"""Fixtures of the unit tests: the backend that new arrays are placed on, a fixed random stream,
JAX's settings as they were, and loops.
"""

from contextlib import nullcontext

import jax
import pytest

from npcompat import np, npx
from npcompat._internal.backend.jaxpr import roll_loops, tracing


@pytest.fixture(params=["jax", "numpy", "auto"])
def backend(request):
    """Run the test once for each backend."""
    with npx.backend(request.param):
        yield request.param


@pytest.fixture(autouse=True)
def known_state(request):
    """Every test begins with the same random stream and the default dtype policy; its module may
    say that arrays are placed on XLA.
    """
    np.random.seed(20260101)
    npx.reset_np()
    placement = getattr(request.module, "PLACEMENT", None)
    with npx.backend(placement) if placement else nullcontext():
        yield
    npx.reset_np()
    assert not jax.config.jax_enable_x64, "the test left 64-bit dtypes switched on"


@pytest.fixture
def found(monkeypatch):
    """Whether loops were found in what was compiled; all are looked for, however short."""
    seen = []

    def rolled(jaxpr, known):
        compute = roll_loops.rolled(jaxpr, known)
        seen.append(compute is not None)
        return compute

    monkeypatch.setattr(tracing, "rolled", rolled)
    monkeypatch.setattr(roll_loops, "EQUATIONS", 8)
    monkeypatch.setattr(roll_loops, "FUSIBLE_EQUATIONS", 0)
    return seen
