"""Places of an MXNet program that mean something else here, with the line to write instead."""

import subprocess
import sys
from pathlib import Path

import pytest

from npcompat import migrate

HEAD = "import mxnet as mx\nfrom mxnet import np, npx, gluon, nd\nfrom mxnet.gluon import nn\n"
LINES = [
    ("x = np.array([1, 2])", "x = np.array([1, 2], dtype='float32')"),
    ("x = mx.np.arange(3) + 1", "x = mx.np.arange(3, dtype='float32') + 1"),
    ("y = np.take(np.array([1, 2]), i)", "y = np.take(np.array([1, 2], dtype='float32'), i)"),
    ("x = nd.array([[1], [-2]])", "x = nd.array([[1], [-2]], dtype='float32')"),
    ("y = np.stack(p + 1 for p in x)", "y = np.stack([p + 1 for p in x])"),
    ("y = np.argmax(x, axis=1)", "y = np.argmax(x, axis=1).astype('float32')"),
    ("y = nd.softmax(x)", "y = npx.softmax(x)"),
    ("y = mx.nd.dot(x, x)", "y = np.dot(x, x)"),
    ("d = nn.Dense(2, prefix='a_')", "d = nn.Dense(2)"),
    ("d = nn.Dense(2, prefix='a_', params=None, units=3)", "d = nn.Dense(2, units=3)"),
    ("e = nn.Embedding(3, 2, sparse_grad=True, params=p)", "e = nn.Embedding(3, 2)"),
    ("y = float(np.ones((1, 1)))", "y = np.ones((1, 1)).item()"),
    ("x = nd.array([[1.0]]); x = int(x) + 1", "x = nd.array([[1.0]]); x = x.item() + 1"),
    ("y = float(np.random.normal(size=(1,)))", "y = np.random.normal(size=(1,)).item()"),
    ("y = (x == x).all().asnumpy()", "y = bool((x == x).all())"),
    ("y = np.any(x).asnumpy()", "y = bool(np.any(x))"),
    ("y = x.all(); y.wait_to_read()", "y = x.all(); bool(y)"),
    ("b = np.zeros(3); b[0] = np.ones((1, 1))", "b = np.zeros(3); b[0] = np.ones((1, 1)).item()"),
    ("b = np.zeros(shape=(3, 2)); b[0, -1] = np.array([1.0])", "b = np.zeros(shape=(3, 2)); b[0, -1] = np.array([1.0]).item()"),
    ("t = gluon.Trainer(p, 'sgd', kvstore='dist_async')", "t = gluon.Trainer(p, 'sgd', kvstore='dist_sync')"),
    ("e = nn.Embedding(3, 2, sparse_grad=True)", "e = nn.Embedding(3, 2)"),
    ("x = np.random.normal(scale=2); x.attach_grad()", "x = np.random.normal(scale=2, size=()); x.attach_grad()"),
    ("x.attach_grad(stype='row_sparse')", "x.attach_grad()"),
    ("i = mx.io.NDArrayIter(x)", "(use gluon.data.DataLoader, or image.ImageIter)"),
    ("mx.profiler.start()", "(use npx.profile)"),
    ("n = gluon.model_zoo.vision.resnet18_v1(pretrained=True)", "(root= names the folder of the file)"),
    ("with net.name_scope(): pass", "(remove the `with`)"),
    ("x = nd.random.normal(0, 1, shape=(2, 2))", "x = np.random.normal(0, 1, size=(2, 2))"),
    ("mx.nd.save('f', [x])", "npx.save('f', [x])"),
    ("m = mx.metric.Perplexity(0)", "m = mx.metric.Perplexity(ignore_label=0)"),
    ("state.detach()", "state = state.detach()"),
    ("for s in state: s.detach()", "(state = [s.detach() for s in state], in place of the loop)"),
    ("x = nd.ones((2, 3)); y = x.take(j)", "x = nd.ones((2, 3)); y = x.take(j, axis=0, mode='clip')"),
]  # fmt: skip
SAME = [
    "x = np.array([1.0, 2.0])",
    "x = np.array([1, 2], dtype='int32')",
    "y = np.concatenate([x, x])",
    "y = np.concatenate(p + 1 for p in x)",
    "y = x.argsort()",
    "x = np.random.normal(size=3); x.attach_grad()",
    "x = np.random.normal(); y = x * 2; y.attach_grad()",
    "def f():\n    x = np.random.normal()\ndef g(x):\n    x.attach_grad()",
    "x = np.random.normal(loc=mean); x.attach_grad()",
    "d = nn.Dense(2, activation='relu')",
    "y = float(x) + float(np.ones(())) + int(np.array(1.0))",
    "x = np.ones((1, 1)); x = x.sum(); y = float(x)",
    "x = np.ones((1, 1))\nfor x in x: y = float(x)",
    "y = (x == x).all().item()",
    "y = x.all(axis=0).asnumpy() + np.all(x, 0).asnumpy() + x.all(0).asnumpy()",
    "b = np.zeros((3, 2)); b[0] = np.ones((1, 1)); b[0, 0] = 1.0",
    "b = np.zeros(3); b[:1] = np.ones(1); x[0] = np.ones(1)",
    "x = nd.zeros((2, 3))",
    "y = x.take(np.array([0])); z = npx.pick(x, np.array([1, 0])); x[np.array([1])] = 0",
    "i = np.array([0])\ny = x.take(i)",
    "y = np.take(x, np.array([1, 0]))",
    "y = npx.softmax(x)",
    "state = state.detach(); y = [s.detach() for s in state]; f(x.detach())",
    "class B(gluon.Block):\n    def __init__(self):\n        super().__init__(prefix='b_')",
]


@pytest.mark.parametrize(("line", "instead"), LINES)
def test_a_place_is_found_with_the_line_to_write(line, instead):
    found = [p for p in migrate.places(HEAD + line) if p.line > 3]
    assert [(p.line, p.instead) for p in found] == [(4, instead)]
    assert found[0].reason


@pytest.mark.parametrize("line", SAME)
def test_nothing_is_said_of_what_means_the_same(line):
    assert [p for p in migrate.places(HEAD + line) if p.line > 3] == []


def test_imports_are_renamed():
    found = migrate.places(HEAD + "import mxnet\n")
    assert [p.instead for p in found] == [
        "import npcompat as mx",
        "from npcompat import np, npx, gluon, nd",
        "from npcompat.gluon import nn",
        "import npcompat as mxnet",
    ]
    assert migrate.places("import numpy as np\nx = np.array([1, 2])") == []


def test_the_command_prints_places(tmp_path):
    file = tmp_path / "net.py"
    file.write_text(HEAD + "x = np.array([1, 2])\n")
    command = [sys.executable, "-m", "npcompat.migrate", str(file)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 1 and done.stderr == ""
    assert done.stdout.splitlines()[-2:] == [
        f"{file}:4: integers stay integers, as in NumPy",
        "    x = np.array([1, 2], dtype='float32')",
    ]
    file.write_text("import numpy\n")
    assert migrate.main([str(file)]) == 0


def test_files_that_are_no_programs_are_reported_beside_the_others(tmp_path, capsys):
    older, net, none = tmp_path / "older.py", tmp_path / "net.py", tmp_path / "none.py"
    older.write_text('print "x"\n')
    net.write_bytes("# coding: latin-1\nimport mxnet  # é\n".encode("latin-1"))
    (tmp_path / "binary.py").write_bytes(b"\0\xff")
    names = [str(f) for f in (older, none, tmp_path / "binary.py", net)]
    assert migrate.main(names) == 2
    printed, errors = capsys.readouterr()
    assert printed == f"{net}:2: the package is npcompat\n    import npcompat as mxnet  # é\n"
    assert [line.partition(": ")[0] for line in errors.splitlines()] == names[:3]
    assert "line 1" in errors and "No such file" in errors
