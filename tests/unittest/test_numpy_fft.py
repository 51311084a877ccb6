"""Fourier transforms are NumPy's: lengths, axes, norms, dtypes, errors; and they are
differentiated.
"""

import numpy as onp
import pytest
from mathematics import MODES, Call, assert_as_numpy, assert_gradient, assert_signature

from npcompat import np, npx

RNG = onp.random.default_rng(7)
REAL = RNG.uniform(-1, 1, (2, 3, 4)).astype("f4")
WIDE = RNG.uniform(-1, 1, (2, 3, 4))
COMPLEX = (REAL + 1j * REAL[::-1]).astype("c8")
INTS = RNG.integers(-5, 5, (3, 4))
EMPTY, SCALAR = onp.zeros((0, 4), "f4"), onp.array(1.5, "f4")
NORMS = (None, "backward", "ortho", "forward")
ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TWO_AXES = ("fft2", "ifft2", "rfft2", "irfft2")
MANY_AXES = ("fftn", "ifftn", "rfftn", "irfftn")


def takes_complex(name):
    return name[0] != "r" and name != "ihfft"


def operands(name):
    return (
        REAL,
        WIDE,
        INTS,
        INTS > 0,
        REAL.astype("f2"),
        *([COMPLEX, COMPLEX.astype("c16")] if takes_complex(name) else []),
    )


def along(name, *args, **options):
    return lambda xp, a: getattr(xp.fft, name)(a, *args, **options)


CALLS = {}
for name in ONE_AXIS:
    CALLS[name] = [
        *[Call(along(name), (a,), 4) for a in operands(name)],
        *[
            Call(along(name, norm=norm), (COMPLEX if takes_complex(name) else REAL,), 4)
            for norm in NORMS
        ],
        *[Call(along(name, n, axis), (WIDE,), 4) for n in (1, 2, 3, 7, 8) for axis in (0, -1)],
        *[Call(along(name, n), (REAL,)) for n in (0, -1, 2.5)],
        *[
            Call(along(name, norm="wrong"), (REAL,)),
            Call(along(name, axis=3), (REAL,)),
            Call(along(name, 3, 3), (REAL,)),
        ],
        *[Call(along(name), (a,)) for a in (EMPTY, EMPTY.T, SCALAR)],
        *[Call(along(name, 4), (EMPTY.T,)) for _ in range(name not in ("irfft", "hfft"))],
        Call(along(name), (COMPLEX,), 4),
    ]
for name in TWO_AXES + MANY_AXES:
    CALLS[name] = [
        *[Call(along(name), (a,), 4) for a in operands(name)],
        *[Call(along(name, norm=norm), (WIDE,), 4) for norm in NORMS],
        *[Call(along(name, s, (0, 2)), (WIDE,), 4) for s in ((3, 5), (1, 4), (-1, 3), (2, -1))],
        Call(along(name, axes=(1, 0)), (WIDE,), 4),
        Call(along(name, axes=(1, 1)), (WIDE,), 4),
        *[
            Call(along(name, s, axes), (WIDE,))
            for s, axes in (((3,), (0, 1)), ((0, 2), (0, 1)), (None, (0, 3)), ((2, 2), (0, 4)))
        ],
        *[Call(along(name), (a,)) for a in (EMPTY, SCALAR)],
    ]
for name in MANY_AXES:
    CALLS[name] += [
        Call(along(name, axes=()), (WIDE,)),
        Call(along(name, axes=(0,)), (WIDE,), 4),
        Call(along(name), (WIDE[0, 0],), 4),
    ]
for name in ("fftshift", "ifftshift"):
    CALLS[name] = [
        *[Call(along(name), (a,)) for a in (REAL, INTS, EMPTY)],
        *[Call(along(name, axes), (REAL,)) for axes in (0, (1, 2), [-1], 4)],
    ]
for name in ("fftfreq", "rfftfreq"):
    CALLS[name] = [
        *[Call(lambda xp, n=n, name=name: getattr(xp.fft, name)(n, 0.1)) for n in (1, 2, 7, 8)],
        Call(lambda xp, d, name=name: getattr(xp.fft, name)(5, d), (onp.array(0.5),)),
        Call(lambda xp, name=name: getattr(xp.fft, name)(5.5)),
        Call(lambda xp, name=name: getattr(xp.fft, name)(0)),
    ]


def test_every_name_is_there():
    assert set(np.fft.__all__) == set(onp.fft.__all__) == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_signatures_are_numpys(name):
    assert_signature(getattr(np.fft, name), getattr(onp.fft, name))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("mode", MODES)
def test_as_numpy(name, mode):
    assert_as_numpy(CALLS[name], mode)


@pytest.mark.parametrize("name", ONE_AXIS + TWO_AXES + MANY_AXES)
def test_results_are_written_into_out(name, backend):
    expected = getattr(np.fft, name)(np.array(REAL))
    out = np.zeros(expected.shape, expected.dtype)
    view = np.zeros((2, *expected.shape), expected.dtype)[1]
    for target in (out, view):
        assert getattr(np.fft, name)(np.array(REAL), out=target) is target
        assert (target == expected).all()
    with pytest.raises(ValueError, match="output array has wrong shape"):
        getattr(np.fft, name)(np.array(REAL), out=np.zeros((5, 5), expected.dtype))
    with pytest.raises(TypeError):
        getattr(np.fft, name)(np.array(REAL), out=np.zeros(expected.shape, int))


def test_the_inverse_of_nothing_is_zero(backend):
    assert np.fft.irfft(np.array(EMPTY.T), 3).tolist() == [[0, 0, 0]] * 4


def test_views_are_transformed(backend):
    a = np.array(WIDE)
    assert np.allclose(np.fft.fft(a.T[1:, ::-1], axis=0), onp.fft.fft(WIDE.T[1:, ::-1], axis=0))


def test_deprecations_are_numpys():
    for call in (
        lambda xp: xp.fft.fftn(xp.ones((2, 3)), (2, 2)),
        lambda xp: xp.fft.fft2(xp.ones((2, 3)), (None, 2)),
    ):
        for xp in (np, onp):
            with pytest.warns(DeprecationWarning, match="NumPy 2.0"):
                call(xp)


@pytest.mark.parametrize("norm", ["backward", "ortho"])
@pytest.mark.parametrize(
    ("loss", "a"),
    [
        (
            lambda a, norm: (np.fft.fft(a, 5, norm=norm) * np.arange(5)).imag.sum(),
            COMPLEX[0].astype("c16"),
        ),
        (lambda a, norm: (np.fft.ifft(a, 3, 0, norm) ** 2).real.sum(), COMPLEX[0].astype("c16")),
        (lambda a, norm: (np.abs(np.fft.rfft(a, norm=norm)) ** 2 * np.arange(3)).sum(), WIDE[0]),
        (
            lambda a, norm: (np.fft.irfft(a, 5, norm=norm) ** 2 * np.arange(5)).sum(),
            COMPLEX[0].astype("c16"),
        ),
        (
            lambda a, norm: (np.fft.hfft(a, norm=norm) ** 2 * np.arange(6)).sum(),
            COMPLEX[0].astype("c16"),
        ),
        (lambda a, norm: (np.fft.ihfft(a, norm=norm) ** 2).imag.sum(), WIDE[0]),
        (
            lambda a, norm: (np.fft.irfftn(np.fft.rfftn(a, norm=norm) ** 2, norm=norm) ** 2).sum(),
            WIDE[0],
        ),
        (
            lambda a, norm: (
                np.fft.ifft2(np.fft.fft2(a, norm=norm) ** 2, norm=norm).real * np.arange(4)
            ).sum(),
            WIDE[0],
        ),
    ],
)
def test_gradients_are_central_differences(loss, a, norm):
    assert_gradient(lambda x: loss(x, norm), a)
    assert_gradient(npx.jit(lambda x: loss(x, norm)), a)


def test_frequencies_have_the_dtype_that_is_asked_for():
    for function in (np.fft.fftfreq, np.fft.rfftfreq):
        assert (
            function(5, dtype="float64").dtype == "float64"
            and function(5, dtype="float16").dtype == "float16"
        )
        with pytest.raises(ValueError, match="dtype must be one of floats, got int64"):
            function(5, dtype=int)
