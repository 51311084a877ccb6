"""Guards on names that may be missing where a compiled function looks for them: attributes that it
asks for or catches the error of, and those of a class, which an instance may hide later.
"""

import contextlib
import types

import pytest
from changed_state import check_that_a_change_is_seen

from npcompat import np, npx
from npcompat.gluon import nn

X = np.ones(1)


class Settings:
    def __init__(self, k=1.0):
        self.k = k


def by_catching_attribute_errors():
    settings = types.SimpleNamespace()

    def f(x):
        try:
            return x * settings.k
        except AttributeError:
            return x

    return f, lambda: setattr(settings, "k", 5.0)


def by_catching_errors_of_what_is_held():
    model = Settings(types.SimpleNamespace())

    def f(x):
        try:
            return x * model.k.scale
        except AttributeError:
            return x

    return f, lambda: setattr(model.k, "scale", 5.0)


def by_suppressing_errors():
    model = Settings(types.SimpleNamespace())

    def f(x):
        scale = 1.0
        with contextlib.suppress(AttributeError):
            scale = model.k.scale
        return x * scale

    return f, lambda: setattr(model.k, "scale", 5.0)


class Hidden:
    """Its attributes come from its class, and others of an instance would be found first."""

    def k(self):
        return 1.0

    @staticmethod
    def of_class():
        return 1.0

    def __getattr__(self, name):
        if name == "given":
            return 1.0
        raise AttributeError(name)

    def through(self):
        return self.k()


def by_hiding_a_method():
    held = Hidden()
    return lambda x: x * held.through(), lambda: setattr(held, "k", lambda: 5.0)


def by_hiding_a_static_method():
    held = Hidden()
    return lambda x: x * held.of_class(), lambda: setattr(held, "of_class", lambda: 5.0)


def by_hiding_what_getattr_gives():
    held = Hidden()
    return lambda x: x * held.given, lambda: setattr(held, "given", 5.0)


def by_hiding_a_method_of_a_block():
    class Scaled(nn.Block):
        def scale(self):
            return 1.0

        def forward(self, x):
            return x * self.scale()

    block = Scaled()
    return lambda x: block(x), lambda: setattr(block, "scale", lambda: 5.0)


def by_replacing_an_operator():
    class Adding:
        def __add__(self, x):
            return x

    held = Adding()
    return lambda x: held + x, lambda: setattr(Adding, "__add__", lambda self, x: 5 * x)


def by_catching_name_errors():
    globals().pop("LATER", None)

    def f(x):
        try:
            return x * LATER  # type: ignore[name-defined]
        except NameError:
            return x

    return f, lambda: globals().update(LATER=5.0)


class Asking:
    def __init__(self):
        self.steps = 0

    def f(self, x):
        return x * self.k if hasattr(self, "k") else x * getattr(self, "other", 1.0)


def by_hasattr():
    model = Asking()
    return lambda x: model.f(x), lambda: setattr(model, "k", 5.0)


def by_getattr():
    model = Asking()
    return lambda x: model.f(x), lambda: setattr(model, "other", 5.0)


def by_getattr_with_computed_names():
    model, names = Asking(), ["k"]
    model.k = 1.0  # type: ignore[attr-defined]

    def f(x):
        for name in names:
            x = x * getattr(model, name)
        return x

    return f, lambda: setattr(model, "k", 5.0)


WAYS = [f for name, f in list(globals().items()) if name.startswith("by_")]


@pytest.mark.parametrize("way", WAYS)
def test_what_changed_is_seen(way):
    check_that_a_change_is_seen(*way())


def test_attributes_that_nobody_asks_for_are_not_compared():
    model = Asking()
    f = npx.jit(lambda x: model.f(x))
    f(X)
    with npx.compile_log() as log:
        for _ in range(3):
            model.steps += 1
            f(X)
    assert not log


def test_a_proxy_whose_getattr_raises_other_errors():
    store = {"k": 2.0}

    class Proxy:
        def __getattr__(self, name):
            return store[name]

    proxy = Proxy()
    f = npx.jit(lambda x: x * proxy.k)
    assert float(f(X)[0]) == 2
    store["k"] = 3.0
    assert float(f(X)[0]) == 3
