"""Attributes and names that scopes give to the nodes of graphs, as MXNet's programs use them."""

import copy
import importlib
import json
import pickle
import threading
from typing import Any

import pytest

import npcompat as mx
from npcompat import gluon, np, npx, symbol

exp: Any = np.exp
sin: Any = np.sin
total: Any = np.sum
relu: Any = npx.relu
wrong: Any = {"a": 1}


def test_attributes_of_variables():
    with mx.AttrScope(group="4", data="great"):
        data = mx.symbol.Variable("data", attr={"group": "1", "kind": "x"}, lr_mult=1)
        other = mx.sym.var("data2")
    outside = mx.sym.var("data3")
    assert (data.attr("group"), data.attr("kind"), data.attr("data")) == ("1", "x", "great")
    assert data.attr("lr_mult") == data.attr("__lr_mult__") == "1"
    assert (other.attr("group"), other.attr("lr_mult")) == ("4", None)
    assert outside.list_attr() == {}


def test_inner_scopes_come_first_and_end():
    data = symbol.var("data")
    scope = symbol.AttrScope(__group__="4", __data__="great")
    with scope:
        first = relu(data)
        with symbol.AttrScope(__group__="5", __bias__="0"), scope:
            second = exp(first)
        third = exp(second)
    assert first.list_attr()["__data__"] == "great"
    assert (second.attr("group"), second.attr("bias"), third.attr("bias")) == ("4", "0", None)
    assert scope.get({"__group__": "9"}) == {"__group__": "9", "__data__": "great"}


def test_a_failed_scope_ends():
    with pytest.raises(ValueError, match="inside"), symbol.AttrScope(a="b"):
        raise ValueError("inside")
    assert symbol.var("x").list_attr() == {}


def test_attributes_beside_arguments_of_operators():
    x = symbol.var("x", shape=(3, 4))
    with symbol.AttrScope(mood="so so"):
        y = total(x, axis=1)
    assert y.attr("axis") == 1
    assert y.attr_dict()[y.name]["mood"] == "so so"
    assert y.attr("nothing") is None


def test_files_and_composition_keep_them(tmp_path):
    with symbol.AttrScope(mood="so so"):
        y = exp(symbol.var("x", attr={"kind": "data"}))
    y.save(tmp_path / "graph.json")
    for same in (symbol.load(tmp_path / "graph.json"), symbol.load_json(y.tojson())):
        assert same.attr_dict() == y.attr_dict() != {}
        assert same.tojson() == y.tojson()
    composed = y(x=symbol.var("z") + 1)
    assert (composed.name, composed.attr("mood")) == (y.name, "so so")


@pytest.mark.parametrize("labels", [3, [1], {"a": 1}, {"a": None}, "text"])
def test_damaged_attributes_of_a_file(labels):
    from npcompat.symbol import _files

    found = json.loads(exp(symbol.var("x", attr={"a": "b"})).tojson())
    found["nodes"][0]["labels"] = labels
    found["checksum"] = _files._checksum({k: found[k] for k in ("nodes", "heads")})
    with pytest.raises(mx.errors.DefinitionError, match="node 0"):
        symbol.load_json(json.dumps(found))


def test_names():
    with symbol.NameManager() as outer:
        x = symbol.var("x")
        assert [exp(x).name, exp(x).name, sin(x).name] == ["exp0", "exp1", "sin0"]
        with symbol.Prefix("net_"):
            assert [exp(x).name, symbol.var("w").name] == ["net_exp0", "w"]
        assert exp(x).name == "exp2"
    assert outer.get(None, "exp") == "exp3"
    assert outer.get("given", "exp") == "given"
    assert x.name == "x"


def test_names_of_a_manager_of_ones_own():
    class Shouting(symbol.NameManager):
        def get(self, name, hint):
            return super().get(name, hint).upper()

    with Shouting():
        assert exp(symbol.var("x")).list_outputs() == ["EXP0"]


def test_each_thread_has_its_own_scopes():
    found = []
    with symbol.AttrScope(a="b"), symbol.Prefix("p_"):
        thread = threading.Thread(target=lambda: found.append(symbol.var("x")))
        thread.start()
        thread.join()
    assert (found[0].name, found[0].list_attr()) == ("x", {})


def test_multipliers_reach_the_parameters_of_a_block():
    x, w = symbol.var("x"), symbol.var("w", shape=(2,), lr_mult=0.5, wd_mult=0)
    block = gluon.SymbolBlock(x * w, x)
    parameter = block.collect_params()["w"]
    assert (parameter.lr_mult, parameter.wd_mult) == (0.5, 0.0)
    bad = symbol.var("w", shape=(2,), attr={"__lr_mult__": "fast"})
    with pytest.raises(ValueError, match="__lr_mult__ of w is 'fast', and no number"):
        gluon.SymbolBlock(x * bad, x)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: symbol.AttrScope(a=1), r"AttrScope: attributes are strings.*'a'=1"),
        (lambda: symbol.var("x", attr=wrong), r"var: attributes are strings"),
        (lambda: symbol.var("x", lr_mult="fast"), r"var: lr_mult"),
        (lambda: symbol.Prefix(3), r"Prefix: expected a string"),
    ],
)
def test_wrong_arguments(make, match):
    with pytest.raises((TypeError, ValueError), match=match):
        make()


def test_pickles_and_copies():
    with symbol.AttrScope(mood="so so"):
        y = exp(symbol.var("x", shape=("n", 2), dtype="float32"))
    for again in (pickle.loads(pickle.dumps(y)), copy.deepcopy(y), copy.copy(y)):
        assert again.tojson() == y.tojson() and isinstance(again, symbol.Symbol)


@pytest.mark.parametrize(
    ("path", "name"), [("attribute", "AttrScope"), ("name", "NameManager"), ("name", "Prefix")]
)
def test_paths_of_mxnet(path, name):
    assert getattr(importlib.import_module(f"npcompat.{path}"), name) is getattr(symbol, name)
