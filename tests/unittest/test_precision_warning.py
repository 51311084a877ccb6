"""SciPy's optimisers and integrators are given float32 arrays: a warning with the user's line."""

import inspect
import warnings

import pytest
import scipy.integrate
import scipy.ndimage
import scipy.optimize

from npcompat import np, npx
from npcompat.errors import PrecisionWarning


def minimum(start):
    return scipy.optimize.minimize(lambda x: ((x - 3) ** 2).sum(), start)


def decay(start):
    return scipy.integrate.solve_ivp(lambda t, y: -y, (0, 1), start)


@pytest.mark.parametrize(
    ("call", "module"), [(minimum, "scipy.optimize"), (decay, "scipy.integrate")]
)
def test_a_float32_start_is_warned_of_once_with_the_line(call, module):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            call(np.ones(2))
    found = [w for w in caught if w.category is PrecisionWarning]
    assert len(found) == 1 and found[0].filename == __file__
    assert found[0].lineno == inspect.getsourcelines(call)[1] + 1
    text = str(found[0].message)
    assert text.startswith(f"{module} is given a float32 array")
    assert "npx.set_np(dtype=True)" in text and "NPCOMPAT_DEFAULT_DTYPE=numpy" in text


def test_nothing_is_said_of_float64_and_of_other_functions():
    assert minimum(np.zeros(2, dtype="float64")).x.round(3).tolist() == [3, 3]
    with npx.np_default_dtype():
        assert minimum(np.zeros(2)).x.round(3).tolist() == [3, 3]
        minimum(np.zeros(2, dtype="float32"))
    scipy.ndimage.gaussian_filter(np.ones(3), 1)
    scipy.integrate.trapezoid(np.ones(3))
    rows, columns = scipy.optimize.linear_sum_assignment(np.eye(2), maximize=True)
    assert rows.tolist() == columns.tolist() == [0, 1]
