"""Guards on state that a compiled function reaches through calls, caches, imports and classes: a
changed value is seen by the next call.
"""

import dataclasses
import functools
import gc
import importlib
import operator
import sys
import weakref
from collections import deque

import numpy as onp
import pytest
from changed_state import check_that_a_change_is_seen

from npcompat import autograd, gluon, lr_scheduler, np, npx
from npcompat.errors import CompileWarning
from npcompat.gluon import nn

X = np.ones(1)
ROW = np.ones((1, 1))


class Settings:
    def __init__(self, k=1.0):
        self.k = k


class Linked:
    def __init__(self, depth):
        self.k, self.kids = 1.0, [Linked(depth - 1)] if depth else []

    def total(self):
        return self.k + sum([kid.total() for kid in self.kids])


def by_getter():
    settings = Settings()

    def current():
        return settings

    return lambda x: x * current().k, lambda: setattr(settings, "k", 5.0)


def by_items_of_a_getter():
    stack = [Settings()]

    def last():
        return stack[-1]

    return lambda x: x * last().k, lambda: stack.append(Settings(5.0))


def by_property():
    class Holder:
        _held = Settings()

        @property
        def held(self):
            return self._held

    holder = Holder()
    return lambda x: x * holder.held.k, lambda: setattr(holder._held, "k", 5.0)


def by_indexing():
    class Holder:
        held = Settings()

        def __getitem__(self, i):
            return self.held

    holder = Holder()
    return lambda x: x * holder[0].k, lambda: setattr(holder.held, "k", 5.0)


def by_a_list_that_is_returned():
    layers = [Settings(), Settings(1.0)]

    def model():
        return [*layers]

    def f(x):
        for layer in model():
            x = x * layer.k
        return x

    return f, lambda: setattr(layers[1], "k", 5.0)


def by_cached_property():
    class Holder:
        @functools.cached_property
        def held(self):
            return {"k": 1.0}

    holder = Holder()
    return lambda x: x * holder.held["k"], lambda: holder.held.update(k=5.0)


@functools.lru_cache
def _cached():
    return Settings()


def by_lru_cache():
    _cached().k = 1.0
    return lambda x: x * _cached().k, lambda: setattr(_cached(), "k", 5.0)


@functools.cache
def _remembered():
    return Settings()


def by_cache():
    _remembered().k = 1.0
    return lambda x: x * _remembered().k, lambda: setattr(_remembered(), "k", 5.0)


def by_weak_reference():
    settings = Settings()
    reference = weakref.ref(settings)
    return lambda x: x * reference().k, lambda: setattr(settings, "k", 5.0)


def by_another_compiled_function():
    k = [1.0]
    inner = npx.jit(lambda x: x * k[0])
    return lambda x: inner(x), lambda: k.__setitem__(0, 5.0)


def by_importing(tmp_path):
    (tmp_path / "imported_late.py").write_text("k = 1.0")
    importlib.import_module("imported_late")  # pytest looks at imports, and guards would look at it

    def f(x):
        import imported_late  # type: ignore[import-not-found]

        return x * imported_late.k

    return f, lambda: setattr(sys.modules["imported_late"], "k", 5.0)


def by_importing_a_name(tmp_path):
    (tmp_path / "imported_name.py").write_text("k = 1.0")
    importlib.import_module("imported_name")  # pytest looks at imports, and guards would look at it

    def f(x):
        from imported_name import k  # type: ignore[import-not-found]

        return x * k

    return f, lambda: setattr(sys.modules["imported_name"], "k", 5.0)


def by_importing_of_the_package(tmp_path):
    package = tmp_path / "a_package_of_guards"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "settings.py").write_text("k = 1.0")
    (package / "model.py").write_text(
        "def f(x):\n    from . import settings\n\n    return x * settings.k\n"
    )
    model = importlib.import_module("a_package_of_guards.model")
    importlib.import_module("a_package_of_guards.settings")
    return model.f, lambda: setattr(sys.modules["a_package_of_guards.settings"], "k", 5.0)


def by_importlib(tmp_path):
    (tmp_path / "imported_by_text.py").write_text("k = 1.0")
    importlib.import_module(
        "imported_by_text"
    )  # pytest looks at imports, and guards would look at it

    def f(x):
        return x * importlib.import_module("imported_by_text").k

    return f, lambda: setattr(sys.modules["imported_by_text"], "k", 5.0)


def by_super():
    class Base:
        def k(self):
            return 1.0

    class Derived(Base):
        def k(self):
            return super().k()

    derived = Derived()
    return lambda x: x * derived.k(), lambda: setattr(Base, "k", lambda self: 5.0)


def by_keywords_of_partial():
    f = functools.partial(lambda x, k: x * k, k=1.0)
    return f, lambda: f.keywords.update(k=5.0)


def by_keyword_defaults():
    def f(x, *, k=1.0):
        return x * k

    return f, lambda: f.__kwdefaults__.update(k=5.0)


def by_nesting():
    inner = [1.0]
    outer = inner
    for _ in range(12):
        outer = [outer]

    def f(x):
        found = outer
        while type(found[0]) is list:
            found = found[0]
        return x * found[0]

    return f, lambda: inner.__setitem__(0, 5.0)


def by_recursion():
    tree = Linked(6)
    leaf = tree
    while leaf.kids:
        leaf = leaf.kids[0]
    return lambda x: x * (tree.total() - 6), lambda: setattr(leaf, "k", 5.0)


def by_items_of_arrays_of_objects():
    held = onp.empty(1, object)
    held[0] = [1.0]
    return lambda x: x * held[0][0], lambda: held[0].__setitem__(0, 5.0)


def by_two_methods():
    class Model:
        settings, used = Settings(), True

        def forward(self, x):
            return self.inner(x) if self.settings and self.used else x

        def inner(self, x):
            return x * self.settings.k

    model = Model()
    return lambda x: model.forward(x), lambda: setattr(model.settings, "k", 5.0)


def by_nested_containers_of_a_getter():
    held = {"a": [Settings()]}

    def get():
        return held

    return lambda x: x * get()["a"][0].k, lambda: setattr(held["a"][0], "k", 5.0)


def by_handing_on():
    held = ([Settings()],)

    def inner(given, x):
        return x * given[0][0].k

    def outer(given, x):
        return inner(given, x)

    return lambda x: outer(held, x), lambda: setattr(held[0][0], "k", 5.0)


GLOBAL = Settings()
GLOBAL.n = 1  # type: ignore[attr-defined]


def by_two_functions_that_read_a_global_variable():
    GLOBAL.k = 1.0

    def first(x):
        return x * GLOBAL.n  # type: ignore[attr-defined]

    def second(x):
        return x * GLOBAL.k

    return lambda x: second(first(x)), lambda: setattr(GLOBAL, "k", 5.0)


def by_making_an_object():
    numbers = [1.0]

    class Made:
        def __init__(self):
            self.k = numbers[-1]

    return lambda x: x * Made().k, lambda: numbers.append(5.0)


def by_an_attribute_that_a_function_gives_itself():
    def current():
        if not hasattr(current, "held"):
            vars(current)["held"] = Settings()
        return vars(current)["held"]

    return lambda x: x * current().k, lambda: setattr(current(), "k", 5.0)


def by_an_object_that_is_made_at_the_first_call():
    held = {}

    def f(x):
        if not held:
            held["k"] = Settings()
        return x * held["k"].k

    return f, lambda: setattr(held["k"], "k", 5.0)


def by_comprehension():
    held = {"a": Settings()}
    return lambda x: x * sum([s.k for s in held.values()]), lambda: setattr(held["a"], "k", 5.0)


@dataclasses.dataclass
class Point:
    k: float = 1.0


def by_pattern():
    point = Point()

    def f(x):
        match point:
            case Point(k=found):
                return x * found

    return f, lambda: setattr(point, "k", 5.0)


def by_position_in_a_pattern():
    point = Point()

    def f(x):
        match point:
            case Point(found):
                return x * found

    return f, lambda: setattr(point, "k", 5.0)


def by_items_of_a_frozen_set():
    settings = Settings()
    held = frozenset([settings])

    def f(x):
        for item in held:
            x = x * item.k
        return x

    return f, lambda: setattr(settings, "k", 5.0)


def by_keys_of_a_dict():
    settings = Settings()
    held = {settings: 1.0}

    def f(x):
        for item, number in held.items():
            x = x * item.k * number
        return x

    return f, lambda: setattr(settings, "k", 5.0)


WAYS = [f for name, f in list(globals().items()) if name.startswith("by_")]


@pytest.mark.parametrize("way", WAYS)
def test_what_changed_is_seen(way, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    takes_folder = "importing" in way.__name__ or "importlib" in way.__name__
    check_that_a_change_is_seen(*way(*([tmp_path] if takes_folder else [])))


def test_a_list_that_has_another_name_is_no_log():
    calls: list[int] = []
    held = {"calls": calls}

    @npx.jit
    def f(x):
        calls.append(1)
        return x * len(held["calls"])

    assert [float(f(X)[0]) for _ in range(3)] == [1, 2, 3]


def test_containers_of_classes_that_raise():
    class Guarded(list):
        def __iter__(self):
            raise RuntimeError("not now")

    class Table(dict):
        values = items = keys = __iter__ = Guarded.__iter__

    held, table = Guarded([1.0]), Table(k=1.0)
    f = npx.jit(lambda x: x * held[0] * table["k"])
    assert float(f(X)[0]) == 1
    held[0] = 2.0
    table["k"] = 3.0
    assert float(f(X)[0]) == 6


class Logging(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.calls, self.last, self.kinds = [], deque(maxlen=3), set()

    def forward(self, x):
        self.calls.append(1)
        self.last.append(2)
        self.kinds.add(len(self.__class__.__name__))
        return x * 2


class Schedule(lr_scheduler.LRScheduler):
    def __init__(self):
        super().__init__(0.5)
        self.rates: list[object] = []

    def __call__(self, num_update):
        rate = self.base_lr / (1 + num_update)
        self.rates.append(rate)
        return rate


def test_logs_are_not_compared():
    net, block = nn.Dense(1, in_units=1, use_bias=False), Logging()
    net.initialize()
    block.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": Schedule()})

    class Counted:
        count, made = 0, []  # type: ignore[var-annotated]

        def __init__(self):
            Counted.count += 1
            Counted.made.append(self)
            self.k = 2.0

    @npx.jit
    def step(x):
        with autograd.record():
            loss = net(x).sum() * Counted().k
        loss.backward()
        trainer.step(1)
        return loss

    for _ in range(3):
        step(ROW), block(ROW)
    with npx.compile_log() as log:
        for _ in range(3):
            step(ROW), block(ROW)
    assert not log


def test_what_is_not_looked_into_is_said():
    large = [[1.0] for _ in range(10_001)]
    with pytest.warns(CompileWarning, match="items of a list of 10001"):
        npx.jit(lambda x: x * large[5][0])(X)


# --- shapes, dtypes and strides of arrays that are given others -----------------------------------


def read_as(a, how):
    if how == "length":
        return len(a)
    if how == "item size":
        return a.dtype.itemsize
    if how == "element":
        return a[0].sum()
    return a.sum(0).sum() + a.shape[-1]


@pytest.mark.parametrize("kind", ["own", "view"])
@pytest.mark.parametrize("how", ["length", "item size", "element", "sum"])
@pytest.mark.parametrize("change", ["shape", "dtype", "resize"])
def test_an_array_that_is_given_another_form(kind, how, change):
    a = np.arange(6, dtype="int32").reshape(2, 3)
    if kind == "own":
        a = a.copy()
    elif change == "resize":
        pytest.skip("views have no memory of their own")
    held = {"a": [a]}

    def read(x):
        return x + read_as(held["a"][0], how)

    compiled, x = npx.jit(read), np.zeros(1)
    for i in range(3):
        assert compiled(x).tolist() == read(x).tolist()
        if change == "shape":
            a.shape = [(3, 2), (6, 1), (1, 6)][i]
        elif change == "dtype":
            a.dtype = ["uint32", "int16", "int8"][i]
        else:
            a.resize((3 + i, 2), refcheck=False)
        assert compiled(x).tolist() == read(x).tolist()


@dataclasses.dataclass
class Rates:
    rate: float = 1.0
    steps: int = 2


RATE_OF = operator.attrgetter("rate")


def test_settings_that_are_read_by_other_names():
    settings, rate_of = Rates(), operator.attrgetter("rate")
    functions = [
        lambda x: x * dataclasses.astuple(settings)[0],
        lambda x: x * sum(dataclasses.asdict(settings).values()),
        lambda x: x * rate_of(settings),
        lambda x: x * RATE_OF(settings),
        lambda x: x * getattr(settings, dataclasses.fields(settings)[0].name),
    ]
    x = np.ones(2)
    for function in functions:
        compiled = npx.jit(function)
        for rate in (2.0, 5.0, 3.0):
            settings.rate = rate
            assert compiled(x).tolist() == function(x).tolist()


class Referent:
    pass


@pytest.mark.parametrize("kind", ["ref", "keys", "values", "set"])
def test_objects_that_die_beside_a_program(kind):
    held = [Referent()]
    weak = {
        "ref": weakref.ref,
        "keys": lambda o: weakref.WeakKeyDictionary({o: 1}),
        "values": lambda o: weakref.WeakValueDictionary({1: o}),
        "set": lambda o: weakref.WeakSet([o]),
    }[kind](held[0])

    def read(x):
        return x if (weak() is not None if kind == "ref" else len(weak)) else -x

    compiled, x = npx.jit(read), np.ones(2)
    assert compiled(x).tolist() == compiled(x).tolist() == [1, 1]
    held.clear()
    gc.collect()
    assert compiled(x).tolist() == read(x).tolist() == [-1, -1]
