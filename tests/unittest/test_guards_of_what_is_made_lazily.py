"""State that a compiled function makes at its first call: later calls read it, as eager ones do."""

import functools
import importlib
import sys
import threading
import time
import types
from typing import Any

import pytest

from npcompat import gluon, np, npx

X = np.ones(2)


def read_by_hasattr(owner, make):
    def read():
        if not hasattr(owner, "k"):
            owner.k = make()
        return owner.k

    return read, lambda value: setattr(owner, "k", value)


def on_an_object(make):
    class Model:
        pass

    return read_by_hasattr(Model(), make)


def on_a_class(make):
    class Model:
        pass

    return read_by_hasattr(Model, make)


def on_a_module(make):
    return read_by_hasattr(types.ModuleType("settings"), make)


def by_a_computed_name(make):
    model, name = types.SimpleNamespace(), "k"

    def read():
        if not hasattr(model, name):
            setattr(model, name, make())
        return getattr(model, name)

    return read, lambda value: setattr(model, "k", value)


def by_catching_the_error(make):
    model = types.SimpleNamespace()

    def read():
        try:
            return model.k
        except AttributeError:
            model.k = make()
            return model.k

    return read, lambda value: setattr(model, "k", value)


def on_the_function(make):
    def read():
        if getattr(read, "k", None) is None:
            read.k = make()  # type: ignore[attr-defined]
        return read.k  # type: ignore[attr-defined]

    return read, lambda value: setattr(read, "k", value)


def by_getattr_of_the_class(make):
    class Model:
        def __getattr__(self, name):
            if name != "k":
                raise AttributeError(name)
            self.k = make()
            return self.k

    model: Any = Model()
    return lambda: model.k, lambda value: setattr(model, "k", value)


def by_a_cached_property(make):
    class Model:
        @functools.cached_property
        def k(self):
            return make()

    model: Any = Model()
    return lambda: model.k, lambda value: setattr(model, "k", value)


def in_a_block(make):
    class Block(gluon.HybridBlock):
        def forward(self, x, *args):
            if not hasattr(self, "k"):
                self.k = make()
            return self.k

    block = Block()
    return lambda: block.forward(None), lambda value: setattr(block, "k", value)


def in_a_dict(make):
    found = {}

    def read():
        if "k" not in found:
            found["k"] = make()
        return found["k"]

    return read, lambda value: found.update(k=value)


def in_a_cache(make):
    return functools.cache(make), None


def in_a_bounded_cache(make):
    @functools.lru_cache(maxsize=2)
    def read(a=1):
        return make()

    return read, None


WAYS = [f for name, f in list(globals().items()) if name.split("_")[0] in ("by", "on", "in")]


def called(compile, way, make, *changes):
    read, change = way(make)
    f = compile(lambda x: x * read())
    found = [f(X).tolist()]
    for value in changes:
        if value is not None:
            change(value() if callable(value) else value)
        else:
            read()[0] = 100
        found += [f(X).tolist(), f(X).tolist()]
    return found


@pytest.mark.parametrize("way", WAYS)
def test_arrays_that_are_written_later(way):
    changes = [None] if way(list)[1] is None else [None, lambda: np.full(2, 3.0), None]
    arguments = way, lambda: np.arange(2.0), *changes
    assert called(npx.jit, *arguments) == called(lambda f: f, *arguments)


@pytest.mark.parametrize("way", [w for w in WAYS if w(list)[1] is not None])
def test_numbers_that_are_replaced_later(way):
    arguments = way, lambda: 2.0, 9.0, 4.0
    assert called(npx.jit, *arguments) == called(lambda f: f, *arguments)


def test_caches_that_are_cleared():
    table = functools.cache(lambda n: np.arange(float(n)))
    f = npx.jit(lambda x: x + table(2))
    assert f(X).tolist() == [1, 2]
    table(2)[1] = 100
    assert f(X).tolist() == [1, 101]
    table.cache_clear()
    assert f(X).tolist() == f(X).tolist() == [1, 2]


def test_results_of_others_in_a_cache_compile_nothing_again():
    table = functools.cache(lambda n: np.arange(float(n)))
    table(2)
    f = npx.jit(lambda x: x + table(len(x)))
    f(X)
    f(np.ones(3))
    f(np.ones(3))
    with npx.compile_log() as log:
        table(7)
        f(X)
        f(np.ones(3))
    assert not log


FACTOR = [1.0]


def factor():
    return FACTOR[0]


class Table:
    k = 1.0

    @functools.cache  # noqa: B019
    def of(self, n):
        return self.k * n * factor()


@pytest.mark.parametrize("is_bounded", [False, True])
@pytest.mark.parametrize("compile", [lambda f: f, npx.jit])
def test_numbers_in_caches_that_were_filled_before(compile, is_bounded, monkeypatch):
    monkeypatch.setitem(globals(), "FACTOR", [1.0])
    scale = functools.lru_cache(1 if is_bounded else None)(lambda n: n * factor())
    table = Table()
    scale(2)
    table.of(2)
    f, g = compile(lambda x: x * scale(2)), compile(lambda x: x * table.of(2))
    assert f(X).tolist() == g(X).tolist() == [2, 2]
    FACTOR[0] = 5.0
    if is_bounded:
        scale(3)
    else:
        scale.cache_clear()
    assert f(X).tolist() == [10, 10]
    assert g(X).tolist() == [2, 2]
    table.k = 3.0
    Table.of.cache_clear()
    assert g(X).tolist() == g(X).tolist() == [30, 30]


MODULE = """
import functools
from npcompat import np
table = functools.cache(lambda n: np.arange(float(n)))
"""


@pytest.mark.parametrize("when", ["before", "while tracing"])
def test_modules_that_are_imported_in_the_function(when, tmp_path, monkeypatch):
    name = f"lazily_{when.partition(' ')[0]}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    source = (
        f"def f(x):\n    import {name} as m\n    if not hasattr(m, 'k'): m.k = m.table(2) * 0 + 1\n"
    )
    names: dict[str, Any] = {}
    exec(source + "    return x * m.table(2) + m.k\n", names)
    if when == "before":
        importlib.import_module(name)
    f = npx.jit(names["f"])
    assert f(X).tolist() == [1, 2]
    module: Any = sys.modules.pop(name)
    monkeypatch.setitem(sys.modules, name, module)
    module.table(2)[0] = 50
    assert f(X).tolist() == [51, 2]
    module.k[1] = 7
    assert f(X).tolist() == [51, 8]
    module.k = np.zeros(2)
    assert f(X).tolist() == f(X).tolist() == [50, 1]


class Finder:
    """A tool's finder of modules, with more state than guards look into."""

    def __init__(self):
        self.table = {i: [i] for i in range(20_000)}

    def find_spec(self, name, path=None, target=None):
        return self.found(name)

    def found(self, name):
        time.time()
        return self.table.get(name)


def test_finders_of_modules_are_no_part_of_the_function(tmp_path, monkeypatch):
    (tmp_path / "lazily_found.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])

    def f(x):
        import lazily_found  # type: ignore[import-not-found]

        return x + lazily_found.table(2)

    compiled = npx.jit(f)
    assert [compiled(X).tolist() for _ in range(3)] == [[1, 2]] * 3
    monkeypatch.delitem(sys.modules, "lazily_found")


def test_each_thread_has_attributes_of_its_own():
    local = threading.local()
    local.k = 2.0
    f = npx.jit(lambda x: x * getattr(local, "k", 5.0))
    found = [f(X).tolist()]

    def other():
        found.append(f(X).tolist())
        local.k = 30.0
        found.append(f(X).tolist())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    found.append(f(X).tolist())
    assert found == [[2, 2], [5, 5], [30, 30], [2, 2]]
