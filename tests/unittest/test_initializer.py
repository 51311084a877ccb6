"""Initializers: distributions, names, seeds."""

import numpy as onp
import pytest

from npcompat import init, np
from npcompat.gluon import nn


def filled(initializer, shape=(200, 100), name="weight", dtype="float32"):
    arr = np.full(shape, 7, dtype=dtype)
    initializer(name, arr)
    return arr.asnumpy()


def test_constants():
    assert (
        (filled(init.Zero()) == 0).all()
        and (filled(init.One()) == 1).all()
        and (filled(init.Constant(2.5)) == 2.5).all()
    )
    assert filled(init.Constant([1, 2]), (2, 2)).tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize(
    ("initializer", "deviation", "bound"),
    [
        (init.Uniform(0.3), 0.3 / 3**0.5, 0.3),
        (init.Normal(0.2), 0.2, None),
        (init.TruncNorm(0.0, 0.2), 0.2 * 0.8796, 0.4),
        (init.Xavier(), (2 / 300) ** 0.5, (6 / 300) ** 0.5),
        (init.Xavier("gaussian", "in", 2), (2 / 100) ** 0.5, None),
        (init.Xavier("uniform", "out", 3), (1 / 200) ** 0.5, (3 / 200) ** 0.5),
        (init.MSRAPrelu("in", 0), (2 / 100) ** 0.5, None),
    ],
    ids=repr,
)
def test_random_values_have_the_deviation_they_promise(initializer, deviation, bound):
    values = filled(initializer)
    assert abs(values.mean()) < 0.02 * deviation * 5 and abs(values.std() / deviation - 1) < 0.02
    if bound is not None:
        assert 0.98 * bound < abs(values).max() <= bound * 1.000001


def test_xavier_counts_the_window_of_convolutions():
    values = filled(init.Xavier("gaussian", "in", 1), (64, 32, 3, 3))
    assert abs(values.std() * (32 * 9) ** 0.5 - 1) < 0.03
    with pytest.raises(ValueError, match=r"at least 2 axes; weight has shape \(3,\)"):
        filled(init.Xavier(), (3,))


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (4, 2, 3)])
@pytest.mark.parametrize("rand_type", ["uniform", "normal"])
def test_orthogonal(shape, rand_type):
    matrix = filled(init.Orthogonal(2.0, rand_type), shape).reshape(shape[0], -1)
    small = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    onp.testing.assert_allclose(small, 4 * onp.eye(len(small)), atol=1e-5)


def test_names_decide_what_is_no_weight():
    uniform = init.Uniform()
    assert (filled(uniform, name="dense0_bias") == 0).all() and (
        filled(uniform, name="gamma") == 1
    ).all()
    assert (filled(uniform, name="running_mean") == 0).all() and (
        filled(uniform, name="x_running_var") == 1
    ).all()
    assert (filled(uniform, name=init.InitDesc("gamma", {"__init__": "zeros"})) == 0).all()
    assert filled(init.LSTMBias(2.0), (8,), "i2h_bias").tolist() == [0, 0, 2, 2, 0, 0, 0, 0]


def test_bilinear_interpolates():
    weights = filled(init.Bilinear(), (1, 1, 4, 4))
    onp.testing.assert_allclose(
        weights[0, 0], onp.outer([0.25, 0.75, 0.75, 0.25], [0.25, 0.75, 0.75, 0.25])
    )
    with pytest.raises(ValueError, match="4 axes"):
        filled(init.Bilinear(), (2, 2))


def test_load_and_mixed_choose_by_name():
    load = init.Load({"arg:a": np.ones(2)}, init.Zero())
    assert filled(load, (2,), "a").tolist() == [1, 1] and filled(load, (2,), "b").tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"a has shape \(3,\), but the loaded array has \(2,\)"):
        filled(load, (3,), "a")
    with pytest.raises(ValueError, match="there is no array for c"):
        filled(init.Load({}), (3,), "c")
    mixed = init.Mixed(["a.*", ".*"], [init.One(), init.Constant(3)])
    assert filled(mixed, (1,), "ab").tolist() == [1] and filled(mixed, (1,), "b").tolist() == [3]
    with pytest.raises(ValueError, match="no pattern fits 'z'"):
        filled(init.Mixed(["a"], [init.One()]), (1,), "z")


def test_mixed_sees_the_names_of_a_block():
    net = nn.HybridSequential()
    net.add(nn.Dense(1, in_units=1), nn.Dense(1, in_units=1))
    net.initialize(init.Mixed([r"0\.", ".*"], [init.Constant(1), init.Constant(2)]))
    assert net[0].weight.data().item() == 1 and net[1].weight.data().item() == 2


def test_seeds_and_dtypes(backend):
    np.random.seed(4)
    first = filled(init.Normal())
    np.random.seed(4)
    onp.testing.assert_array_equal(filled(init.Normal()), first)
    assert (
        filled(init.Normal(), dtype="float16").dtype == "float16"
        and filled(init.Uniform(), dtype="float64").dtype == "float64"
    )
    assert filled(init.Normal(), (0, 3)).shape == (0, 3)


def test_names_texts_and_errors():
    assert init.create("xavier", magnitude=2) == init.Xavier(magnitude=2) != init.Xavier()
    assert (
        init.create(init.Normal(0.5).dumps()) == init.Normal(0.5)
        and init.create("zeros") == init.Zero()
    )
    assert init.create(init.Constant(onp.ones(2)).dumps()) == init.Constant([1.0, 1.0])
    assert repr(init.Xavier()) == "Xavier(rnd_type='uniform', factor_type='avg', magnitude=3)"
    with pytest.raises(ValueError, match="initializer 'nope': expected one of"):
        init.create("nope")
    with pytest.raises(TypeError, match="expected an Initializer or a name"):
        init.create(3)
    with pytest.raises(ValueError, match="rnd_type must be"):
        init.Xavier("cauchy")


def test_one_of_ones_own(capsys):
    @init.register
    class Descending(init.Initializer):
        def _init_weight(self, name, arr):
            arr[:] = np.random.uniform(-10, 10, arr.shape)
            arr *= abs(arr) >= 5

    values = filled(init.create("descending"))
    assert ((values == 0) | (abs(values) >= 5)).all()
    filled(init.One().set_verbosity(True), (2,))
    assert capsys.readouterr().out == "initialized weight with One(): root mean square 1\n"
