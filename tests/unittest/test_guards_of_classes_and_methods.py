"""Guards on attributes of classes whose instances a compiled function makes, and on what methods of
Python's objects are bound to.
"""

import functools
import random

import numpy as onp
import pytest
from changed_state import check_that_a_change_is_seen

from npcompat import autograd, np, npx
from npcompat.errors import CompileWarning
from npcompat.gluon import nn


@pytest.fixture
def kind():
    class Gain:
        gain = 1.0

        def __init__(self):
            self.kept = self.gain

        def method(self, x):
            return x * self.gain

        __call__ = __mul__ = method

        @property
        def shown(self):
            return self.gain

        def of_type(self):
            return type(self).gain

    return Gain


def gain_of(settings):
    return settings.gain


WAYS_OF_A_CLASS = {
    "a method": lambda kind: lambda x: kind().method(x),
    "the constructor": lambda kind: lambda x: x * kind().kept,
    "a call": lambda kind: lambda x: kind()(x),
    "an operator": lambda kind: lambda x: kind() * x,
    "a property": lambda kind: lambda x: x * kind().shown,
    "type": lambda kind: lambda x: x * kind().of_type(),
    "a function": lambda kind: lambda x: x * gain_of(kind()),
    "a partial function": lambda kind: functools.partial(lambda kind, x: kind().method(x), kind),
    "the class of an instance": lambda kind: lambda x, it=kind(): type(it)().method(x),
}


@pytest.mark.parametrize("way", WAYS_OF_A_CLASS)
def test_attributes_of_classes_are_seen_by_instances_made_while_tracing(way, kind):
    check_that_a_change_is_seen(WAYS_OF_A_CLASS[way](kind), lambda: setattr(kind, "gain", 5.0))


def test_what_super_finds_is_seen_by_instances_made_while_tracing():
    class Base:
        gain = 1.0

        def method(self, x):
            return x * self.gain

    class Derived(Base):
        def method(self, x):
            return super().method(x)

    check_that_a_change_is_seen(lambda x: Derived().method(x), lambda: setattr(Base, "gain", 5.0))


@pytest.mark.parametrize("hybridized", [False, True])
def test_functions_with_gradients_see_attributes_of_their_class(hybridized):
    class Scale(autograd.Function):
        k = 2.0

        def forward(self, x):
            return x * self.k

        def backward(self, dy):
            return dy * self.k

    class Net(nn.HybridBlock):
        def forward(self, x):
            return Scale()(x).sum()

    net = Net()
    net.hybridize()
    scaled = net if hybridized else npx.jit(lambda x: Scale()(x).sum())
    x = np.array([1.0, 2.0])
    x.attach_grad()
    for k in (2.0, 7.0, 3.0):
        Scale.k = k
        with autograd.record():
            total = scaled(x)
        total.backward()
        assert float(total) == 3 * k and x.grad.tolist() == [k, k]


def by_item_of_a_list():
    held = [1.0]
    get = held.__getitem__
    return lambda x: x * get(0), lambda: held.__setitem__(0, 5.0)


def by_item_of_a_dict():
    held = {"k": 1.0}
    get = held.get
    return lambda x: x * get("k"), lambda: held.update(k=5.0)


def by_a_partial_method():
    held = {"k": 1.0}
    get = functools.partial(held.get, "k")
    return lambda x: x * get(), lambda: held.update(k=5.0)


def by_a_method_of_numpys():
    held = onp.array([0.5, 0.5])
    total = held.sum
    return lambda x: x * total(), lambda: held.__setitem__(slice(None), 2.5)


def by_a_method_in_a_container():
    held = {"k": 1.0}
    tools = {"get": held.get}
    return lambda x: x * tools["get"]("k"), lambda: held.update(k=5.0)


@pytest.mark.parametrize(
    "way",
    [
        by_item_of_a_list,
        by_item_of_a_dict,
        by_a_partial_method,
        by_a_method_of_numpys,
        by_a_method_in_a_container,
    ],
)
def test_what_methods_of_pythons_objects_are_bound_to_is_seen(way):
    check_that_a_change_is_seen(*way())


def test_a_method_that_only_writes_is_no_reason_to_trace_again():
    calls = []
    note = calls.append

    @npx.jit
    def noted(x):
        note(1)
        return x

    noted(np.ones(1))
    with npx.compile_log() as log:
        noted(np.ones(1))
    assert not log and calls == [1]


def test_a_method_of_pythons_global_stream_is_warned_of_once():
    draw = random.random
    with pytest.warns(CompileWarning, match="Python's random was drawn from") as found:
        npx.jit(lambda x: x * draw())(np.ones(1))
    assert len(found) == 1
