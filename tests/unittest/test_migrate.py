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
    ("x = nd.array([[1], [-2]])", "x = nd.array([[1], [-2]], dtype='float32')"),
    ("y = np.stack(p + 1 for p in x)", "y = np.stack([p + 1 for p in x])"),
    ("y = np.argmax(x, axis=1)", "y = np.argmax(x, axis=1).astype('float32')"),
    ("y = nd.softmax(x)", "y = npx.softmax(x)"),
    ("y = mx.nd.dot(x, x)", "y = np.dot(x, x)"),
    ("d = nn.Dense(2, prefix='a_')", "d = nn.Dense(2)"),
    ("t = gluon.Trainer(p, 'sgd', kvstore='dist_async')", "t = gluon.Trainer(p, 'sgd', kvstore='dist_sync')"),
    ("e = nn.Embedding(3, 2, sparse_grad=True)", "e = nn.Embedding(3, 2)"),
    ("x = np.random.normal(scale=2); x.attach_grad()", "x = np.random.normal(scale=2, size=()); x.attach_grad()"),
    ("x.attach_grad(stype='row_sparse')", "x.attach_grad()"),
    ("i = mx.io.NDArrayIter(x)", "(use gluon.data.DataLoader, or image.ImageIter)"),
    ("mx.profiler.start()", "(use npx.profile)"),
    ("n = gluon.model_zoo.vision.resnet18_v1(pretrained=True)", "(root= names the folder of the file)"),
    ("with net.name_scope(): pass", "(remove the `with`)"),
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
    "x = nd.zeros((2, 3))",
    "y = npx.softmax(x)",
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
