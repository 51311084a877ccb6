"""Groups of operators that can be computed together: the rules, graphs of symbols, and the compile
log.
"""

import pytest
from internals import Step, groups

from npcompat import gluon, np, npx, symbol

E, B, I, R, C, O = "elementwise", "broadcast", "injective", "reduction", "complex", "opaque"

RULES = {
    "maps end in a reduction": ([(E,), (B, 0), (I, 1), (R, 2), (E, 3)], None, [[0, 1, 2, 3]]),
    "a reduction begins nothing": ([(R,), (E, 0)], None, []),
    "a complex step begins a group": ([(E,), (C, 0), (B, 1), (E, 2)], None, [[1, 2, 3]]),
    "but nothing that rearranges joins it": (
        [(C,), (E, 0), (I, 1), (E, 2)],
        None,
        [[0, 1], [2, 3]],
    ),
    "opaque steps stay alone": ([(E,), (O, 0), (E, 1), (E, 2)], None, [[2, 3]]),
    "ways that come together again": ([(E,), (E, 0), (B, 0), (B, 1, 2)], None, [[0, 1, 2, 3]]),
    "an opaque step on one of the ways": ([(E,), (E, 0), (O, 0), (B, 1, 2)], None, [[1, 3]]),
    "a reduction on one of the ways": ([(E,), (R, 0), (B, 0, 1)], None, []),
    "one complex step in a group": ([(C,), (C,), (B, 0, 1)], None, [[0, 2]]),
    "a complex step or a reduction": ([(C,), (E, 0), (R, 1)], None, [[0, 1]]),
    "two reductions of the same": ([(E,), (E, 0), (R, 1), (R, 1)], [2, 3], [[0, 1]]),
    "what is asked for is not joined": ([(E,), (E, 0), (E, 1)], [1, 2], [[0, 1]]),
    "the same operand twice": ([(E,), (B, 0, 0)], None, [[0, 1]]),
    "groups apart": ([(E,), (E, 0), (O, 1), (E, 2), (R, 3)], None, [[0, 1], [3, 4]]),
    "nothing": ([], [], []),
}


@pytest.mark.parametrize("name", RULES)
def test_rules(name):
    steps, results, expected = RULES[name]
    found = groups(
        [Step(pattern, tuple(inputs)) for pattern, *inputs in steps],
        [len(steps) - 1] if results is None else results,
    )
    assert found == expected


def kinds(named):
    return [[name.rstrip("0123456789") for name in group] for group in named]


def test_groups_of_a_graph():
    x, w = (
        symbol.var("x", shape=("n", 8), dtype="float32"),
        symbol.var("w", shape=(8, 3), dtype="float32"),
    )
    y = np.tanh(x @ w + 1)
    assert kinds(y.fusable_groups()) == [["matmul", "add", "tanh"]]
    mean = np.sum(np.exp(-x) * 2, axis=1)
    assert kinds(symbol.Group([y, mean]).fusable_groups()) == [
        ["matmul", "add", "tanh"],
        ["negative", "exp", "multiply", "sum"],
    ]
    assert kinds(symbol.load_json(mean.tojson()).fusable_groups()) == [
        ["negative", "exp", "multiply", "sum"]
    ]
    assert (x @ w).fusable_groups() == x.fusable_groups() == [] and np.sort(
        np.exp(x)
    ).fusable_groups() == []


def test_a_long_chain_is_grouped():
    x = y = symbol.var("x", shape=(4,), dtype="float32")
    for _ in range(500):
        y = np.exp(y) + x
    (group,) = y.fusable_groups()
    assert len(group) == 1000


def test_the_compile_log_names_the_groups_of_compiled_functions():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, activation="relu", in_units=3), gluon.nn.Dense(2, in_units=4))
    net.initialize()
    net.hybridize()
    x = np.ones((2, 3))
    softplus = npx.jit(lambda x: np.log(np.exp(-x) + 1).sum())
    with npx.compile_log() as log:
        net(x)
        softplus(x)
        np.exp(np.ones((5, 7)))
    groups = {entry.name: entry.groups for entry in log}
    assert groups["HybridSequential"] == (("fully_connected", "relu"),)
    (found,) = [g for name, g in groups.items() if "lambda" in name]
    assert found == (("negative", "exp", "add", "log", "sum"),)
    (text,) = [str(entry) for entry in log if entry.groups == found]
    assert text.endswith("; can be fused: negative+exp+add+log+sum")
    assert all(
        not entry.groups and "fused" not in str(entry)
        for entry in log
        if entry.name.startswith("_np")
    )


def test_traces_note_nothing_unless_the_log_is_read():
    f = npx.jit(lambda x: np.exp(x) + 1)
    f(np.ones(3))
    with npx.compile_log() as log:
        f(np.ones(3))
        f(np.ones(4))
    (entry,) = log
    assert entry.groups == (("exp", "add"),)
