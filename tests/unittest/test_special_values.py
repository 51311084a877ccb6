"""Every ufunc, compiled and as NumPy's, on zeros, infinities, nan and the bounds of integers."""

import numpy as onp
import pytest

from npcompat import np, npx

FLOATS = (0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 2.5, 100, 1e30, 1e-30, onp.inf, -onp.inf, onp.nan)
INTEGERS = (0, 1, -1, 2, -2, 3, 7, 127, -128)
UFUNCS = sorted(
    name
    for name in dir(onp)
    if isinstance(ufunc := getattr(onp, name), onp.ufunc)
    and ufunc.nin < 3
    and not ufunc.signature
    and hasattr(np, name)
)
OF_EQUAL_ZEROS = ("maximum", "minimum", "nextafter", "logaddexp2")
"""Functions of which zeros have another sign (docs/known_gaps.md), or are near to zero."""


def values(kind):
    numbers = FLOATS if kind[0] == "f" else INTEGERS
    return onp.array(numbers).astype(kind)


def calls(count, numbers):
    """Give arguments of all pairs of numbers, and of each number beside all."""
    if count == 1:
        return [(numbers,)]
    pairs = [x.ravel() for x in onp.meshgrid(numbers, numbers)]
    single = [onp.array(x) for x in numbers]
    return [tuple(pairs), *[(numbers, x) for x in single], *[(x, numbers) for x in single]]


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("kind", ["float32", "float64", "int8", "uint8"])
@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ufunc_of_special_values(name, kind):
    ufunc, compiled = getattr(onp, name), npx.jit(getattr(np, name))

    def ours(arguments):
        found = compiled(*map(np.array, arguments))
        return [f.asnumpy() for f in (found if isinstance(found, tuple) else [found])]

    for arguments in calls(ufunc.nin, values(kind)):
        try:
            expected = ufunc(*arguments)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                ours(arguments)
            continue
        several = isinstance(expected, tuple)
        for f, e in zip(ours(arguments), expected if several else [expected], strict=True):
            assert f.dtype == e.dtype
            rounded = 2e-3 if e.dtype == "float16" else 1e-5
            onp.testing.assert_allclose(
                f.astype("f8"), e.astype("f8"), rounded, 1e-15, err_msg=str(arguments)
            )
            if e.dtype.kind == "f" and name not in OF_EQUAL_ZEROS:
                known = ~onp.isnan(e)
                onp.testing.assert_array_equal(
                    onp.signbit(f)[known], onp.signbit(e)[known], str(arguments)
                )
