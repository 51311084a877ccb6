"""Copies onto arrays by `copyto`, casts and read-only targets included, and deep copies."""

import copy
import re

import numpy as onp
import pytest
from oracle import agrees

from npcompat import np

TABLE = onp.arange(6.0).reshape(2, 3)


@pytest.mark.usefixtures("placed")
def test_a_deep_copy_copies_objects():
    held = [1]
    a = np.array([held, held, None], dtype=object)
    copied = copy.deepcopy(a)
    assert copied[0] is not held
    assert copied[0] is copied[1]


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize(
    ("dtype", "number", "casting"),
    [("i8", 3.0, "safe"), ("u1", 3, "equiv"), ("f4", 3.0, "equiv"), ("u1", -1, "safe")],
)
def test_copyto_casts_python_numbers_as_numpy_does(dtype, number, casting):
    with pytest.raises((TypeError, OverflowError)) as theirs:
        onp.copyto(onp.zeros(3, dtype), number, casting)
    with pytest.raises(theirs.type, match=re.escape(str(theirs.value))):
        np.copyto(np.zeros(3, dtype), number, casting)
    a = np.zeros(2, "u1")
    np.copyto(a, 3, "safe")
    assert a.tolist() == [3, 3]


@pytest.mark.usefixtures("numpy_mode")
def test_elements_are_copied_to_where_they_are():
    def program(np, a):
        view = a[::2]
        view.setflags(write=False)
        for same in (view, a[::2], view[:]):
            np.copyto(view, same)
            np.copyto(view, same, where=False)
        np.copyto(np.broadcast_to(a, a.shape), a)
        return view

    agrees(program, TABLE, modes=("jax", "numpy"))
    assert isinstance(
        agrees(
            lambda np, a: [a.setflags(write=False), np.copyto(a, a[::-1])],
            TABLE,
            modes=("jax", "numpy"),
        ),
        ValueError,
    )
    assert isinstance(
        agrees(
            lambda np, a: np.copyto(a, a, where=np.array([0.5, 1.0])), TABLE, modes=("jax", "numpy")
        ),
        TypeError,
    )


@pytest.mark.usefixtures("numpy_mode")
def test_copies_of_single_elements_onto_themselves_are_writes():
    def program(np, a):
        a.setflags(write=False)
        np.copyto(a, a[...])

    assert isinstance(agrees(program, onp.array(1.0), modes=("jax", "numpy")), ValueError)
