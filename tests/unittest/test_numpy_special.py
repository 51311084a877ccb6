"""Windows and special functions, infinities by sign, and functions whose results may be complex."""

import numpy as onp
import pytest
from mathematics import MODES, Call, assert_as_numpy, assert_gradient, assert_signature

from npcompat import np, npx

RNG = onp.random.default_rng(9)
A = RNG.uniform(-3, 3, (3, 4)).astype("f4")
SPECIAL = onp.array([onp.nan, onp.inf, -onp.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 30.0], "f4")
WIDE, INTS, SHORT = (
    SPECIAL.astype("f8"),
    onp.array([[-3, 0, 1], [2, -1, 5]]),
    onp.array([1, 4, 9], "i2"),
)
UNIT = onp.array([0.25, 0.5, 1.0], "f4")
COMPLEX = onp.array([1 + 2j, -1 + 0j, -1 - 0.5j, 0j], "c8")
EMPTY, SCALAR = onp.zeros((0, 3), "f4"), onp.array(-2.5, "f4")

CALLS = {
    **{
        name: [
            Call(lambda xp, m=m, name=name: getattr(xp, name)(m), loose=4)
            for m in (-1, 0, 1, 2, 5, 6, 6.5)
        ]
        + [
            Call(
                lambda xp, m, name=name: getattr(xp, name)(m),
                (onp.array(5),),
                compiled=False,
                loose=4,
            )
        ]
        for name in ("bartlett", "blackman", "hamming", "hanning")
    },
    "kaiser": [
        *[
            Call(lambda xp, m=m, b=b: xp.kaiser(m, b), loose=4)
            for m in (0, 1, 2, 5, 8)
            for b in (0, 8.6)
        ],
        Call(lambda xp, b: xp.kaiser(6, b), (onp.array(3.5),), loose=4),
    ],
    "i0": [
        Call(lambda xp, a: xp.i0(a), (a,), 16)
        for a in (A, WIDE[3:], INTS, EMPTY, SCALAR, COMPLEX, A > 0)
    ],
    "sinc": [
        Call(lambda xp, a: xp.sinc(a), (a,), 16)
        for a in (A, WIDE[3:], INTS, EMPTY, SCALAR, COMPLEX, A > 0)
    ],
    "fix": [
        *[Call(lambda xp, a: xp.fix(a), (a,)) for a in (A, SPECIAL, INTS, EMPTY, SCALAR)],
        Call(lambda xp, a: xp.fix(a, xp.zeros((3, 4), "f4")), (A,)),
        Call(lambda xp, a: xp.fix(a), (COMPLEX,)),
    ],
    **{
        name: [
            *[
                Call(lambda xp, a, name=name: getattr(xp, name)(a), (a,))
                for a in (SPECIAL, WIDE, INTS, EMPTY, SCALAR, A > 0, COMPLEX)
            ],
            Call(lambda xp, a, name=name: getattr(xp, name)(a, xp.zeros(10, bool)), (SPECIAL,)),
            Call(lambda xp, a, name=name: getattr(xp, name)(a, xp.zeros(3, bool)), (SPECIAL,)),
        ]
        for name in ("isposinf", "isneginf")
    },
    "sort_complex": [
        *[
            Call(lambda xp, a: xp.sort_complex(a), (a,))
            for a in (
                A,
                INTS,
                SHORT,
                COMPLEX,
                COMPLEX.astype("c16"),
                EMPTY,
                SPECIAL[1:].astype("f8"),
            )
        ],
        Call(lambda xp, a: xp.sort_complex(a), (SCALAR,)),
    ],
    "real_if_close": [
        *[
            Call(lambda xp, a: xp.real_if_close(a), (a,), compiled=a.dtype.kind != "c")
            for a in (A, INTS, COMPLEX, COMPLEX.real + 1e-7j)
        ],
        Call(lambda xp, a: xp.real_if_close(a, 1e-3), (COMPLEX.real + 1e-4j,), compiled=False),
        Call(lambda xp, a: xp.real_if_close(a, 1e6), (COMPLEX.real + 1e-4j,), compiled=False),
    ],
}
EMATH = {
    **{
        name: [
            Call(
                lambda xp, a, name=name: getattr(xp.emath, name)(a),
                (a,),
                4,
                compiled=a.dtype.kind == "c",
            )
            for a in (
                abs(A),
                A,
                WIDE[3:5] + 1,
                INTS,
                SHORT,
                onp.array([-4, 4], "i1"),
                UNIT,
                UNIT.astype("f2"),
                COMPLEX[:3],
                EMPTY,
                SCALAR,
            )
        ]
        for name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")
    },
    "logn": [
        Call(lambda xp, n, a: xp.emath.logn(n, a), (n, a), 4, compiled=False)
        for n in (onp.array(2, "f4"), onp.array(-2, "f4"))
        for a in (abs(A), A)
    ],
    "power": [
        Call(lambda xp, a, p: xp.emath.power(a, p), (a, p), 4, compiled=False)
        for a, p in (
            (abs(A), A),
            (A, abs(A)),
            (INTS, onp.array([2, 3, 1])),
            (SHORT, onp.array([2, -1, 1])),
            (A, onp.array(2)),
        )
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_signatures_are_numpys(name):
    assert_signature(getattr(np, name), getattr(onp, name))


@pytest.mark.parametrize("name", EMATH)
def test_signatures_of_emath_are_numpys(name):
    assert_signature(getattr(np.emath, name), getattr(onp.emath, name))


def test_every_name_of_emath_is_there():
    assert (
        set(np.emath.__all__)
        == {name for name in dir(onp.emath) if not name.startswith("_")}
        == set(EMATH)
    )


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("mode", MODES)
def test_as_numpy(name, mode):
    assert_as_numpy(CALLS[name], mode)


@pytest.mark.parametrize("name", EMATH)
@pytest.mark.parametrize("mode", MODES)
def test_emath_as_numpy(name, mode):
    assert_as_numpy(EMATH[name], mode)


def test_what_values_would_decide_is_complex_in_a_compiled_function():
    found = npx.jit(lambda a: (np.emath.sqrt(a), np.real_if_close(a + 0j), np.emath.power(a, [2])))(
        np.array([4.0, 9.0])
    )
    assert [f.dtype for f in found] == [onp.dtype("complex64")] * 3
    assert [f.real.tolist() for f in found[:2]] == [[2, 3], [4, 9]]
    assert np.allclose(found[2], [16, 81])


def test_a_length_that_is_not_known_can_not_be_compiled():
    with pytest.raises(Exception, match="while the function is being compiled"):
        npx.jit(np.hanning)(np.array(3))


def test_gradients_are_central_differences():
    assert_gradient(
        lambda a, b: (np.i0(a) * np.sinc(a)).sum() + np.kaiser(5, b)[1],
        onp.array([-0.7, 0.3, 2.2]),
        onp.array(1.5),
    )
