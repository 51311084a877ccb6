"""Complex functions at signed zeros, infinities and nan, and on both sides of branch cuts: XLA gives what NumPy gives."""

import itertools

import numpy as onp
import pytest

from npcompat import np, npx

PLACEMENT = "jax"
PARTS = [0.0, -0.0, 0.5, -1.5, onp.inf, -onp.inf, onp.nan]
POINTS = onp.array([complex(x, y) for x, y in itertools.product(PARTS, PARTS)])
FUNCTIONS = [
    "exp", "sinh", "cosh", "tanh", "sin", "cos", "tan", "sqrt", "log", "log1p", "log2", "log10",
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "sign",
]  # fmt: skip


def parts(z):
    """Both parts, without the signs that C99 leaves open: of what stands beside nan."""
    unknown = onp.isnan(z)
    return [onp.where(unknown & ~onp.isnan(p), abs(p), p) for p in (z.real, z.imag)]


@pytest.fixture(scope="module")
def compiled():
    with npx.backend("jax"):
        return dict(zip(FUNCTIONS, npx.jit(lambda z: [getattr(np, name)(z) for name in FUNCTIONS])(np.array(POINTS)), strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(compiled, name):
    with onp.errstate(all="ignore"):
        expected = getattr(onp, name)(POINTS)
    for mine, theirs in zip(parts(compiled[name].asnumpy()), parts(expected), strict=True):
        onp.testing.assert_allclose(mine, theirs, rtol=1e-13, err_msg=f"{name} at {POINTS}")
        clear = ~onp.isnan(expected)
        onp.testing.assert_array_equal(onp.signbit(mine)[clear], onp.signbit(theirs)[clear], err_msg=name)


def test_zero_has_no_sign():
    assert onp.signbit(np.sign(np.array([-0.0, 0.0, -2.0])).asnumpy()).tolist() == [False, False, True]


def test_a_large_part_beside_nan_says_nothing():
    points = onp.array([complex(1e200, onp.nan), complex(onp.nan, 1e200)])
    for name in ("arccos", "arccosh", "arcsin", "arcsinh"):
        found = getattr(np, name)(np.array(points)).asnumpy()
        assert onp.isnan(found.real).all() and onp.isnan(found.imag).all(), name
