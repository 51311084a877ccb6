"""Reductions: where they begin, what a mask leaves out, dtypes, nan and axes that are not there."""

import numpy as onp
import pytest
from oracle import agrees

from npcompat import np, npx

TABLE = onp.arange(6.0).reshape(2, 3)


def test_equal_initial_values_of_different_types_are_distinguished(placed):
    """A program is found by its attributes: one made for 0j would be taken for 0.0, and one for 0.0
    for -0.0.
    """
    a, z = np.array([-0.0, -0.0], dtype="f8"), np.array([complex(-0.0, -0.0)], dtype="c16")
    assert (
        np.sum(z, initial=0j) == 0
        and np.sum(a, initial=0.0) == 0
        and np.add.reduce(a, initial=0.0) == 0
    )
    if placed == "numpy":  # XLA begins with 0.0, whatever comes then
        assert (
            not np.signbit(np.sum(a, initial=0.0))
            and np.signbit(np.sum(a, initial=-0.0))
            and np.signbit(np.add.reduce(a, initial=-0.0))
        )
        assert np.signbit(np.sum(z, initial=complex(-0.0, -0.0)).imag) and not np.signbit(
            np.sum(z, initial=0j).imag
        )


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", ["F", "D", "f", None])
@pytest.mark.parametrize("values", [[1.0, 2.5, 4.0], [1.0 + 2.0j, 0.5j, -1.0]])
def test_spreads_are_in_the_dtype_asked_for(name, dtype, values):
    if dtype == "f" and isinstance(values[0], complex):
        return  # NumPy cuts the imaginary parts off at another step
    found = getattr(np, name)(
        np.array(values, "complex64" if isinstance(values[0], complex) else "float32"), dtype=dtype
    )
    expected = getattr(onp, name)(
        onp.array(values, "complex64" if isinstance(values[0], complex) else "float32"), dtype=dtype
    )
    assert found.dtype == expected.dtype
    onp.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-6)


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("shape", [(20_000,), (150, 130), (2**14,), (40, 1, 512)])
@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "complex64"])
def test_any_and_all_of_many_elements_see_each(shape, dtype):
    size = onp.prod(shape)
    for place in (None, 0, 511, 512, 2**14 - 1, size - 1):
        for other in (False, True):
            a = onp.full(size, other, dtype)
            if place is not None:
                a[place] = not other
            a = a.reshape(shape)
            assert (bool(np.any(np.array(a))), bool(np.all(np.array(a)))) == (
                bool(onp.any(a)),
                bool(onp.all(a)),
            )
    assert np.any(np.array(onp.full(shape, onp.nan))) and np.all(np.array(onp.full(shape, onp.nan)))


@pytest.mark.usefixtures("numpy_mode")
def test_initial_stands_for_what_a_mask_does_not_select():
    assert agrees(lambda np, a: a[a > 9].max(initial=1.0), TABLE) == 1


@pytest.mark.usefixtures("numpy_mode")
def test_a_mask_is_broadcast_to_what_is_reduced_and_not_the_other_way():
    mask = onp.array([False, True, True])
    agrees(lambda np, a: np.sum(a, 0, where=mask), TABLE)
    for a in (onp.array(2.0), onp.ones(1), onp.ones((2, 1))):
        for name in ("sum", "any", "mean", "var"):
            agrees(lambda np, a: getattr(np, name)(a, None, where=mask), a, message=True)
        agrees(lambda np, a: np.multiply.reduce(a, None, where=mask), a, message=True)
        agrees(lambda np, a: np.minimum.reduce(a, None, where=mask, initial=1), a, message=True)


@pytest.mark.usefixtures("numpy_mode")
def test_known_starts_of_slices_are_checked_while_compiling():
    for starts in ([3, 0], [-1], [0, 1]):
        agrees(lambda np, a: np.add.reduceat(a, starts), onp.arange(3.0), message=True)


@pytest.mark.usefixtures("numpy_mode")
def test_the_extremes_of_complex_numbers_are_the_first_nan():
    nan = onp.nan
    for values in ([-3 + 6j, 4, nan, -1j], [1, complex(1, nan), nan], [nan, nan + 1j]):
        a = onp.array([values, values[::-1]])
        for name in ("max", "min"):
            for axis in (None, 0, 1, (1, 0)):
                agrees(lambda np, a: getattr(np, name)(a, axis), a)
            agrees(
                lambda np, a: getattr(np, name)(
                    a, 0, where=onp.array([[True], [False]]), initial=0
                ),
                a,
            )
        agrees(lambda np, a: np.maximum.at(a, [0, 1, 0], a[0]), onp.array(values))


@pytest.mark.usefixtures("numpy_mode")
def test_the_mean_without_nan_of_an_integer_has_no_axis():
    agrees(lambda np, a: np.nanmean(a, axis=-1), onp.array(1), message=True)


@pytest.mark.usefixtures("numpy_mode")
def test_records_have_no_median():
    assert isinstance(
        agrees(lambda np, a: np.median(a), onp.zeros(3, [("x", "f8")]), modes=("jax", "numpy")),
        TypeError,
    )


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanmean", "nanmedian"])
@pytest.mark.filterwarnings("ignore")
def test_summaries_of_one_nan_without_axes(name):
    for axis in (None, 0, -1):
        agrees(lambda np, a: getattr(np, name)(a, axis=axis), onp.array(onp.nan))


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_a_mask_need_an_initial_value(name):
    error = agrees(lambda np, a: getattr(np, name)(a, where=a > 1), TABLE)
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64", "complex128"])
@pytest.mark.parametrize("initial", [-3, 0, 0.5, True, float("nan")])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_initial_value_of_a_reduction_to_booleans(name, initial, dtype):
    for values in ([1, 2, 3], [1, 1, 0], [0, 0, 0], []):
        a = onp.array(values, dtype)
        for options in ({}, {"keepdims": True}, {"where": a == 1}):
            expected = getattr(onp, name)(a, dtype=bool, initial=initial, **options)
            options = {k: np.array(v) if k == "where" else v for k, v in options.items()}
            for backend in ("auto", "jax"):
                with npx.backend(backend):
                    x = np.array(a)
                    got = getattr(np, name)(x, dtype=bool, initial=initial, **options)
                assert got.dtype == expected.dtype
                onp.testing.assert_array_equal(onp.asarray(got), expected)
