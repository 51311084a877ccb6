"""Two slices in a key, both with bounds that depend on the round, and elements of such slices."""

import numpy as onp
import pytest
from loops import compare_gradients, compare_with_numpy

from npcompat import np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")


def lu_by_outer_products(m, v):
    for k in range(11):
        m[k + 1 :, k] /= m[k, k]
        m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])


def lu_by_slices_of_length_one(m, v):
    for k in range(11):
        m[k + 1 :, k] /= m[k, k]
        m[k + 1 :, k + 1 :] -= m[k + 1 :, k : k + 1] * m[k : k + 1, k + 1 :]


def lu_by_new_axes(m, v):
    for k in range(11):
        m[k + 1 :, k] = m[k + 1 :, k] / m[k, k]
        m[k + 1 :, k + 1 :] = m[k + 1 :, k + 1 :] - m[k + 1 :, k][:, None] * m[k, k + 1 :][None, :]


def householder(m, v):
    for k in range(11):
        x = m[k:, k].copy()
        x[0] += np.sign(x[0]) * np.sqrt((x * x).sum())
        x /= np.sqrt((x * x).sum())
        m[k:, k:] -= 2 * np.outer(x, x @ m[k:, k:])


def gauss(m, v):
    for k in range(11):
        f = m[k + 1 :, k] / m[k, k]
        m[k + 1 :, k:] -= f[:, None] * m[k, k:]
        v[k + 1 :] -= f * v[k]


def cholesky_by_columns(m, v):
    for k in range(12):
        m[k, k] = np.sqrt(m[k, k])
        m[k + 1 :, k] /= m[k, k]
        for j in range(k + 1, 12):
            m[j:, j] -= m[j:, k] * m[j, k]


def sums(m, v):
    for k in range(12):
        v[k] = m[k:, k:].sum() + m[:k, k:].sum() + m[k:, k:].max() + m[k:, : k + 1].mean()
        v[k:] += m[k:, k:].sum(axis=0) + m[k:, k:].sum(axis=1) * 0.5


def of_two_loops(m, v):
    for i in range(12):
        for j in range(12):
            v[j] += m[i:, j:].sum() * 0.01


def products(m, v):
    for k in range(1, 11):
        v[k:] = m[k:, k:] @ v[k:] * 0.1
        v[k] += (m[k:, k:] @ m[k:, k:]).sum() * 0.01
        v[k] += np.einsum("ij,j->", m[k:, k:], v[k:])


def reversed_along_both(m, v):
    for k in range(1, 12):
        m[:k, :k] = m[k - 1 :: -1, k - 1 :: -1] * 0.5


def transposed(m, v):
    for k in range(1, 11):
        m[:k, :k] += m[:k, :k].T
        m[:k, k:] = np.transpose(m[k:, :k]) * 0.5


def moved(m, v):
    for k in range(1, 11):
        m[1 : k + 1, 1 : k + 1] = m[:k, :k] * 0.9
        v[k] = (m[k:, k:] * m[: 12 - k, : 12 - k]).sum()


def one_value(m, v):
    for k in range(1, 11):
        m[k:, k:] = 1.5
        m[k:, :k] = v[k]


def a_row_for_all(m, v):
    for k in range(1, 11):
        m[k:, k:] += v[k:]
        m[k:, :k] = v[:k]


def in_both_arms(m, v):
    for k in range(1, 11):
        if m[k, k] > 0:
            m[k:, k:] *= 0.5
        else:
            v[k:] += m[k:, k:].sum(axis=0)


def in_a_name(m, v):
    for k in range(1, 11):
        w, c = m[k:, k:], m[k:, k:].copy()
        m[k, k] += 1
        c *= 2
        c += v[k:]
        v[k] += w.sum() + c.sum()


def an_axis_between(m, v):
    c = np.zeros((12, 3, 12)) + m[:, None, :]
    for k in range(1, 11):
        c[k:, :, k:] += c[k:, :, k:] * 0.5 + v[k:]
    m[:] = c[:, 1]


def elements(m, v):
    for k in range(11):
        v[k] = m[k:, k][0] + m[k, k:][-1] + m[k:, k:][0, 0] + m[k:, k:][0].sum()
        v[k] += m[k:, k:][:, -1].sum()


def elements_are_written(m, v):
    for k in range(1, 11):
        x, y = m[k:, k].copy(), m[:k, :k].copy()
        x[-1], x[1] = 7, x[0] + 2
        y[0], y[:, -1] = 3, v[k]
        m[k:, k] = x
        v[k] += y.sum()


def windows_of_one_length(m, v):
    for k in range(1, 10):
        w = m[k - 1 : k + 2, k : k + 2]
        w *= 0.5
        v[k] = m[k - 1 : k + 2, k].sum() + v[k : k + 3][::-1][0]


PROGRAMS = [
    lu_by_outer_products,
    lu_by_slices_of_length_one,
    lu_by_new_axes,
    householder,
    gauss,
    cholesky_by_columns,
    sums,
    of_two_loops,
    products,
    reversed_along_both,
    transposed,
    moved,
    one_value,
    a_row_for_all,
    in_both_arms,
    in_a_name,
    an_axis_between,
    elements,
    elements_are_written,
    windows_of_one_length,
]


def _arrays(dtype="float64"):
    rng = onp.random.default_rng(1)
    m = rng.normal(size=(12, 12)) * 0.3
    return [(m + m.T + onp.eye(12) * 6).astype(dtype), rng.normal(size=12).astype(dtype)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_those_of_numpy_by_one_loop(program, dtype):
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-11}
    lines = compare_with_numpy(program, _arrays(dtype), **close)
    assert lines and all("one loop" in line for line in lines), lines


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_those_of_eager_calls(program):
    compare_gradients(program, _arrays())


def an_element_of_nothing(m, v):
    for k in range(12):
        v[k] = m[:k, k][0]


def an_element_behind_the_end(m, v):
    for k in range(12):
        x = v[k:].copy()
        x[3] = 7
        v[0] = x.sum()


@pytest.mark.parametrize("program", [an_element_of_nothing, an_element_behind_the_end])
def test_an_element_that_there_is_not_raises_when_it_is_read(program):
    m, v = [np.array(x) for x in _arrays()]
    npx.jit(program)(m, v)
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        v.asnumpy()


def shapes_that_differ(m, v):
    for k in range(1, 11):
        m[k:, :k] += m[k:, k:]


def test_shapes_that_differ_raise_as_numpy_does():
    with pytest.raises(ValueError, match="broadcast"):
        npx.jit(shapes_that_differ)(*[np.array(x) for x in _arrays()])
