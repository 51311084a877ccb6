"""Keys: each pair of items that a key can have, read and written, against NumPy."""

import itertools
import warnings

import numpy as onp
import pytest
from internals import parse

from npcompat import np, npx

ITEMS = [
    0, -1, 2, 7, slice(None), slice(1, 3), slice(None, None, -1), slice(5, 1, -2), None, Ellipsis,
    [1], [], True, False, 1.0, "a", onp.int64(1), onp.array(1), onp.array(True), onp.array([0, 2]),
    onp.array([[0], [1]]), onp.array([], int), onp.array([True, False, True]), onp.ones((3, 4), bool),
    onp.array([0, 9]),
]  # fmt: skip
VALUES = onp.arange(60.0).reshape(3, 4, 5)


def outcome(act):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = act()
        except Exception as error:
            return type(error)
    return onp.shape(found), onp.asarray(found).tolist()


def written(array, key):
    array = array.copy()
    array[key] = -1.0
    return array


@pytest.mark.parametrize("act", [lambda a, key: a[key], written], ids=["read", "written"])
def test_keys_mean_what_they_mean_to_numpy(backend, act):
    with npx.np_default_dtype():
        ours = np.array(VALUES)
        differing = []
        for key in [*ITEMS, *itertools.product(ITEMS, repeat=2)]:
            theirs = outcome(lambda key=key: act(VALUES, key))
            if outcome(lambda key=key: act(ours, key)) != theirs:
                differing.append(key)
    assert differing == []


def test_a_parsed_key_says_what_is_done_with_each_axis():
    array = onp.array([0, 1])
    found = parse.parse((4, 5, 6), (2, ..., None, array))
    assert [(i.kind.name, i.axis, i.axes) for i in found.items] == [
        ("INTEGER", 0, 1),
        ("SLICE", 1, 1),
        ("NEWAXIS", 2, 0),
        ("ARRAY", 2, 1),
    ]
    assert not found.is_basic and not found.is_element and found.items[3].value is array
    assert (
        parse.parse((2, 3), (1, 2)).is_element and not parse.parse((2, 3), (1, 2, ...)).is_element
    )
    mask = parse.parse((2, 3, 4), onp.ones((2, 3), bool)).items
    assert [(i.kind.name, i.axis, i.axes) for i in mask] == [("MASK", 0, 2), ("SLICE", 2, 1)]
