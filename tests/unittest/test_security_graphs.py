"""Attacks by graphs and indices: they run no code, and reach no memory but that of the arrays."""

import base64
import json
import math
import subprocess
import sys

import numpy as onp
import pytest

from npcompat import errors, np, npx, ops, symbol
from npcompat.symbol import _files

MANY = 2**62
"""More than any array may have; as an index of 32 bits it would be 0."""


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
