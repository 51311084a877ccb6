"""Iteration by `nditer`; NumPy is the oracle."""

import numpy as onp
import pytest
from internals import Value
from oracle import agrees, assert_alike

from npcompat import np, npx

A = onp.arange(12.0).reshape(3, 4)


def doubled(xp, a, *rest, **options):
    with xp.nditer(a, *rest, **options) as it:
        for x in it:
            x[...] = 2 * x


WRITING = {
    "an array": lambda xp, a: doubled(xp, a, op_flags=["readwrite"]),
    "a view": lambda xp, a: doubled(xp, a[::2, ::-1].T, op_flags=["readwrite"]),
    "with buffers": lambda xp, a: doubled(xp, a.T, flags=["buffered", "external_loop"], op_flags=["readwrite"], op_dtypes=["f8"], order="C"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITING)
def test_an_iterator_writes_back(name):
    agrees(WRITING[name], A, modes=("jax", "numpy"))


def test_an_iterator_without_with_writes_when_it_ends(backend):
    a = np.arange(3.0)
    for x in np.nditer(a, op_flags=["readwrite"]):
        x[...] = x + 1
    assert a.tolist() == [1, 2, 3]
    it = np.nditer(a, op_flags=[["readwrite"]])
    it[0][...] = 7
    assert a.tolist() == (
        [7, 2, 3] if backend in ("numpy", "auto") else [1, 2, 3]
    )  # on the host it looks into the array
    del it
    assert a.tolist() == [7, 2, 3]
    it = np.nditer(a, op_flags=["readwrite"])
    while not it.finished:
        it[0] = it[0] * 2
        it.iternext()
    assert a.tolist() == [14, 4, 6]


def test_an_iterator_knows_where_it_is(backend):
    it = np.nditer(np.arange(4).reshape(2, 2), flags=["multi_index"])
    assert [(it.multi_index, int(x)) for x in it] == [
        ((0, 0), 0),
        ((0, 1), 1),
        ((1, 0), 2),
        ((1, 1), 3),
    ]
    it.reset()
    it.iterindex = 2
    assert it.multi_index == (1, 0) and len(it) == 1 and int(it.copy()[0]) == 2
    with pytest.raises(AttributeError, match="nothing"):
        it.nothing


def test_an_iterator_makes_what_is_none(backend):
    a = np.arange(3)
    with np.nditer([a, None]) as it:
        for x, y in it:
            y[...] = 2 * x
        assert it.operands[0] is a
        assert_alike(it.operands[1], onp.array([0, 2, 4]))


def test_an_iterator_and_the_array_see_what_the_other_writes():
    with npx.backend("numpy"):
        a = np.arange(4.0)
        before = a.copy()
        with np.nditer(a, flags=["c_index"], op_flags=["readwrite"]) as it:
            for x in it:
                if it.index == 1:
                    a[3] = 10
                    during = a.copy()
                x[...] = 2 * x
        assert (before.tolist(), during.tolist(), a.tolist()) == (
            [0, 1, 2, 3],
            [0, 1, 2, 10],
            [0, 2, 4, 20],
        )
        a[...] = np.arange(4.0)
        after = a.copy()
        x[...] = 5  # the iteration is over
        assert a.tolist() == after.tolist() == [0, 1, 2, 3]
        with pytest.raises(ValueError, match="broadcast"):
            np.nditer([a, np.zeros(3)], op_flags=[["readwrite"], ["readonly"]])
        assert type(a._value) is Value


def test_what_an_iterator_makes_can_be_initialized(backend):
    a = np.arange(6.0)
    it = np.nditer(
        [a, None], ["reduce_ok"], [["readonly"], ["readwrite", "allocate"]], op_axes=[[0], [-1]]
    )
    it.operands[1][...] = 100
    for x, total in it:
        total[...] += x
    assert it.operands[1] == 115 and it.operands[1] is it.operands[1]


def test_nested_iterators_write_back(backend):
    a = np.arange(6).reshape(2, 3)
    rows, columns = np.nested_iters(a, [[0], [1]], op_flags=["readwrite"])
    for _ in rows:
        for x in columns:
            x[...] = x + 1
    assert a.tolist() == [[1, 2, 3], [4, 5, 6]]
