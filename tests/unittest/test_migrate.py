"""Places of an MXNet program that mean something else here, with the line to write instead."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import npcompat as mx
from npcompat import _older_functions, migrate

HEAD = "import mxnet as mx\nfrom mxnet import np, npx, gluon, nd\nfrom mxnet.gluon import nn\n"
LINES = [
    ("x = np.array([1, 2])", "x = np.array([1, 2], dtype='float32')"),
    ("x = mx.np.arange(3) + 1", "x = mx.np.arange(3, dtype='float32') + 1"),
    ("y = np.take(np.array([1, 2]), i)", "y = np.take(np.array([1, 2], dtype='float32'), i)"),
    ("x = nd.array([[1], [-2]])", "x = nd.array([[1], [-2]], dtype='float32')"),
    ("y = np.stack(p + 1 for p in x)", "y = np.stack([p + 1 for p in x])"),
    ("y = np.argmax(x, axis=1)", "y = np.argmax(x, axis=1).astype('float32')"),
    ("y = nd.softmax(x)", "y = npx.softmax(x)"),
    ("y = mx.nd.dot(x, x)", "y = np.tensordot(x, x, axes=1)"),
    ("y = map(nd.exp, x)", "y = map(np.exp, x)"),
    ("y = map(nd.concat, x)", "(use np.concatenate([*data], axis=dim))"),
    ("y = nd.mean(x, axis=0, exclude=True)", "(use np.mean(data, axis=axis, keepdims=keepdims): axis= names the axes that are reduced: there is no exclude=)"),
    ("y = nd.reshape(x, shape=(-2, 0))", "(use np.reshape(data, shape): 0, -2, -3 and -4 in a shape have no meaning here)"),
    ("y = nd.reshape(x, shape=s)", "(use np.reshape(data, shape): 0, -2, -3 and -4 in a shape have no meaning here)"),
    ("y = nd.split(x, 1)", "(use np.split(data, num_outputs, axis=axis): np.split gives a list for one part, too)"),
    ("y = nd.flatten(next(x))", "(use np.reshape(data, (len(data), -1)): of a variable, as the argument stands there twice)"),
    ("y = nd.flatten(x)", "y = np.reshape(x, (len(x), -1))"),
    ("y = nd.sum(x, axis=())", "(use np.sum(data, axis=axis, keepdims=keepdims): an empty axis stands for all axes in MXNet: leave it out)"),
    ("y = nd.transpose(x, axes=())", "(use np.transpose(data, axes=axes): an empty axis stands for all axes in MXNet: leave it out)"),
    ("y = nd.take(x, [0, 1])", "(use np.take(a, indices.astype('int64'), axis=axis, mode=mode): of an array, as np.array([0, 1]))"),
    ("y = nd.exp(x, out=z)", "(use np.exp(data))"),
    ("y = nd.round(x)", "(see np.round, whose arguments and meaning may be others)"),
    ("y = nd.LeakyReLU(x)", "(use np or npx: functions of MXNet's older arrays are not here)"),
    ("y = nd.random.gamma(alpha=2, shape=(2,))", "(see np.random.gamma, whose arguments are others)"),
    ("mx.viz.print_summary(net)", "(use Block.summary)"),
    ("y = mx.runtime.Features()", "(use npx.build_info())"),
    ("y = mx.sym.FullyConnected(x)", "(use np or npx, whose functions take symbols: operators of MXNet's older symbols are not here)"),
    ("y = npx.fully_connected(x, w, b, num_hidden=2)", "y = npx.fully_connected(x, w, num_hidden=2)"),
    ("y = npx.fully_connected(x, w, b, 2)", "y = npx.fully_connected(x, w, num_hidden=2)"),
    ("y = npx.fully_connected(x, w, bias=b)", "y = npx.fully_connected(x, w)"),
    ("x = np.array([1, 2]) + np.array([1, 2])", "x = np.array([1, 2], dtype='float32') + np.array([1, 2], dtype='float32')"),
    ("é = 'é'; x = np.array([1]); y = np.array([1])", "é = 'é'; x = np.array([1], dtype='float32'); y = np.array([1], dtype='float32')"),
    ("y = a.detach(); a.detach()", "y = a.detach(); a = a.detach()"),
    ("self.a.detach()", "self.a = self.a.detach()"),
    ("a[0:1].detach()", "(give its result the name under which it is used)"),
    ("f(a).detach()", "(give its result the name under which it is used)"),
    ("x = f(np.array([1,\n  2]), y)", "x = f(np.array([1, 2], dtype='float32'), y)"),
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
    *[(f"x = np.{call})", f"x = np.{call}, dtype='float32')") for call in (
        "arange(start=0, stop=5", "arange(len(y)", "arange(n", "array(range(3)", "array([1] * 5",
        "array([[1, 2]] * 3", "array([1, 2] + [3]", "array([i for i in range(3)]",
        "array([True, False]", "array([2 ** 3, len(y), 1 if t else 0]", "full((2,), 3",
        "full((2,), fill_value=3",
    )],
    ("x = np.array([2]); f = lambda x: y[x]", "x = np.array([2], dtype='float32'); f = lambda x: y[x]"),
    ("k = 3; x = np.array([k, -k])", "k = 3; x = np.array([k, -k], dtype='float32')"),
    ("x = nd.ones((2, 3)); y = x.take(j)", "x = nd.ones((2, 3)); y = x.take(j, axis=0, mode='clip')"),
]  # fmt: skip
SAME = [
    "x = np.array([1.0, 2.0])",
    "x = np.array([1, 2], dtype='int32')",
    "y = np.concatenate([x, x]) + np.stack(arrays=x)",
    "y = np.concatenate(p + 1 for p in x)",
    "y = x.argsort()",
    "x = np.random.normal(size=3); x.attach_grad()",
    "x = np.random.normal(); y = x * 2; y.attach_grad()",
    "def f():\n    x = np.random.normal()\ndef g(x):\n    x.attach_grad()",
    "x = np.random.normal(loc=mean); x.attach_grad()",
    "d = nn.Dense(2, activation='relu')",
    "x = np.arange(0, 1, 0.1) + np.array([1, 2.0]) + np.array([1 / 2]) + np.array([k, 1])",
    "x = np.array(y) + np.array([i / 2 for i in range(3)]) + np.full((2,), 0.5) + np.eye(3)",
    "y = x.reshape((-1, 2)).dot(x).round()",
    "y = npx.fully_connected(x, w, b, num_hidden=2, no_bias=False) + npx.fully_connected(x, w)",
    "x = nd.zeros((2, 3), ctx=mx.cpu()); y = mx.runtime",
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
    "i = np.array([1])\ndef f(x):\n    return x[i]",
    "y = npx.softmax(x)",
    "state = state.detach(); y = [s.detach() for s in state]; f(x.detach())",
    "class B(gluon.Block):\n    def __init__(self):\n        super().__init__(prefix='b_')",
]
RUN = [
    ("nd.take(c, nd.array([1]))", [[3, 4]]),
    ("nd.take(c, i, axis=1)", [[2], [4]]),
    ("nd.take(c, nd.array([5]))", [[3, 4]]),  # the last row, as mode="clip"
    ("nd.concat(c, c, dim=0)", [[1, 2], [3, 4], [1, 2], [3, 4]]),
    ("nd.concat(c, c)", [[1, 2, 1, 2], [3, 4, 3, 4]]),
    ("nd.concat(*[c, c])", [[1, 2, 1, 2], [3, 4, 3, 4]]),
    ("nd.stack(c, c, axis=1)", [[[1, 2], [1, 2]], [[3, 4], [3, 4]]]),
    ("nd.dot(c, c)", [[7, 10], [15, 22]]),
    ("nd.dot(c, c, transpose_b=True)", [[5, 11], [11, 25]]),
    ("nd.dot(c, c, transpose_a=True)", [[10, 14], [14, 20]]),
    ("nd.dot(c, c, transpose_a=True, transpose_b=True)", [[7, 15], [10, 22]]),
    ("nd.dot(c, c, transpose_b=yes)", [[5, 11], [11, 25]]),
    ("nd.reshape(c, shape=(-1, 0))", [[1, 2], [3, 4]]),
    ("nd.reshape(c, (0, 1, -1))", [[[1, 2]], [[3, 4]]]),
    ("nd.reshape(c + 1, shape=(-1,))", [2, 3, 4, 5]),
    ("nd.split(c, num_outputs=2, axis=1)", [[[1], [3]], [[2], [4]]]),
    ("nd.split(c, 2)", [[[1], [3]], [[2], [4]]]),
    ("nd.mean(c, axis=0)", [2, 3]),
    ("nd.sum(c, axis=1, keepdims=True)", [[3], [7]]),
    ("nd.sum(c, 1, exclude=False)", [3, 7]),
    ("nd.arange(0, 6, 2, repeat=2)", [0, 0, 2, 2, 4, 4]),
    ("nd.arange(3, repeat=2)", [0, 0, 1, 1, 2, 2]),
    ("nd.zeros((1, 2), mx.cpu())", [[0, 0]]),
    ("nd.full((2,), val=3)", [3, 3]),
    ("nd.argmax(c, axis=1)", [1, 1]),
    ("nd.argsort(c, is_ascend=False)", [[1, 0], [1, 0]]),
    ("nd.sort(c, axis=0, is_ascend=False)", [[3, 4], [1, 2]]),
    ("nd.topk(c)", [[1], [1]]),
    ("nd.pick(c, i)", [2, 4]),
    ("nd.one_hot(i, 3)", [[0, 1, 0]]),
    ("nd.flatten(nd.expand_dims(c, axis=0))", [[1, 2, 3, 4]]),
    ("nd.squeeze(nd.expand_dims(c, 0))", [[1, 2], [3, 4]]),
    ("nd.transpose(c, axes=(1, 0))", [[1, 3], [2, 4]]),
    ("nd.swapaxes(c, 0, 1)", [[1, 3], [2, 4]]),
    ("nd.reverse(c, axis=1)", [[2, 1], [4, 3]]),
    ("nd.tile(c, reps=(1, 2))", [[1, 2, 1, 2], [3, 4, 3, 4]]),
    ("nd.repeat(c, repeats=2)", [1, 1, 2, 2, 3, 3, 4, 4]),
    ("nd.broadcast_to(nd.array([[1, 2]]), shape=(2, 2))", [[1, 2], [1, 2]]),
    ("nd.clip(c, a_min=2, a_max=3)", [[2, 2], [3, 3]]),
    ("nd.batch_dot(nd.stack(c), nd.stack(c), transpose_b=True)", [[[5, 11], [11, 25]]]),
    ("nd.slice(c, begin=(0, 1), end=(2, 2))", [[2], [4]]),
    ("nd.slice_axis(c, axis=1, begin=0, end=1)", [[1], [3]]),
    ("nd.FullyConnected(c, c, i, num_hidden=2)", [[6, 12], [12, 26]]),
    ("npx.fully_connected(c, c, i, num_hidden=2)", [[5, 11], [11, 25]]),
    ("nd.gather_nd(c, nd.array([[1], [0]]))", [3]),
    ("nd.norm(nd.array([[3, 4]]))", 5),
    ("nd.broadcast_add(lhs=c, rhs=nd.array([1, 2]))", [[2, 4], [4, 6]]),
    ("nd.relu(nd.negative(data=c)) + nd.softmax(nd.array([[1, 1]]), axis=0)", [[1, 1], [1, 1]]),
    ("nd.dot(nd.array([1, 2]), nd.relu(nd.concat(c, nd.array([[3, 4]]), dim=0))[:2])", [7, 10]),
    ("np.array([1, 2]) / 2 + np.array([1, 2])", [1.5, 3]),
    ("np.stack(p + 1 for p in [np.array([1]), np.array([2])])", [[2], [3]]),
    ("np.argmax(np.array([1, 2]), axis=0)", 1),
]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize(("expression", "value"), RUN)
def test_lines_to_write_have_the_values_of_mxnet(expression, value, backend):
    (instead,) = {p.instead for p in migrate.places(HEAD + f"y = {expression}") if p.line > 3}
    with mx.npx.backend(backend):
        c = mx.np.array([[1.0, 2.0], [3.0, 4.0]])
        i = mx.np.array([1.0] if "take" in expression else [1.0, 1.0])
        i = i[:1] if "one_hot" in expression else i
        names = {"mx": mx, "np": mx.np, "npx": mx.npx, "nd": mx.nd, "c": c, "i": i, "yes": True}
        exec(instead, names)
        found = names["y"]
        parts = found if isinstance(found, list) else [found]
        assert {str(part.dtype) for part in parts} == {"float32"}
        assert [p.tolist() for p in parts] == (value if isinstance(found, list) else [value])


@pytest.mark.parametrize(("line", "instead"), LINES)
def test_a_place_is_found_with_the_line_to_write(line, instead):
    found = [p for p in migrate.places(HEAD + line) if p.line > 3]
    assert [(p.line, p.instead) for p in found] == [(4, instead)]
    assert found[0].reason


@pytest.mark.parametrize("line", SAME)
def test_nothing_is_said_of_what_means_the_same(line):
    assert [p for p in migrate.places(HEAD + line) if p.line > 3] == []


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("y = x.flatten()", "y = np.reshape(x, (len(x), -1))"),
        ("y = x.sort()", "y = np.sort(x)"),
        ("y = x.take(i)", "y = x.take(i, axis=0, mode='clip')"),
    ],
)
def test_methods_of_older_arrays_that_mean_another_thing(line, instead):
    found = [p for p in migrate.places(HEAD + "x = nd.exp(a)\n" + line) if p.line == 5]
    assert [p.instead for p in found] == [instead]
    assert not [p for p in migrate.places(HEAD + line) if p.line > 3]  # of unknown arrays


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("y = a.reshape((-2, 1))", "(use np.reshape(x, shape), with"),
        ("y = a.reshape(0, -1)", "(use np.reshape(x, shape), with"),
        ("y = a.reshape(shape=(-3, n))", "(use np.reshape(x, shape), with"),
        ("y = a.reshape(shape=(-1,))", "y = np.reshape(a, (-1,))"),
        ("y = a.sort(is_ascend=False)", "y = np.sort(a, descending=True)"),
        ("y = a.split(num_outputs=2, axis=1)", "y = np.split(a, 2, axis=1)"),
        (
            "y = a.sum(axis=1, exclude=True)",
            "(use np.sum(data, axis=axis, keepdims=keepdims): axis=",
        ),
        ("y = a.round()", "(halves away from zero: np.sign(x) * np.floor(np.abs(x) + 0.5))"),
        ("y = a.dot(b)", "(the same for at most two axes, else np.tensordot(x, y, axes=1))"),
        ("y = (a > 0) + (b > 0)", "y = ((a > 0).astype('float32')) + (b > 0)"),
    ],
)
def test_methods_of_arrays_in_programs_with_older_arrays(line, instead):
    (found,) = [p for p in migrate.places(HEAD + "x = nd.exp(a)\n" + line) if p.line == 5]
    assert found.instead.startswith(instead)
    assert not [p for p in migrate.places(HEAD + line) if p.line > 3]


def test_what_is_to_be_used_is_here():
    for _, template in _older_functions._CALLS.values():
        for space, name in re.findall(r"\b(npx?)\.(\w+)", template):
            assert hasattr(getattr(mx, space), name), name


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


@pytest.mark.parametrize(
    ("head", "line", "expected"),
    [
        (
            "import numpy as np\nimport mxnet as mx\nfrom mxnet import nd",
            "e = nd.random.normal(shape=(3,)) + nd.softmax(np.ones(3))",
            "e = mx.np.random.normal(size=(3,)) + mx.npx.softmax(np.ones(3))",
        ),
        (
            "from mxnet import nd as F\nimport mxnet",
            "def f(np): return F.exp(np)",
            "def f(np): return mxnet.np.exp(np)",
        ),
        ("from mxnet import np as mnp, nd", "y = nd.exp(x)", "y = mnp.exp(x)"),
        ("import mxnet.numpy as onp\nfrom mxnet import nd", "y = nd.exp(x)", "y = onp.exp(x)"),
        ("from mxnet import nd", "y = nd.exp(nd.softmax(x))", "y = np.exp(npx.softmax(x))"),
        ("import numpy as np\nfrom mxnet import nd", "y = nd.exp(x)", "y = mxnp.exp(x)"),
        ("import mxnet.ndarray as nd", "y = nd.exp(a)", "y = np.exp(a)"),
        ("from mxnet.gluon import nn\nfrom mxnet import nd", "y = nd.exp(b)", "y = np.exp(b)"),
        (
            "import mxnet as mx",
            "y = mx.nd.array(x, mx.cpu())",
            "y = mx.np.array(x, ctx=mx.cpu())",
        ),
    ],
)
def test_lines_have_the_programs_names(head, line, expected):
    found = migrate.places(f"{head}\n{line}\n")
    assert found[-1].instead == expected
    added = {
        "y = np.exp(npx.softmax(x))": "from npcompat import nd, np, npx",
        "y = mxnp.exp(x)": "from npcompat import nd, np as mxnp",
        "y = np.exp(a)": "import npcompat.ndarray as nd; from npcompat import np",
        "y = np.exp(b)": "from npcompat import nd, np",
    }
    if expected in added:
        assert added[expected] in [p.instead for p in found]
