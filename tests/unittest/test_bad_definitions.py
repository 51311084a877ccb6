"""Bad input to operators, types, symbols and their files: what each error says."""

import json
import re

import numpy as onp
import pytest
from internals import (
    REGISTRY,
    DefinitionError,
    InferenceError,
    OperatorError,
    op_serialization,
    operator,
)

from npcompat import np, npx, ops, symbol
from npcompat.symbol import _files

F = "float32"


def raises(error, message):
    return pytest.raises(error, match=re.escape(message))


# --- operators and types --------------------------------------------------------------------------


def test_bad_declarations():
    for name, declaration, message in (
        ("add_two", {}, "operator name 'add_two': expected one of the prefixes _npi_, _np_, _npx_"),
        (
            "_npi_test_bad",
            {"pattern": "fused"},
            "_npi_test_bad: unknown pattern 'fused'; expected one of elementwise, broadcast, injective",
        ),
        ("_npi_add", {}, "operator _npi_add is declared twice"),
    ):
        with raises(OperatorError, message):
            operator(name, **declaration)(lambda xp, a: a)
    assert "add_two" not in REGISTRY and "_npi_test_bad" not in REGISTRY


def test_bad_attributes_and_operands():
    with raises(OperatorError, "_npi_sum: attributes must be hashable, got {'axis': {1}}"):
        ops.Sum(axis={1})
    with raises(
        OperatorError, "_npi_sum has no attribute axs; it has axis, dtype, keepdims, initial"
    ):
        ops.Sum(axs=1)
    with raises(OperatorError, "_npi_concatenate has no attribute by; it has axis, dtype"):
        ops.Concatenate(by=1)
    with raises(
        OperatorError, "_npi_index_put: expected the inputs a, new, starts, ...; 1 are given"
    ):
        ops.IndexPut(spec=())(np.ones(2))
    with raises(DefinitionError, "an attribute of type object can't be written: <object"):
        op_serialization.to_json((1, object()))


def test_bad_types():
    for arguments, error, message in (
        (
            ((-3, 2),),
            ValueError,
            "a dimension can't be negative, got -3; None means that it is not known",
        ),
        (((2.5,),), TypeError, "a dimension is an int, a name, or None, got 2.5"),
        ((("2**",),), ValueError, "syntax error in symbolic shape '2**'"),
        (((2,), "float31"), TypeError, "data type 'float31' not understood"),
    ):
        with raises(error, message):
            ops.TensorType(*arguments)
        with raises(error, message):
            symbol.var("x", *arguments)
    with raises(
        TypeError,
        "infer: expected a TensorType, an array, or the class of a Python scalar, got int",
    ):
        ops.Cumsum().infer([3])
    for name in ("", 3, None):
        with raises(TypeError, f"var: expected a name, got {name!r}"):
            symbol.var(name)


# --- definitions ----------------------------------------------------------------------------------


GOOD = ops.Cumsum(axis=1).definition()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the definition's JSON ends, or is damaged, at character 1 of 1"),
        ("[1]", "a definition is an object with the keys op, version and attrs; got [1]"),
        ({**GOOD, "op": 3}, "a definition's op is a name, its attrs are an object; got 3"),
        (
            {**GOOD, "attrs": [1]},
            "a definition's op is a name, its attrs are an object; got '_npi_cumsum' and [1]",
        ),
        (
            {"op": "_npi_cumsum", "attrs": {}},
            "a definition has the keys op, version and attrs; version is missing",
        ),
        (
            {**GOOD, "version": "1"},
            "_npi_cumsum: version '1' of definitions is not known; this is version 1",
        ),
        ({**GOOD, "op": "_npi_cumsm"}, "no operator '_npi_cumsm' (did you mean _npi_cumsum"),
        (
            {**GOOD, "op": "_npx_custom_nothing"},
            "no custom operator is named 'nothing': make it with npx.Custom(..., name='nothing') first",
        ),
        (
            {**GOOD, "attrs": {"axs": 1}},
            "_npi_cumsum has no attribute axs; it has axis, dtype, exclusive",
        ),
        (
            {"op": "_npi_reshape", "version": 1, "attrs": {}},
            "_npi_reshape: attribute shape is missing",
        ),
        ({**GOOD, "attrs": {"axis": {"complex": [1]}}}, "complex [1] can't be read"),
        (
            {**GOOD, "attrs": {"axis": {"float": "one"}}},
            "float 'one' can't be read: could not convert string to float",
        ),
        ({**GOOD, "attrs": {"axis": {"dim": "2**"}}}, "dim '2**' can't be read: syntax error"),
        ({**GOOD, "attrs": {"dtype": {"dtype": "float31"}}}, "dtype 'float31' can't be read"),
        (
            {**GOOD, "attrs": {"axis": {"device": "disk"}}},
            "device 'disk' can't be read: device kind 'disk': expected one of cpu, gpu",
        ),
        (
            {**GOOD, "attrs": {"axis": {"set": [1]}}},
            "an object of one of the keys float, complex, dtype, device, dim; got {'set': [1]}",
        ),
    ],
)
def test_definitions(text, message):
    with raises(DefinitionError, message):
        ops.from_json(text if isinstance(text, str) else json.dumps(text))


# --- graphs ---------------------------------------------------------------------------------------


def graph():
    x, w = symbol.var("x", shape=("n", 8), dtype=F), symbol.var("w", shape=(8, 3), dtype=F)
    return x @ w + onp.ones(3, F)


def damaged(change):
    """The JSON of a graph after a change that whoever made it has signed."""
    found = json.loads(graph().tojson())
    change(found)
    found["checksum"] = _files._checksum({"nodes": found["nodes"], "heads": found["heads"]})
    return json.dumps(found)


def node(number, **changes):
    return lambda found: found["nodes"][number].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: g.update(nodes=3), "the text is damaged: nodes is no list"),
        (lambda g: g.update(heads={}), "the text is damaged: heads is no list"),
        (lambda g: g.update(heads=[[9, 0]]), "heads: there is no node 9 before, only 5"),
        (
            lambda g: g.update(heads=[[0]]),
            "heads: an output is given by the numbers of its node and of itself, got [0]",
        ),
        (lambda g: g.update(heads=[[0, 7]]), "heads: node 0 (x) has no output 7, only 1"),
        (lambda g: g["nodes"].insert(0, 3), "node 0 is no object, but 3"),
        (
            node(0, stream=5),
            "node 0 (x): the state of a random stream has the parts 0 and 1, got 5",
        ),
        (lambda g: g["nodes"][0].pop("name"), "node 0 (?): name is missing"),
        (lambda g: g["nodes"][0].pop("type"), "node 0 (x): type is missing"),
        (
            node(0, type={"shape": [2], "dtype": "float31"}),
            "node 0 (x): data type 'float31' not understood",
        ),
        (
            node(0, type={"shape": [-2], "dtype": F}),
            "node 0 (x): a dimension can't be negative, got -2",
        ),
        (node(2, op="_npi_matmull"), "no operator '_npi_matmull' (did you mean _npi_matmul"),
        (
            node(2, version=5),
            "_npi_matmul: version 5 of definitions is not known; this is version 1",
        ),
        (node(2, attrs={"axs": 1}), "_npi_matmul has no attribute axs; it has dtype"),
        (node(2, inputs=[[0, 0]]), "_npi_matmul: expected the inputs x1, x2; 1 are given"),
        (node(2, inputs=[[0, 0], [4, 0]]), "there is no node 4 before, only 2"),
        (node(2, inputs=[[0, 0], [-1, 0]]), "there is no node -1 before, only 2"),
        (node(2, inputs=[[0, 0], [1, 5]]), "node 1 (w) has no output 5, only 1"),
        (node(2, inputs=[[0, 0], {"number": 1}]), "scalar is missing"),
        (node(2, outputs=[]), "_npi_matmul has 1 outputs, 0 are given"),
        (node(3, constant="AAAA"), "buffer size must be a multiple of element size"),
    ],
)
def test_graphs(change, message):
    with raises(DefinitionError, message) as caught:
        symbol.load_json(damaged(change))
    assert str(caught.value).startswith("the text")


def test_files(tmp_path):
    path = tmp_path / "graph.json"
    path.write_bytes(b"\xff\xfe{")
    with raises(DefinitionError, f"{path} is no graph: it is no text, at byte 0"):
        symbol.load(path)
    path.write_text(graph().tojson()[:-1])
    with raises(DefinitionError, f"{path} is no graph: its JSON ends, or is damaged, at character"):
        symbol.load(path)
    with pytest.raises(FileNotFoundError):
        symbol.load(tmp_path / "nothing.json")


def test_contradictory_types_of_a_graph_raise_when_it_is_asked_for_types_or_bound():
    loaded = symbol.load_json(damaged(node(1, type={"shape": [7, 3], "dtype": F})))
    for ask in (
        lambda: loaded.infer_shape(x=(2, 8)),
        lambda: loaded.simple_bind(x=(2, 8)),
        lambda: loaded.eval(x=np.ones((2, 8)), w=np.ones((7, 3))),
    ):
        with pytest.raises(
            InferenceError,
            match=r"matmul\d+: _npi_matmul\(x1: TensorType\(\(2, 8\), .*x2: TensorType\(\(7, 3\)",
        ):
            ask()
    with raises(InferenceError, "variable w: expected shape (7, 3), given (8, 3)"):
        loaded.eval(x=np.ones((2, 8)), w=np.ones((8, 3)))
    with raises(InferenceError, "variable x: expected dtype float32, given int64"):
        graph().eval(x=np.ones((2, 8), dtype="int64"), w=np.ones((8, 3)))


def test_bad_calls_of_graphs():
    y = graph()
    executor = y.simple_bind(x=(2, 8))
    with raises(TypeError, "forward: there is no argument v; there are x, w"):
        executor.forward(v=np.ones(2))
    with raises(ValueError, "copy_params_from: there is no argument v; there are x, w"):
        executor.copy_params_from({"v": np.ones(2)})
    with raises(ValueError, "copy_params_from: there is no auxiliary state mean; there are none"):
        executor.copy_params_from({}, {"mean": np.ones(2)})
    with raises(TypeError, "infer_shape: there are 2 arguments (x, w), 3 are given"):
        y.infer_shape((1, 8), (8, 3), (3,))
    with raises(InferenceError, "its dtype is needed: give dtypes to variables"):
        symbol.var("u", shape=(2,)).dtype
    with raises(ValueError, "the name of a custom operator is an identifier, got '2d'"):
        npx.Custom(lambda x: x, lambda x: x, lambda x: x, name="2d")
