"""Complex functions at signed zeros, infinities and nan, and on both sides of branch cuts: XLA
gives what NumPy gives.
"""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as onp
import pytest

from npcompat import autograd, np, npx

PLACEMENT = "jax"
PROGRAM = Path(__file__).parent / "programs" / "branch_points.py"
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
        return dict(
            zip(
                FUNCTIONS,
                npx.jit(lambda z: [getattr(np, name)(z) for name in FUNCTIONS])(np.array(POINTS)),
                strict=True,
            )
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(compiled, name):
    with onp.errstate(all="ignore"):
        expected = getattr(onp, name)(POINTS)
    for mine, theirs in zip(parts(compiled[name].asnumpy()), parts(expected), strict=True):
        onp.testing.assert_allclose(mine, theirs, rtol=1e-13, err_msg=f"{name} at {POINTS}")
        clear = ~onp.isnan(expected)
        onp.testing.assert_array_equal(
            onp.signbit(mine)[clear], onp.signbit(theirs)[clear], err_msg=name
        )


def test_zero_has_no_sign():
    assert onp.signbit(np.sign(np.array([-0.0, 0.0, -2.0])).asnumpy()).tolist() == [
        False,
        False,
        True,
    ]


def test_a_large_part_beside_nan_says_nothing():
    points = onp.array([complex(1e200, onp.nan), complex(onp.nan, 1e200)])
    for name in ("arccos", "arccosh", "arcsin", "arcsinh"):
        found = getattr(np, name)(np.array(points)).asnumpy()
        assert onp.isnan(found.real).all() and onp.isnan(found.imag).all(), name


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_the_larger_and_the_smaller_of_complex_numbers_beside_nan(name, dtype):
    nan, inf = onp.nan, onp.inf
    parts = [
        0,
        nan,
        complex(nan, 0),
        complex(0, nan),
        1 + 2j,
        1 + 3j,
        complex(2, nan),
        complex(-inf, 1),
        complex(nan, nan),
        2,
    ]
    a, b = onp.array(parts, dtype)[:, None], onp.array(parts, dtype)
    wanted = getattr(onp, name)(a, b)
    with npx.backend("jax"):
        for function in (getattr(np, name), npx.jit(getattr(np, name))):
            found = function(np.array(a), np.array(b)).asnumpy()
            assert found.dtype == dtype
            onp.testing.assert_array_equal(found.real, wanted.real)
            onp.testing.assert_array_equal(found.imag, wanted.imag)


def test_powers_of_complex_numbers_with_whole_exponents_are_products():
    x = onp.array([1 + 2j, 2 + 3j, 0, 1j, -1.5, 1e-3j, 2 - 1e5j])
    y = onp.arange(15.0)[:, None] + 0j
    with npx.backend("jax"), npx.np_default_dtype():
        ours, powers = np.array(x), np.array(y)
        assert ((ours**1).asnumpy() == x).all() and (ours**2).tolist() == (ours * ours).tolist()
        onp.testing.assert_allclose((ours**powers).asnumpy(), x**y, rtol=1e-14)
        with onp.errstate(all="ignore"):
            onp.testing.assert_allclose((ours[:2] ** -powers).asnumpy(), x[:2] ** -y, rtol=1e-14)
        z, n = np.array([1 + 2j, 2 - 1j]), np.array([3 + 0j, -2 + 0j])
        z.attach_grad()
        n.attach_grad()
        with autograd.record():
            w = (z**n).real.sum()
        w.backward()
        step = 1e-6
        for variable, others in (
            (z, lambda h: (z.asnumpy() + h) ** n.asnumpy()),
            (n, lambda h: z.asnumpy() ** (n.asnumpy() + h)),
        ):
            numeric = (others(step).real - others(-step).real) / (2 * step)
            onp.testing.assert_allclose(variable.grad.asnumpy().real, numeric, rtol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_what_is_true_is_either_part(backend):
    a = onp.array([0, 0.5j, 0.5, complex(0, onp.nan)])
    calls = {
        "any": lambda xp, a: xp.any(a[:2]),
        "all": lambda xp, a: (xp.all(a[1:]), xp.all(a), xp.any(a, axis=0, keepdims=True)),
        "where": lambda xp, a: xp.where(a, 1, 2),
        "logic": lambda xp, a: (
            xp.logical_not(a),
            xp.logical_and(a, a),
            xp.logical_or(a, 0),
            xp.logical_xor(a, a[1]),
        ),
        "count_nonzero": lambda xp, a: xp.count_nonzero(a),
        "masks": lambda xp, a: (
            xp.sum(xp.ones(4), where=a.astype(bool)),
            xp.nonzero(a)[0],
            a[a.astype(bool)],
        ),
    }
    with npx.backend(backend):
        for name, call in calls.items():
            wanted, found = call(onp, a), call(np, np.array(a))
            for mine, its in zip(
                found if isinstance(found, tuple) else (found,),
                wanted if isinstance(wanted, tuple) else (wanted,),
                strict=True,
            ):
                onp.testing.assert_array_equal(onp.asarray(mine), its, err_msg=name)


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_the_magnitude_of_a_number_with_an_infinite_part_is_infinite(backend):
    with npx.backend(backend):
        z = onp.array(
            [complex(onp.nan, onp.inf), complex(-onp.inf, onp.nan), 3 + 4j, complex(onp.nan, 1)]
        )
        assert onp.array_equal(np.abs(np.array(z)).asnumpy(), onp.abs(z), equal_nan=True)


def test_constants_at_a_branch_point_have_a_direction():
    """XLA's generator of code takes the angle of a constant point at the origin for nan."""
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    ran = subprocess.run(
        [sys.executable, str(PROGRAM)],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.endswith(" 0 wrong\n"), ran.stdout


ON_THE_AXES = [
    complex(a, b)
    for a in (0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 5.0)
    for b in (0.0, -0.0, 0.5, -2.0, 3.0, -5.0)
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "exp2",
        "expm1",
        "sqrt",
        "log1p",
        "arcsin",
        "arccos",
        "arcsinh",
        "arccosh",
    ],
)
def test_zeros_of_results_have_numpys_signs(name):
    z = onp.array(ON_THE_AXES)
    with npx.np_default_dtype():
        found = npx.jit(getattr(np, name))(np.array(z)).asnumpy()
    wanted = getattr(onp, name)(z)
    onp.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    for mine, theirs in ((found.real, wanted.real), (found.imag, wanted.imag)):
        zeros = theirs == 0
        assert (onp.signbit(mine[zeros]) == onp.signbit(theirs[zeros])).all()
