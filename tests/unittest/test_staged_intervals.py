"""Slices with bounds that depend on the round: reversed ones, and pairs that begin elsewhere."""

import numpy as onp
import pytest
from loops import compare_gradients, compare_with_numpy

from npcompat import autograd, np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")


def flipped(a, b):
    for k in range(1, 12):
        a[k] = np.dot(np.flip(b[:k]), a[:k])


def reversed_by_a_key(a, b):
    for k in range(1, 12):
        a[:k] = a[:k][::-1] * 0.5 + b[:k]


def reversed_from_an_index_on(a, b):
    for k in range(1, 12):
        a[k] = (b[k - 1 :: -1] * a[:k]).sum() - b[k:2:-1].sum()


def reversed_between_two_indices(a, b):
    for k in range(12):
        for j in range(k):
            a[j] += (b[k:j:-1] * b[j:k]).sum()


def written_backwards(a, b):
    for k in range(1, 12):
        a[k::-1] = b[: k + 1] * 2
        a[k:2:-1] += 1


def two_reversed_again(a, b):
    for k in range(12):
        w = np.flip(a[:k]) * 2
        a[:k] += w[::-1] + b[:k][::-1]


def shifted(a, b):
    for k in range(1, 12):
        a[1 : k + 1] += b[:k]
        a[:k] = a[1 : k + 1] * 0.5


def differences(a, b):
    for k in range(2, 12):
        b[k] = (a[2:k] - a[: k - 2]).sum() + np.dot(a[k : 2 * k], b[:k])


def from_the_end(a, b):
    for k in range(11, 0, -1):
        b[k] = np.dot(a[k:12], b[: 12 - k])


def of_a_triangle(a, b):
    for i in range(1, 12):
        for j in range(1, i + 1):
            b[j] = b[j] * 0.5 + np.dot(a[j:i], a[: i - j])


def in_an_arm(a, b):
    for k in range(1, 12):
        if b[k] > 0:
            a[1 : k + 1] += a[:k][::-1]


def viewed_and_written_in_between(a, b):
    for k in range(12):
        w, v = a[:k][::-1], a[:k][None]
        a[0] += 1
        b[k] = w.sum() * 2 + v.sum()


def rows_of_a_matrix(a, b):
    m = a[:24].reshape(12, 2)
    for k in range(1, 12):
        m[k] += (m[:k][::-1] * m[1 : k + 1]).sum(axis=0) + m[:k, ::-1][::-1].sum()
        m[k::-1] += b[:2]


PROGRAMS = [
    flipped,
    reversed_by_a_key,
    reversed_from_an_index_on,
    reversed_between_two_indices,
    written_backwards,
    two_reversed_again,
    shifted,
    differences,
    from_the_end,
    of_a_triangle,
    in_an_arm,
    viewed_and_written_in_between,
    rows_of_a_matrix,
]


def _arrays(lengths, dtype):
    rng = onp.random.default_rng(1)
    return [(rng.normal(size=n) * 3).astype(dtype) for n in lengths]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("lengths", [(30, 30), (30, 25), (200, 150)])
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_those_of_numpy_by_one_loop(program, lengths, dtype):
    close = {"rtol": 1e-4, "atol": 1e-3} if dtype == "float32" else {"rtol": 1e-12}
    lines = compare_with_numpy(program, _arrays(lengths, dtype), **close)
    assert lines and all("one loop" in line for line in lines), lines


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_those_of_eager_calls(program):
    compare_gradients(program, _arrays((30, 25), "float64"))


def lengths_that_differ(a, b):
    for k in range(2, 12):
        a[:k] += b[1:k]


def test_lengths_that_differ_raise_as_numpy_does():
    a, b = [np.array(x) for x in _arrays((30, 25), "float64")]
    with pytest.raises(ValueError, match="broadcast"):
        npx.jit(lengths_that_differ)(a, b)


def quotients(a, c):
    found = c * 0
    for i in range(10):
        found = found + (c / a[1 : i + 1]).sum() + np.log(a[i + 2 : 11]).sum() * c
    return found


def of_a_mask_that_selects_nothing(a, c):
    return (c / a[a > 99]).sum()


@pytest.mark.parametrize("program", [quotients, of_a_mask_that_selects_nothing])
def test_what_selects_nothing_has_finite_derivatives(program):
    def gradients(function):
        a, c = np.arange(12.0), np.array(2.0)
        a.attach_grad()
        c.attach_grad()
        with autograd.record():
            found = function(a, c)
        found.backward()
        return a.grad.asnumpy(), c.grad.asnumpy()

    for one, other in zip(gradients(npx.jit(program)), gradients(program), strict=True):
        onp.testing.assert_allclose(one, other, rtol=1e-12)
