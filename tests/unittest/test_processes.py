"""Several processes on one machine: they train as one, and end with a line that says why."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import numpy as onp
import pytest
from mesh_programs import ARRAYS
from several_devices import environment, launched, run_on_devices

from npcompat import npx

FIRST = "from npcompat import npx\nnpx.distributed.initialize(patience=PATIENCE)\n"
IMPORTS = (
    "import os, sys, time\nimport numpy as onp\nfrom npcompat import autograd, gluon, init, np\n"
)


def script(body, patience=60):
    return FIRST.replace("PATIENCE", str(patience)) + IMPORTS + textwrap.dedent(body)


TRAINING = """
mesh = npx.Mesh(data=-1)
def train(layout, way):
    np.random.seed(3)
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Dense(32, "relu", in_units=8), gluon.nn.BatchNorm(in_channels=32),
        gluon.nn.Dropout(0.2), gluon.nn.Dense(4, in_units=32),
    )
    net.initialize(init.Xavier())
    net.shard(mesh, {"bias": None}, fsdp="data" if layout == "fsdp" else None, least=32)
    if way == "hybrid":
        net.hybridize()
    x, y = onp.random.default_rng(0).normal(size=(64, 8)).astype("float32"), onp.arange(64) % 4
    data = gluon.data.ArrayDataset(np.array(x), np.array(y))
    loader = gluon.data.DataLoader(data, 16, shuffle=True, last_batch="discard", device=mesh("data"))
    loss_of, metric = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.metric.Accuracy()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    def step(x, y):
        with autograd.record():
            out = net(x)
            loss = loss_of(out, y)
        loss.backward()
        trainer.step(16)
        return loss.mean(), out
    if way == "step":
        step = npx.jit(step)
    losses = []
    for epoch in range(2):
        for x, y in loader:
            assert mesh.size == 1 or x.device == mesh("data")
            loss, out = step(x, y)
            losses.append(float(loss))
            metric.update(y, out)
    values = [npx.gather(p.data()).asnumpy().ravel() for p in net.collect_params().values()]
    return onp.concatenate([losses, [metric.get()[1]], *values])
def run(file):
    found = {f"{l} {w}": train(l, w) for l, w in CASES}
    if npx.distributed.rank() == 0:
        onp.savez(file, **found)
"""
CASES = [("fsdp", "step"), ("data", "step"), ("fsdp", "eager"), ("fsdp", "hybrid")]


def compare(cases, tmp_path):
    many, one = tmp_path / "many.npz", tmp_path / "one.npz"
    code = f"CASES = {cases}\n{TRAINING}\n"
    launched(2, script(f"{code}run(r'{many}')\n"), tmp_path)
    run_on_devices(1, f"{code}run(r'{one}')\n")
    with onp.load(many) as found, onp.load(one) as expected:
        for case in found:
            assert onp.abs(found[case] - expected[case]).max() <= 1e-5, case


def test_two_processes_train_as_one(tmp_path):
    compare(CASES[:1], tmp_path)


@pytest.mark.slow
def test_two_processes_train_as_one_in_every_way(tmp_path):
    compare(CASES, tmp_path)


def test_values_of_other_processes_are_computed_with_or_asked_for_by_gather(tmp_path):
    body = """
    import contextlib, io, pickle
    from npcompat.errors import RemoteValuesError
    rank, count = npx.distributed.rank(), npx.distributed.process_count()
    mesh = npx.Mesh(data=-1)
    assert count == 2 and mesh.size == 4 and npx.Mesh([npx.cpu(0), npx.cpu(1)]).size == 2
    h = onp.arange(16.0, dtype="float32").reshape(8, 2)
    x = npx.from_local(h[4 * rank : 4 * rank + 4], mesh("data"))
    assert x.shape == (8, 2) and x.device == mesh("data")
    assert float(x.sum()) == 120 and x[5, 1].item() == 11 and float((x + h).max()) == 30
    assert [float(row.sum()) for row in x] == h.sum(1).tolist()
    x[3] = 1
    x[x > 14] = 0
    x += np.ones(2)
    x.T[0, 2:4] *= 2
    h[3] = 1; h[h > 14] = 0; h += 1; h.T[0, 2:4] *= 2
    assert x.device == mesh("data")
    assert (npx.gather(x).asnumpy() == h).all()
    assert npx.gather(np.cumsum(x, 0)).tolist() == h.cumsum(0).tolist()
    assert npx.gather(np.sort(x, 0)).tolist() == onp.sort(h, 0).tolist()
    assert npx.gather(x[2:6]).tolist() == h[2:6].tolist()
    whole = npx.shard(np.ones(8), mesh)
    def write_masked():
        with mesh("data"):  # the values that are read lie in pieces then
            whole[whole > 0] += 1
    for ask in (write_masked, x.asnumpy, lambda: str(x), lambda: onp.asarray(x), lambda: x[x > 3], x.tolist,
                lambda: pickle.dumps(x), lambda: x.to_device(npx.cpu(0))):
        try:
            ask()
        except RemoteValuesError as error:
            assert "npx.gather" in str(error)
        else:
            raise AssertionError("no error")
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        npx.show_sharding(x)
        npx.show_sharding(np.ones(3, ctx=npx.cpu(1)))
    said = [line.split("  ")[-1].strip() for line in shown.getvalue().splitlines() if line[0] == "["]
    assert said == [f"cpu({k % 2}) of process {k // 2}" for k in (0, 1, 2, 3, 2 * rank + 1)], said
    drop = gluon.nn.Dropout(0.5)
    drop.hybridize()
    with autograd.train_mode():  # the stream goes to the mesh, back to one device, and again
        for place in (mesh(), npx.cpu(1), mesh(), npx.cpu(0)):
            assert drop(np.ones((4, 2), ctx=place)).device == place
    drawn = npx.from_local(np.random.normal(size=(1, 3)), npx.Mesh(data=2, rest=2)("data"))
    assert npx.gather(drawn[0] == drawn[1]).all()
    np.random.seed(rank)
    loader = gluon.data.DataLoader(np.arange(8), 4, shuffle=True, device=mesh("data"))
    try:
        iter(loader)
    except RuntimeError as error:
        assert "np.random.seed" in str(error)
    else:
        raise AssertionError("no error")
    npx.distributed.barrier("end")
    print(f"all of {rank}\\n", end="", flush=True)
    """
    said = launched(2, script(body), tmp_path, devices=2)
    assert "all of 0" in said and "all of 1" in said


ON_TWO_PROCESSES = """
from npcompat.errors import RemoteValuesError
rank, mesh = npx.distributed.rank(), npx.Mesh(data=-1)
for f in ARRAY_PROGRAMS:
    for spec in (("data",), ()):
        h = onp.arange(48, dtype="float32").reshape(16, 3)[::-1] * 1.5 - 7
        part = h[8 * rank : 8 * rank + 8] if spec else h
        a = npx.from_local(part, mesh(*spec))
        h, before = h.copy(), h
        expected = f(h, onp)
        try:
            found = f(a, np)
        except RemoteValuesError as error:
            assert spec and f in NEED_ALL_VALUES and "npx.gather" in str(error), (f, spec)
            expected, h = None, before
        else:
            assert not (spec and f in NEED_ALL_VALUES), (f, spec)
        assert a.device == mesh(*spec), (f, spec, a.device)
        assert onp.abs(npx.gather(a).asnumpy() - h).max() < 1e-5, (f, spec)
        if isinstance(expected, list):
            found = [npx.gather(x) for x in found]
        if expected is not None:
            found = onp.asarray(found if isinstance(found, list) else npx.gather(found))
            onp.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=f.__name__)
npx.distributed.barrier("end")
print(f"all of {rank}\\n", end="", flush=True)
"""


def test_programs_of_arrays_on_two_processes_are_right_or_ask_for_gather(tmp_path):
    said = launched(2, script(ARRAYS + ON_TWO_PROCESSES), tmp_path, devices=2)
    assert "all of 0" in said and "all of 1" in said


STEPS = """
mesh = npx.Mesh(data=-1)
w = npx.shard(np.zeros(8), mesh, "data")
@npx.jit
def step(x):
    w[...] = w + x.sum()
    return w.sum()
rank = npx.distributed.rank()
for i in range(8 if (rank, "uneven") != (1, os.environ["HOW"]) else 5):
    if (rank, i) == (1, 5):
        if os.environ["HOW"] == "killed":
            os.kill(os.getpid(), 9)
        if os.environ["HOW"] == "hangs":
            print("hangs at", time.time(), flush=True)
            while True:
                time.sleep(0.1)
    float(step(np.ones(3)))
if rank == 1:
    print("ended at", time.time(), flush=True)
    if os.environ["HOW"] == "uneven":
        time.sleep(1000)
"""


def test_a_process_that_dies_ends_the_job_within_seconds(tmp_path):
    begin = time.monotonic()
    said = launched(2, script(STEPS), tmp_path, code_of_exit=137, HOW="killed")
    assert "process 1 of 2 was ended by signal 9; the others are ended" in said
    assert time.monotonic() - begin < 60


@pytest.mark.parametrize("how", ["hangs", "uneven"])
def test_a_process_that_does_not_come_is_named_with_its_line(tmp_path, how):
    said = launched(2, script(STEPS, patience=4), tmp_path, code_of_exit=75, HOW=how)
    since = time.time() - float(re.search(r"(?:hangs|ended) at ([\d.]+)", said)[1])
    assert since < 4 + 4  # patience, and a second each to see it and to end the others
    assert re.search(r"process 0 of 2 has waited for the others for 4 s, at .*script.py:\d+", said)
    assert re.search(r"process 1 is at .*script.py:\d+, since \d+ s", said)


EAGER_WATCHER = """
import time, types
from npcompat._internal.observe import waiting
waiting.time = types.SimpleNamespace(sleep=lambda _: time.sleep(2e-4), monotonic=time.monotonic)
from npcompat import npx
npx.distributed.initialize(patience=60)
"""


def test_processes_end_while_their_watchers_write_notes(tmp_path):
    for _ in range(2):  # each aborted in five of six runs
        launched(2, EAGER_WATCHER, tmp_path)


def test_mxnets_distributed_store_trains_as_one_process(tmp_path):
    body = """
    def train(rank, workers):
        np.random.seed(5)
        x, y = onp.random.default_rng(0).normal(size=(32, 8)).astype("float32"), onp.arange(32) % 4
        order = onp.arange(32).reshape(2, 2, 8)  # by worker, batch, row
        ctx = [npx.cpu(i) for i in range(int(os.environ.get("DEVS", 2)))]
        net = gluon.nn.Dense(4, in_units=8)
        net.initialize(init.Xavier(), ctx=ctx)
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore="dist_sync")
        loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
        for batch in range(2):
            rows = order[rank, batch] if workers == 2 else order[:, batch].ravel()
            xs, ys = [gluon.utils.split_and_load(np.array(a[rows]), ctx) for a in (x, y)]
            with autograd.record():
                losses = [loss_of(net(a), b) for a, b in zip(xs, ys)]
            for loss in losses:
                loss.backward()
            trainer.step(16)
        return npx.gather(net.weight.data()).asnumpy(), net.weight.list_ctx()
    """
    many, one = tmp_path / "many.npy", tmp_path / "one.npy"
    ends = """
    weight, ctx = train(npx.distributed.rank(), npx.distributed.process_count())
    assert ctx == [npx.cpu(0), npx.cpu(1)]
    if npx.distributed.rank() == 0:
        onp.save(r'FILE', weight)
    """
    code = textwrap.dedent(body) + textwrap.dedent(ends)
    launched(2, script(code.replace("FILE", str(many))), tmp_path, devices=2)
    run_on_devices(2, "import os\n" + code.replace("FILE", str(one)))
    assert onp.abs(onp.load(many) - onp.load(one)).max() <= 1e-6


def test_batches_of_grain_become_arrays_that_lie_on_all_processes(tmp_path):
    pytest.importorskip("grain")
    body = """
    import grain
    rank, count, mesh = npx.distributed.rank(), npx.distributed.process_count(), npx.Mesh(data=-1)
    sampler = grain.samplers.IndexSampler(
        num_records=37, shuffle=True, seed=0, num_epochs=1,
        shard_options=grain.sharding.ShardByJaxProcess(drop_remainder=True))
    loader = grain.DataLoader(
        data_source=[onp.full(3, i, "float32") for i in range(37)], sampler=sampler, worker_count=0,
        operations=[grain.transforms.Batch(4, drop_remainder=True)])
    batches = [npx.from_local(x, mesh("data")) for x in loader]
    assert [b.shape for b in batches] == [(8, 3)] * 4 and batches[0].device == mesh("data")
    seen = [int(row) for b in batches for row in npx.gather(b).asnumpy()[:, 0]]
    assert len(set(seen)) == 32
    npx.distributed.barrier("end")
    print(f"all of {rank}\\n", end="", flush=True)
    """
    said = launched(2, script(body), tmp_path)
    assert "all of 0" in said and "all of 1" in said


def test_processes_that_make_different_parts_are_told_so(tmp_path):
    body = """
    rank, mesh, data = npx.distributed.rank(), npx.Mesh(data=-1), gluon.data
    def fails(kind, said, f):
        try:
            f()
        except kind as error:
            assert said in str(error), error
        else:
            raise AssertionError("no error")
    shapes, kinds = [(2, 3), (2, 4)], ["float32", "int32"]
    for rows in (np.ones(shapes[rank]), np.ones((2 + 2 * rank, 3)), np.ones(2).astype(kinds[rank])):
        fails(RuntimeError, f"process {rank} has made", lambda: npx.from_local(rows, mesh("data")))
    fails(ValueError, "fewer axes", lambda: npx.from_local(np.array(2.0), mesh("data")))
    assert npx.gather(npx.from_local(np.full((1, 2), rank), mesh("data"))).tolist() == [[0, 0], [1, 1]]
    ragged = data.SimpleDataset([onp.arange(n) for n in (1, 5, 2, 2)])
    padded = data.DataLoader(ragged, 2, device=mesh("data"), batchify_fn=data.batchify.Pad())
    fails(RuntimeError, "pad to a fixed length", lambda: list(padded))
    orders = [0, 1, 2, 3], [0, 2, 1, 3]
    mixed = data.DataLoader(np.arange(4), 2, sampler=orders[rank], device=mesh("data"))
    fails(RuntimeError, "in the same order", lambda: list(mixed))
    twos = data.DataLoader(np.arange(8), batch_sampler=[[5, 1], [2, 7]], device=mesh("data"))
    assert [npx.gather(x).tolist() for x in twos] == [[5, 1], [2, 7]]
    npx.distributed.barrier("end")
    print(f"all of {rank}\\n", end="", flush=True)
    """
    said = launched(2, script(body), tmp_path)
    assert "all of 0" in said and "all of 1" in said


def test_other_elements_in_another_process_are_refused(tmp_path):
    body = """
    rank, mesh = npx.distributed.rank(), npx.Mesh(data=-1)
    whole, cut = npx.shard(onp.arange(4.0), mesh), npx.shard(onp.arange(4.0), mesh, "data")
    assert (whole * cut).sum() == 14
    for move in (
        lambda: npx.shard(onp.arange(4.0) + 100 * rank, mesh),
        lambda: np.array([rank, 1.0]).to_device(mesh("data")),
    ):
        try:
            move()
        except RuntimeError as error:
            print(f"{rank}: {error}\\n", end="", flush=True)
    npx.distributed.barrier("end")
    """
    said = launched(2, script(body), tmp_path)
    for rank in (0, 1):
        assert said.count(f"{rank}: process {rank} moves other elements to the devices") == 2


def test_workers_of_a_loader_do_not_join_the_processes(tmp_path):
    body = """
    if __name__ == "__main__":
        rank, mesh = npx.distributed.rank(), npx.Mesh(data=-1)
        loader = gluon.data.DataLoader(np.arange(4), 2, num_workers=2, device=mesh("data"))
        assert [npx.gather(x).tolist() for x in loader] == [[0, 1], [2, 3]]
        npx.distributed.barrier("end")
        print(f"all of {rank}\\n", end="", flush=True)
    """
    said = launched(2, script(body), tmp_path)
    assert "all of 0" in said and "all of 1" in said


LEFT = {
    "ValueError('too late')": ("raise ValueError('too late')", 1, "ValueError: too late"),
    "sys.exit(3)": ("sys.exit(3)", 3, ""),
    "sys.exit(text)": ("sys.exit('no data')", 1, "no data"),
    "a parser of arguments": ("argparse.ArgumentParser().error('no such')", 2, "error: no such"),
}


@pytest.mark.parametrize("way", LEFT)
def test_a_failure_of_one_process_ends_the_job(tmp_path, way):
    path = tmp_path / "raises.py"
    statement, code, text = LEFT[way]
    path.write_text(
        FIRST.replace("PATIENCE", "600") + "import argparse, atexit, sys\nfrom npcompat import np\n"
        "atexit.register(lambda: print('at the end', flush=True))\n"
        "rank, a = npx.distributed.rank(), np.arange(8.0, device=npx.Mesh(data=-1)('data'))\n"
        "try:\n    sys.exit(5)\nexcept SystemExit as error:\n    assert error.code == 5\n"
        "for i in range(4):\n"
        f"    if rank == 1 and i == 2:\n        {statement}\n"
        "    float(a.sum())\n"
    )
    begun = time.monotonic()
    command = [sys.executable, "-m", "npcompat.launch", "-n", "2", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(1), timeout=120)
    assert time.monotonic() - begun < 60
    assert text in done.stderr and "at the end" in done.stdout
    # process 0 fails, too, as soon as it waits for one that is gone
    said = f"process (1 of 2 ended with code {code}|0 of 2 ended with code 1); the others are ended"
    assert re.search(said, done.stderr) and done.returncode in (code, 1)


def test_sys_exit_that_is_caught_or_without_a_code_ends_nothing(tmp_path):
    body = """
    import sys
    try:
        sys.exit(5)
    except SystemExit as error:
        kept = error
    float(np.arange(8.0, device=npx.Mesh(data=-1)("data")).sum())
    print(f"all of {npx.distributed.rank()}\\n", end="", flush=True)
    sys.exit()
    """
    said = launched(2, script(body), tmp_path)
    assert "all of 0" in said and "all of 1" in said


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the number of a parent that is gone")
@pytest.mark.parametrize("first", [FIRST.replace("PATIENCE", "60"), "from npcompat import np\n"])
def test_processes_end_after_their_launcher_has_died(tmp_path, first):
    path = tmp_path / "loops.py"
    path.write_text(
        first
        + "import os\nprint(f'at {os.getpid()}\\n', end='', flush=True)\nwhile True:\n    pass\n"
    )
    command = [sys.executable, "-m", "npcompat.launch", "-n", "2", str(path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(1)
    ) as launcher:
        begun = 0
        while begun < 2:
            begun += launcher.stdout.readline().startswith("at ")
        launcher.kill()
        said = launcher.stdout.read()  # until both have closed it
    assert "its launcher has died. It ends with code 75." in said


def test_the_launcher_says_what_it_expects(tmp_path):
    said = launched(1, "import sys; print(sys.argv[1:], npx)", tmp_path, code_of_exit=1)
    assert "NameError" in said and "process 0 of 1 ended with code 1" in said


def test_one_process_reads_the_standard_input(tmp_path):
    path = tmp_path / "reads.py"
    path.write_text(
        "import os, sys\nrank, read = os.environ['NPCOMPAT_RANK'], sys.stdin.read()\n"
        "print(f'{rank} {read}\\n', end='', flush=True)\n"
    )
    found = subprocess.run(
        [sys.executable, "-m", "npcompat.launch", "-n", "2", str(path)],
        input="typed",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert sorted(found.stdout.splitlines()) == ["0 typed", "1 "]


@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes without a signal")
def test_a_launcher_that_is_asked_to_end_leaves_no_process_behind(tmp_path):
    path = tmp_path / "sleeps.py"
    path.write_text(
        "import os, time\nprint(f'{os.getpid()}\\n', end='', flush=True)\ntime.sleep(60)\n"
    )
    command = [sys.executable, "-m", "npcompat.launch", "-n", "2", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launcher:
        numbers = [int(launcher.stdout.readline()) for _ in range(2)]
        launcher.send_signal(signal.SIGTERM)
        assert launcher.wait(timeout=30) == 128 + signal.SIGTERM
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"processes": 2, "rank": 0}, "address"),
        ({"address": "127.0.0.1:1", "processes": 2}, "needs processes and rank"),
        ({"address": "127.0.0.1", "processes": 2, "rank": 0}, "address: expected 'host:port'"),
        ({"address": 4321, "processes": 2, "rank": 0}, "address: expected 'host:port'"),
        ({"address": "127.0.0.1:1", "processes": 0, "rank": 0}, "processes: expected"),
        ({"address": "127.0.0.1:1", "processes": 2, "rank": 2}, "rank: expected"),
        ({"address": "127.0.0.1:1", "processes": 2, "rank": -1}, "rank: expected"),
        ({"patience": "a"}, "patience: expected a number, got 'a'"),
        ({"patience": float("nan")}, "patience: expected positive seconds"),
        ({"timeout": -1}, "timeout: expected positive seconds, got -1"),
        ({"heartbeat": 0}, "heartbeat: expected positive seconds, got 0"),
        ({"heartbeat": 2.5}, "heartbeat: expected an integer"),
    ],
)
def test_arguments_of_initialize_are_checked(arguments, said):
    with pytest.raises((TypeError, ValueError), match=said):
        npx.distributed.initialize(**arguments)


def test_arguments_that_contradict_the_launcher_are_refused(monkeypatch):
    monkeypatch.setenv("NPCOMPAT_COORDINATOR", "127.0.0.1:1")
    monkeypatch.setenv("NPCOMPAT_PROCESSES", "2")
    monkeypatch.setenv("NPCOMPAT_RANK", "1")
    with pytest.raises(ValueError, match="processes: 3 was given, and the launcher says 2"):
        npx.distributed.initialize(processes=3)
    with pytest.raises(ValueError, match="rank: 0 was given, and the launcher says 1"):
        npx.distributed.initialize(rank=0)


def test_initialize_twice_says_so_and_lines_are_written_whole(tmp_path):
    body = """
    rank = npx.distributed.rank()
    for i in range(3000):
        print(rank, i, "x" * 40)
    try:
        npx.distributed.initialize()
    except RuntimeError as error:
        print(error)
    npx.distributed.barrier("end")
    """
    said = launched(2, script(body), tmp_path)
    assert "was called already" in said
    whole = re.findall(r"^[01] \d+ x{40}$", said, re.MULTILINE)
    assert len(whole) == 6000
