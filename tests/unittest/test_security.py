"""Attacks on the network and on the workers of data loaders."""

import json
import os
import pickle
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

from npcompat import gluon, image, np, npx, recordio, symbol
from npcompat.gluon.data import _loader
from npcompat.gluon.data.batchify import default_batchify_fn
from npcompat.gluon.model_zoo import vision


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
    net = gluon.nn.Dense(2, in_units=3)
    url = "http://nowhere.invalid/file"
    for read in (
        npx.load, np.load, symbol.load, image.imread, net.load_parameters,
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
            sent.append(pickle.loads(content[0]))

        def submit(self, function: Any, /, *args: Any, **_: Any):
            assert function is _loader._make
            sent.append(args)
            dataset, batchify, _ = sent[0]
            return super().submit(lambda: batchify([dataset[i] for i in args[0]]))

    monkeypatch.setattr(_loader, "ProcessPoolExecutor", Pool)
    data = gluon.data.ArrayDataset(onp.arange(4))
    loader: Any = gluon.data.DataLoader(data, 2, num_workers=1)
    loader.net = object()  # what hangs on the loader stays here
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3]]
    (dataset, batchify, numpy_dtypes), *batches = sent
    assert numpy_dtypes == 0
    assert type(dataset) is gluon.data.ArrayDataset and batchify is default_batchify_fn
    assert [list(indices) for indices, *_ in batches] == [[0, 1], [2, 3]]
    assert all(type(seed) is int and rest == [1, ""] for _, seed, *rest in batches)
