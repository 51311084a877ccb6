"""Attacks on what SECURITY.md promises: files, graphs, pictures, indices, network and workers."""

import base64
import inspect
import io
import json
import math
import os
import pickle
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import threading
import tracemalloc
import urllib.error
import urllib.request
import zipfile
import zlib
from contextlib import suppress
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

from npcompat import errors, gluon, image, np, npx, ops, recordio, symbol
from npcompat.gluon.contrib import estimator as est
from npcompat.gluon.data import _loader
from npcompat.gluon.data.batchify import default_batchify_fn
from npcompat.gluon.model_zoo import vision
from npcompat.symbol import _files

MANY = 2**62
"""More than any array may have; as an index of 32 bits it would be 0."""


class Attack:
    """A pickle of it makes a folder when it is loaded."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return os.mkdir, (self.marker,)


def npy(descr, shape, elements=b""):
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + b"\n" + elements


def archive(name, content, comment=None):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr(name, content)
        packed.comment = json.dumps(comment or {}).encode()
    return file.getvalue()


def made(kind, attack):
    """Content of a file with a pickle in it."""
    return {
        "a pickle": lambda: attack,
        "objects": lambda: npy("|O", (1,), attack),
        "one object": lambda: npy("|O", (), attack),
        "objects in records": lambda: npy([("a", "<f8"), ("b", "|O")], (1,), attack),
        "objects in an archive": lambda: archive("a.npy", npy("|O", (1,), attack)),
        "a pickle in an archive": lambda: archive("a.npy", attack),
        "torch's archive": lambda: archive("archive/data.pkl", attack),
        "addresses of objects": lambda: archive(
            "a.npy", npy("<u8", (2,), bytes(16)), {"kind": "dict", "dtypes": {"a": "O"}}
        ),
    }[kind]()


PICKLED = (
    "a pickle", "objects", "one object", "objects in records", "objects in an archive",
    "a pickle in an archive", "torch's archive", "addresses of objects",
)  # fmt: skip


def dense():
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    return net


def loaded_model(path):
    dense().save(str(path) + "-whole")
    Path(f"{path}-model.json").write_text(Path(f"{path}-whole-model.json").read_text())
    Path(f"{path}-model.params").write_bytes(path.read_bytes())
    dense().load(str(path))


def imported(path):
    graph = path.with_suffix(".json")
    made: Any = np.exp(symbol.var("x", shape=(2,), dtype="float32")) * symbol.var("w")
    made.save(str(graph))
    gluon.SymbolBlock.imports(str(graph), ["x"], str(path))


READERS = {
    "npx.load": lambda path: npx.load(path),
    "load_parameters": lambda path: dense().load_parameters(path),
    "Block.load": loaded_model,
    "ParameterDict.load": lambda path: dense().collect_params().load(path),
    "Trainer.load_states": lambda path: gluon.Trainer(dense().collect_params(), "adam").load_states(
        path
    ),
    "SymbolBlock.imports": imported,
    "pretrained": lambda path: vision.squeezenet1_1(pretrained=True, root=path.parent),
}


# --- pickles and archives -------------------------------------------------------------------------


def test_the_attack_works_where_pickles_are_allowed(tmp_path):
    marker = tmp_path / "marker"
    pickle.loads(pickle.dumps(Attack(marker)))
    marker.rmdir()
    path = tmp_path / "objects.npy"
    path.write_bytes(npy("|O", (), pickle.dumps(Attack(marker))))
    with suppress(Exception):  # what the attack returns is no array
        np.load(path, allow_pickle=True)
    assert marker.exists()


@pytest.mark.parametrize("kind", PICKLED)
@pytest.mark.parametrize("reader", READERS)
def test_no_reader_of_arrays_unpickles(reader, kind, tmp_path):
    path, marker = tmp_path / "squeezenet1.1.params", tmp_path / "marker"
    path.write_bytes(made(kind, pickle.dumps(Attack(marker))))
    with pytest.raises(errors.ParameterFileError):
        READERS[reader](path)
    assert not marker.exists()


@pytest.mark.parametrize("kind", PICKLED)
@pytest.mark.parametrize("mapped", [None, "r"])
def test_np_load_does_not_unpickle_unless_it_is_allowed(kind, mapped, tmp_path):
    path, marker = tmp_path / "file.npy", tmp_path / "marker"
    path.write_bytes(made(kind, pickle.dumps(Attack(marker))))
    for file in (path, io.BytesIO(path.read_bytes())):
        if mapped and file is not path:
            continue
        if "archive" in kind or kind == "addresses of objects":
            with np.load(file, mapped) as arrays:
                for name in arrays:
                    if kind == "objects in an archive":
                        with pytest.raises(ValueError, match="allow_pickle=False"):
                            arrays[name]
                    else:
                        assert type(arrays[name]) in (bytes, np.ndarray)
        else:
            with pytest.raises(ValueError, match="pickle|Python objects"):
                np.load(file, mapped)
    assert not marker.exists()


def test_no_argument_of_other_readers_allows_pickles():
    readers = (
        npx.load, gluon.Block.load_parameters, gluon.Block.load, gluon.ParameterDict.load,
        gluon.Trainer.load_states, symbol.load, symbol.load_json, gluon.SymbolBlock.imports,
        ops.from_json,
    )  # fmt: skip
    for reader in readers:
        assert not [n for n in inspect.signature(reader).parameters if "pickle" in n], reader
    assert inspect.signature(np.load).parameters["allow_pickle"].default is False


def test_a_header_is_no_code(tmp_path):
    path, marker = tmp_path / "file.npy", tmp_path / "marker"
    code = f"{{'descr': __import__('os').mkdir({str(marker)!r}), 'shape': ()}}"
    header = code.ljust(255) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    with pytest.raises(errors.ParameterFileError):
        npx.load(path)
    with pytest.raises((ValueError, errors.DataFileError)):
        np.load(path)
    assert not marker.exists()


@pytest.mark.parametrize("dtype", ["|V0", "|S0", "<U0"])
def test_elements_without_bytes_are_limited(dtype, tmp_path):
    path = tmp_path / "empty.npy"
    path.write_bytes(npy(dtype, (10**15,)))
    with pytest.raises(errors.ParameterFileError, match="without bytes"):
        npx.load(path)
    with pytest.raises(ValueError, match="without bytes"):
        np.load(path)


@pytest.mark.parametrize("name", ["../outside", "/outside", "..\\outside", "a/../../outside"])
def test_archives_write_no_files(name, tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    path = inside / "escaping.npz"
    path.write_bytes(archive(f"{name}.npy", npy("<f8", (1,), bytes(8))))
    before = sorted(tmp_path.rglob("*"))
    (read,) = npx.load(path).values()
    assert read.tolist() == [0]
    with np.load(path) as arrays:
        assert [arrays[n].tolist() for n in arrays] == [[0]]
    npx.savez(path, **{name: read})
    np.savez(path, **{name: read})
    assert sorted(tmp_path.rglob("*")) == before and not Path("/outside.npy").exists()


def test_checkpoints_are_safetensors_and_json(tmp_path):
    def fitted(**options):
        net = dense()
        trainer = gluon.Trainer(net.collect_params(), "adam")
        metric = gluon.metric.Loss()
        fit = est.Estimator(net, gluon.loss.L2Loss(), train_metrics=metric, trainer=trainer).fit
        data = gluon.data.DataLoader(
            gluon.data.ArrayDataset(onp.ones((4, 3), "f4"), onp.ones((4, 2), "f4")), 2
        )
        handler = est.CheckpointHandler(tmp_path / "steps", **options)
        fit(data, epochs=2 if options else 1, event_handlers=[handler])

    fitted()
    files = sorted((tmp_path / "steps").iterdir())
    assert [file.suffix for file in files] == [".json", ".params", ".states"]
    for file in files:
        content = file.read_bytes()
        if file.suffix != ".json":
            content = content[8 : 8 + struct.unpack_from("<Q", content)[0]]
        assert isinstance(json.loads(content), dict)
    marker = tmp_path / "marker"
    for file in files:
        content = file.read_bytes()
        file.write_bytes(pickle.dumps(Attack(marker)))
        with pytest.raises(errors.ParameterFileError):
            fitted(resume_from_checkpoint=True)
        file.write_bytes(content)
    assert not marker.exists()
    fitted(resume_from_checkpoint=True)


# --- graphs ---------------------------------------------------------------------------------------


def sealed(nodes):
    """Text of a graph whose checksum is right; its output is that of the last node."""
    content = {"nodes": nodes, "heads": [[len(nodes) - 1, 0]]}
    head = {"format": "npcompat.symbol", "version": 1, "checksum": _files._checksum(content)}
    return json.dumps(head | content)


def variable(name, shape=None, dtype="float64"):
    return {"name": name, "type": {"shape": shape, "dtype": dtype}}


def node(op, attrs, *inputs):
    outputs = [{"shape": None, "dtype": None}]
    called = {"inputs": [[i, 0] for i in inputs], "outputs": outputs}
    return {"name": "node", "op": op, "version": 1, "attrs": attrs} | called


def refused(op, attrs):
    """Return the errors of a definition and of a graph with it."""
    with pytest.raises(errors.DefinitionError) as first:
        ops.from_json(json.dumps({"op": op, "version": 1, "attrs": attrs}))
    with pytest.raises(errors.DefinitionError) as second:
        symbol.load_json(sealed([variable("x"), node(op, attrs, 0)]))
    return str(first.value), str(second.value)


@pytest.fixture
def no_code(monkeypatch):
    """Loading a library, and starting a program, fail the test."""

    def loads(*args, **options):
        raise AssertionError(f"code is loaded: {args}")

    monkeypatch.setattr("ctypes.CDLL", loads)
    monkeypatch.setattr("ctypes.PyDLL", loads)
    monkeypatch.setattr(os, "system", loads)
    monkeypatch.setattr(subprocess, "Popen", loads)


@pytest.mark.parametrize(
    "op", ["os.system", "__import__", "_npi_load", "_npx_custom_./lib.so:f", "numpy.load", ""]
)
def test_graphs_name_operators_of_the_list_only(op, no_code):
    for text in refused(op, {}):
        assert "no operator" in text or "no custom operator" in text


def test_graphs_load_no_library(tmp_path, no_code):
    (tmp_path / "lib.so").write_bytes(b"\x7fELF")
    library = f"{tmp_path}/lib.so:f"
    for op in ("Custom", "_npx_custom", f"_npx_custom_{library}", "_npx_custom_aot"):
        refused(op, {"func": library, "func_type": "aot", "op_type": library})
    npx.Custom(lambda a: a, name="security_known")
    for attrs in ({}, {"func": library, "func_type": "aot"}):
        text = sealed([variable("x"), node("_npx_custom_security_known", attrs, 0)])
        assert symbol.load_json(text).list_arguments() == ["x"]  # the user's function, with these
    with pytest.raises(AssertionError, match="code is loaded"):
        npx.Custom(library, lambda a: a, lambda a: a, "aot")


def test_graphs_import_no_plug_in(monkeypatch):
    monkeypatch.delitem(sys.modules, "array_api_strict", raising=False)
    monkeypatch.setattr("npcompat._internal.backend.plugin.registry.engines", {})
    for name in ("array_api_strict.cpu(0)", "torch.cpu(0)", "os.cpu(0)", "auto:torch.cpu(0)"):
        for text in refused("_npi_to_device", {"device": {"device": name}}):
            assert "not in use" in text
    assert "array_api_strict" not in sys.modules
    symbol.load_json(
        sealed([variable("x"), node("_npi_to_device", {"device": {"device": "cpu(0)"}}, 0)])
    )


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').mkdir('MARKER')", "open('MARKER','w')", "().__class__", "a.b", "a[0]",
        "(lambda: 1)()", "a if a else a", "f'{a}'", "a; b", "(" * 5000 + "a" + ")" * 5000,
    ],
)  # fmt: skip
def test_dimensions_are_no_code(text, tmp_path):
    text = text.replace("MARKER", str(tmp_path / "marker"))
    refused("_npi_broadcast_to", {"shape": [{"dim": text}]})
    with pytest.raises(errors.DefinitionError):
        symbol.load_json(sealed([variable("x", [text])]))
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("count", ["²", "9" * 5000, "-1", "1_0", "99999"])
def test_numbers_of_outputs_are_numbers(count):
    npx.Custom(lambda a: a, name="security_counted")
    refused(f"_npx_custom_security_counted:{count}", {})


@pytest.mark.parametrize("name", ["__builtins__", "load", "os", "fromregex", "f2py"])
@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
def test_names_of_ufuncs_run_nothing_else(name, method, no_code):
    inputs = [variable("x", [3])] + [variable("i", [1], "int64")] * (method == "reduceat")
    attrs = {"ufunc": name}
    text = sealed([*inputs, node(f"_npi_ufunc_{method}", attrs, *range(len(inputs)))])
    given = {"x": np.ones(3), "i": np.zeros(1, dtype="int64")}
    with pytest.raises((AttributeError, errors.DefinitionError, errors.InferenceError)):
        symbol.load_json(text).eval(**{n["name"]: given[n["name"]] for n in inputs})


@pytest.mark.parametrize("dtype", ["O", "object", "O,f8"])
def test_no_bytes_of_a_graph_become_objects(dtype, placed):
    data = base64.b64encode(b"\x10" * 16).decode()
    constant = {"name": "c", "constant": data, "type": {"shape": [2], "dtype": dtype}}
    with pytest.raises(errors.DefinitionError):
        symbol.load_json(sealed([constant]))
    text = sealed([variable("x", [2]), node("_npi_view", {"dtype": {"dtype": dtype}}, 0)])
    with pytest.raises((errors.DefinitionError, errors.InferenceError)):
        symbol.load_json(text).eval(x=np.ones(2))


@pytest.mark.parametrize("offset", [4, -5, 10**7, MANY, -MANY])
@pytest.mark.parametrize("strides", [[1], [10**6], [-1], [MANY]])
def test_strides_of_a_graph_read_and_write_the_array_only(offset, strides, placed):
    attrs = {"shape": [3], "strides": strides, "offset": offset}
    x = np.array([7.0] * 4)
    read = symbol.load_json(sealed([variable("x", [4]), node("_npi_as_strided", attrs, 0)]))
    nodes = [variable("x", [4]), variable("y", [3]), node("_npi_as_strided_put", attrs, 0, 1)]
    for graph, given in (
        (read, {"x": x}),
        (symbol.load_json(sealed(nodes)), {"x": x, "y": np.array([7.0] * 3)}),
    ):
        try:
            (found,) = graph.eval(**given)
        except (IndexError, errors.InferenceError, OverflowError):
            continue
        assert all(v == 7 or math.isnan(v) for v in found.tolist())


# --- pictures and records -------------------------------------------------------------------------


def chunk(kind, content):
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def bombs():
    """Heads of pictures of 3,600,000,000 pixels or more."""
    size = struct.pack(">II", 60000, 60000)
    png = chunk(b"IHDR", size + b"\x08\x02\0\0\0") + chunk(b"IDAT", zlib.compress(bytes(9)))
    tags = [(256, 60000), (257, 60000), (258, 8), (259, 1), (262, 1), (273, 8), (279, 9)]
    tiff = b"".join([struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags])
    return {
        "png": b"\x89PNG\r\n\x1a\n" + png,
        "bmp": b"BM"
        + struct.pack("<IIIIiiHHIIiiII", 99, 0, 54, 40, 60000, 60000, 1, 24, 0, 0, 0, 0, 0, 0),
        "ppm": b"P6 60000 60000 255\n" + bytes(9),
        "tiff": b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", 7) + tiff + bytes(4),
    }


def picture_readers(content, path):
    path.write_bytes(content)
    yield lambda: image.imdecode(content)
    yield lambda: image.imread(str(path))
    record = recordio.pack(recordio.IRHeader(0, 1.0, 0, 0), content)
    yield lambda: recordio.unpack_img(record)
    yield lambda: gluon.data.vision.ImageListDataset(path.parent, [[0, path.name]])[0]


@pytest.mark.parametrize("kind", bombs())
def test_pictures_have_a_limit(kind, tmp_path):
    pytest.importorskip("PIL")
    for read in picture_readers(bombs()[kind], tmp_path / "bomb.png"):
        tracemalloc.start()
        try:
            with pytest.raises(ValueError, match="decompression bomb"):
                read()
            assert tracemalloc.get_traced_memory()[1] < 2**24
        finally:
            tracemalloc.stop()


def test_postscript_runs_nothing_under_any_name(tmp_path, no_code):
    pytest.importorskip("PIL")
    content = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n"
    for read in picture_readers(content, tmp_path / "picture.png"):
        with pytest.raises(ValueError, match="formats JPEG, PNG"):
            read()


@pytest.mark.parametrize("kind", [0, 1, 2, 3])
def test_lengths_of_records_beyond_the_file_take_no_memory(kind, tmp_path):
    path = tmp_path / "forged.rec"
    path.write_bytes(struct.pack("<II", 0xCED7230A, kind << 29 | (1 << 29) - 1) + b"abcd")
    tracemalloc.start()
    try:
        with recordio.MXRecordIO(path, "r") as file, pytest.raises(errors.DataFileError):
            file.read()
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_labels_beyond_a_record_are_refused():
    with pytest.raises(errors.DataFileError):
        recordio.unpack(struct.pack("<IfQQ", 2**32 - 1, 0.0, 0, 0) + b"abcd")


# --- indices --------------------------------------------------------------------------------------


def written(change):
    def function(x, i):
        y = x + 0
        change(y, i)
        return y

    return function


READS = {
    "x[i]": lambda x, i: x[i],
    "x[i, 0]": lambda x, i: x.reshape(4, 1)[i, 0],
    "take": lambda x, i: np.take(x, i),
    "take_along_axis": lambda x, i: np.take_along_axis(x, i, 0),
    "embedding": lambda x, i: npx.embedding(i, x.reshape(4, 1), input_dim=4, output_dim=1),
    "gather_nd": lambda x, i: npx.gather_nd(x, i.reshape(1, 1)),
    "sequence_last": lambda x, i: npx.sequence_last(x.reshape(4, 1), i + 1, True),
    "reduceat": lambda x, i: np.add.reduceat(x, i),
}
WRITES = {
    "x[i] = 1": written(lambda y, i: y.__setitem__(i, 1.0)),
    "x[i] += 1": written(lambda y, i: y.__setitem__(i, y[i] + 1.0)),
    "put": written(lambda y, i: np.put(y, i, 1.0)),
    "add.at": written(lambda y, i: np.add.at(y, i, 1.0)),
    "index_update": lambda x, i: npx.index_update(x, i.reshape(1, 1), x[:1]),
    "index_add": lambda x, i: npx.index_add(x, i.reshape(1, 1), x[:1]),
}
OUTSIDE = (4, -5, 10**7, MANY, -MANY)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", [*READS, *WRITES])
def test_indices_out_of_bounds_raise(name, compiled, placed):
    function = (READS | WRITES)[name]
    function = npx.jit(function) if compiled else function
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert onp.isfinite(onp.asarray(function(x, np.array([2], dtype="int64")))).all()
    for index in OUTSIDE:
        i = np.array([index], dtype="int64")
        if name == "sequence_last" and index == MANY:
            continue
        with pytest.raises((IndexError, ValueError)):
            onp.asarray(function(x, i))
    assert x.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_indices_are_clipped_or_wrapped_where_the_mode_says_so(mode, compiled, placed):
    functions = [
        lambda x, i: np.take(x, i, mode=mode),
        lambda x, i: npx.pick(x.reshape(1, 4), i, mode=mode),
    ]
    x = np.array([1.0, 2.0, 3.0, 4.0])
    for function in functions:
        function = npx.jit(function) if compiled else function
        for index in OUTSIDE[:3]:  # NumPy wraps by one length at a time
            place = min(max(index, 0), 3) if mode == "clip" else index % 4
            found = onp.asarray(function(x, np.array([index], dtype="int64")))
            assert found.tolist() == [place + 1.0], index


@pytest.mark.parametrize("name", [n for n in (*READS, *WRITES) if n != "reduceat"])
def test_graphs_read_and_write_nothing_outside_of_the_array(name, placed):
    x, i = symbol.var("x", shape=(4,), dtype="float64"), symbol.var("i", (1,), dtype="int64")
    graph = (READS | WRITES)[name](x, i)
    for index in OUTSIDE:
        found = graph.eval(x=np.full(4, 7.0, "float64"), i=np.array([index], dtype="int64"))[0]
        for value in onp.asarray(found).reshape(-1).tolist():
            assert math.isnan(value) or value in (1, 7, 8, 14, 21, 28)


TOO_LARGE = """
from npcompat import np, npx
large = 2**62
for place in ("jax", "numpy"):
    with npx.backend(place):
        for made in (
            lambda: np.bincount(np.array([large])),
            lambda: np.repeat(np.ones(1), np.array([large])),
            lambda: npx.one_hot(np.array([1]), large),
            lambda: np.random.uniform(size=large),
            npx.jit(lambda: np.tile(np.ones(1), large)),
        ):
            try:
                made()
            except (ValueError, MemoryError, OverflowError) as error:
                print(type(error).__name__)
"""


def test_lengths_that_no_memory_has_do_not_end_the_process():
    found = subprocess.run(
        [sys.executable, "-c", TOO_LARGE], capture_output=True, text=True, timeout=120
    )
    assert found.returncode == 0, found.stderr[-500:]
    assert len(found.stdout.split()) == 10


# --- network --------------------------------------------------------------------------------------


@pytest.fixture
def no_network(monkeypatch):
    """Every connection, and every question for an address, fails the test."""

    def connects(*args, **options):
        raise AssertionError(f"the network is used: {args}")

    monkeypatch.setattr(socket, "getaddrinfo", connects)
    monkeypatch.setattr(socket, "create_connection", connects)
    monkeypatch.setattr(socket.socket, "connect", connects)
    monkeypatch.setattr(socket.socket, "connect_ex", connects)


def test_datasets_and_networks_download_nothing(tmp_path, no_network, monkeypatch):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    names = ("MNIST", "FashionMNIST", "CIFAR10", "CIFAR100")
    for name in names:
        with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
            getattr(gluon.data.vision, name)(tmp_path)
    models = ("resnet18_v1", "vgg11", "alexnet", "densenet121", "squeezenet1.0", "mobilenet1.0")
    for name in models:
        with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
            vision.get_model(name, pretrained=True)


def test_addresses_are_names_of_files(no_network):
    url = "http://nowhere.invalid/file"
    for read in (
        npx.load, np.load, symbol.load, image.imread, dense().load_parameters,
        gluon.data.vision.ImageFolderDataset, lambda u: recordio.MXRecordIO(u, "r"),
    ):  # fmt: skip
        with pytest.raises(OSError, match="nowhere"):
            read(url)
    with pytest.raises(AssertionError, match="network"):
        gluon.utils.download(url, "unused", overwrite=True)


def test_certificates_are_checked(tmp_path, monkeypatch):
    with pytest.raises(NotImplementedError, match="certificates are always checked"):
        gluon.utils.download("https://localhost/", tmp_path / "file", verify_ssl=False)
    context = ssl._create_default_https_context()
    assert context.check_hostname and context.verify_mode == ssl.CERT_REQUIRED
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl, which makes a certificate")
    key, own = tmp_path / "key.pem", tmp_path / "own.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", own,
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    monkeypatch.setenv("no_proxy", "*")
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(own, key)
    with HTTPServer(("localhost", 0), SimpleHTTPRequestHandler) as server:
        server.handle_error = lambda *_: None
        server.socket = serving.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
                gluon.utils.download(
                    f"https://localhost:{server.server_port}/", tmp_path / "file", retries=0
                )
        finally:
            server.shutdown()
            thread.join()
    assert not (tmp_path / "file").exists()


# --- workers --------------------------------------------------------------------------------------

secret = "of the module"


class Spy(gluon.data.Dataset):
    """A sample is what a worker process knows."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        folder = Path("/proc/self/fd")
        opened = [os.readlink(f) for f in folder.iterdir() if f.is_symlink() and f.exists()]
        names = sorted(os.environ)
        return json.dumps({"secret": secret, "opened": opened, "names": names, "pid": os.getpid()})


def texts(samples):
    return list(samples)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc")
def test_workers_get_no_memory_no_files_and_no_sockets(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "secret", "of this process")
    private = tmp_path / "private"
    private.write_text("private")
    with open(private) as file, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        ((sample,),) = gluon.data.DataLoader(Spy(), 1, num_workers=1, batchify_fn=texts)
        assert file.readable()
    found = json.loads(sample)
    assert found["pid"] != os.getpid() and found["secret"] == "of the module"
    assert str(private) not in found["opened"]
    assert not [name for name in found["opened"] if name.startswith("socket:")]
    assert set(found["names"]) <= {*os.environ, "LINES", "COLUMNS"}  # readline sets these


def test_workers_are_sent_the_dataset_the_function_and_numbers(monkeypatch):
    sent = []

    class Pool(_loader.ThreadPoolExecutor):
        def __init__(self, count, context, begin, content):
            assert context.get_start_method() == "spawn" and begin is _loader._begin
            super().__init__(count)
            sent.append(pickle.loads(*content))

        def submit(self, function: Any, /, *args: Any, **_: Any):
            assert function is _loader._make
            sent.append(args)
            dataset, batchify = sent[0]
            return super().submit(lambda: batchify([dataset[i] for i in args[0]]))

    monkeypatch.setattr(_loader, "ProcessPoolExecutor", Pool)
    data = gluon.data.ArrayDataset(onp.arange(4))
    loader: Any = gluon.data.DataLoader(data, 2, num_workers=1)
    loader.net = object()  # what hangs on the loader stays here
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3]]
    (dataset, batchify), *batches = sent
    assert type(dataset) is gluon.data.ArrayDataset and batchify is default_batchify_fn
    assert [list(indices) for indices, _ in batches] == [[0, 1], [2, 3]]
    assert all(type(seed) is int for _, seed in batches)
