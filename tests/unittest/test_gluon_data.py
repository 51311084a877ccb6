"""Datasets, samplers, batchify functions, and the loader with threads and processes."""

import gc
import multiprocessing
import os
import signal
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as onp
import pytest
from internals import streams

from npcompat import autograd, gluon, np, npx
from npcompat.gluon.data import batchify

DATA = onp.arange(20, dtype="float32").reshape(10, 2)


def times_ten(x):
    return x * 10


def add_noise(x, y):
    return x + np.random.uniform(size=x.shape), y


class Slow(gluon.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, idx):
        time.sleep(30)
        return idx


class Killed(gluon.data.Dataset):
    """Ends the worker that makes its last sample, unless a file is there."""

    def __init__(self, survivor):
        self.survivor = survivor

    def __len__(self):
        return 4

    def __getitem__(self, idx):
        if idx == 3 and not self.survivor.exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return idx


def no_processes_are_left():
    """Return True if all child processes end within 20 s.

    It polls, since the thread of their pool may be the one that waits for them.
    """
    gc.collect()
    end = time.monotonic() + 20
    while multiprocessing.active_children() and time.monotonic() < end:
        time.sleep(0.01)
    return multiprocessing.active_children() == []


class Pair(NamedTuple):
    """A batch with names."""

    first: Any
    second: Any


def paired(samples):
    return Pair(np.stack([np.array(s) for s in samples]), {"size": len(samples)})


class Broken(gluon.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, idx):
        raise KeyError(f"sample {idx} is missing")


# --- datasets and samplers ------------------------------------------------------------------------


def test_array_datasets():
    data = gluon.data.ArrayDataset(np.array(DATA), range(10))
    assert len(data) == 10 and data[3][0].tolist() == [6, 7] and data[3][1] == 3
    assert gluon.data.ArrayDataset(DATA)[1].tolist() == [2, 3]
    with pytest.raises(ValueError, match="all arrays must have the same length, got 10, 3"):
        gluon.data.ArrayDataset(DATA, range(3))


def test_datasets_made_of_others():
    data = gluon.data.SimpleDataset(list(range(7)))
    assert (
        list(data.filter(lambda x: x % 2)) == [1, 3, 5]
        and list(data.take(2)) == [0, 1]
        and len(data.take(None)) == 7
    )
    assert [list(data.shard(3, i)) for i in range(3)] == [[0, 1, 2], [3, 4], [5, 6]]
    assert list(data.sample(gluon.data.IntervalSampler(7, 3, rollover=False))) == [0, 3, 6]
    calls = []
    lazy = data.transform(lambda x: calls.append(x) or -x)
    assert calls == [] and lazy[2] == -2 and calls == [2]
    eager = data.transform(times_ten, lazy=False)
    assert eager[2] == 20 and isinstance(eager, gluon.data.SimpleDataset)
    pairs = gluon.data.ArrayDataset([1, 2], [3, 4])
    assert pairs.transform(lambda a, b: a + b)[1] == 6 and pairs.transform_first(times_ten)[1] == (
        20,
        4,
    )
    with pytest.raises(ValueError, match="index must be in"):
        data.shard(2, 2)
    with pytest.raises(TypeError, match="expected a Sampler"):
        data.sample([1])


def test_samplers():
    assert list(gluon.data.SequentialSampler(3, 2)) == [2, 3, 4]
    assert (
        list(gluon.data.IntervalSampler(5, 2)) == [0, 2, 4, 1, 3]
        and len(gluon.data.IntervalSampler(5, 2, rollover=False)) == 3
    )
    assert list(gluon.data.FilterSampler(lambda x: x > 1, [1, 2, 3])) == [1, 2]
    shuffled = gluon.data.RandomSampler(50)
    first, second = list(shuffled), list(shuffled)
    assert sorted(first) == list(range(50)) and first != second
    np.random.seed(20260101)
    assert list(shuffled) == first


def test_the_last_batch():
    def batches(last, rounds=2):
        sampler = gluon.data.BatchSampler(gluon.data.SequentialSampler(5), 2, last)
        found = []
        for _ in range(rounds):
            expected = len(sampler)
            found.append(list(sampler))
            assert len(found[-1]) == expected
        return found

    assert batches("keep")[0] == [[0, 1], [2, 3], [4]] and batches("discard")[1] == [[0, 1], [2, 3]]
    assert batches("rollover") == [[[0, 1], [2, 3]], [[4, 0], [1, 2], [3, 4]]]
    with pytest.raises(ValueError, match="last_batch must be"):
        batches("drop")


# --- batches --------------------------------------------------------------------------------------


def test_batchify_functions(backend):
    stacked = batchify.Stack()([np.ones(2), onp.zeros(2, "float32"), [3.0, 4.0]])
    assert stacked.tolist() == [[1, 1], [0, 0], [3, 4]] and stacked.dtype == "float32"
    with pytest.raises(ValueError, match=r"must have one shape to be stacked, got \(1,\), \(2,\)"):
        batchify.Stack()([[1], [1, 2]])
    padded = batchify.Pad(val=-1, round_to=4, dtype="int32")([[1, 2, 3], [4], [5, 6, 7, 8, 9]])
    assert (
        padded.shape == (3, 8) and padded.dtype == "int32" and padded[1].tolist() == [4] + [-1] * 7
    )
    halves = batchify.Pad(val=0.5, dtype="float32")([[1, 2], [3]])
    assert halves.tolist() == [[1, 2], [3, 0.5]] and halves.dtype == "float32"
    assert np.isnan(batchify.Pad(val=onp.nan, dtype="float32")([[1, 2], [3]])[1, 1])
    narrow = [onp.ones(2, "uint8"), onp.ones(1, "uint8")]
    assert batchify.Pad(val=-1, dtype="int32")(narrow).tolist() == [[1, 1], [1, -1]]
    assert batchify.Pad()([1, 2]).tolist() == [1, 2]
    for val, dtype in ((0.5, None), (300, None), (-1, None), (onp.nan, "int64"), (2, "bool")):
        with pytest.raises(ValueError, match=f"Pad: val: {val} is not a value of"):
            batchify.Pad(val=val, dtype=dtype)(narrow)
    first, second = batchify.Group(batchify.Pad(), batchify.AsList())([([1], "a"), ([2, 3], "b")])
    assert first.tolist() == [[1, 0], [2, 3]] and second == ["a", "b"]
    assert [a.shape for a in batchify.Append()([[1], [2, 3]])] == [(1, 1), (1, 2)]
    with pytest.raises(ValueError, match="2 functions need samples of as many elements"):
        batchify.Group(batchify.Stack(), batchify.Stack())([(1,)])
    with pytest.raises(NotImplementedError, match="use_shared_mem"):
        batchify.Stack(use_shared_mem=True)


# --- the loader -----------------------------------------------------------------------------------


def test_batches_in_order_and_shuffled(backend):
    data = gluon.data.ArrayDataset(np.array(DATA), onp.arange(10))
    loader = gluon.data.DataLoader(data, batch_size=4)
    assert len(loader) == 3
    x, y = next(iter(loader))
    assert isinstance(x, np.ndarray) and x.dtype == "float32" and y.tolist() == [0, 1, 2, 3]
    onp.testing.assert_array_equal(x.asnumpy(), DATA[:4])
    shuffled = gluon.data.DataLoader(data, 4, shuffle=True, last_batch="discard")
    orders = [[int(i) for _, y in shuffled for i in y] for _ in range(2)]
    assert len(orders[0]) == 8 and orders[0] != orders[1]
    for x, y in shuffled:
        onp.testing.assert_array_equal(x.asnumpy()[:, 0], 2 * y.asnumpy())


def test_an_array_changed_meanwhile_is_seen():
    x = np.zeros(4)
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x), 2)
    x[...] = 5
    batches = list(loader)
    batches[0][0] = 7
    assert [b.tolist() for b in batches] == [[7, 5], [5, 5]] and x.tolist() == [5, 5, 5, 5]


@pytest.mark.parametrize("threads", [True, False])
def test_workers_give_the_same_batches_in_the_same_order(threads):
    data = gluon.data.ArrayDataset(np.array(DATA), onp.arange(10)).transform_first(times_ten)

    def epoch(workers):
        np.random.seed(2)
        loader = gluon.data.DataLoader(
            data, 3, shuffle=True, num_workers=workers, thread_pool=threads
        )
        return [(x.tolist(), y.tolist()) for _ in range(2) for x, y in loader] + [
            np.random.uniform().item()
        ]

    assert epoch(2) == epoch(0)


def test_random_transforms_follow_the_seed_for_any_workers():
    data = gluon.data.ArrayDataset(np.array(DATA), onp.arange(10)).transform(add_noise)

    def epochs(workers, threads):
        loader = gluon.data.DataLoader(data, 3, num_workers=workers, thread_pool=threads)
        np.random.seed(2)
        return onp.stack(
            [onp.concatenate([x.asnumpy() for x, _ in loader]) - DATA for _ in range(2)]
        )

    alone = epochs(0, False)
    assert len(onp.unique(alone)) == 40 and alone.min() >= 0
    for workers, threads in ((1, False), (3, True)):
        onp.testing.assert_array_equal(epochs(workers, threads), alone)


def test_threads_draw_from_streams_of_their_own():
    start = threading.Barrier(2)

    def draws(seed):
        with streams.default.elsewhere(seed):
            found = []
            for _ in range(5):
                start.wait(10)
                found.append(np.random.uniform().item())
            return found

    before = np.random.get_state()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(draws, (1, 2))
    with streams.default.elsewhere(2):
        assert [np.random.uniform().item() for _ in range(5)] == second != first
        np.random.seed(1)
        assert np.random.uniform().item() == first[0]
    assert np.random.get_state()[2:] == before[2:]


def test_errors_of_workers_arrive_with_their_tracebacks():
    for threads in (True, False):
        with pytest.raises(KeyError, match="sample 0 is missing") as error:
            list(gluon.data.DataLoader(Broken(), 2, num_workers=1, thread_pool=threads))
        lines = traceback.format_exception(error.value)
        assert any("in __getitem__" in line and "test_gluon_data.py" in line for line in lines)


def test_grains_batches_are_made_arrays():
    batches = [
        (onp.ones((2, 3), "float32"), {"y": onp.arange(2), "name": "a"}),
        Pair(onp.zeros(1), [1]),
    ]
    loader = gluon.data.GrainLoader(batches)
    for _ in range(2):
        (x, labels), pair = loader
        assert (
            isinstance(x, np.ndarray)
            and x.dtype == "float32"
            and isinstance(labels["y"], np.ndarray)
            and labels["name"] == "a"
        )
        assert isinstance(pair, Pair) and isinstance(pair.first, np.ndarray) and pair.second == [1]
    assert len(loader) == 2
    for wrong in (3, iter(batches)):
        with pytest.raises(TypeError, match="GrainLoader: expected"):
            gluon.data.GrainLoader(wrong)


@pytest.mark.filterwarnings("ignore")
def test_grain_takes_our_datasets_and_the_loader_takes_grains():
    grain = pytest.importorskip("grain", reason="grain is not installed", exc_type=ImportError)
    ours = gluon.data.ArrayDataset(DATA, onp.arange(10))
    theirs = grain.MapDataset.source(ours).shuffle(seed=1)
    orders = []
    for loader in (gluon.data.GrainLoader(theirs.batch(4)), gluon.data.DataLoader(theirs, 4)):
        orders.append([])
        for x, y in loader:
            assert isinstance(x, np.ndarray) and (x[:, 0] == 2 * y).all()
            orders[-1] += y.tolist()
    assert orders[0] == orders[1] and sorted(orders[0]) == list(range(10)) != orders[0]


@pytest.mark.timeout(60)
def rolled_over(**options):
    """Return what loops give that are left early, that run beside each other, or go on."""

    def loader():
        data = gluon.data.SimpleDataset(list(range(7)))
        return gluon.data.DataLoader(data, 3, last_batch="rollover", **options)

    def numbers(batches):
        return [batch.tolist() for batch in batches]

    found: list[Any] = []
    for before in range(3):  # epochs before
        for taken in range(3):
            left = loader()
            for _ in range(before):
                list(left)
            batches = iter(left)
            for _ in range(taken):
                next(batches)
            found += [len(left), numbers(left), numbers(left)]
        beside = loader()
        for _ in range(before):
            list(beside)
        found += [numbers(pair) for pair in zip(beside, beside, strict=False)]
        found += [len(beside), numbers(beside)]
    begun, resumed = loader(), loader()
    next(iter(begun))
    resumed.load_state_dict(begun.state_dict())
    return [*found, numbers(resumed), numbers(resumed)]


@pytest.mark.parametrize(
    "options",
    [
        {"num_workers": 1, "thread_pool": True},
        {"num_workers": 3, "thread_pool": True},
        {"num_workers": 1, "thread_pool": True, "prefetch": 0},
    ],
)
def test_what_rolls_over_does_not_depend_on_workers(options):
    expected = rolled_over()
    assert expected[:3] == [2, [[0, 1, 2], [3, 4, 5]], [[6, 0, 1], [2, 3, 4]]]
    assert rolled_over(**options) == expected


class Scale:
    """A transform with state."""

    extra: Any

    def __init__(self, factor):
        self.factor, self.extra = factor, None

    def __call__(self, x):
        return x * self.factor


def test_processes_see_what_was_written_between_epochs():
    values, scale = np.arange(4.0), Scale(1.0)
    dataset = gluon.data.ArrayDataset(values).transform(scale)
    loader = gluon.data.DataLoader(dataset, 2, num_workers=2)
    first = [batch.tolist() for batch in loader]
    assert first == [[0, 1], [2, 3]] == [batch.tolist() for batch in loader]
    workers = {*multiprocessing.active_children()}
    scale.factor = 10.0
    assert [batch.tolist() for batch in loader] == [[0, 10], [20, 30]]
    values[0] = 7
    pairs = zip(loader, loader, strict=True)
    assert [(a.tolist(), b.tolist()) for a, b in pairs] == [([70, 10],) * 2, ([20, 30],) * 2]
    assert workers >= {*multiprocessing.active_children()}, "no worker was started anew"
    scale.extra = threading.Lock()
    with pytest.warns(UserWarning, match="can't be sent to worker processes any more"):
        assert [batch.tolist() for batch in loader] == [[70, 10], [20, 30]]
    assert [batch.tolist() for batch in loader] == [[70, 10], [20, 30]]


def test_gradients_that_worker_processes_would_lose_are_refused():
    factor = np.ones(2)
    factor.attach_grad()
    dataset = gluon.data.SimpleDataset([1.0, 2.0]).transform(Scale(factor))
    loader = gluon.data.DataLoader(dataset, 2, num_workers=1)
    for _ in range(2):  # before there are workers, and after
        with (
            autograd.record(),
            pytest.raises(RuntimeError, match="gradients do not come back from worker processes"),
        ):
            next(iter(loader))
        assert [batch.tolist() for batch in loader] == [[[1, 1], [2, 2]]]


def test_a_killed_worker_is_an_error_and_the_next_loop_has_new_ones(tmp_path):
    loader = gluon.data.DataLoader(Killed(tmp_path / "survivor"), 2, num_workers=1, prefetch=1)
    with pytest.raises(RuntimeError, match=r"a worker process died\. Was it killed"):
        list(loader)
    (tmp_path / "survivor").touch()
    assert [b.tolist() for b in loader] == [[0, 1], [2, 3]]


@pytest.mark.timeout(60)
def test_a_loop_that_is_left_early_leaves_no_processes():
    loader = gluon.data.DataLoader(gluon.data.SimpleDataset(list(range(100))), 2, num_workers=1)
    for batch in loader:
        assert batch.tolist() == [0, 1]
        break
    assert next(iter(loader)).tolist() == [0, 1]
    del loader, batch
    named = next(
        iter(
            gluon.data.DataLoader(
                gluon.data.SimpleDataset([1, 2]), 2, num_workers=1, batchify_fn=paired
            )
        )
    )
    assert (
        isinstance(named, Pair) and named.first.tolist() == [1, 2] and named.second == {"size": 2}
    )
    assert no_processes_are_left()


def test_what_can_not_be_sent_to_processes_is_named():
    loader = gluon.data.DataLoader(
        gluon.data.SimpleDataset([1]).transform(lambda x: x), 1, num_workers=1
    )
    with pytest.raises(
        TypeError,
        match=r"can't be sent to worker processes: .*lambda.*threads \(thread_pool=True\) take any",
    ):
        next(iter(loader))


def test_a_timeout_that_a_sample_raises_is_its_own():
    def late(x):
        raise TimeoutError("the disk")

    for workers in (0, 1):
        loader = gluon.data.DataLoader(
            gluon.data.SimpleDataset([1]).transform(late), 1, num_workers=workers, thread_pool=True
        )
        with pytest.raises(TimeoutError, match="the disk"):
            next(iter(loader))


def test_a_stuck_worker_is_reported():
    loader = gluon.data.DataLoader(Slow(), 2, num_workers=1, timeout=0.2, batchify_fn=list)
    with pytest.raises(TimeoutError, match=r"no batch came within 0\.2 seconds"):
        next(iter(loader))
    assert no_processes_are_left()


def test_threads_work_in_the_context_of_the_loop():
    data = gluon.data.ArrayDataset(DATA).transform(lambda x: np.array(x))
    with npx.backend("numpy"):
        for x in gluon.data.DataLoader(data, 5, num_workers=2, thread_pool=True):
            assert isinstance(x._value.payload, onp.ndarray)


def test_arguments_that_contradict_each_other_are_errors():
    data = gluon.data.ArrayDataset(DATA)
    sampler = gluon.data.SequentialSampler(10)
    for options, text in (
        ({}, "batch_size is needed"),
        (
            {"batch_size": 2, "shuffle": True, "sampler": sampler},
            "sampler comes instead of shuffle",
        ),
        (
            {"batch_size": 2, "batch_sampler": gluon.data.BatchSampler(sampler, 2)},
            "batch_sampler comes instead",
        ),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"batch_size": 2, "num_workers": -1}, "must not be negative"),
    ):
        with pytest.raises(ValueError, match=text):
            gluon.data.DataLoader(data, **options)
    with pytest.raises(NotImplementedError, match="try_nopython"):
        gluon.data.DataLoader(data, 2, try_nopython=True)
    batches = gluon.data.DataLoader(
        data, batch_sampler=gluon.data.BatchSampler(sampler, 6), batchify_fn=len
    )
    assert list(batches) == [6, 4]
