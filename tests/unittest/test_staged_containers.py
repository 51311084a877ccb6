"""Tuples, named tuples, lists and dicts that loops and branches carry, their names and their arrays."""

import math
import operator
from collections import namedtuple
from typing import NamedTuple

import numpy as onp
import pytest
from internals import RefusedError

from npcompat import array_api, autograd, gluon, np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")
Q = namedtuple("Q", "h n")


class T(NamedTuple):
    h: object
    n: int = 0

    def grown(self):
        return T(self.h * 1.25, self.n + 1)


class Own(T):
    made = 0

    def __new__(cls, h, n=0):
        Own.made += 1
        return super().__new__(cls, h, n)


class Scale:
    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        return x * 0.5


class Counted(Scale):
    def __call__(self, x):
        self.calls += 1
        return x * 0.5


class Net(gluon.HybridBlock):
    def forward(self, x):
        return x * 0.5


# --- one loop


def list_of_two(x):
    s = [x, 0]
    t = s
    for _ in range(40):
        s = [s[0] * 0.5, s[1] + 1]
    t.append(7)
    return s, t


def dict_by_comprehension(x):
    p = {"w": x * 1, "b": x * 0}
    for _ in range(40):
        p = {k: v * 0.5 + 1 for k, v in p.items()}
    return list(p), list(p.values())


def named(x):
    s = T(x)
    for i in range(40):
        s = s.grown()
        s = s._replace(h=s.h - i)
    return s


def named_in_a_branch(x):
    s = Q(x, 0)
    for _ in range(40):
        if s.h.sum() < 100:
            s = Q(s.h + 1, s.n + 1)
    return s


def nested(x):
    s = [x * 1, [x * 2, (1, "a", None)]]
    for _ in range(40):
        s = [s[0] + s[1][0], [s[0] * 0.5, (s[1][1][0] + 1, "a", None)]]
    return s


def in_a_while(x):
    s = [x * 1, 0]
    while s[0].sum() < 100:
        s = [s[0] * 2, s[1] + 1]
    s.append(1)
    return s


def ends_early(x):
    s = [x * 1]
    for _ in range(40):
        if s[0].sum() > 50:
            break
        s = [s[0] * 1.5]
    s.append(0)
    return s


def stays_and_is_written(x):
    y = x * 1
    s = (x * 2, y)
    for _ in range(40):
        s = (s[0] * 0.5, s[1])
    s[1][0] = 55
    return s, y


def stays_twice(x):
    y = x * 1
    s = [y, y]
    for _ in range(40):
        s = [s[0] * 0.5, s[1]]
    s[1][0] = 55
    return s, y


def stays_and_its_other_name_is_written(x):
    y = x * 1
    s = u = T(y, x)
    for _ in range(40):
        s = T(s.h, s.n * 0.5)
    u.h[0] = 55
    return s, y, u


def an_argument_stays(x):
    s = (x * 2, x)
    for _ in range(40):
        s = (s[0] * 0.5, s[1])
    s[1][0] = 55
    return s, x


def stays_further_inside(x):
    y = x * 1
    s = ((x * 2, y), 0)
    for i in range(40):
        s = ((s[0][0] * 0.5, s[0][1]), i)
    s[0][1][0] = 55
    return s, y


scale, counted, net = Scale(), Counted(), Net()


def calls_an_object(x):
    for _ in range(40):
        x = scale(x)
    return x


def calls_a_block(x):
    for _ in range(40):
        x = net(x)
    return x


def calls_libraries(x):
    for _ in range(40):
        x = operator.add(x, operator.itemgetter(0)(x) * 0.5) - math.pi
        x = onp.multiply(np.add(x, 1), 0.5) + array_api.add(x, npx.relu(x)) * 0.125
    return x


ONE_LOOP = [
    f
    for f in list(vars().values())
    if getattr(f, "__module__", "") == __name__ and not isinstance(f, type)
]
ONE_LOOP = [f for f in ONE_LOOP if f not in (scale, counted, net)]

# --- unrolled, or refused


def two_names_after_each_round(x):
    s = t = [x, 0]
    for _ in range(40):
        s = t = [s[0] * 0.5, s[1] + 1]
    t.append(7)
    return s, t


def handed_on(x):
    s, t = [x * 1, 0], []
    for _ in range(40):
        t = s
        s = [s[0] * 0.5, s[1] + 1]
    t.append(7)
    return s, t


def two_names_before_a_branch(x):
    s = t = [x * 1, 0]
    if x[0] > 1:
        s = [x * 2, 0]
    s.append(1)
    return s, t


def in_another_list_before_a_while(x):
    s = [x * 1, 0]
    k = [s]
    while s[0].sum() < 100:
        s = [s[0] * 2, s[1] + 1]
    s.append(1)
    return s, k


def two_names_in_a_round(x):
    s = [x * 1]
    for i in range(40):
        if x[i % 3] > 1:
            s = [s[0] * 0.5]
        u = s
        if x[i % 3] > 2:
            s = [s[0] + 1]
    u.append(1)
    return s, u


def two_names_and_ends_early(x):
    s = t = [x * 1]
    for _ in range(40):
        if s[0].sum() > 50:
            break
        s = [s[0] * 1.5]
    s.append(0)
    return s, t


def holds_a_list_of_before(x):
    inner = [x * 2]
    s = [inner, 0]
    for _ in range(40):
        s = [inner, s[1] + 1]
    inner.append(5)
    return s


def grows(x):
    s = []
    for i in range(40):
        s = [*s, x[i % 3]]
    return np.array(s)


def collects(x):
    found, s = [], [x * 1]
    for _ in range(40):
        s = [s[0] * 0.5]
        found.append(s)
    found[-1].append(2)
    return s, len(found)


def items_are_written(x):
    s, d = [x * 1, 0], {"a": 0}
    for i in range(40):
        s[0] = s[0] * 0.5
        d["a"] += i
    return s, d["a"]


def other_classes(x):
    s = T(x)
    if x[0] > 1:
        s = Q(x, 2)
    return s.h


def own_constructor(x):
    Own.made = 0
    s = Own(x)
    for _ in range(40):
        s = Own(s.h * 0.5, s.n + 1)
    return s.h, s.n, Own.made


def counts_its_calls(x):
    counted.calls = 0
    for _ in range(40):
        x = counted(x)
    return x, counted.calls


def exchanged(x):
    a, b = T(x, 1), T(x * 2, 2)
    for _ in range(41):
        a, b = b, a
    return a, b


def nested_and_unpacked(x):
    s = [x * 1, [x * 2, (1, "a", None)]]
    for _ in range(40):
        a, (b, c) = s
        s = [b, [a * 0.5, (c[0] + 1, "a", None)]]
    return s


def changes_places(x):
    y = x * 1
    s = (y, x * 2)
    for _ in range(40):
        s = (s[1], s[0])
    s[0][0] = 55
    return s, y


def stays_if_data_say_so(x):
    y = x * 1
    s = (x * 2, y)
    if x[0] > 1:
        s = (x * 3, s[1])
    s[1][0] = 55
    return s, y


OTHERS = [
    f
    for f in list(vars().values())
    if getattr(f, "__module__", "") == __name__ and not isinstance(f, type)
]
OTHERS = [f for f in OTHERS if f not in (scale, counted, net, *ONE_LOOP)]


def shown(x):
    """Return what a function has returned, as text without the classes of scalars."""
    if isinstance(x, dict):
        return {k: shown(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return type(x).__name__, [shown(v) for v in x]
    return x if x is None or isinstance(x, str) else np.array(x).tolist()


def as_eager(function, run):
    for values in ([1.0, 2.0, 3.0], [-1.0, 2.0, 50.0], [2.0, 2.0, 500.0]):
        one, other = np.array(values), np.array(values)
        assert shown(run(one)) == shown(function(other))
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("function", ONE_LOOP, ids=lambda f: f.__name__)
def test_a_container_is_carried_by_one_loop(function):
    with npx.compile_log() as log:
        as_eager(function, npx.jit(function))
    lines = [line for entry in log for line in entry.loops]
    assert lines and all("one loop" in line for line in lines), lines


@pytest.mark.parametrize("function", OTHERS, ids=lambda f: f.__name__)
def test_another_container_is_as_in_eager_or_refused(function):
    run = npx.jit(function)
    try:
        run(np.array([1.0, 2.0, 3.0]))
    except RefusedError:
        return
    as_eager(function, run)


def test_gradients_through_containers():
    def f(x):
        s, p = [x, x * 2], {"a": x}
        for _ in range(12):
            s = [s[1] * 0.5, s[0] + p["a"]]
            p = {"a": p["a"] * s[0]}
        return (s[0] * s[1]).sum() + p["a"].sum()

    found = []
    for run in (f, npx.jit(f)):
        x = np.array([0.5, 1.0, 1.5])
        x.attach_grad()
        with autograd.record():
            y = run(x)
        y.backward()
        found.append(x.grad.asnumpy())
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_cells_of_gluon_are_carried_with_their_lists_of_states():
    class Steps(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.cell, self.out = gluon.rnn.LSTMCell(8), gluon.nn.Dense(2)

        def forward(self, x):
            states, y = self.cell.begin_state(x.shape[1]), 0
            for t in range(x.shape[0]):
                h, states = self.cell(x[t], states)
                y = y + self.out(h)
            return y

    x, found = np.ones((50, 3, 4)), []
    for hybrid in (False, True):
        np.random.seed(0)
        steps = Steps()
        steps.initialize()
        if hybrid:
            steps.hybridize()
        with npx.compile_log() as log:
            found.append(steps(x).asnumpy())
    assert found[0] == pytest.approx(found[1], rel=1e-5)
    assert ["one loop" in line for entry in log for line in entry.loops] == [True]


def test_parameters_are_not_initialized_by_an_arm():
    dense = gluon.nn.Dense(3)
    dense.initialize()

    def f(x):
        if x[0] > 100:
            return dense(x.reshape(1, 3)).sum()
        return x.sum()

    with pytest.raises(RefusedError, match="initializes"):
        npx.jit(f)(np.array([1.0, 2.0, 3.0]))
    dense(np.ones((1, 3)))
    assert npx.jit(f)(np.array([1.0, 2.0, 3.0])) == 6


def swapped(a, b):
    for i in range(12):
        a, b = b, a
        a[i] += 1
    return a, b


def rotated(a, b):
    c = a * 2
    for i in range(31):
        a[i % 12] += 1
        a, b, c = b, c, a
    return a, b, c


def swapped_in_a_list(a, b):
    s = [a, b]
    for i in range(12):
        s = [s[1], s[0]]
        s[0][i] += 1
    return s


def swapped_by_out(a, b):
    c = np.zeros(12)
    for _ in range(12):
        np.add(a, b, out=c)
        a, c = c, a
    return a, b, c


def pairs():
    x, y = np.arange(12.0), np.ones(12)
    return [(x, y), (x, x), (x, x[:])]


@pytest.mark.parametrize("function", [swapped, rotated, swapped_in_a_list, swapped_by_out])
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 2, 1, 0), (2, 1)])
def test_arrays_that_change_places_may_be_one_array_in_another_call(function, order):
    run = npx.jit(function)
    for k in order:
        one, other = pairs()[k], pairs()[k]
        assert shown(run(*one)) == shown(function(*other))
        assert shown(one) == shown(other)
