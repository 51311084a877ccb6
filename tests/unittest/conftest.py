"""Fixtures of the unit tests: the backend that new arrays are placed on, and a fixed random stream."""

import pytest

from npcompat import np, npx


@pytest.fixture(params=["jax", "numpy", "auto"])
def backend(request):
    """Run the test once for each backend."""
    with npx.backend(request.param):
        yield request.param


@pytest.fixture(autouse=True)
def known_state():
    """Every test begins with the same random stream and the default dtype policy."""
    np.random.seed(20260101)
    npx.reset_np()
    yield
    npx.reset_np()
