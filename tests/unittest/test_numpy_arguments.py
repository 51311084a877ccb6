"""Arguments that NumPy takes beyond its signatures, and those that it refuses."""

import warnings

import numpy as onp
import pytest

from npcompat import np, npx


class Index:
    def __index__(self):
        return 1


DAY = onp.timedelta64(3, "D")


TAKEN = {
    "arange by names": lambda xp: (xp.arange(stop=3), xp.arange(start=1, stop=4), xp.arange(0, stop=3)),
    "arange of nothing": lambda xp: xp.arange(),
    "arange from a start alone": lambda xp: xp.arange(start=3),
    "arange by no step": lambda xp: (xp.arange(4, None, None), xp.arange(0, -5, None)),
    "arange of float32": lambda xp: xp.arange(-5, 5, 0.01, dtype="float32"),
    "linspace and its step": lambda xp: xp.linspace(0, 1, 11, retstep=True, dtype="float64"),
    "arange of days": lambda xp: xp.arange(xp.array(DAY), xp.array(DAY) + 2),
    "arange of lists": lambda xp: xp.arange(0, [None, []]),
    "where of None": lambda xp: xp.where(xp.array([True, False]), None, None),
    "where of one": lambda xp: xp.where(xp.array([True, False]), 1),
    "choose one by one": lambda xp: xp.array([0, 1]).choose(xp.array([5, 6]), xp.array([7, 8])),
    "choose of numbers": lambda xp: xp.choose([0], (1000, xp.array([1], dtype="uint8"))),
    "conj into out": lambda xp: xp.array([1j, 2]).conj(xp.zeros(2, complex)),
    "argpartition by name": lambda xp: xp.array([3, 1, 2]).argpartition(kth=0)[0],
    "subarrays": lambda xp: (xp.array([1, 2]).astype("2i"), xp.array(xp.array([1, 2]), dtype="(2,)i")),
    "complex numbers as text": lambda xp: xp.array([1 + 2j]).astype("U8"),
    "infinity into integers": lambda xp: xp.array([xp.array(onp.inf)[()]], dtype="int8"),
    "a sum into integers": lambda xp: xp.sum(xp.array([1.5, 2.0]), out=xp.zeros((), int)),
    "a fold of objects into out": lambda xp: xp.add.reduce(xp.array([1, 2], object), out=xp.zeros((), object)),
    "lists as keys": lambda xp: xp.arange(6.0).reshape(2, 3)[[0, 1], [2, 0]],
    "ragged objects written at a list": lambda xp: xp.arange(3, dtype=object).__setitem__([0, 1], [1, (1, 2)]),
    "an index object beside an array": lambda xp: xp.arange(6).reshape(2, 3)[Index(), xp.array([0, 2])],
    "a bool as length": lambda xp: xp.zeros((True, 2)),
    "a bool as axis": lambda xp: xp.sum(xp.ones((2, 2)), axis=False),
    "a bool as axis of take": lambda xp: xp.take(xp.ones((2, 2)), [0], False),
    "an empty median": lambda xp: xp.median(xp.zeros((0, 2)), axis=1),
    "strides of another number": lambda xp: xp.ndarray((2,), strides=()),
    "a class of dtypes": lambda xp: xp.zeros(2, onp.dtype),
    "outs for modf": lambda xp: xp.modf(xp.ones(2), out=(xp.ones(2),)),
    "an array as dtype": lambda xp: xp.array([1, 2], xp.array([1.5])),
    "an array as dtype of zeros": lambda xp: xp.zeros(3, xp.array([1.5])),
    "half a decimal": lambda xp: xp.round(xp.array([1.5]), 0.5),
    "half a difference": lambda xp: xp.diff(xp.array([1.5, 2]), 0.5),
    "a progression from zero": lambda xp: xp.geomspace(xp.array(0.0), 2, 3),
    "matmul in place, too narrow": lambda xp: xp.ones((1, 3)).__imatmul__(xp.ones((3, 1))),
    "matmul in place by a vector": lambda xp: xp.ones((2, 2)).__imatmul__(xp.ones(2)),
    "matmul in place": lambda xp: xp.ones((3, 2, 2)).__imatmul__(xp.ones((2, 2))),
    "matmul of a vector by axes": lambda xp: xp.matmul(xp.ones((2, 3, 4)), xp.arange(3.0), axes=[(0, 1), 0, 0]),
}  # fmt: skip


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("name", TAKEN)
def test_is_taken_or_refused_as_by_numpy(name):
    with npx.np_default_dtype(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = TAKEN[name](onp)
        except Exception as error:
            with pytest.raises(type(error)):
                TAKEN[name](np)
            return
        found = TAKEN[name](np)
        for mine, its in (
            zip(found, expected, strict=True)
            if isinstance(expected, tuple)
            else [(found, expected)]
        ):
            if its is None:
                assert mine is None
                continue
            onp.testing.assert_array_equal(np.asarray(mine).asnumpy(), its)
            assert mine.dtype == its.dtype and mine.shape == its.shape


def test_ranges_of_the_default_float_are_as_accurate_as_numpys(backend):
    expected = onp.arange(-5, 5, 0.01)
    assert onp.array_equal(np.arange(-5, 5, 0.01), expected.astype("float32"))
    compiled = npx.jit(lambda x: np.arange(-5, 5, 0.01) + x)(np.zeros(1000))
    assert onp.array_equal(compiled, expected.astype("float32"))


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_of_blocks_is_made_of_arrays_lists_and_names(backend):
    a = np.eye(2)
    for found in (np.bmat([[np.eye(2), np.eye(2)]]), np.bmat("a a"), np.bmat("b, b", {"b": a}, {})):
        assert isinstance(found, onp.matrix) and found.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]
    assert np.bmat(np.arange(3)).tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("num", [0, 1])
def test_there_is_no_step_between_fewer_than_two_values(num, backend):
    values, step = np.linspace(0, 1, num, retstep=True)
    assert values.shape == (num,) and np.isnan(step)


def test_a_compiled_progression_has_no_zero():
    progression = npx.jit(lambda start: np.geomspace(start, 8, 4))
    assert progression(np.array(1.0)).tolist() == [1, 2, 4, 8]
    with pytest.raises(ValueError, match="Geometric sequence cannot include zero"):
        progression(np.array(0.0)).asnumpy()
