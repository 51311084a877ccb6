"""Checkpoints: whole or not there, restored to the bit, on the same devices or others."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as onp
import pytest
from internals import checkpoints
from several_devices import IMPORTS, environment, launched, run_on_devices

from npcompat import autograd, errors, gluon, np, npx

pytest.importorskip("orbax.checkpoint")

TRAINING = """
import sys
def make(kind):
    np.random.seed(1)
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Dense(32, "relu", in_units=16), gluon.nn.BatchNorm(in_channels=32),
        gluon.nn.Dropout(0.2), gluon.nn.Dense(8, in_units=32),
    )
    net.initialize(init.Xavier())
    if kind == "fsdp":
        net.shard(npx.Mesh(data=-1), fsdp="data", least=32)
    if kind == "tensor":
        net.shard(npx.Mesh(data=2, model=2), {"0.weight": ("model",), "3.weight": (None, "model")})
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    @npx.jit
    def step(x, y):
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(32)
        return loss.mean()
    return net, trainer, step
def losses(step, net, begin, end):
    found = []
    for i in range(begin, end):
        x = np.array(onp.random.default_rng(i).normal(size=(32, 16)).astype("float32"))
        y = np.array(onp.arange(32) % 8)
        mesh = getattr(net[0].weight.data().device, "mesh", None)
        if mesh is not None:
            x, y = npx.shard(x, mesh, "data"), npx.shard(y, mesh, "data")
        found.append(float(step(x, y)))
    return found
"""
RESTORED = """
folder = sys.argv[1]
net, trainer, step = make("fsdp")
losses(step, net, 0, 3)
checkpoint = gluon.Checkpoint(folder, net, trainer)
assert checkpoint.restore() is None
checkpoint.save(3, {"epoch": 1})
wanted = losses(step, net, 3, 7)  # steps that overwrite what is being saved
checkpoint.wait()
for kind, tolerance in (("fsdp", 0), ("tensor", 1e-6), ("one", 1e-6)):
    net, trainer, step = make(kind)
    places = [p.data().device for p in net.collect_params().values()]
    assert gluon.Checkpoint(folder, net, trainer).restore() == (3, {"epoch": 1})
    assert places == [p.data().device for p in net.collect_params().values()]
    apart = onp.abs(onp.subtract(losses(step, net, 3, 7), wanted)).max()
    assert apart <= tolerance, (kind, apart)
"""
REFUSED = """
import glob, os, re
from npcompat.errors import DataFileError, ParameterFileError
folder = sys.argv[1]
def fails(f, kind, text):
    try:
        f()
    except kind as error:
        assert re.search(text, str(error)), error
    else:
        raise AssertionError("no error")
net, trainer, step = make("one")
losses(step, net, 0, 1)
checkpoint = gluon.Checkpoint(folder, net, trainer, keep=2)
for number in (1, 2, 3):
    checkpoint.save(number)
checkpoint.wait()
assert checkpoint.steps() == [2, 3]
fails(lambda: checkpoint.save(3), ValueError, "step 3 is not greater than 3")
fails(lambda: checkpoint.save(4, object()), TypeError, "JSON can't hold it")
fails(lambda: checkpoint.restore(1), FileNotFoundError, r"no step 1; there are .2, 3.")
other = gluon.nn.Dense(3, in_units=4)
other.initialize()
before = other.weight.data().tolist()
fails(gluon.Checkpoint(folder, other).restore, ParameterFileError, "parameter weight: missing there")
assert other.weight.data().tolist() == before
files = [f for f in glob.glob(folder + "/3/arrays/**", recursive=True) if os.path.isfile(f)]
for file in files:
    with open(file, "r+b") as opened:
        opened.write(b"?" * 64)
values = net[0].weight.data().tolist()
fails(gluon.Checkpoint(folder, net, trainer).restore, DataFileError, re.escape(folder + "/3"))
assert net[0].weight.data().tolist() == values
assert gluon.Checkpoint(folder, net, trainer).restore(2) == (2, None)
"""
POSITION = """
folder = sys.argv[1]
def loader_of():
    return gluon.data.DataLoader(np.arange(24), batch_size=4, shuffle=True)
net = gluon.nn.Dense(1, in_units=1)
net.initialize()
np.random.seed(4)
loader = loader_of()
checkpoint = gluon.Checkpoint(folder, net, loader=loader)
wanted = []
for epoch in range(2):
    for i, batch in enumerate(loader):
        wanted.append(batch.tolist())
        np.random.normal()
        if (epoch, i) == (0, 2):
            checkpoint.save(1)
checkpoint.wait()
np.random.seed(9)
loader = loader_of()
gluon.Checkpoint(folder, net, loader=loader).restore()
found = []
for epoch in range(2):
    for batch in loader:
        found.append(batch.tolist())
        np.random.normal()
assert found == wanted[3:], (found, wanted)
"""
SAVING = """
folder = sys.argv[1]
net, trainer, step = make("fsdp")
checkpoint = gluon.Checkpoint(folder, net, trainer, keep=2)
begin, values = checkpoint.restore() or (0, None)
weight = npx.gather(net[0].weight.data())
print("restored", begin, float(weight[0, 0]) == begin if begin else True, flush=True)
for number in range(begin + 1, 1000):
    net[0].weight.data()[...] = number
    checkpoint.save(number)
    checkpoint.wait()
    print("saved", number, flush=True)
"""


ELSEWHERE = """
net, trainer, step = make("KIND")
checkpoint = gluon.Checkpoint(FOLDER, net, trainer)
if "KIND" == "fsdp":
    losses(step, net, 0, 1)
    checkpoint.save(1)
    checkpoint.close()
else:
    assert checkpoint.restore() == (1, None)
print(losses(step, net, 1, 3))
"""


def test_states_are_restored_where_there_are_fewer_devices(tmp_path):
    code = ELSEWHERE.replace("FOLDER", repr(str(tmp_path / "steps")))
    wanted, found = [
        json.loads(run_on_devices(devices, TRAINING, code.replace("KIND", kind)))
        for devices, kind in ((4, "fsdp"), (1, "one"))
    ]
    assert onp.abs(onp.subtract(found, wanted)).max() <= 1e-6


@pytest.mark.parametrize("program", [RESTORED, REFUSED, POSITION], ids=["other", "no", "loader"])
def test_states_are_restored_whole_or_not_at_all(tmp_path, program):
    devices = 4 if program is RESTORED else 1
    program = program.replace("sys.argv[1]", repr(str(tmp_path / "steps")))
    run_on_devices(devices, TRAINING, program)


def killed(tmp_path, seconds):
    """Kill a process that saves again and again; returns what it said."""
    code = IMPORTS + TRAINING + SAVING
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        env=environment(2),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        said = [process.stdout.readline(), process.stdout.readline()]
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        said += process.stdout.read().splitlines()
    return said


def check_killed(tmp_path, times):
    acknowledged = 0
    for i in range(times + 1):
        first, *rest = killed(tmp_path, random.Random(i).uniform(0, 0.6))
        word, number, whole = first.split()
        assert word == "restored" and whole == "True" and int(number) >= acknowledged, first
        acknowledged = max([int(line.split()[1]) for line in rest if line.startswith("saved")])


def trained(momentum, loader=None):
    """A network of one weight and its trainer after one step."""
    net = gluon.nn.Dense(1, in_units=2, use_bias=False)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"momentum": momentum})
    with autograd.record():
        loss = net(np.ones((1, 2))).sum()
    loss.backward()
    trainer.step(1)
    return net, trainer


def test_what_was_saved_without_a_trainer_or_a_loader_is_refused(tmp_path):
    net, trainer = trained(0.0)
    loader = gluon.data.DataLoader(np.arange(6), batch_size=2)
    with gluon.Checkpoint(tmp_path, net) as checkpoint:
        checkpoint.save(1)
        checkpoint.wait()
    other, its = trained(0.0)
    before = other.weight.data().asnumpy()
    with (
        gluon.Checkpoint(tmp_path, other, its) as checkpoint,
        pytest.raises(errors.ParameterFileError, match="trainer: it was saved without one"),
    ):
        checkpoint.restore()
    with (
        gluon.Checkpoint(tmp_path, other, loader=loader) as checkpoint,
        pytest.raises(errors.ParameterFileError, match="loader: it was saved without one"),
    ):
        checkpoint.restore()
    assert (other.weight.data().asnumpy() == before).all()


def saved(folder):
    """Save one step, and return the network and its trainer, which have gone on."""
    net, trainer = trained(0.5)
    with gluon.Checkpoint(folder, net, trainer) as checkpoint:
        checkpoint.save(1)
    net.weight.data()[...] = 7
    return net, trainer


def flipped(content, place):
    changed = bytearray(content)
    changed[place] ^= 1
    return bytes(changed)


DAMAGED = """
import pathlib, shutil
from npcompat import errors
whole, copy = pathlib.Path(FOLDER), pathlib.Path(FOLDER + " copy")
net, trainer, step = make("one")
with gluon.Checkpoint(whole, net, trainer) as checkpoint:
    checkpoint.save(1)
weight = net[0].weight.data()
def flip(content):
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    return bytes(changed)
def said(path, content):
    shutil.copytree(whole, copy)
    place = copy / path.relative_to(whole)
    place.unlink() if content is None else place.write_bytes(content)
    weight[...] = 7
    with gluon.Checkpoint(copy, net, trainer) as checkpoint:
        try:
            found = checkpoint.restore()
        except errors.DataFileError as error:
            found = str(error)
            assert str(copy / "1") in found and (weight == 7).all()
        else:
            assert found == (1, None) and (weight != 7).all()
    shutil.rmtree(copy)
    return found
files = [p for p in whole.rglob("*") if p.is_file()]
found = []
for damaged in (flip, lambda c: c[: len(c) // 2], lambda c: b"", lambda c: None):
    found += [said(path, damaged(path.read_bytes())) for path in files]
assert len([f for f in found if type(f) is str]) >= 16, found
assert any("0.weight" in f and "not what was written" in f for f in found if type(f) is str), found
notes = whole / "1" / "notes" / "metadata"
assert "its notes are not what was written" in said(notes, notes.read_bytes().replace(b"Adam", b"Abam"))
"""


def test_damage_of_any_file_is_named_or_without_effect(tmp_path):
    run_on_devices(1, TRAINING, DAMAGED.replace("FOLDER", repr(str(tmp_path / "steps"))))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bool", "int8", "complex64"])
def test_sums_of_arrays_see_each_bit_and_each_place(dtype):
    values = (onp.arange(15).reshape(3, 5) % 4).astype(dtype)
    sums = [checkpoints._checksum(values), checkpoints._checksum(values[::-1])]
    content = values.tobytes()
    for place in range(0, len(content), 3):
        other = onp.frombuffer(flipped(content, place), dtype).reshape(3, 5)
        sums.append(checkpoints._checksum(other))
    assert len(set(sums)) == len(sums)


def test_another_kind_of_optimizer_is_refused(tmp_path):
    net, trainer = saved(tmp_path)
    other = gluon.Trainer(net.collect_params(), "signum")
    with (
        gluon.Checkpoint(tmp_path, net, other) as checkpoint,
        pytest.raises(errors.ParameterFileError, match="optimizer: it is SGD there, Signum here"),
    ):
        checkpoint.restore()


def test_restore_waits_for_what_is_being_saved(tmp_path):
    net, trainer = trained(0.0)
    with gluon.Checkpoint(tmp_path, net, trainer) as checkpoint:
        for step in (np.int32(4), 5):
            checkpoint.save(step)
            assert set(checkpoint.steps()) <= {4, 5}
            assert checkpoint.restore() == (step, None)
    assert (tmp_path / "4").is_dir()


def test_wrong_arguments_are_refused_before_anything_is_written(tmp_path):
    net, trainer = trained(0.0)
    (tmp_path / "file").write_text("")
    for arguments, kind, said in [
        ((3,), TypeError, "net: expected a Block, got int"),
        ((net, "adam"), TypeError, "trainer: expected a Trainer, got str"),
        ((net, trainer, 2.5), TypeError, "keep: expected an integer"),
        ((net, trainer, 0), ValueError, "keep must be at least 1"),
        ((net, trainer, 3, [1]), TypeError, "loader: expected a DataLoader.* got list"),
    ]:
        with pytest.raises(kind, match=said):
            gluon.Checkpoint(tmp_path / "steps", *arguments)
    with pytest.raises(NotADirectoryError, match="needs a folder"):
        gluon.Checkpoint(tmp_path / "file", net)
    with gluon.Checkpoint(tmp_path / "steps", net, trainer) as checkpoint:
        for step, kind in ((2.5, TypeError), ("1", TypeError), (-1, ValueError)):
            with pytest.raises(kind, match="step"):
                checkpoint.save(step)
            with pytest.raises(kind, match="step"):
                checkpoint.restore(step)
        for call in (lambda: checkpoint.save(1), checkpoint.restore):
            with pytest.raises(TypeError, match="in a compiled function"):
                npx.jit(call)()
        assert checkpoint.steps() == []
    with pytest.raises(ValueError, match="was closed"):
        checkpoint.save(1)
    with (
        gluon.Checkpoint(tmp_path / "steps", gluon.nn.Sequential()) as checkpoint,
        pytest.raises(ValueError, match="Sequential has no parameters"),
    ):
        checkpoint.save(1)


FAILING = """
import shutil
net = gluon.nn.Dense(1, in_units=1)
net.initialize()
checkpoint = gluon.Checkpoint(FOLDER, net)
shutil.rmtree(FOLDER)
open(FOLDER, "w").close()
checkpoint.save(1)
"""


def test_a_process_ends_after_a_save_that_failed(tmp_path):
    code = IMPORTS + FAILING.replace("FOLDER", repr(str(tmp_path / "steps")))
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert found.returncode == 1 and "NotADirectoryError" in found.stderr


def test_a_process_that_is_killed_while_saving_leaves_the_last_step_whole(tmp_path):
    check_killed(tmp_path, 2)


@pytest.mark.slow
def test_twenty_processes_that_are_killed_while_saving(tmp_path):
    check_killed(tmp_path, 20)


RESUMED = """
import os
rank = npx.distributed.rank()
net, trainer, step = make("fsdp")
data = gluon.data.ArrayDataset(
    np.array(onp.random.default_rng(0).normal(size=(96, 16)).astype("float32")),
    np.array(onp.arange(96) % 8),
)
mesh = npx.Mesh(data=-1)
loader = gluon.data.DataLoader(data, 32, shuffle=True, device=mesh("data"))
np.random.seed(7)
checkpoint = gluon.Checkpoint(FOLDER, net, trainer, loader=loader)
done, _ = checkpoint.restore() or (0, None)
while done < 9:
    for x, y in loader:
        step(x, y)
        done += 1
        if done % 2 == 0:
            checkpoint.save(done)
            checkpoint.wait()
        if (rank, done) == (1, 5) and KILLED:
            os.kill(os.getpid(), 9)
weight = npx.gather(net[0].weight.data()).asnumpy()
if rank == 0:
    onp.save(FILE, weight)
npx.distributed.barrier("end")
"""


@pytest.mark.slow
def test_a_job_whose_worker_was_killed_resumes_to_the_bit(tmp_path):
    first = "from npcompat import npx\nnpx.distributed.initialize(patience=60)\n"

    def code(folder, file, is_killed):
        body = RESUMED.replace("FOLDER", repr(str(tmp_path / folder)))
        body = body.replace("FILE", repr(str(tmp_path / file))).replace("KILLED", str(is_killed))
        return first + IMPORTS + textwrap.dedent(TRAINING + body)

    launched(2, code("whole", "whole.npy", False), tmp_path)
    launched(2, code("part", "part.npy", True), tmp_path, code_of_exit=137)
    assert not (tmp_path / "part.npy").exists()
    launched(2, code("part", "part.npy", False), tmp_path)
    assert (onp.load(tmp_path / "part.npy") == onp.load(tmp_path / "whole.npy")).all()
