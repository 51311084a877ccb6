"""Lists of recorded arrays, and flat iterators, keep gradients and NumPy's memory order."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")


def flat_slice(y, x):
    y.flat[1:] = x[:2]


def flat_element(y, x):
    y.flat[0] = x[1] * 3


def flat_whole(y, x):
    y.flat = x * 2


def flat_list(y, x):
    y.flat[1:] = [x[0], x[1] * x[2]]


def diagonal(y, x):
    np.fill_diagonal(y.reshape(1, 3), x[2:])


def flat_loop(y, x):
    for v in x.flat:
        y[0] += v * v


def enumerated(y, x):
    for (i,), v in np.ndenumerate(x):
        y[i] = v * (i + 1)


WRITES = [flat_slice, flat_element, flat_whole, flat_list, diagonal, flat_loop, enumerated]


def full_like(x):
    return np.full_like(x, [x[2], x[1], x[0]])


def full(x):
    return np.full((2, 2), [x[0], x[1]])


def geometric(x):
    return np.geomspace(x[0], [x[1], x[2]], 4)


def geometric_open(x):
    return np.geomspace(x, 9.0, 3, endpoint=False, axis=-1)


def outer(x):
    return np.multiply.outer([x[0], 2.0], [x[1], x[2]])


def joined(x):
    return np.r_[x[0], [x[1], 2.0], x], np.c_[[x[0], x[1]], [x[2], 1.0]]


def masked(x):
    y = x.copy()
    y[np.array([True, False, True])] = [x[1], x[1] * 2]
    return y


def replaced(x):
    return np.nan_to_num(np.array([np.nan, 1.0, np.inf]), nan=x, posinf=x[0])


READS = [full_like, full, geometric, geometric_open, outer, joined, masked, replaced]
START = onp.array([1.3, 2.1, 0.4])


def written(write):
    def function(x):
        y = np.zeros(3)
        write(y, x)
        return y

    return function


@pytest.mark.parametrize("way", ["numpy", "jax", "compiled"])
@pytest.mark.parametrize("function", [*map(written, WRITES), *READS])
def test_gradients_are_those_of_differences(function, way):
    with npx.backend("numpy" if way == "numpy" else "jax"):
        check_gradients(function, way)


def check_gradients(function, way):
    def loss(x):
        found = function(x)
        parts = found if isinstance(found, tuple) else (found,)
        return sum((np.sin(p) * (np.arange(p.size).reshape(p.shape) + 1)).sum() for p in parts)

    def step(x):
        with autograd.record():
            total = loss(x)
        total.backward()
        return x.grad * 1

    x = np.array(START)
    x.attach_grad()
    got = (npx.jit(step) if way == "compiled" else step)(x).tolist()
    moved = onp.eye(3) * 1e-6
    wanted = [float(loss(np.array(START + m)) - loss(np.array(START - m))) / 2e-6 for m in moved]
    assert got == pytest.approx(wanted, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("key", [(..., [1, 0]), (slice(None), [[1, 0], [0, 1]]), ([1, 0],)])
def test_what_positions_read_lies_as_numpys_while_recording(key):
    expected = onp.arange(12.0).reshape(3, 4)[key]
    with npx.backend("numpy"):
        x = np.arange(12.0).reshape(3, 4)
        x.attach_grad()
        with autograd.record():
            found = x[key]
            found.reshape(-1)[:2] = 9
    expected.reshape(-1)[:2] = 9
    assert found.strides == expected.strides and found.tolist() == expected.tolist()


@pytest.mark.parametrize("new", [300, -1, float("nan"), "x", None, 1j, [1, 2]])
def test_flat_elements_refuse_as_numpys(new, placed):
    ours, theirs = np.zeros(3, "uint8"), onp.zeros(3, "uint8")
    with pytest.raises(ValueError) as expected:
        theirs.flat[0] = new
    with pytest.raises(ValueError) as found:
        ours.flat[0] = new
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("nan", [[1, 2, 3, 4], onp.array([[5.0]]), 7])
def test_nan_to_num_takes_arrays(nan, placed):
    x = onp.array([1.0, onp.nan, onp.inf, -onp.inf])
    pairs = onp.stack([x, x[::-1]], -1).view(complex)[:, 0]
    for given in (x, pairs, onp.arange(4)):
        if onp.shape(nan) == (1, 1):
            given = given[None]
        onp.testing.assert_array_equal(
            np.nan_to_num(np.array(given), nan=nan, neginf=nan).asnumpy(),
            onp.nan_to_num(given, nan=nan, neginf=nan),
        )
    with pytest.raises(ValueError, match="broadcast|fit"):
        np.nan_to_num(np.array(x), nan=[1, 2])


def test_bools_have_no_decimals(placed):
    for decimals in (1, -1):
        with pytest.raises(TypeError, match="Cannot cast ufunc"):
            np.round(np.array([True]), decimals)
    assert np.round(np.array([True])).dtype == "float16"
