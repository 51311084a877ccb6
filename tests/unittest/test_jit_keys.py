"""What distinguishes the calls of a compiled function: the order of dicts, and static values."""

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass

import jax
import pytest

from npcompat import autograd, gluon, np, npx

A, B = np.array([1.0]), np.array([2.0])
Pair = namedtuple("Pair", "first second")


@jax.tree_util.register_dataclass
@dataclass
class Record:
    """A container that JAX was told of."""

    within: dict

    def __getitem__(self, place):
        return self.within


MAKERS = {
    "dict": lambda *pairs: dict(pairs),
    "OrderedDict": lambda *pairs: OrderedDict(pairs),
    "defaultdict": lambda *pairs: defaultdict(list, pairs),
    "in a list": lambda *pairs: [dict(pairs)],
    "in a dict": lambda *pairs: {"within": dict(pairs)},
    "in an OrderedDict": lambda *pairs: OrderedDict(within=dict(pairs)),
    "in a named tuple": lambda *pairs: Pair(1, dict(pairs)),
    "in a registered class": lambda *pairs: Record(dict(pairs)),
}


@jax.tree_util.register_pytree_node_class
class Sized:
    """A container that looks at its parts when it is made again."""

    def __init__(self, *rows):
        self.rows, self.size = rows, sum([len(row) for row in rows])

    def tree_flatten(self):
        return self.rows, None

    @classmethod
    def tree_unflatten(cls, _, rows):
        return cls(*rows)


def test_containers_get_dicts_when_they_are_made_again():
    f = npx.jit(lambda s: s.rows[0]["b"] * s.size)
    assert f(Sized({"b": np.ones(1), "a": np.ones(1)})).tolist() == [2]


def leaf(given):
    while not hasattr(given, "values"):
        given = given[-1]
    return leaf(given["within"]) if "within" in given else given


@pytest.mark.parametrize("kind", MAKERS)
def test_dicts_keep_their_order(kind):
    make = MAKERS[kind]
    f = npx.jit(lambda d: (np.concatenate([*leaf(d).values()]), d))
    for pairs in ((("b", A), ("a", B)), (("a", A), ("b", B)), (("b", B), ("a", A))):
        for _ in range(2):
            joined, same = f(make(*pairs))
            assert joined.tolist() == [float(v[0]) for _, v in pairs]
            assert [*leaf(same)] == [k for k, _ in pairs]
            assert type(same) is type(make(*pairs)) and type(leaf(same)) is type(leaf(make(*pairs)))


def test_writes_and_gradients_go_to_the_array_at_their_place():
    @npx.jit
    def write(d):
        for i, v in enumerate(d.values()):
            v += i + 1

    @npx.jit
    def weighted(d):
        with autograd.record():
            loss = sum([v.sum() * (i + 1) for i, v in enumerate(d.values())])
        loss.backward()

    for order in ("ab", "ba"):
        arrays = {name: np.zeros(1) for name in order}
        for a in arrays.values():
            a.attach_grad()
        weighted(arrays)
        assert [float(a.grad[0]) for a in arrays.values()] == [1, 2]
        plain = {name: np.zeros(1) for name in order}
        write(plain)
        assert [float(a[0]) for a in plain.values()] == [1, 2]


def test_keywords_and_blocks():
    named = npx.jit(lambda **given: np.concatenate([*given.values()]))
    assert named(b=A, a=B).tolist() == [1, 2] and named(a=B, b=A).tolist() == [2, 1]

    class Net(gluon.HybridBlock):
        def forward(self, d):
            return np.concatenate([*d.values()])

    net = Net()
    net.hybridize()
    assert net({"b": A, "a": B}).tolist() == [1, 2] and net({"a": B, "b": A}).tolist() == [2, 1]


def test_keys_of_other_types_are_others():
    assert float(npx.jit(lambda d: d[1] + d["a"])({"a": A, 1: B})[0]) == 3
    f = npx.jit(lambda d: next(iter(d)) * next(iter(d.values())))
    assert [str(f({key: A})) for key in (1, True, 1.0)] == [str(key * A) for key in (1, True, 1.0)]
    with npx.compile_log() as log:
        f({1: A}), f({True: A}), f({1.0: A})
    assert not log


def test_static_containers_compare_by_the_types_of_their_items():
    f = npx.jit(lambda x, k: x * k[0], static_argnums=1)
    assert f(np.arange(3), (2,)).dtype == "int64"
    assert f(np.arange(3), (2.0,)).dtype.kind == "f"
    assert str(f(A, (0.0,))) == str(A * 0.0) and str(f(A, (-0.0,))) == str(A * -0.0)
    g = npx.jit(lambda x, k: x * next(iter(k)), static_argnums=1)
    kinds = [g(np.arange(2), frozenset({k})).dtype for k in (1, 1.0)]
    assert kinds[0] != kinds[1]
    h = npx.jit(lambda x, r: x * r.stop)
    assert [float(h(A, range(0, n, 2))[0]) for n in (3, 4)] == [3, 4]
