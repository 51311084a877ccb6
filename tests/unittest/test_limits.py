"""Memory that ends, interrupts at any moment, and threads that train."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as onp
import pytest
from internals import compat, jit, programs
from test_threads import at_once

from npcompat import autograd, errors, gluon, np, npx

PROGRAM = """
import resource
import numpy as onp
from npcompat import np, npx
a = np.ones((1000, 1000))
b = np.ones((1000, 1))
big = np.ones((4000, 4000))
(a + b).sum().item()
compiled = npx.jit(lambda x, n: np.ones((x.shape[0], 50000, 1000)) * n)
with npx.backend("jax"):
    on_xla = np.ones((30000, 1))
    (on_xla + 1).sum().item()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 500 * 2**20,) * 2)
for name, call in {CALLS}:
    try:
        call()
    except MemoryError as error:
        assert any(part in str(error) for part in ("(100000, 100000)", "(100000,100000)")), error
    else:
        raise AssertionError(name + " had the memory")
    assert a.shape == (1000, 1000) and a.sum().item() == 1e6 and b.sum().item() == 1000
print("went on", (a + b).sum().item())
"""
CALLS = """{
    "zeros": lambda: np.full((100000, 100000), 1.0),
    "ones": lambda: np.ones((100000, 100000)),
    "outer": lambda: np.multiply(np.ones((100000, 1)), np.ones((1, 100000))),
    "add": lambda: np.ones((100000, 1)) + np.ones((1, 100000)),
    "random": lambda: np.random.normal(size=(100000, 100000)),
}.items()"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
def test_memory_that_ends_is_an_error_that_names_the_shape_and_the_program_goes_on():
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{CALLS}", CALLS)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert found.stdout.strip() == "went on 2000000.0", found.stderr[-3000:]


# --- interrupts -----------------------------------------------------------------------------------


def interrupted(work, times, rng, longest):
    """Run `work` again and again, and interrupt it at random moments; return how often it was."""
    count, running = 0, threading.get_ident()
    for _ in range(times):
        sent = threading.Event()

        def send(sent=sent):
            signal.pthread_kill(running, signal.SIGINT)
            sent.set()

        timer = threading.Timer(rng.random() * longest, send)
        try:
            timer.start()
            while not sent.is_set():
                work()
            time.sleep(0.05)  # long enough for a signal that was sent
        except KeyboardInterrupt:
            count += 1
        timer.join()
    return count


def kinds(placed):
    x = np.ones((30, 30))
    x.attach_grad()
    state = np.zeros(30)
    net = gluon.nn.Dense(3, in_units=4)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    data = np.ones((5, 4))

    def eager():
        y = x * 2 + 1
        y[3:5] = y[:2]
        return y.sum().item()

    def backward():
        with autograd.record():
            y = ((x @ x) * x).sum()
        y.backward()

    @npx.jit
    def compiled(a):
        state[...] = state + a.sum()
        return (a @ a).sum()

    def step():
        with autograd.record():
            loss = (net(data) ** 2).sum()
        loss.backward()
        trainer.step(5)

    def fresh():
        return npx.jit(lambda a: (a * 2).sum())(x)

    return {
        "eager": eager,
        "backward": backward,
        "compiled": lambda: compiled(x).item(),
        "step": step,
        "trace": fresh,
    }, [x, state, *[p.data() for p in net.collect_params().values()]]


def check_interrupts(times, seed):
    rng = onp.random.RandomState(seed)
    for backend in ("numpy", "jax"):
        with npx.backend(backend):
            works, arrays = kinds(backend)
            for name, work in works.items():
                work()
                interrupted(work, times, rng, 0.2 if name == "trace" else 0.02)
                work()
                for a in arrays:
                    assert onp.isfinite(a.asnumpy()).all(), name


def checked_apart(times, seed):
    """Check interrupts in a process of its own: the runner of the tests must not get any."""
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import test_limits; test_limits.check_interrupts({times}, {seed})",
        ],
        capture_output=True,
        text=True,
        timeout=500,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((os.getcwd(), os.path.dirname(__file__)))},
    )
    assert found.returncode == 0, found.stderr[-3000:]


def test_interrupts_leave_arrays_readable_and_the_next_call_works():
    checked_apart(6, 1)


@pytest.mark.slow
def test_two_thousand_interrupts():
    checked_apart(200, 2)


IN_DROPPED = """
import gc, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from npcompat import np, npx

class Finalized:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def collected(phase, info):
    if phase == "start" and armed:
        armed.clear()
        signal.raise_signal(signal.SIGINT)

def interrupted(step):
    try:
        step()
        time.sleep(20)
    except KeyboardInterrupt:
        return True
    return False

armed = []
gc.callbacks.append(collected)
with npx.backend("jax"):
    a = np.ones((1000, 1000))
    a += 1  # gives memory away
print(interrupted(Finalized), interrupted(lambda: (armed.append(1), gc.collect())))
"""


def test_an_interrupt_in_a_finalizer_or_a_callback_of_the_collector_is_not_lost():
    found = subprocess.run(
        [sys.executable, "-c", IN_DROPPED], capture_output=True, text=True, timeout=120
    )
    assert found.stdout == "True True\n", found.stderr[-2000:]


LOADER = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
from npcompat import gluon, np
data = gluon.data.ArrayDataset(np.arange(4000).reshape(1000, 4))
loader = gluon.data.DataLoader(data, batch_size=2, num_workers=2)
next(iter(loader))  # JAX does not survive an interrupt in the imports of its first compilation
try:
    print("ready", flush=True)
    while True:
        for batch in loader:
            pass
except KeyboardInterrupt:
    print(sum(1 for _ in loader), flush=True)
"""


@pytest.mark.parametrize("wait", [0.0, 0.3])
def test_an_interrupted_loader_ends_and_works_again(wait):
    process = subprocess.Popen(
        [sys.executable, "-c", LOADER],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    time.sleep(wait)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to the workers as well
    try:
        out, err = process.communicate(timeout=90)
    finally:
        process.kill()
    assert out == b"500\n", err.decode()[-2000:]


# --- threads and memory ---------------------------------------------------------------------------


def trained(seed, hybridized, steps=8):
    rng = onp.random.RandomState(seed)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(5, in_units=4, activation="relu"), gluon.nn.Dense(1, in_units=5))
    net.initialize()
    for p in net.collect_params().values():
        p.set_data(np.array(rng.randn(*p.shape).astype("float32")))
    if hybridized:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    x = np.array(rng.randn(16, 4).astype("float32"))
    for _ in range(steps):
        with autograd.record():
            loss = ((net(x) - 1) ** 2).mean()
        loss.backward()
        trainer.step(1)
    return [p.data().asnumpy() for p in net.collect_params().values()]


@pytest.mark.parametrize("hybridized", [False, True])
def test_sixteen_threads_that_train_equal_one_after_the_other(hybridized):
    expected = [trained(seed, hybridized) for seed in range(16)]
    found = at_once(lambda seed: trained(seed, hybridized), 16)
    for theirs, ours in zip(expected, found, strict=True):
        assert isinstance(ours, list), ours
        for a, b in zip(theirs, ours, strict=True):
            onp.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-7)


def test_a_compiled_function_keeps_so_many_programs_and_says_when_it_drops(monkeypatch):
    monkeypatch.setattr(jit, "MOST_PROGRAMS", 3)
    made = []

    @npx.jit
    def total(x):
        made.append(len(x))
        return x.sum()

    for n in range(1, 4):
        assert total(np.ones(n)).item() == n
    with pytest.warns(errors.CompileWarning, match="total has 3 programs"):
        total(np.ones(4))
    total(np.ones(5))  # says nothing more
    assert [total(np.ones(n)).item() for n in (5, 4, 3)] == [5, 4, 3]
    assert made == [1, 2, 3, 4, 5]
    assert total(np.ones(1)).item() == 1
    assert made == [1, 2, 3, 4, 5, 1]


def modules_kept():
    return compat.modules_of_programs[0].cache_info().currsize


def test_compiled_programs_do_not_keep_the_modules_they_were_compiled_from(monkeypatch):
    monkeypatch.setattr(programs, "MOST_MODULES", modules_kept() + 8)
    with npx.backend("jax"):
        x = np.arange(100.0)
        kept = []
        for n in range(50, 80):
            assert (x[:n] * 2).sum().item() == n * (n - 1)
            kept.append(modules_kept())
        assert max(kept) <= programs.MOST_MODULES
        with npx.audit("compilation") as events:
            for n in range(50, 80):
                assert (x[:n] * 2).sum().item() == n * (n - 1)
        assert not events


def test_a_module_that_was_dropped_is_made_again(monkeypatch):
    def double(x):
        return x * 2

    called = npx.jit(npx.Custom(double, lambda x: x, lambda x: x, func_type="pyfunc"))
    x = np.ones(3)
    assert called(x).tolist() == [2, 2, 2]
    compat.drop_modules_of_programs(0)
    assert modules_kept() == 0
    assert called(x).tolist() == [2, 2, 2]


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["eager", "hybridized", "compiled"])
def test_memory_is_constant_over_a_hundred_thousand_steps(way):
    net = gluon.nn.Dense(3, in_units=4)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-4})
    if way == "hybridized":
        net.hybridize()
    batches = [np.ones((n, 4)) for n in range(1, 9)]

    def step(x):
        with autograd.record():
            loss = (net(x) ** 2).sum()
        loss.backward()
        trainer.step(1)

    if way == "compiled":
        step = npx.jit(step)
    for number in range(100_000):
        step(batches[number % 8])
        if number == 5000:
            npx.waitall()
            before = resident()
    npx.waitall()
    assert resident() - before < 8 * 2**20
