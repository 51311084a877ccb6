"""Functions that change Python's state where data decide: `x[0]` is 1, and never more than 100.

`each` is called in each of 40 rounds, and in an arm that is not taken.
"""

import operator
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as onp

from npcompat import gluon, np

EFFECTS = {}


def effect(made, seen):
    """Add a function of an object, which `made` returns, and what is seen of it afterwards."""

    def add(function):
        EFFECTS[function.__name__] = function, made, seen
        return function

    return add


def host():
    return onp.arange(3.0)


def total(a):
    return float(a.sum())


@effect(host, total)
def copyto(a):
    onp.copyto(a, a + 1)


@effect(host, total)
def copyto_of_ours(a):
    np.copyto(a, a + 1)


@effect(host, total)
def out(a):
    onp.add(a, 1, out=a)


@effect(host, total)
def out_of_ours(a):
    np.add(a, 1, out=a)


@effect(host, total)
def out_in_a_tuple(a):
    onp.add(a, 1, out=(a,))


@effect(host, total)
def out_by_position(a):
    onp.add(a, 1, a)


@effect(host, total)
def at(a):
    onp.add.at(a, [0, 0], 1)


@effect(host, total)
def place(a):
    onp.place(a, a < 2, a.max() + 1)


@effect(host, total)
def fill(a):
    a.fill(a[0] + 1)


@effect(host, total)
def item(a):
    a[0] += 1


@effect(host, total)
def method_of_the_class(a):
    onp.ndarray.fill(a, 5)


@effect(host, lambda a: a.size)
def resize(a):
    a.resize(5, refcheck=False)


@effect(host, lambda a: a.flags.writeable)
def flags(a):
    a.setflags(write=False)


@effect(lambda: onp.random.RandomState(0), lambda g: g.rand())
def random_state(g):
    g.rand()


@effect(lambda: onp.random.default_rng(0), lambda g: g.normal())
def generator(g):
    g.normal()


@effect(lambda: onp.ma.array([1.0, 2.0], mask=[False, True]), lambda m: m.count())
def masked(m):
    onp.ma.masked_where(m > 0, m, copy=False)


@effect(lambda: [0], sum)
def setitem(x):
    operator.setitem(x, 0, x[0] + 1)


@effect(lambda: [0], len)
def iadd(x):
    operator.iadd(x, [1])


@effect(lambda: {1}, len)
def ior(x):
    operator.ior(x, {len(x) + 1})


@effect(lambda: [0], len)
def append(x):
    x.append(1)


@effect(lambda: [0], len)
def append_of_the_class(x):
    list.append(x, 1)


@effect(lambda: [0], len)
def append_by_name(x):
    operator.methodcaller("append", 1)(x)


@effect(lambda: [0], len)
def append_by_map(x):
    list(map(x.append, [1]))


@effect(lambda: [0], len)
def append_in_a_list(x):
    [x.append(v) for v in (1,)]


@effect(lambda: [0], len)
def append_in_a_key(x):
    sorted([1, 2], key=lambda v: x.append(v) or v)


@effect(lambda: [0], len)
def append_by_vectorize(x):
    onp.vectorize(lambda v: x.append(v) or v, otypes=[float])([1.0])


@effect(lambda: defaultdict(int), len)
def missing_key(d):
    return d[len(d)]


@effect(lambda: deque([1, 2, 3]), lambda d: d[0])
def rotate(d):
    d.rotate(1)


@effect(lambda: OrderedDict(a=1, b=2), lambda d: next(iter(d.values())))
def move_to_end(d):
    d.move_to_end(next(iter(d)))


@effect(lambda: Counter("a"), lambda d: d["a"])
def count(d):
    d.update("a")


@effect(lambda: iter(range(100)), next)
def step(i):
    next(i)


@effect(lambda: iter(range(100)), lambda i: sum(1 for _ in i))
def loop(i):
    for _ in i:
        break


@effect(lambda: iter(range(3)), lambda i: sum(1 for _ in i))
def add_up(i):
    return sum(i)


@effect(lambda: (v for v in range(3)), lambda i: sum(1 for _ in i))
def make_a_list(i):
    return [v for v in i]


@effect(lambda: map(abs, range(3)), lambda i: sum(1 for _ in i))
def star(i):
    return (*i,)


@effect(lambda: map(abs, range(3)), lambda i: sum(1 for _ in i))
def star_of_a_call(i):
    return max(0, 0, *i)


@effect(lambda: iter(range(100)), lambda i: sum(1 for _ in i))
def membership(i):
    return 1 in i


@effect(lambda: iter(range(2)), lambda i: sum(1 for _ in i))
def unpack(i):
    a, *b = i if i.__length_hint__() else (0, 0)
    return a


@effect(lambda: zip([1, 2], [3, 4], strict=True), lambda i: sum(1 for _ in i))
def pairs(i):
    return dict(i)


@effect(lambda: onp.nditer(onp.arange(100.0)), lambda i: float(i.value))
def nditer(i):
    i.iternext()


@effect(lambda: np.ones(4), lambda a: a.ndim)
def shape(a):
    a.shape = (2, 2)


@effect(lambda: np.ones(4), lambda a: a.flags.writeable)
def flags_of_ours(a):
    a.setflags(write=False)


@effect(lambda: np.ones(4), lambda a: a.grad is None)
def attach_grad(a):
    a.attach_grad()


@effect(lambda: None, lambda _: np.geterr()["over"])
def seterr(_):
    np.seterr(over="ignore")


@effect(lambda: None, lambda _: np.get_printoptions()["precision"])
def printoptions(_):
    np.set_printoptions(precision=3)


@effect(gluon.metric.MSE, lambda m: m.num_inst)
def metric(m):
    m.update(np.ones(1), np.ones(1))


def network():
    net = gluon.nn.Dense(1, in_units=4)
    net.initialize()
    return net


@effect(network, lambda n: n.weight.data().dtype)
def cast(n):
    n.cast("float64")


@effect(network, lambda n: len(n._forward_hooks))
def hook(n):
    n.register_forward_hook(print)


@effect(lambda: gluon.Trainer(network().collect_params(), "sgd"), lambda t: t.learning_rate)
def learning_rate(t):
    t.set_learning_rate(0.5)
