"""Recent calls of compiled functions: run without flattening, with the results of the slow path."""

import numpy as onp
import pytest
from both_ways import NEEDED
from internals import Program, jit

from npcompat import autograd, gluon, np, npx
from npcompat.gluon import nn

WAYS = ("recent", "looked up")


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Run equal calls as recent ones, or look each up."""
    if request.param == "looked up":
        monkeypatch.setattr(jit, "_rerun_recent", lambda *_: jit.NO_CACHED_RUN)
        monkeypatch.setattr(jit, "rerun_recorded", lambda *_: jit.NO_CACHED_RUN)
    return request.param


def never(*_):
    raise AssertionError("the call is looked up")


# --- arrays on the host ---------------------------------------------------------------------------


@NEEDED
@pytest.mark.of_xla("the C fast path calls its programs")
def test_arrays_on_the_host_take_the_fast_path(monkeypatch):
    total, fixed = np.zeros(3), np.ones(3)
    pure = npx.jit(lambda x, y: x * y + 1)
    writing = npx.jit(lambda x: (total.__iadd__(x), total.sum())[1])
    both = npx.jit(lambda x: (x + fixed, x))
    with npx.backend("numpy"):
        x, y = np.array([1.0, 2, 3]), np.array([2.0, 2, 2])
    for _ in range(2):
        pure(x, y), writing(x), both(x)
    monkeypatch.setattr(Program, "rerun", never)
    monkeypatch.setattr(Program, "replay", never)
    assert pure(x, y).tolist() == [3, 5, 7]
    x[0] = 5
    assert float(writing(x)) == 12 + 10 and total.tolist() == [7, 6, 9]
    made, same = both(x)
    assert made.tolist() == [6, 3, 4] and same is x


@pytest.mark.parametrize(
    "other",
    [
        onp.zeros((3, 2), "float32").T,
        onp.zeros((2, 3), "float64"),
        onp.zeros((3, 3), "float32"),
        onp.zeros((2, 3), "int32"),
    ],
    ids=["strided", "dtype", "shape", "ints"],
)
def test_other_arrays_are_not_taken_for_those_of_an_earlier_call(other, way):
    f = npx.jit(lambda x: x + np.array([[1.0], [2.0]]) if x.shape[0] == 2 else x * 2)
    with npx.backend("numpy"):
        x = np.zeros((2, 3), dtype="float32")
        given = np.array(other, dtype=other.dtype, order="K")
    expected = f.function(given)
    for _ in range(2):
        f(x)
    found = f(given)
    assert found.dtype == expected.dtype and found.tolist() == expected.tolist()


def test_a_large_array_on_the_host_is_read_anew(way):
    f = npx.jit(lambda x: x.sum())
    with npx.backend("numpy"):
        x = np.zeros(2**18)
    for i in range(4):
        x[0] = i
        assert float(f(x)) == i


def test_one_array_for_two_arguments(way):
    f = npx.jit(lambda x, y: x * 2 + y)
    a, b = np.ones(3), np.full(3, 5.0)
    for _ in range(3):
        f(a, b)
    assert f(a, a).tolist() == [3, 3, 3]


def test_guards_are_checked_before_a_recent_program_runs(way):
    class Scaled:
        rate = 2.0

        def __call__(self, x):
            return x * self.rate

    scaled = Scaled()
    f = npx.jit(scaled.__call__)
    x = np.ones(2)
    for _ in range(3):
        assert f(x).tolist() == [2, 2]
    scaled.rate = 3.0
    assert f(x).tolist() == [3, 3]
    Scaled.rate = 4.0
    del scaled.rate
    assert f(x).tolist() == [4, 4]


def test_modes_are_part_of_a_recent_call(way):
    net = nn.HybridSequential()
    net.add(nn.Dropout(0.5))
    net.hybridize()
    x = np.ones(1000)
    for _ in range(3):
        assert (net(x) == 1).all()
        with autograd.record():
            assert (net(x) == 0).any()
        with autograd.record(train_mode=False):
            assert (net(x) == 1).all()


def test_an_error_leaves_the_lock_free(way):
    total = np.zeros(3)

    @npx.jit
    def f(x):
        total[...] = total + x
        npx.constraint_check(x > 0, "expected positive numbers")
        return total.sum()

    x = np.ones(3)
    for i in range(3):
        assert float(f(x)) == 3 * (i + 1)
    with pytest.raises(ValueError, match="positive"):
        float(f(-x))
    with onp.testing.assert_no_warnings():
        assert float(f(x)) == 9


# --- while recording ------------------------------------------------------------------------------


def test_recorded_calls_give_the_gradients_of_eager_ones(way):
    found = []
    for compiled in (True, False):
        onp.random.seed(0)
        np.random.seed(0)
        net, loss = nn.HybridSequential(), gluon.loss.SoftmaxCrossEntropyLoss()
        net.add(nn.Dense(8, in_units=4, activation="relu"), nn.BatchNorm(in_channels=8))
        net.add(nn.Dense(3, in_units=8))
        net.initialize()
        if compiled:
            net.hybridize()
            loss.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
        losses = []
        for i in range(6):
            x = np.array(onp.random.normal(size=(5 if i < 4 else 2, 4)).astype("float32"))
            y = np.array(onp.random.randint(0, 3, len(x)))
            if i == 3:
                trainer.set_learning_rate(0.01)
            with autograd.record():
                total = loss(net(x), y).mean()
            total.backward()
            trainer.step(1)
            losses.append(float(total))
        found.append([losses, *[p.data().tolist() for p in net.collect_params().values()]])
    for one, other in zip(*found, strict=True):
        onp.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)


def test_a_recorded_argument_is_not_taken_for_one_that_is_not(way):
    f = npx.jit(lambda x: (x * x).sum())
    a = np.array([1.0, 2])
    b = np.array([3.0, 4])
    b.attach_grad()
    for _ in range(3):
        with autograd.record():
            f(a)
        with autograd.record():
            y = f(b * 1)
        y.backward()
        assert b.grad.tolist() == [6, 8]


def test_variables_that_come_later(way):
    w, x = np.array([2.0, 3]), np.array([1.0, 1])
    f = npx.jit(lambda x: (x * w).sum())
    for _ in range(3):
        with autograd.record():
            f(x)
    w.attach_grad()
    for _ in range(3):
        with autograd.record():
            y = f(x)
        y.backward()
        assert w.grad.tolist() == [1, 1]


def test_views_of_captured_arrays_that_become_variables(way):
    w, x = np.array([2.0, 3]), np.array([1.0])
    view = w[:1]
    f = npx.jit(lambda x: (x * view).sum())
    for _ in range(3):
        with autograd.record():
            f(x)
    view.attach_grad()
    with pytest.warns(match="not compiled while recording"), autograd.record():
        y = f(x)
    y.backward()
    assert view.grad.tolist() == [1]


def test_an_argument_that_the_function_also_writes(way):
    total = np.zeros(2)

    @npx.jit
    def f(x):
        total[...] = total + x
        return x * 2

    x = np.array([1.0, 2])
    for _ in range(3):
        with autograd.record():
            assert f(x).tolist() == [2, 4]
    assert total.tolist() == [3, 6]
    with autograd.record():
        assert f(total).tolist() == [12, 24]  # as eager: the write comes first
    assert total.tolist() == [6, 12]


def test_switched_off_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(jit.fast_path, "enabled", frozenset(["index"]))
    f = npx.jit(lambda x: x * 2)
    x = np.ones(2)
    for _ in range(3):
        with autograd.record():
            f(x)
    assert not f._recorded


def test_equal_recorded_calls_have_one_entry():
    variable = np.ones(2)
    total = np.zeros(2)
    f = npx.jit(lambda x: (total.__iadd__(x), x * variable)[1])
    x = np.ones(2)
    for i in range(5):
        if i == 2:
            variable.attach_grad()  # another program
        with autograd.record():
            f(x)
            f(total)  # which the function writes: looked up each time
    assert len(f._recorded) <= 4
    assert len({(id(r.program), r.nodes) for r in f._recorded}) == len(f._recorded)
