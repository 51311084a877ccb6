"""Python state beyond lists, dicts and attributes that compiled functions read: each change is seen,
and what can't be compared is warned of.
"""

import array
import collections
import contextvars
import ctypes
import datetime
import functools
import itertools
import operator
import os
import time
import types
import weakref
from typing import Any

import pytest
from internals import CompileWarning

from npcompat import gluon, np, npx

STATE = {}


def state(name):
    """Register a maker of a function without arguments, and of a change of its result."""
    return lambda make: STATE.setdefault(name, make)


def of(made, read, change):
    return lambda: (lambda w: (lambda: read(w), lambda: change(w)))(made())


def rotated(mapping):
    first = next(iter(mapping))
    mapping[first] = mapping.pop(first)


FIRST = lambda w: next(iter(w.values()))
STATE |= {
    "chain of maps": of(
        lambda: collections.ChainMap({}, {"k": 1.0}),
        lambda w: w["k"],
        lambda w: w.maps[0].__setitem__("k", 2.0),
    ),
    "order of a dict": of(lambda: {"a": 1.0, "b": 2.0}, FIRST, rotated),
    "order of an ordered dict": of(
        lambda: collections.OrderedDict(a=1.0, b=2.0), FIRST, lambda w: w.move_to_end("a")
    ),
    "values of a dict": of(
        lambda: (lambda d: (d, d.values()))({"k": 1.0}),
        lambda w: sum(w[1]),
        lambda w: w[0].__setitem__("k", 2.0),
    ),
    "proxy of a mapping": of(
        lambda: (lambda d: (d, types.MappingProxyType(d)))({"k": 1.0}),
        lambda w: w[1]["k"],
        lambda w: w[0].__setitem__("k", 2.0),
    ),
    "user dict": of(
        lambda: collections.UserDict(k=1.0), lambda w: w["k"], lambda w: w.__setitem__("k", 2.0)
    ),
    "user list": of(
        lambda: collections.UserList([1.0]), lambda w: w[0], lambda w: w.__setitem__(0, 2.0)
    ),
    "array": of(lambda: array.array("d", [1.0]), lambda w: w[0], lambda w: w.__setitem__(0, 2.0)),
    "bytearray": of(lambda: bytearray(b"\1"), lambda w: w[0], lambda w: w.__setitem__(0, 2)),
    "memory view": of(
        lambda: memoryview(bytearray(b"\1")), lambda w: w[0], lambda w: w.__setitem__(0, 2)
    ),
    "number of ctypes": of(
        lambda: ctypes.c_double(1.0), lambda w: w.value, lambda w: setattr(w, "value", 2.0)
    ),
    "context variable": of(
        lambda: contextvars.ContextVar("w", default=1.0), lambda w: w.get(), lambda w: w.set(2.0)
    ),
}


@state("list with attributes")
def _():
    class Listed(list):
        factor = None

    w = Listed([1.0])
    w.factor = 1.0
    return lambda: w.factor * w[0], lambda: setattr(w, "factor", 2.0)


@state("weak dictionary")
def _():
    key = STATE["weak dictionary"]
    w = weakref.WeakKeyDictionary({key: 1.0})
    return lambda: w[key], lambda: w.__setitem__(key, 2.0)


@state("environment")
def _():
    os.environ["NPCOMPAT_TEST_STATE"] = "1"
    return (
        lambda: float(os.environ["NPCOMPAT_TEST_STATE"]),
        lambda: os.environ.__setitem__("NPCOMPAT_TEST_STATE", "2"),
    )


@state("environment by getenv")
def _():
    os.environ["NPCOMPAT_TEST_STATE"] = "1"
    return (
        lambda: float(os.getenv("NPCOMPAT_TEST_STATE")),
        lambda: os.environ.__setitem__("NPCOMPAT_TEST_STATE", "2"),
    )


@state("attribute by a getter")
def _():
    w, get = (
        types.SimpleNamespace(inner=types.SimpleNamespace(k=1.0)),
        operator.attrgetter("inner.k"),
    )
    return lambda: get(w), lambda: setattr(w.inner, "k", 2.0)


@state("what a cached function read")
def _():
    w = {"k": 1.0}

    @functools.lru_cache
    def read():
        return w["k"]

    return read, lambda: (w.__setitem__("k", 2.0), read.cache_clear())


def helper(factor=1.0, *, term=0.0):
    return factor + term


@state("attribute of a function")
def _():
    def read():
        return vars(read)["k"]

    vars(read)["k"] = 1.0
    return read, lambda: setattr(read, "k", 2.0)


@state("attribute of a function by name")
def _():
    def named() -> Any:
        return itself.k

    itself: Any = named
    itself.k = 1.0
    return named, lambda: setattr(named, "k", 2.0)


@pytest.fixture
def same_helper():
    before = helper.__code__, helper.__defaults__, helper.__kwdefaults__
    yield
    helper.__code__, helper.__defaults__, helper.__kwdefaults__ = before


@state("code of a function")
def _():
    return lambda: helper(), lambda: setattr(
        helper, "__code__", (lambda factor=1.0, *, term=0.0: factor + term + 5).__code__
    )


@state("defaults of a function")
def _():
    return lambda: helper(), lambda: setattr(helper, "__defaults__", (2.0,))


@state("keyword defaults of a function")
def _():
    return lambda: helper(), lambda: setattr(helper, "__kwdefaults__", {"term": 2.0})


@state("attribute of a metaclass")
def _():
    class Meta(type):
        k = 1.0

    class Kind(metaclass=Meta):
        pass

    return lambda: Kind.k, lambda: setattr(Meta, "k", 2.0)


@state("what a property of a metaclass reads")
def _():
    w = {"k": 1.0}

    class Meta(type):
        @property
        def k(cls):
            return w["k"]

    class Kind(metaclass=Meta):
        pass

    return lambda: Kind.k, lambda: w.__setitem__("k", 2.0)


@state("attribute of a descriptor")
def _():
    class Descriptor:
        value = 1.0

        def __get__(self, owner, kind):
            return self.value

    descriptor = Descriptor()

    class Kind:
        k = descriptor

    return lambda: Kind().k, lambda: setattr(descriptor, "value", 2.0)


@pytest.mark.usefixtures("same_helper")
@pytest.mark.parametrize("name", STATE)
def test_changes_of_state_are_seen(name):
    read, change = STATE[name]()
    traced = []

    @npx.jit
    def f(x):
        traced.append(1)
        return x * read()

    x = np.ones(1)
    for _ in range(3):
        before = f(x).item()
    change()
    assert f(x).item() == read() != before
    f(x)
    assert len(traced) == 2


def generator():
    yield from (1.0, 2.0, 3.0)


ADVANCED = {
    "generator": generator,
    "count": lambda: itertools.count(1),
    "list_iterator": lambda: iter([1.0, 2.0]),
    "enumerate": lambda: enumerate([1.0, 2.0]),
    "zip": lambda: zip([1.0], [2.0], strict=True),
    "cycle": lambda: itertools.cycle([1.0, 2.0]),
}


@pytest.mark.parametrize("name", ADVANCED)
def test_an_iterator_that_a_trace_advances_is_warned_of(name):
    items = ADVANCED[name]()

    @npx.jit
    def f(x):
        return x * float(bool(next(items)))

    with pytest.warns(CompileWarning, match=f"a {name} was advanced while f was compiled"):
        f(np.ones(1))


def test_iterators_of_the_function_itself_are_none_of_that():
    @npx.jit
    def f(x):
        one, other = iter([1.0, 2.0]), itertools.count()
        total = sum(a * next(other) for a in one)
        return x * total * sum(b for _, b in zip([1, 2], map(abs, [3.0, 4.0]), strict=True))

    assert f(np.ones(1)).item() == 14


def read_file():
    with open(os.devnull) as file:
        return float(file.read() == "")


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("time.time", lambda: time.time()),
        ("time.perf_counter", lambda: time.perf_counter()),
        ("datetime.now", lambda: datetime.datetime.now().timestamp()),
        ("open", read_file),
    ],
)
def test_what_changes_by_itself_is_warned_of(name, read):
    f = npx.jit(lambda x: x * read())
    with pytest.warns(CompileWarning, match=f"{name} was called while .lambda. was compiled"):
        f(np.ones(1))


def enclosing_blocks(k, items):
    """Make blocks whose functions read enclosed variables, and a function that sets one."""

    def rebind(new):
        nonlocal k
        k = new

    def helper(x):
        return x * items[0] * k

    class Direct(gluon.HybridBlock):
        def forward(self, x):
            return x * k * items[0]

    class ByHelper(gluon.HybridBlock):
        def forward(self, x):
            return helper(x)

    class Called(gluon.HybridBlock):
        class Scale:
            def __call__(self, x):
                return helper(x)

        def __init__(self):
            super().__init__()
            self.scale = self.Scale()

        def forward(self, x):
            return self.scale(x)

    inside = gluon.nn.HybridSequential()
    inside.add(Direct())
    return (
        rebind,
        [
            *(Direct(), ByHelper(), Called(), inside),
            *(gluon.nn.HybridLambda(lambda x: x * k * items[0]), gluon.nn.HybridLambda(helper)),
        ],
    )


def test_blocks_read_enclosed_variables_at_each_call():
    items = [2.0]
    rebind, blocks = enclosing_blocks(1.0, items)
    for block in blocks:
        block.hybridize()
    for k, item in ((1.0, 2.0), (3.0, 2.0), (3.0, 5.0), (1.0, 2.0)):
        rebind(k)
        items[0] = item
        found = [block(np.ones(1)).item() for block in blocks]
        assert found == [k * item] * len(found), (k, item)


class Private:
    def __init__(self):
        self.__mode, self.__scale = "first", 1

    def change(self):
        self.__scale += 1

    def run(self, x):
        if self.__mode == "first":
            self.__mode = "later"
            return x
        return x * 10 * self.__scale


def test_private_attributes_that_a_function_reads_and_sets():
    results = []
    for compiled in (False, True):
        own = Private()
        run = npx.jit(own.run) if compiled else own.run
        found = [run(np.ones(1)).item() for _ in range(3)]
        own.change()
        results.append([*found, run(np.ones(1)).item()])
    assert results[0] == results[1] == [1, 10, 10, 20]
