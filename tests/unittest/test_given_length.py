"""`size=`: functions whose result is as long as values say, with a length that is given, eager and
compiled; JAX is the oracle.
"""

import inspect

import jax
import jax.numpy as jnp
import numpy as onp
import pytest

from npcompat import autograd, np, npx

A = onp.array([[3, 0, 2], [0, 7, 3]])
F = onp.array([2.0, onp.nan, -0.0, onp.nan, 0.0, 1.0])
ROWS = onp.array([[1, 2], [0, 5], [1, 2], [0, 4]])
M = onp.array([True, False, True])

CALLS = {
    "nonzero": lambda xp: xp.nonzero(xp.asarray(A), size=5),
    "nonzero, cut": lambda xp: xp.nonzero(xp.asarray(A), size=2),
    "nonzero, filled": lambda xp: xp.nonzero(xp.asarray(A), size=6, fill_value=-1),
    "nonzero, filled by axis": lambda xp: xp.nonzero(xp.asarray(A), size=6, fill_value=(2, 3)),
    "nonzero, none": lambda xp: xp.nonzero(xp.asarray(A), size=0),
    "nonzero of nothing": lambda xp: xp.nonzero(xp.asarray(A[:0]), size=2),
    "nonzero, method": lambda xp: xp.asarray(A).nonzero(size=5, fill_value=9),
    "where": lambda xp: xp.where(xp.asarray(A) > 2, size=4),
    "where, filled": lambda xp: xp.where(xp.asarray(F) > 0, size=4, fill_value=6),
    "flatnonzero": lambda xp: xp.flatnonzero(xp.asarray(A), size=5, fill_value=-1),
    "argwhere": lambda xp: xp.argwhere(xp.asarray(A), size=5, fill_value=-1),
    "argwhere of a 0-d array": lambda xp: xp.argwhere(xp.asarray(7), size=2),
    "extract": lambda xp: xp.extract(xp.asarray(A) > 2, xp.asarray(A), size=4, fill_value=-1),
    "extract, cut": lambda xp: xp.extract(xp.asarray(A) > 2, xp.asarray(A), size=1),
    "compress": lambda xp: xp.compress(xp.asarray(M), xp.asarray(A), axis=1, size=3, fill_value=8),
    "compress, all elements": lambda xp: xp.compress(xp.asarray(M), xp.asarray(A), size=3),
    "compress, method": lambda xp: xp.asarray(A).compress(xp.asarray(M), 1, size=1),
    "unique": lambda xp: xp.unique(xp.asarray(A), size=6),
    "unique, cut": lambda xp: xp.unique(
        xp.asarray(A), return_inverse=True, return_counts=True, size=2
    ),
    "unique, all": lambda xp: xp.unique(xp.asarray(A), True, True, True, size=6, fill_value=-1),
    "unique of nan": lambda xp: xp.unique(xp.asarray(F), True, True, True, size=5),
    "unique of nan, each": lambda xp: xp.unique(
        xp.asarray(F), return_counts=True, equal_nan=False, size=5
    ),
    "unique of rows": lambda xp: xp.unique(
        xp.asarray(ROWS), True, True, True, axis=0, size=4, fill_value=-1
    ),
    "unique of columns": lambda xp: xp.unique(xp.asarray(ROWS[:3]), axis=-1, size=3),
    "unique_all": lambda xp: xp.unique_all(xp.asarray(A), size=5, fill_value=-1),
    "unique_counts": lambda xp: xp.unique_counts(xp.asarray(A), size=5),
    "unique_inverse": lambda xp: xp.unique_inverse(xp.asarray(A), size=5),
    "unique_values": lambda xp: xp.unique_values(xp.asarray(A), size=5),
}


def leaves(result):
    return [onp.asarray(leaf) for leaf in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("backend", ["jax", "numpy"])
@pytest.mark.parametrize("name", CALLS)
def test_results_of_a_given_length_are_those_of_jax(name, backend):
    call = CALLS[name]
    with jax.enable_x64(True):
        wanted = leaves(call(jnp))
    with npx.backend(backend), npx.np_default_dtype():
        for found in (leaves(call(np)), leaves(npx.jit(lambda: call(np))())):
            assert len(found) == len(wanted)
            for mine, its in zip(found, wanted, strict=True):
                onp.testing.assert_array_equal(mine, its)
                assert mine.dtype == its.dtype and mine.shape == its.shape


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_without_size_the_error_in_compiled_code_names_the_line_and_size(backend):
    functions = {
        "nonzero": np.nonzero,
        "flatnonzero": np.flatnonzero,
        "argwhere": np.argwhere,
        "unique": np.unique,
        "unique_values": np.unique_values,
        "extract": lambda a: np.extract(a > 0, a),
        "compress": lambda a: np.compress(a > 0, a),
        "where": lambda a: np.where(a > 0),
    }
    names = {"where": "nonzero", "unique_values": "unique"}
    with npx.backend(backend):
        for name, function in functions.items():
            with pytest.raises(
                TypeError,
                match=rf"test_given_length.py:\d+: np.{names.get(name, name)}: .*Give size=, which fixes the",
            ):
                npx.jit(function)(np.arange(3))
        line = inspect.currentframe().f_lineno + 2
        with pytest.raises(TypeError, match=rf"test_given_length.py:{line}: np.nonzero"):
            npx.jit(lambda a: np.nonzero(a))(np.arange(3))


def test_arguments_that_mean_nothing_are_errors():
    a = np.array([1, 0, 2])
    with pytest.raises(
        ValueError, match="fill_value fills a result up to size=, which is not given"
    ):
        np.nonzero(a, fill_value=0)
    with pytest.raises(ValueError, match="np.where: size= and fill_value= are for the positions"):
        np.where(a > 0, a, 0, size=2)
    with pytest.raises(ValueError, match="size must not be negative, got -1"):
        np.unique(a, size=-1)
    with pytest.raises(TypeError):
        np.unique(a, size=1.5)
    with pytest.raises(
        TypeError, match="stands for a position, which is an integer; got the dtype float"
    ):
        np.flatnonzero(a, size=2, fill_value=0.5)
    with pytest.raises(ValueError, match="an integer, or one for each of 1 axes"):
        np.nonzero(a, size=2, fill_value=(0, 1))
    with pytest.raises(ValueError, match="a single element"):
        np.compress(a, a, size=2, fill_value=[1, 2])
    with pytest.raises(ValueError, match="give fill_value"):
        np.unique(a[:0], size=2)
    with pytest.raises(ValueError, match="0d arrays is not allowed"):
        np.nonzero(np.array(1), size=1)
    with pytest.raises(ValueError, match="condition must be a 1-d array"):
        np.compress([[True]], a, size=1)


def test_a_condition_that_holds_beyond_the_axis_is_an_error_also_in_compiled_code():
    def picked(condition):
        return np.compress(condition, np.array([1, 2]), size=2)

    assert (
        picked([False, True, False]).tolist()
        == npx.jit(picked)(np.array([False, True, False])).tolist()
        == [2, 0]
    )
    for function in (picked, npx.jit(picked)):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 2"):
            function(np.array([False, True, True])).tolist()


def test_what_lacks_is_filled_also_where_jax_does_otherwise():
    for function in (lambda f: f(), lambda f: npx.jit(f)()):
        assert function(
            lambda: np.compress([True], ROWS, axis=0, size=2, fill_value=3)
        ).tolist() == [[1, 2], [3, 3]]
        values, counts = function(
            lambda: np.unique(F[:0], return_counts=True, size=2, fill_value=4)
        )
        assert values.tolist() == [4, 4] and counts.tolist() == [0, 0]
        values, positions, inverse = function(
            lambda: np.unique(ROWS[:0], True, True, axis=0, size=1, fill_value=4)
        )
        assert values.tolist() == [[4, 4]] and positions.tolist() == [0] and inverse.shape == (0,)


def test_what_is_picked_has_a_gradient():
    x, fill = np.array([1.0, 2.0, 3.0]), np.array(5.0)
    x.attach_grad()
    fill.attach_grad()
    with autograd.record():
        y = (np.compress(x > 1.5, x, size=4, fill_value=fill) ** 2).sum()
    y.backward()
    assert x.grad.tolist() == [0, 4, 6] and fill.grad.item() == 20


def test_one_program_serves_all_values_and_fills():
    found = npx.jit(lambda a, fill: np.unique(a, size=3, fill_value=fill))
    assert found(np.array([2, 1, 2]), 9).tolist() == [1, 2, 9]
    assert found(np.array([3, 1, 2]), 9).tolist() == [1, 2, 3]


def test_arrays_of_the_host_have_it_too():
    words = np.array(["b", "a", "", "b"])
    assert np.unique(words, size=4).tolist() == ["", "a", "b", ""]
    assert np.flatnonzero(words, size=4, fill_value=-1).tolist() == [0, 1, 3, -1]
    assert np.extract(
        [True, False], np.array([None, 2], dtype=object), size=2, fill_value="x"
    ).tolist() == [None, "x"]
    days = np.array(["2020-01-02", "NaT", "2020-01-02", "NaT"], dtype="M8[D]")
    values, counts = np.unique(days, return_counts=True, size=3)
    assert counts.tolist() == [2, 2, 0] and values[0] == values[2]


def test_out_is_written():
    out = np.zeros(2, dtype=int)
    assert np.compress(
        [True, False], [4, 5], out=out, size=2, fill_value=7
    ) is out and out.tolist() == [4, 7]
