"""Threads that call compiled functions: errors stay with their thread, reads wait for writes."""

import sys
import threading

import numpy as onp
import pytest

from npcompat import np, npx

pytestmark = pytest.mark.of_xla("programs of XLA overwrite buffers")


@pytest.fixture(autouse=True)
def frequent_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(*functions):
    """Run functions in threads of their own; return what they raise."""
    raised = []

    def caught(function):
        try:
            function()
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=caught, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_an_index_out_of_bounds_raises_in_its_thread_only():
    element, x = npx.jit(lambda x, i: x[i]), np.arange(3.0)
    wrong = []

    def run(k):
        for _ in range(60):
            try:
                found = float(element(x, np.array([k]))[0])
            except IndexError:
                found = "IndexError"
            if found != (k if k < 3 else "IndexError"):
                wrong.append((k, found))

    assert together(*[lambda k=k: run(k) for k in (1, 3, 2, 4)]) == []
    assert wrong == []


def test_arrays_are_read_while_programs_overwrite_them():
    total, count = np.zeros(4), np.zeros(())

    @npx.jit
    def add(x):
        total[...] += x
        count[...] += 1
        return total + 0

    x = np.ones(4)
    add(x)

    def run(which):
        for k in range(90):
            if k % 3 == 2:
                if which % 2:
                    total + 1
                else:
                    total.tolist(), onp.asarray(count)
            add(x)

    assert together(*[lambda j=j: run(j) for j in range(6)]) == []
    assert float(count) == 1 + 6 * 90 and total.tolist() == [541] * 4
