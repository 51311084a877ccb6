"""Large host arrays that a compiled function reads in place: no copy, and no write that it sees."""

import threading
import time

import numpy as onp
import pytest
from internals import execution, ownership, xla

from npcompat import autograd, np, npx

pytestmark = pytest.mark.skipif(not execution.LENDS, reason="switched off: arrays are copied")
LARGE = 1 << 16
"""Elements of a float64 array that is lent: half a MiB."""


@pytest.fixture
def numbers():
    with npx.np_default_dtype():
        yield np.array(onp.linspace(0.0, 1.0, LARGE))


@npx.jit
def slow_sum(a):
    """Read an array for a tenth of a second."""
    total = 0.0
    for _ in range(3000):
        total = total + (a * total).sum() * 1e-9 + a[7]
    return total + a.sum()


WRITERS = {
    "an element": lambda a: a.__setitem__(7, 100.0),
    "a slice": lambda a: a.__setitem__(slice(None), 100.0),
    "a mask": lambda a: a.__setitem__(a >= 0, 100.0),
    "positions": lambda a: a.__setitem__([7, 8], 100.0),
    "through a view": lambda a: a.reshape(256, -1).T.__setitem__((Ellipsis, 0), 100.0),
    "in place": lambda a: a.__iadd__(100.0),
    "out=": lambda a: np.add(a, 100.0, out=a),
    "fill": lambda a: a.fill(100.0),
    "sort": lambda a: a.__neg__().sort() or a[::-1].sort() or a.sort() or a.__imul__(-1.0),
    "put": lambda a: a.put([7], 100.0),
    "at": lambda a: np.add.at(a, [7], 100.0),
    "copyto": lambda a: np.copyto(a, 100.0),
    "numpy.asarray": lambda a: onp.asarray(a).fill(100.0),
    "memoryview": lambda a: memoryview(a).__setitem__(7, 100.0),
    "flat": lambda a: a.flat.__setitem__(7, 100.0),
    "shuffle": lambda a: np.random.shuffle(a),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_program_that_runs_reads_what_the_array_held_when_it_was_called(numbers, writer):
    expected = float(slow_sum(numbers.copy()))
    assert xla.can_lend(numbers._value.payload)
    found = slow_sum(numbers)
    WRITERS[writer](numbers)
    written = numbers.copy()
    assert float(found) == expected
    onp.testing.assert_array_equal(numbers, written)
    assert (numbers != onp.linspace(0.0, 1.0, LARGE)).any()


def test_an_array_that_is_freed_while_a_program_reads_it(numbers):
    expected = float(slow_sum(numbers.copy()))
    found = slow_sum(numbers)
    del numbers
    others = [np.full(LARGE, 1e9) for _ in range(20)]
    assert float(found) == expected
    assert len(others) == 20


def address(a):
    return a._value.payload.__array_interface__["data"][0]


def lent(monkeypatch):
    """Collect the addresses of the buffers that programs are given."""
    addresses = []
    lend = ownership.lend

    def noting(payloads, *rest):
        lend(payloads, *rest)
        addresses.extend(
            [p.unsafe_buffer_pointer() for p in payloads if type(p) is not onp.ndarray]
        )

    monkeypatch.setattr(ownership, "lend", noting)
    return addresses


def test_each_call_reads_the_array_in_place(numbers, monkeypatch):
    addresses = lent(monkeypatch)
    function = npx.jit(lambda a: (a * 2).sum())
    for _ in range(4):
        assert float(function(numbers)) == float((numbers * 2).sum())
    assert set(addresses) == {address(numbers)}


def wait_for_the_end_of_the_loan(a):
    """Wait until XLA has released an array: a thread of its own does, soon after the result."""
    end = time.monotonic() + 30
    while not ownership._unshared(a):
        assert time.monotonic() < end, "the array is held after its program has ended"
        time.sleep(0.001)


def test_the_owner_writes_in_place_after_the_call(numbers):
    function = npx.jit(lambda a: a.sum())
    before = address(numbers)
    float(function(numbers))
    wait_for_the_end_of_the_loan(numbers)
    numbers[3] = 5.0
    assert address(numbers) == before
    float(function(numbers))
    wait_for_the_end_of_the_loan(numbers)
    onp.asarray(numbers)[4] = 6.0
    assert (numbers[3], numbers[4]) == (5.0, 6.0)


def test_results_do_not_share_memory_with_arguments(numbers):
    copies = (
        np.copy,
        lambda a: a.copy()[None],
        lambda a: a * 1,
        lambda a: np.array(a.reshape(2, -1)),
    )
    for function in copies:
        found = npx.jit(function)(numbers)
        before = found.asnumpy()
        numbers += 1
        onp.testing.assert_array_equal(found, before)


def test_an_argument_that_the_function_writes(numbers):
    other = numbers.copy()
    held = numbers[...]

    def write(a, b):
        a[:] = a + b
        return a.sum()

    total = float(npx.jit(write)(numbers, other))
    onp.testing.assert_array_equal(numbers, other * 2)
    onp.testing.assert_array_equal(held, other * 2)
    assert total == pytest.approx(float(other.sum()) * 2)
    onp.testing.assert_array_equal(other, onp.linspace(0.0, 1.0, LARGE))


def test_two_names_of_one_buffer_are_copied(numbers, monkeypatch):
    addresses = lent(monkeypatch)
    shared = address(numbers)
    other = numbers.copy()  # shares the buffer until one of them is written
    assert address(other) == shared
    total = npx.jit(lambda a: a.sum())
    assert float(total(other)) == pytest.approx(LARGE / 2)
    assert shared not in addresses
    other[0] = 3.0
    assert numbers[0] == 0.0 and address(other) != address(numbers)
    assert float(total(numbers)) == pytest.approx(LARGE / 2)
    assert float(total(other)) == pytest.approx(LARGE / 2 + 3)
    assert {address(numbers), address(other)} <= set(addresses)


def test_what_a_gradient_saves_keeps_its_values(numbers):
    numbers.attach_grad()
    square = npx.jit(lambda a: (a * a).sum())
    with autograd.record():
        found = square(numbers)
    saved = numbers.asnumpy()
    numbers[:] = 0.0
    found.backward()
    onp.testing.assert_array_equal(numbers.grad, saved * 2)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex128", "float16"])
def test_as_numpy_for_each_dtype(dtype):
    with npx.np_default_dtype():
        data = (onp.arange(1 << 20) % 5).astype(dtype)
        found = npx.jit(lambda a: (a + a)[::-1])(np.array(data))
    onp.testing.assert_array_equal(found, (data + data)[::-1])


def test_memory_that_another_library_may_write_is_copied():
    with npx.np_default_dtype():
        foreign = bytearray(8 * LARGE)
        array = np.frombuffer(foreign)
        expected = float(slow_sum(np.zeros(LARGE)))
        found = slow_sum(array)
        memoryview(foreign).cast("d")[7] = 100.0
        assert float(found) == expected
        mine = onp.zeros(LARGE)
        found = slow_sum(mine)
        mine[:] = 100.0
        assert float(found) == expected


def test_threads_that_read_and_write_one_array(numbers):
    def work(a, results):
        for _ in range(5):
            results.append(float(slow_sum(a)))

    expected = float(slow_sum(numbers.copy()))
    results = []
    threads = [threading.Thread(target=work, args=(numbers, results)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(results) == {expected}


def test_large_arrays_of_numpy_are_aligned_and_still_grow():
    sizes = [1 << 19, (1 << 19) + 8, 1 << 22, (1 << 24) + 24]
    for size in sizes:
        assert onp.empty(size, onp.uint8).ctypes.data % 64 == 0
    grown = onp.ones(1 << 16)
    grown.resize(1 << 20, refcheck=False)
    assert grown.sum() == 1 << 16
    grown.resize(10, refcheck=False)
    assert grown.tolist() == [1.0] * 10
    assert onp.fromiter(range(1 << 18), "int64").sum() == ((1 << 18) - 1) << 17
