"""`out=`: results written into arrays of any dtype, NumPy's own included."""

import numpy as onp
import pytest
from oracle import agrees

from npcompat import np

TABLE = onp.arange(6.0).reshape(2, 3)


@pytest.mark.usefixtures("placed")
def test_results_are_written_into_arrays_of_numpys():
    out = onp.zeros(2)
    assert np.add(np.ones(2), 1, out=out) is out
    assert out.tolist() == [2, 2]
    np.add(np.ones(2), 4, out=out, where=[True, False])
    assert out.tolist() == [5, 2]
    assert np.sum(np.ones((2, 2)), axis=0, out=out) is out
    assert out.tolist() == [2, 2]
    assert np.dot(np.ones((2, 2)), np.ones(2), out=(single := onp.zeros(2, "f"))) is single
    assert np.concatenate([np.ones(1), np.zeros(1)], out=out) is out
    assert single.tolist() == [2, 2] and out.tolist() == [1, 0]
    assert np.stack([np.ones(1), np.zeros(1)], out=(table := onp.zeros((2, 1)))) is table
    assert np.fft.fft(np.ones(2), out=(complex_ := onp.zeros(2, complex))) is complex_
    assert table.tolist() == [[1], [0]] and complex_.tolist() == [2, 0]
    with pytest.raises(ValueError, match="not acceptable"):
        np.dot(np.ones((2, 2)), np.ones(2), out=onp.zeros(2, int))
    with pytest.raises(ValueError, match="wrong shape"):
        np.concatenate([np.ones(1), np.zeros(1)], out=onp.zeros(3))
    with pytest.raises(TypeError, match="same_kind"):
        np.add(np.ones(2), 0.5, out=onp.zeros(2, int))
    with pytest.raises(ValueError, match="non-broadcastable"):
        np.add(np.ones(2), 1, out=onp.zeros(1))


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "var", "all"])
@pytest.mark.parametrize("target", ["?", "u1", "i8", "f4", "c16"])
@pytest.mark.filterwarnings("ignore")
def test_reductions_write_into_any_dtype(name, target):
    agrees(
        lambda np, a, out: getattr(np, name)(a, 0, out=out) is out, TABLE * 2, onp.zeros(3, target)
    )
    if name == "prod":
        agrees(
            lambda np, a, out: np.multiply.reduce(a, 0, out=out) is out, TABLE, onp.zeros(3, target)
        )
        agrees(lambda np, a, out: np.cumsum(a, 0, out=out) is out, TABLE, onp.zeros((2, 3), target))


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("target", ["?", "i4", "f8", "c16"])
def test_logical_functions_write_into_any_dtype(target):
    mask = onp.array([True, True, False])
    for name in ("logical_and", "logical_xor"):
        agrees(
            lambda np, a, out: getattr(np, name)(a, out, out=out) is out,
            onp.ones(3, bool),
            onp.ones(3, target),
        )
        agrees(
            lambda np, a, out: getattr(np, name)(a, out, out=out, where=mask) is out,
            onp.ones(3, bool),
            onp.ones(3, target),
        )


def test_an_element_of_objects_is_taken_into_an_array():
    out = np.array(None, dtype=object)
    assert np.take(np.array([1, "a"], dtype=object), 1, out=out) is out
    assert out.item() == "a"
