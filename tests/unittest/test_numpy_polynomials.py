"""Polynomials by their coefficients: functions and the class `poly1d`."""

import inspect

import numpy as onp
import pytest
from mathematics import MODES, Call, assert_as_numpy, assert_gradient, assert_signature

from npcompat import np, npx

RNG = onp.random.default_rng(3)
X = onp.array([0.0, 1.0, 2.0, 3.5, 4.0, 5.5], "f4")
Y = RNG.uniform(-1, 1, 6).astype("f4")
Z = RNG.uniform(-1, 1, (6, 2))
W = RNG.uniform(0.5, 1.5, 6).astype("f4")
P, Q, INTS, SHORT = (
    onp.array([1.5, -2, 0.5], "f4"),
    onp.array([2.0, 1.0]),
    onp.array([1, -3, 2, 4]),
    onp.array([1, 2, 3], "i1"),
)
COMPLEX = onp.array([1 + 2j, 0.5j, -1], "c8")
EMPTY, SCALAR = onp.zeros(0, "f4"), onp.array(2.5, "f4")
MATRIX = onp.array([[2.0, 1.0], [1.0, 3.0]], "f4")


def pairs(name, **options):
    operands = [
        (P, Q),
        (Q, P),
        (INTS, SHORT),
        (SHORT, COMPLEX.astype("c16")),
        (P, SCALAR),
        (SCALAR, INTS),
        (onp.array([0, 0, 1, 2]), onp.array([0, 3])),
    ]
    return [Call(lambda xp, a, b: getattr(xp, name)(a, b), both, 4, **options) for both in operands]


def fits(**options):
    return [
        Call(lambda xp, x, y: xp.polyfit(x, y, 2, **options)[:4], (X, Y), 16),
        Call(lambda xp, x, y: xp.polyfit(x, y, 3, **options)[:4], (X, Z), 64),
        Call(
            lambda xp, x, y, w: xp.polyfit(x, y, 1, w=w, **options)[:4], (X.astype("i4"), Y, W), 16
        ),
        Call(lambda xp, x, y, w: xp.polyfit(x, y, 1, w=w, **options)[:4], (X, Z, W), 16),
    ]


CALLS = {
    "vander": [
        *[
            Call(lambda xp, a: xp.vander(a), (a,))
            for a in (X, INTS, SHORT, COMPLEX, X.astype("f2"), EMPTY, SCALAR, MATRIX)
        ],
        *[Call(lambda xp, a, n=n: xp.vander(a, n, increasing=True), (INTS,)) for n in (0, 1, 2, 6)],
    ],
    "poly": [
        *[
            Call(lambda xp, a: xp.poly(a), (a,), 4)
            for a in (P, INTS, SHORT, COMPLEX, onp.zeros((0, 0)), onp.zeros((2, 3)))
        ],
        Call(lambda xp, a: xp.ones(1) * xp.poly(a), (EMPTY,)),
        Call(lambda xp, a: xp.poly(a), (MATRIX,), 4, compiled=False),
        Call(lambda xp, a: xp.poly(a), (onp.array([1 + 1j, 1 - 1j, 2]),), compiled=False),
    ],
    "roots": [
        *[
            Call(lambda xp, a: xp.sort_complex(xp.roots(a)), (a,), 64, compiled=False)
            for a in (
                P,
                Q,
                INTS,
                SHORT,
                COMPLEX,
                onp.array([0, 0, 1, -1, 0, 0]),
                onp.array([5.0]),
                EMPTY,
                MATRIX,
                onp.zeros(3),
            )
        ],
        Call(lambda xp, a: xp.roots(a), (onp.array([0.0, 3.0, 0.0]),), compiled=False),
    ],
    "polyadd": pairs("polyadd"),
    "polysub": pairs("polysub"),
    "polymul": pairs("polymul", compiled=False),
    "polydiv": [
        *pairs("polydiv", compiled=False),
        Call(
            lambda xp, a, b: xp.polydiv(a, b),
            (onp.array([1.0, -3, 2]), onp.array([1.0, -1])),
            compiled=False,
        ),
    ],
    "polyval": [
        *[
            Call(lambda xp, p, x: xp.polyval(p, x), both, 4)
            for both in ((P, X), (INTS, SHORT), (COMPLEX, Z), (Q, SCALAR), (EMPTY, X), (P, EMPTY))
        ],
        Call(lambda xp, p, x: xp.polyval(p, x), (RNG.uniform(size=(3, 2)), Z)),
        Call(lambda xp, p: xp.polyval(p, 3), (INTS,)),
    ],
    "polyder": [
        *[
            Call(lambda xp, p, m=m: xp.polyder(p, m), (p,))
            for p in (P, INTS, COMPLEX, EMPTY)
            for m in (0, 1, 2, 5, -1)
        ],
        Call(lambda xp, p: xp.polyder(p), (SCALAR,)),
    ],
    "polyint": [
        *[
            Call(lambda xp, p, m=m: xp.polyint(p, m), (p,), 4)
            for p in (P, Q, INTS, COMPLEX, EMPTY)
            for m in (0, 1, 2, -1)
        ],
        *[
            Call(lambda xp, p, m=m, k=k: xp.polyint(p, m, k), (INTS,), 4)
            for m, k in ((1, 3), (2, 3), (2, [1, 2.5]), (2, [1, 2, 3]), (3, [1, 2]))
        ],
    ],
    "polyfit": [
        *fits(),
        *fits(full=True),
        *fits(cov=True),
        *fits(cov="unscaled"),
        Call(lambda xp, x, y: xp.polyfit(x, y, 2), (X, (Y + 1j * Y[::-1]).astype("c8")), 16),
        *[
            Call(lambda xp, x, y, d=d: xp.polyfit(x, y, d), (x, y))
            for x, y, d in ((X, Y, -1), (MATRIX, Y, 1), (EMPTY, Y, 1), (X, SCALAR, 1), (X, P, 1))
        ],
        *[Call(lambda xp, x, y, w: xp.polyfit(x, y, 1, w=w), (X, Y, w)) for w in (P, MATRIX)],
        Call(lambda xp, x, y: xp.polyfit(x, y, 5, cov=True), (X, Y)),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_signatures_are_numpys(name):
    assert_signature(getattr(np, name), getattr(onp, name))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("mode", MODES)
def test_as_numpy(name, mode):
    assert_as_numpy(CALLS[name], mode)


def test_gradients_are_central_differences():
    a, b = RNG.uniform(0.5, 1.5, 4), RNG.uniform(0.5, 1.5, 3)
    assert_gradient(lambda p, x: (np.polyval(p, x) ** 2).sum(), a, b)
    assert_gradient(
        lambda p, q: (
            (np.polymul(p, q) ** 2).sum() + (np.polydiv(p, q)[0] ** 2).sum() + np.polyadd(p, q)[1]
        ),
        a,
        b,
    )
    assert_gradient(
        lambda p: (
            (np.polyder(p) ** 2).sum() + (np.polyint(p) ** 2).sum() + (np.vander(p) ** 2).sum()
        ),
        b,
    )
    assert_gradient(lambda z: (np.poly(z) ** 2).sum(), b)
    assert_gradient(
        lambda p: (np.abs(np.roots(p)) ** 2 * np.arange(3)).sum(),
        onp.array([1.0, -6.5, 11.0, -5.0]),
        rtol=1e-5,
    )
    assert_gradient(
        lambda x, y: (np.polyfit(x, y, 1) ** 2).sum(), onp.array([0.0, 1.0, 2.0, 4.0]), a
    )


def test_the_fraction_of_singular_values_is_returned():
    assert (
        np.polyfit(np.array(X), np.array(Y), 2, full=True)[4] == onp.polyfit(X, Y, 2, full=True)[4]
    )
    assert np.polyfit(np.array(X), np.array(Y), 2, 0.1, full=True)[4] == 0.1


def test_a_poor_fit_warns():
    for xp in (np, onp):
        with pytest.warns(onp.exceptions.RankWarning, match="poorly conditioned"):
            xp.polyfit([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], 2)


def test_a_degree_that_values_decide_can_not_be_compiled():
    for call in (np.roots, np.poly1d, lambda p: np.polymul(p, p), lambda p: np.polydiv(p, p)):
        with pytest.raises(Exception, match="shape of the result depends on the values"):
            npx.jit(call)(np.array([1.0, 2.0]))


# --- poly1d ---------------------------------------------------------------------------------------

PROGRAMS = [
    lambda xp: xp.poly1d([1, 2, 3]),
    lambda xp: xp.poly1d([0, 0, 2, 3]),
    lambda xp: xp.poly1d([0, 0]),
    lambda xp: xp.poly1d(3),
    lambda xp: xp.poly1d([1, 2], True),
    lambda xp: xp.poly1d([[1, 2]]),
    lambda xp: xp.poly1d([1, 2, 3], variable="z"),
    lambda xp: xp.poly1d(xp.poly1d([1, 2, 3], variable="z")),
    lambda xp: xp.poly1d(xp.poly1d([1, 2, 3], variable="z"), variable="y"),
    lambda xp: xp.poly1d([1.5, 0, -2.25, 1]),
    lambda xp: xp.poly1d([1 + 2j, 2j, 3]),
    lambda xp: (
        xp.poly1d([1, 2]) + xp.poly1d([1, 0, 3]),
        xp.poly1d([1, 2]) + 1,
        1 + xp.poly1d([1, 2]),
        xp.poly1d([1, 2]) + xp.array([1, 2, 3]),
    ),
    lambda xp: (
        xp.poly1d([1, 2]) - xp.poly1d([1, 2]),
        xp.poly1d([1, 2]) - 1,
        1 - xp.poly1d([1, 2]),
        [1, 2, 3] - xp.poly1d([1, 2]),
    ),
    lambda xp: (
        xp.poly1d([1, 2]) * xp.poly1d([1, 2]),
        xp.poly1d([1, 2]) * 2,
        2.0 * xp.poly1d([1, 2]),
        [1, 2] * xp.poly1d([1, 2]),
    ),
    lambda xp: (
        xp.poly1d([1, 2, 3]) / xp.poly1d([1, 2]),
        xp.poly1d([1, 2]) / 2,
        2 / xp.poly1d([1, 2]),
        [1, 2, 5] / xp.poly1d([1, 2]),
    ),
    lambda xp: (
        xp.poly1d([1, 2]) ** 3,
        xp.poly1d([1, 2]) ** 0,
        -xp.poly1d([1, 2]),
        +xp.poly1d([1, 2]),
    ),
    lambda xp: xp.poly1d([1, 2]) ** -1,
    lambda xp: xp.poly1d([1, 2]) ** 1.5,
    lambda xp: (
        xp.poly1d([1, 2]) == xp.poly1d([1, 2]),
        xp.poly1d([1, 2]) != xp.poly1d([1, 2]),
        xp.poly1d([1]) == xp.poly1d([1, 2]),
    ),
    lambda xp: (xp.poly1d([1, 2]) == [1, 2], xp.poly1d([1, 2]) != [1, 2]),
    lambda xp: (
        len(xp.poly1d([1, 2, 3])),
        xp.poly1d([1, 2, 3]).order,
        xp.poly1d([1, 2, 3]).o,
        xp.poly1d([1, 2]).variable,
    ),
    lambda xp: [int(xp.poly1d([1, 2, 3])[i]) for i in (0, 1, 2, 3, -1)],
    lambda xp: [int(c) for c in xp.poly1d([1, 2, 3])],
    lambda xp: (
        xp.poly1d([1, 2, 3]).deriv(),
        xp.poly1d([1, 2, 3]).integ(2, 1),
        xp.poly1d([1, 2, 3]).deriv(2),
    ),
    lambda xp: (
        xp.poly1d([1, 2, 3])(xp.poly1d([1, 1])),
        xp.polyval(xp.poly1d([1, 2]), xp.poly1d([2, 1])),
    ),
    lambda xp: (
        xp.polyadd(xp.poly1d([1, 2]), [1]),
        xp.polymul([1, 2], xp.poly1d([2])),
        xp.polydiv(xp.poly1d([1, 2]), [2]),
    ),
    lambda xp: (
        xp.polyder(xp.poly1d([1, 2, 3])),
        xp.polyint(xp.poly1d([1, 2, 3]), 0),
        xp.polysub(xp.poly1d([1, 2]), [1]),
    ),
    lambda xp: setattr(xp.poly1d([1, 2]), "coeffs", [1, 2]),
    lambda xp: setattr(xp.poly1d([1, 2]), "order", 3),
    lambda xp: hash(xp.poly1d([1, 2])),
]


def described(result):
    if isinstance(result, tuple | list):
        return [described(part) for part in result]
    return (repr(result), str(result)) if "poly1d" in type(result).__name__ else result


@pytest.mark.parametrize("program", PROGRAMS)
def test_poly1d_is_numpys(program, backend):
    outcomes = []
    for xp in (onp, np):
        try:
            with npx.np_default_dtype(True):
                outcomes.append(described(program(xp)))
        except Exception as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]


def test_poly1d_is_written_by_power(backend):
    for xp in (onp, np):
        p = xp.poly1d([1, 2, 3])
        p[0], p[4] = 9, 5
        p.coeffs *= 2
        assert repr(p) == "poly1d([10,  0,  2,  4, 18])"
        with pytest.raises(ValueError, match="negative powers"):
            p[-1] = 1


def test_poly1d_has_values_roots_and_an_array(backend):
    p = np.poly1d([1.0, -3.0, 2.0])
    assert p(np.array([0.0, 1.0, 3.0])).tolist() == [2, 0, 2]
    assert np.allclose(np.sort(p.roots), [1, 2]) and np.allclose(np.sort(p.r), np.sort(np.roots(p)))
    assert (
        onp.asarray(p).tolist()
        == p.c.tolist()
        == p.coef.tolist()
        == p.coefficients.tolist()
        == [1, -3, 2]
    )


def test_poly1d_takes_what_numpys_takes():
    for name, theirs in inspect.getmembers(onp.poly1d, inspect.isfunction):
        mine = inspect.signature(getattr(np.poly1d, name))
        assert list(mine.parameters) == list(inspect.signature(theirs).parameters), name
        assert [p.default for p in mine.parameters.values()] == [
            p.default for p in inspect.signature(theirs).parameters.values()
        ], name
    assert {n for n in dir(onp.poly1d) if not n.startswith("_")} <= set(dir(np.poly1d))


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("options", [{}, {"precision": 3}, {"floatmode": "fixed"}])
def test_coefficients_of_polynomials_are_printed_as_numpys(options):
    values = [0.5, 1 / 7, 1e8 / 7, onp.nan]
    with onp.printoptions(**options):
        ours, theirs = [module.polynomial.Polynomial(onp.array(values)) for module in (np, onp)]
        assert f"{ours:ascii}" == f"{theirs:ascii}" and ours._repr_latex_() == theirs._repr_latex_()
