"""The fast path reads and writes elements and views by keys as the slow path does."""

import itertools
import warnings

import numpy as onp
import pytest
from both_ways import HOWS, KINDS, NEEDED, attempted, described, made, operands

from npcompat import np, npx

Indexed = next(kind for kind in np.ndarray.__mro__ if "__getitem__" in vars(kind))


KEYS = {
    "first": 0,
    "last": -1,
    "too far": 7,
    "element": (1, -2),
    "element too far": (0, 3),
    "slice": slice(1, None),
    "slices": (slice(None), slice(None, None, -2)),
    "row of a slice": (0, slice(1, 3)),
    "new axis": (None, 1),
    "ellipsis": ...,
    "element as an array": (..., 1, 1),
    "nothing": (),
    "too many": (0, 0, 0),
    "two ellipses": (..., ...),
    "bool": True,
    "mask": KINDS["bool"],
    "positions": [1, 0],
    "scalar of NumPy's": onp.int64(1),
    "float": 1.5,
    "text": "x",
    "long": slice(None, None, 2**70),
    "far": 2**70,
}


@NEEDED
@pytest.mark.parametrize("backend", ["numpy", "jax", "auto"])
def test_elements_and_views(backend):
    slow_path = vars(Indexed)["__getitem__"].__wrapped__
    with npx.backend(backend), npx.np_default_dtype():
        for x, how, key in itertools.product(KINDS, HOWS, KEYS):
            a = made(KINDS[x], how)
            case = x, how, key
            first, second = (
                attempted(np.ndarray.__getitem__, a, KEYS[key]),
                attempted(slow_path, a, KEYS[key]),
            )
            assert first == second, case
            if isinstance(first[0], tuple) and first[0][0] is np.ndarray:
                found = a[KEYS[key]], slow_path(a, KEYS[key])
                for about in ("strides", "base", "flags"):
                    assert str(getattr(found[0], about)) == str(getattr(found[1], about)), (
                        *case,
                        about,
                    )
                assert np.shares_memory(found[0], a) == np.shares_memory(found[1], a)


@NEEDED
@pytest.mark.parametrize("backend", ["numpy", pytest.param("jax", marks=pytest.mark.slow), "auto"])
def test_writing(backend):
    slow_path = vars(Indexed)["__setitem__"].__wrapped__
    given = operands(backend)
    new = (
        "5",
        "300",
        "2.5",
        "1j",
        "True",
        "row",
        "0-d",
        "scalar",
        "misfit",
        "float32",
        "list",
        "numpys",
        "text",
    )
    with npx.backend(backend), npx.np_default_dtype():
        for x, how, key, other in itertools.product(
            ("float32", "int32", "uint8", "row"), HOWS, KEYS, new
        ):
            if backend == "jax" and (
                how in ("reversed", "shared") or key in ("new axis", "slices") or x == "uint8"
            ):
                continue  # seconds of compiling that do not test the fast path
            first, second = made(KINDS[x], how), made(KINDS[x], how)
            case = x, how, key, other
            ways = (
                attempted(np.ndarray.__setitem__, first, KEYS[key], given[other]),
                attempted(slow_path, second, KEYS[key], given[other]),
            )
            assert ways[0] == ways[1], case
            assert described(first) == described(second), case


TWICE = range(2)
"""Calls on XLA: the second one finds the program, which the fast path needs."""


@pytest.mark.parametrize("backend", ["jax", "auto"])
def test_a_view_of_what_is_written_is_read_before(backend):
    with npx.backend(backend):
        for _ in TWICE:
            a = np.arange(6)
            a[1:] = a[:-1]
            assert a.tolist() == [0, 0, 1, 2, 3, 4]
            a[1:] += a[:-1]
            assert a.tolist() == [0, 0, 1, 3, 5, 7]
            a += a
            assert a.tolist() == [0, 0, 2, 6, 10, 14]
            a[0] = a[-1]
            assert a.tolist() == [14, 0, 2, 6, 10, 14]


@pytest.mark.parametrize("backend", ["jax", "auto"])
def test_views_are_read_again_when_something_was_written(backend):
    with npx.backend(backend):
        for _ in TWICE:
            a = np.zeros((3, 2))
            row, column, corner = a[1], a[:, 1], a[1:, 1:]
            for i, write in enumerate(
                (
                    lambda: a.__setitem__(1, 1.5),
                    lambda: row.__iadd__(1),
                    lambda: a.__iadd__(a[:, :1]),
                    lambda: corner.__setitem__(..., 7.0),
                )
            ):
                before = row + 0, column * 2
                write()
                expected = onp.asarray(a.asnumpy())
                assert (row + 0).tolist() == expected[1].tolist() != before[0].tolist(), i
                assert (column * 2).tolist() == (expected[:, 1] * 2).tolist(), i
                assert (corner + 0).tolist() == expected[1:, 1:].tolist(), i


@pytest.mark.parametrize("backend", ["jax", "auto"])
def test_who_holds_the_values_keeps_them(backend):
    with npx.backend(backend):
        for _ in TWICE:
            a = np.zeros(3)
            export, copied, payload = a.asnumpy(), a.copy(), a._value.payload
            a[0] = 1
            a[1:] += 1
            a += 1
            assert export.tolist() == copied.tolist() == onp.asarray(payload).tolist() == [0, 0, 0]
            assert a.tolist() == [2, 2, 2]


@pytest.mark.parametrize("backend", ["jax", "auto"])
def test_what_is_read_is_no_part_of_the_array(backend):
    with npx.backend(backend):
        for _ in TWICE:
            a = np.zeros((2, 2))
            element, row = a[0, 0], a[0]
            a[0, 0] = 5
            assert (float(element), row.tolist()) == (0.0, [5, 0])


NUMBERS = [0, -1, 3, 255, 256, -129, 2**31, 2**63, 2**64, 10**30, 1.5, -0.0, 1e40, 1e300, True]
NUMBERS += [float("nan"), float("inf"), 1 + 2j, 3 + 0j]
ELEMENTS = [((3,), 1), ((3,), -1), ((2, 3), (1, 2)), ((2, 3), (-1, 0)), ((), ()), ((3,), 3)]


@NEEDED
@pytest.mark.parametrize("dtype", [*"?bBhHiIlLefdFD"])
@pytest.mark.parametrize("of_a_view", [False, True])
def test_a_number_is_written_into_an_element_as_numpy_does(dtype, of_a_view):
    def written(np, shape, key, number):
        array = np.zeros(shape, dtype=dtype)
        if of_a_view:
            array = np.zeros((4, 2, 6), dtype=dtype)[1, :, ::2]
            array = {0: array[1, 1, ...], 1: array[1], 2: array}[len(shape)]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                array[key] = number
            except (OverflowError, ValueError, TypeError, IndexError) as error:
                return type(error), str(error)
        said = [(w.category, str(w.message)) for w in warned]
        return onp.asarray(array).tobytes(), said

    with npx.backend("numpy"):
        for (shape, key), number in itertools.product(ELEMENTS, NUMBERS):
            assert written(np, shape, key, number) == written(onp, shape, key, number), (
                key,
                number,
            )
