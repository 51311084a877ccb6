"""`a.flat`: what it reads and writes, in C order, and what it refuses."""

import operator

import numpy as onp
import pytest
from oracle import agrees

from npcompat import np, npx

KEYS = [2, -1, slice(1, 4), [0, 3], ..., (), onp.array([True, False, True, False, False, True])]


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_flat_reads_and_writes_in_c_order(key, order):
    theirs = onp.arange(6).reshape(2, 3).copy(order)
    ours = np.array(theirs, order=order)
    onp.testing.assert_array_equal(np.asarray(ours.flat[key]).asnumpy(), theirs.flat[key])
    if type(key) is not tuple:
        new = 7 if type(key) is int else [7, 8]
        ours.flat[key] = new
        theirs.flat[key] = new
        onp.testing.assert_array_equal(ours.asnumpy(), theirs)


@pytest.mark.usefixtures("placed")
def test_flat_raises_and_warns_as_numpy_does():
    a = np.arange(3)
    with pytest.raises(IndexError, match="out of bounds"):
        a.flat[3]
    with pytest.raises(IndexError, match="only integers, slices"):
        a.flat["x"]
    with pytest.warns(DeprecationWarning, match="Invalid non-array indices"):
        assert a.flat[[1.0]].tolist() == [1]
    np.copyto(a, a)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a.flat[0] = 1
    np.copyto(a, a)  # which writes nothing


@pytest.mark.parametrize("backend", ["jax", "numpy"])
@pytest.mark.parametrize("new", [[5], onp.array([5]), [1, 2]])
def test_an_element_of_flat_takes_an_element(backend, new):
    with npx.backend(backend):
        a = np.arange(3)
        for given in (new, np.array(new)):
            with pytest.raises(ValueError, match="single item"):
                a.flat[1] = given
        a.flat[1] = np.array(7)
        assert a.tolist() == [0, 7, 2]


@pytest.mark.usefixtures("numpy_mode")
def test_scalars_that_do_not_fit_are_no_single_items():
    big = onp.array([4294967294], onp.uint32)
    assert isinstance(
        agrees(
            lambda np, a, x: a.flat.__setitem__(-1, x[0]),
            onp.arange(3, dtype="i4"),
            big,
            modes=("numpy",),
        ),
        ValueError,
    )


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_are_by_element(name, placed):
    compare = getattr(operator, name)
    theirs = onp.array([[0, 1], [2, 0]])
    mine = np.array(theirs)
    for other in (0, 1.5, [0, 1, 2, 3]):
        assert compare(mine.flat, other).tolist() == compare(theirs.flat, other).tolist()
    assert compare(mine.flat, mine.flat).tolist() == compare(theirs.flat, theirs.flat).tolist()
    mine.flat[mine.flat == 0] = 7
    assert mine.tolist() == [[7, 1], [2, 7]]
    with pytest.raises(TypeError, match="unhashable"):
        hash(mine.flat)
