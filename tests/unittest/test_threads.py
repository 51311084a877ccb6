"""Threads: what runs concurrently equals the same work done one after the other."""

import threading

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx
from npcompat.gluon import nn


def at_once(work, count):
    """The results of `work(0)`, `work(1)`, ..., each in a thread of its own; its error, if one."""
    found = [None] * count
    begin = threading.Barrier(count)

    def run(i):
        begin.wait()
        try:
            found[i] = work(i)
        except Exception as error:
            found[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(t.is_alive() for t in threads)
    return found


def test_one_compiled_function_that_writes_a_captured_array():
    total = np.zeros(4)

    @npx.jit
    def add(x):
        total[...] = total + x
        return total.sum()

    def work(_):
        for _ in range(300):
            add(np.ones(4))
        return "done"

    assert at_once(work, 4) == ["done"] * 4
    assert total.tolist() == [1200] * 4


def test_two_compiled_functions_that_write_one_array():
    total = np.zeros(4)

    @npx.jit
    def up(x):
        total[...] = total + x

    @npx.jit
    def down(x):
        total[...] = total - x

    def work(i):
        for _ in range(200):
            (up if i % 2 else down)(np.ones(4))
        return "done"

    assert at_once(work, 4) == ["done"] * 4
    assert total.tolist() == [0] * 4


def test_first_calls_of_functions_that_read_one_array():
    shared = np.arange(1000.0)

    def work(i):
        f = npx.jit(lambda x: (shared * x).sum() + i)
        compiled = [f(np.ones(1000)).item() for _ in range(10)]
        return compiled + [(shared + i).sum().item() for _ in range(10)]

    expected = [[499500.0 + i] * 10 + [499500.0 + 1000 * i] * 10 for i in range(6)]
    assert at_once(work, 6) == expected


def test_readers_of_one_array_and_its_views():
    with npx.backend("jax"):
        x = np.arange(12.0).reshape(3, 4)
    view = x[1:].T

    def work(_):
        return [(view * 2).sum().item() for _ in range(100)] + [x[2, 1].item()]

    assert at_once(work, 4) == [[2.0 * onp.arange(4, 12).sum()] * 100 + [9.0]] * 4


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_writers_of_disjoint_parts(backend):
    with npx.backend(backend):
        x = np.zeros((4, 100))
    rows = [x[i] for i in range(4)] if backend == "numpy" else None

    def work(i):
        for k in range(100):
            if rows is None:
                x[i, k] = i * 100 + k
            else:
                rows[i][k] = i * 100 + k
        return "done"

    assert at_once(work, 4) == ["done"] * 4
    assert (x.asnumpy() == onp.arange(400).reshape(4, 100)).all()


def trained(seed):
    """The loss and the weights after some steps of training a network of one's own."""
    x = np.array(onp.random.RandomState(seed).randn(5, 3).astype("float32"))
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=3, activation="tanh"), nn.Dense(2, in_units=4))
    net.initialize("zeros")
    for k, p in enumerate(net.collect_params().values()):
        p.set_data(np.full(p.shape, 0.1 + 0.01 * (seed + k)))
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})

    @npx.jit
    def step(x):
        with autograd.record():
            loss = (net(x) ** 2).sum()
        loss.backward()
        trainer.step(1)
        return loss

    for _ in range(20):
        loss = step(x)
    return loss.item(), [p.data().tolist() for p in net.collect_params().values()]


def written_by_key(x, i, row):
    x[i] = row


def written_in_place(x, i, row):
    x[i] += row


def written_by_out(x, i, row):
    np.add(row, 0, out=x[i])


def written_by_out_and_where(x, i, row):
    np.add(row, 0, out=x[i], where=np.ones(row.shape, dtype=bool))


def written_by_mask(x, i, row):
    x[np.arange(4) == i] = row


def written_by_positions(x, i, row):
    x[[i]] = row


def written_through_flat(x, i, row):
    x[i].flat[:] = row


def written_whole_and_read(x, i, row):
    view = x[i]
    view[...] = row
    assert view.sum().item() == row.sum()


@pytest.mark.parametrize(
    "write",
    [
        written_by_key, written_in_place, written_by_out, written_by_out_and_where, written_by_mask, written_by_positions,
        written_through_flat, written_whole_and_read,
    ],
)  # fmt: skip
def test_writers_of_large_parts(write):
    """NumPy writes these without the GIL, so that threads are in the middle of their writes."""
    rows = [onp.full(500_000, float(i)) for i in range(1, 5)]
    with npx.backend("numpy"):
        ours = [np.array(row) for row in rows]
        for _ in range(6):
            x = np.zeros((4, 500_000), dtype="float64")
            assert at_once(lambda i, x=x: write(x, i, ours[i]), 4) == [None] * 4
            assert [bool((x[i] == row).all()) for i, row in enumerate(rows)] == [True] * 4


def test_foreign_writers_of_parts_of_one_array():
    """Threads that each look at a part through NumPy write into one buffer."""
    rows = [onp.full(300_000, float(i)) for i in range(1, 5)]
    for _ in range(20):
        x = np.zeros((4, 300_000), dtype="float64")
        parts = [x[i, ...] for i in range(4)]

        def work(i, parts=parts):
            onp.copyto(onp.asarray(parts[i]), rows[i])

        assert at_once(work, 4) == [None] * 4
        assert (x.asnumpy() == onp.stack(rows)).all()


def test_one_trainer_a_thread_equals_one_after_the_other():
    alone = [trained(i) for i in range(6)]
    assert at_once(trained, 6) == alone


def test_threads_may_enter_one_device():
    device, inside = npx.cpu(0), threading.Barrier(2)

    def entered(_):
        with device:
            inside.wait()
            found = np.zeros(2).device
            inside.wait()
        return found == device

    assert at_once(entered, 2) == [True, True]
