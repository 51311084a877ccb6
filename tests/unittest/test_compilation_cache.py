"""Programs that are kept in files: `npx.compilation_cache` and `NPCOMPAT_CACHE_DIR`."""

import json
import os
import subprocess
import sys

import pytest

from npcompat import np, npx

PROGRAM = """
import json
import jax
counts = {"hits": 0, "misses": 0, "compiled": 0}
def heard(event, **details):
    name = event.rpartition("cache_")[2]
    if name in counts:
        counts[name] += 1
jax.monitoring.register_event_listener(heard)
from npcompat import autograd, gluon, np, npx
from npcompat.gluon import nn
np.random.seed(5)
with npx.compile_log() as log:
    net = nn.Dense(3, in_units=4)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    x, state = np.random.normal(size=(8, 4)), np.zeros(3, dtype="float64")
    @npx.jit
    def step():
        with autograd.record():
            loss = (net(x) ** 2).mean()
        loss.backward()
        trainer.step(1)
        state[...] += net.weight.data().sum(axis=1)
        return loss
    losses = [float(step()) for _ in range(3)]
    values = state.tolist() + np.linalg.eigvalsh(np.eye(3) * 2).tolist() + [float(np.tanh(np.ones(3)).sum())]
counts["compiled"] = len(log)
print(json.dumps([losses + values, counts, npx.compilation_cache(None)]))
"""


_CACHES = ("NPCOMPAT_CACHE_DIR", "JAX_COMPILATION_CACHE", "JAX_PERSISTENT_CACHE")
"""Settings of the environment that the processes are not given."""


def run(folder, backend="jax"):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(_CACHES)}
    environment["NPCOMPAT_BACKEND"] = backend
    if folder is not None:
        environment["NPCOMPAT_CACHE_DIR"] = str(folder)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["auto", "jax"])
def test_a_second_process_compiles_nothing(tmp_path, backend):
    folder = tmp_path / "programs"  # is made
    values, counts, _ = run(None, backend)
    assert counts["hits"] == counts["misses"] == 0
    first, before, kept = run(folder, backend)
    second, after, _ = run(folder, backend)
    assert first == second == values and kept == str(folder)
    assert before["misses"] > 0  # (equal programs are found in the first process, too)
    assert after["misses"] == 0 and after["hits"] == before["misses"] + before["hits"]
    assert after["compiled"] == before["compiled"] == counts["compiled"]


def test_it_is_switched_on_and_off_while_running(tmp_path):
    f = npx.jit(lambda x: x * 3 - 1)
    f(np.ones(2))
    before = npx.compilation_cache(tmp_path)
    try:
        assert npx.compilation_cache(tmp_path) == str(tmp_path) and not list(tmp_path.iterdir())
        f(np.ones(3))
        kept = len(list(tmp_path.iterdir()))
        assert kept
        npx.compilation_cache(None)
        f(np.ones(4))
        assert len(list(tmp_path.iterdir())) == kept
    finally:
        npx.compilation_cache(before)


def test_what_can_not_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        npx.compilation_cache(tmp_path / "file")
