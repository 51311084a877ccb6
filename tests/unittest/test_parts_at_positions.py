"""`a[k[0]]` of a compiled function is a view, as NumPy's: what is written to it is in the array."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx
from npcompat.errors import RefusedError

pytestmark = pytest.mark.usefixtures("numpy_mode")


def written(np, a, k):
    row = a[k[0]]
    row *= 0
    a[k[1]][1:] = 7
    return a


def of_reductions(np, a, k):
    row = a[k.argmax()]
    row[1:] = 0
    column = a[..., k.min()]
    column += 1
    return a


def in_loops(np, a, k):
    for i in range(12):
        row = a[k[i % 4], 1:]
        row += i
    return a


def read_later(np, a, k):
    row = a[k[0]]
    for _ in range(1):
        a[k[0]] = 7
    return row * 1


def added(np, a, k):
    for _ in range(2):
        a[k[0], k[1]] += 5
        a[k[0]] += a[k[1]]
        a[k[0], [0, 0]] += 1
    return a


def outside(np, a, k):
    for _ in range(3):
        row = a[k[3] + 9]
    return row


FUNCTIONS = [written, of_reductions, in_loops, read_later, added]


def _arrays(dtype):
    return onp.arange(16.0).reshape(4, 4), onp.array([1, 2, 0, 3], dtype)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "uint64"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values(function, dtype):
    theirs, mine = _arrays(dtype), [*map(np.array, _arrays(dtype))]
    expected = function(onp, *theirs)
    found = npx.jit(lambda a, k: function(np, a, k))(*mine)
    onp.testing.assert_array_equal(found.asnumpy(), expected)
    onp.testing.assert_array_equal(mine[0].asnumpy(), theirs[0])


def test_positions_outside_raise():
    with pytest.raises(IndexError, match="out of bounds"):
        npx.jit(lambda a, k: outside(np, a, k))(*map(np.array, _arrays("int64"))).asnumpy()


def test_results_are_views_of_arguments():
    def row(a, k):
        for i in range(3):
            found = a[k[i]]
        return found, found[1:3]

    a, k = map(np.array, _arrays("int64"))
    compiled = npx.jit(row)
    for first in (0, 3):
        k[2] = first
        found, part = compiled(a, k)
        found[0] = -1
        part[...] = 5
        assert a[first].tolist() == [-1, 5, 5, first * 4 + 3]


def _written_without_loops(a, k):
    row = a[k[0]]
    np.add(row, 1, out=row)
    return a


def _stored(a, k):
    a[k[0]] += a[k[1]].sum()
    return a


@pytest.mark.parametrize("loops", [None, "python"])
def test_lost_writes_are_refused_where_functions_are_not_converted(loops):
    a, k = map(np.array, _arrays("int64"))
    with pytest.raises(RefusedError, match="written by a name of its own"):
        npx.jit(_written_without_loops, loops=loops)(a, k)
    assert a.asnumpy().tolist() == _arrays("int64")[0].tolist()
    npx.jit(_stored, loops=loops)(a, k)
    assert a[1].tolist() == [42, 43, 44, 45]


def test_gradients_of_rows_that_data_choose():
    found = []
    for compiled in (False, True):
        a, k = map(np.array, _arrays("int64"))
        a.attach_grad()

        def step(a, k):
            with autograd.record():
                total = a.sum() * 0
                for i in range(10):
                    row = a[k[i % 4]]
                    total = total + (row * row * i).sum()
            total.backward()

        (npx.jit(step) if compiled else step)(a, k)
        found.append(a.grad.asnumpy())
    onp.testing.assert_allclose(*found)
