"""Compiled functions see what becomes another thing that is equal, and what only C reads."""

import sys
import types
from collections import deque
from typing import Any

import numpy as onp
import pytest

from npcompat import np, npx


def _bools(kept):
    return sum(isinstance(k, bool) for k in kept)


class Shown:
    level = 1


def _renew(mapping, key):
    mapping.clear()
    mapping[key] = 1


def _of_tuples(kept):
    return _bools([key[0] for key in kept])


CHANGES = {
    "a key that is a number": (lambda: {1: 1}, _bools, lambda d: _renew(d, True)),
    "a key that is a zero": (
        lambda: {0.0: 1},
        lambda d: float(onp.copysign(1, next(iter(d)))),
        lambda d: _renew(d, -0.0),
    ),
    "a key that is a tuple": (lambda: {(1,): 1}, _of_tuples, lambda d: _renew(d, (True,))),
    "a member": (lambda: {1, 2}, _bools, lambda s: (s.clear(), s.update([True, 2]))),
    "members of two classes": (
        lambda: {True, 0},
        lambda s: sum(m for m in s if isinstance(m, bool)),
        lambda s: (s.clear(), s.update([1, False])),
    ),
    "an item of a deque": (lambda: deque([1]), _bools, lambda q: (q.pop(), q.append(True))),
    "a namespace that is compared": (
        lambda: types.SimpleNamespace(v=1),
        lambda n: 2 if n == types.SimpleNamespace(v=1) else 5,
        lambda n: setattr(n, "v", 3),
    ),
    "a namespace that is printed": (
        lambda: types.SimpleNamespace(v=1),
        lambda n: len(repr(n)),
        lambda n: setattr(n, "v", 12345),
    ),
    "a namespace that gets an attribute": (
        lambda: types.SimpleNamespace(v=1),
        lambda n: 2 if n == types.SimpleNamespace(v=1) else 5,
        lambda n: setattr(n, "w", 3),
    ),
    "an attribute that is formatted within a format": (
        Shown,
        lambda s: float("{0:{1.level}.1f}".format(2.5, s)) * len("{0:{1.level}.1f}".format(2.5, s)),
        lambda s: setattr(s, "level", 9),
    ),
    "an attribute that is formatted": (
        Shown,
        lambda s: float(f"{s.level}"),
        lambda s: setattr(s, "level", 4),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_to_what_is_equal_are_seen(name):
    make, read, change = CHANGES[name]
    kept = make()
    x = np.ones(1)
    compiled = npx.jit(lambda x: x * read(kept))
    assert compiled(x) == read(kept)
    change(kept)
    assert compiled(x) == read(kept)
    traced = []
    counting = npx.jit(lambda x: (traced.append(1), x * read(kept))[1])
    for _ in range(3):
        counting(x)
    assert len(traced) == 1  # what stays is not compiled again


TEMPLATE = "{:.1f}"


class Counted:
    def __init__(self):
        self.calls, self.level = 0, 2.0


@pytest.mark.parametrize("kind", [Counted, lambda: types.SimpleNamespace(calls=0, level=2.0)])
def test_counters_beside_what_is_formatted_do_not_compile_again(kind):
    kept, traced = kind(), []

    @npx.jit
    def counting(x):
        traced.append(TEMPLATE.format(1.0))
        kept.calls += 1
        return x * kept.level

    x = np.ones(1)
    for _ in range(3):
        assert counting(x) == kept.level
    kept.level = 3.0
    assert counting(x) == 3.0
    assert len(traced) == 2


def test_another_module_of_the_same_name_is_seen(monkeypatch):
    def put(k):
        module: Any = types.ModuleType("npcompat_tests_plugin")
        module.k = k
        monkeypatch.setitem(sys.modules, module.__name__, module)

    @npx.jit
    def whole(x):
        import npcompat_tests_plugin  # type: ignore[import-not-found]

        return x * npcompat_tests_plugin.k

    @npx.jit
    def named(x):
        from npcompat_tests_plugin import k

        return x * k

    x = np.ones(1)
    for k in (1.0, 9.0, 7.0):
        put(k)
        assert whole(x) == named(x) == k
