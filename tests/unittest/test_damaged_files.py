"""Files that are damaged, killed while they are written, or in each other's way.

`python -m tests.files` runs more of the first kind.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from typing import Any

import numpy as onp
import pytest

from npcompat import errors, gluon, image, np, npx, ops, recordio, symbol
from tests import files


@pytest.mark.parametrize("kind", files.FORMATS)
def test_a_damaged_file_loads_or_raises_our_errors(kind, tmp_path):
    assert files.run(kind, 12, 3, tmp_path).total() == 12


@pytest.mark.slow
@pytest.mark.parametrize("kind", files.FORMATS)
def test_ten_thousand_damaged_files(kind, tmp_path):
    files.run(kind, -(-10000 // len(files.FORMATS)), 4, tmp_path)


# --- forged files ---------------------------------------------------------------------------------


def forged_npy(shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()


@pytest.mark.parametrize(
    "shape", ["(10000000000,)", "(1099511627776,)", "(-1,)", "(99999, 99999, 99999)"]
)
def test_a_header_that_promises_too_much_takes_no_memory(shape, tmp_path):
    path = tmp_path / "forged.npy"
    path.write_bytes(forged_npy(shape) + bytes(64))
    with pytest.raises(errors.ParameterFileError, match="forged"):
        npx.load(path)
    with pytest.raises(ValueError, match="promises|shape|header"):
        np.load(path)
    packed = tmp_path / "forged.npz"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.npy", path.read_bytes())
    with pytest.raises(errors.ParameterFileError, match="forged"):
        npx.load(packed)
    with np.load(packed) as arrays, pytest.raises(ValueError, match="promises|shape|header"):
        arrays["a"]


def test_archives_are_unpacked_up_to_a_factor(tmp_path):
    path = tmp_path / "packed.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.npy", forged_npy("(1000000,)") + bytes(8 * 10**6))
    with pytest.raises(errors.ParameterFileError, match="times as long"):
        npx.load(path)


def test_names_in_archives_are_names(tmp_path):
    path = tmp_path / "escaping.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../outside.npy", forged_npy("(1,)") + bytes(8))
    assert list(npx.load(path)) == ["../../outside"]
    assert not list(tmp_path.parent.parent.glob("outside*"))


@pytest.mark.parametrize("depth", [1000, 100_000])
def test_deep_json_is_refused(depth):
    for text in ("[" * depth, '{"a":' * depth, "[" * depth + "]" * depth):
        with pytest.raises(errors.DefinitionError):
            symbol.load_json(text)
        with pytest.raises(errors.DefinitionError):
            ops.from_json(text)


def test_large_json_is_refused_in_bounded_time():
    begin = time.perf_counter()
    with pytest.raises(errors.DefinitionError):
        symbol.load_json("[" + "0," * 2_000_000 + "0]")
    assert time.perf_counter() - begin < 20


@pytest.mark.parametrize("name", ["finfo", "iinfo", "version", "__name__", "object", 3, None, []])
def test_only_dtypes_are_dtypes(name):
    text = json.loads(ops.get("_npi_cast")(dtype=onp.dtype("int8")).to_json())
    text["attrs"]["dtype"] = {"dtype": name}
    if name == "object":
        return  # NumPy's
    with pytest.raises(errors.DefinitionError):
        ops.from_json(json.dumps(text))


def test_pictures_are_of_the_stated_formats():
    for content in (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"8BPS\0\1", b"icns\0\0"):
        with pytest.raises(ValueError, match="formats JPEG, PNG"):
            image.imdecode(content)


def test_pickles_are_not_opened(tmp_path):
    path = tmp_path / "objects.npy"
    onp.save(path, onp.array([{}], dtype=object))
    with pytest.raises(errors.ParameterFileError):
        npx.load(path)
    with pytest.raises(ValueError, match="allow_pickle"):
        np.load(path)


def test_errors_have_public_names():
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert kind.__module__ == "npcompat.errors" and kind.__doc__
    with pytest.raises(errors.AutogradError):
        np.ones(2).backward()


# --- saving ---------------------------------------------------------------------------------------

SAVER = """
import sys
import numpy as onp
from npcompat import gluon, np, npx, symbol
what, path = sys.argv[1:]
net = gluon.nn.Dense(200, in_units=500)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "adam")
x = symbol.var("x")
print("ready", flush=True)
for number in range(10**9):
    if what == "arrays":
        npx.save(path, {"a": np.full(100000, float(number))})
    elif what == "numpy":
        np.save(path, np.full(100000, float(number)))
    elif what == "parameters":
        net.save_parameters(path)
    elif what == "states":
        trainer.save_states(path)
    else:
        (x + float(number)).save(path)
"""
READ = {
    "arrays": lambda path: npx.load(path)["a"],
    "numpy": lambda path: np.load(path),
    "parameters": lambda path: npx.load(path),
    "states": lambda path: npx.load(path),
    "symbol": lambda path: symbol.load(path),
}


def killed(what, folder, times, rng):
    """Kill processes that save, at random moments; the file is whole each time."""
    path = folder / ("file.npy" if what == "numpy" else "file")
    for _ in range(times):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVER, what, path],
            stdout=subprocess.PIPE,
            cwd=os.getcwd(),
            env={**os.environ, "PYTHONPATH": os.getcwd()},
        )
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        READ[what](path)
        found = READ[what](path)
        if what in ("arrays", "numpy"):
            assert (found == found[0]).all() and found.shape == (100000,)
    assert len(list(folder.iterdir())) <= 2, "the next save removes what a killed one left"
    if what == "arrays":
        npx.save(path, {"a": np.ones(3)})
        assert [p.name for p in folder.iterdir()] == [path.name]


@pytest.mark.parametrize("what", ["arrays", "parameters"])
def test_a_killed_save_leaves_a_whole_file(what, tmp_path):
    killed(what, tmp_path, 2, onp.random.RandomState(1))


@pytest.mark.slow
@pytest.mark.parametrize("what", READ)
def test_two_hundred_killed_saves_leave_whole_files(what, tmp_path):
    killed(what, tmp_path, 40, onp.random.RandomState(2))


def test_what_running_processes_write_is_left_alone(tmp_path):
    path = tmp_path / "file"
    npx.save(path, {"a": np.ones(3)})
    from internals import atomic_file

    other = atomic_file.Writer(path)
    npx.save(path, {"a": np.zeros(3)})
    other.write(b"content")
    other.close()
    assert path.read_bytes() == b"content"


def saves(net, folder):
    """Each public way to save, to a path."""
    trainer = gluon.Trainer(net.collect_params(), "adam")
    graph: Any = symbol.var("x") + 1
    return {
        "npx.save": lambda path: npx.save(path, {"a": np.ones(3)}),
        "np.save": lambda path: np.save(str(path) + ".npy", np.ones(3)),
        "np.savez": lambda path: np.savez(str(path) + ".npz", a=np.ones(3)),
        "parameters": lambda path: net.save_parameters(path),
        "states": lambda path: trainer.save_states(path),
        "symbol": lambda path: graph.save(str(path)),
    }


def target(folder, name):
    return folder / f"file{ {'np.save': '.npy', 'np.savez': '.npz'}.get(name, '') }"


@pytest.fixture
def net():
    made = gluon.nn.Dense(2, in_units=3)
    made.initialize()
    return made


WAYS = ["npx.save", "np.save", "np.savez", "parameters", "states", "symbol"]


@pytest.mark.parametrize("name", WAYS)
def test_a_full_disk_leaves_the_old_file(name, net, tmp_path, monkeypatch):
    save, path = saves(net, tmp_path)[name], target(tmp_path, name)
    save(tmp_path / "file")
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path / "file")
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", WAYS)
def test_a_folder_in_the_way_is_named_and_stays(name, net, tmp_path):
    path = target(tmp_path, name)
    path.mkdir()
    (path / "inside").write_text("kept")
    with pytest.raises(OSError, match="file"):
        saves(net, tmp_path)[name](tmp_path / "file")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert (path / "inside").read_text() == "kept"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
@pytest.mark.parametrize("name", WAYS)
def test_a_folder_without_permission_is_named(name, net, tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match="file"):
            saves(net, tmp_path)[name](tmp_path / "file")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("name", WAYS)
def test_a_missing_folder_is_named(name, net, tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        saves(net, tmp_path)[name](tmp_path / "missing" / "file")


def test_of_two_writers_one_wins(tmp_path):
    path, wrong = tmp_path / "file", []

    def write(number):
        for _ in range(20):
            npx.save(path, {"a": np.full(5000, float(number))})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            found = npx.load(path)["a"]
            if not (found == found[0]).all():
                wrong.append(found)
    for thread in threads:
        thread.join()
    assert not wrong and [p.name for p in tmp_path.iterdir()] == ["file"]


def test_offsets_outside_of_a_file_of_records_are_refused(tmp_path):
    with recordio.MXIndexedRecordIO(tmp_path / "i", tmp_path / "r", "w") as file:
        file.write_idx(0, b"record")
    for offset in ("-8", "99999999999999999999", "3", "5000"):
        (tmp_path / "i").write_text(f"0\t{offset}\n")
        with (
            pytest.raises(errors.DataFileError),
            recordio.MXIndexedRecordIO(tmp_path / "i", tmp_path / "r", "r") as file,
        ):
            file.read_idx(0)
