"""The table of primitives knows what operators are made of."""

import jax
import jax.numpy as jnp
import pytest
from jaxprs import names
from registry_cases import CASES
from registry_cases.case import samples
from test_registry import OPERATORS, codes, flat, given, quiet

from npcompat import np, npx
from npcompat._internal.backend.jaxpr import (
    flop_count,
    primitives,
    ragged_values,
    row_independence,
)
from npcompat._internal.compile.capture import capture
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles

UNKNOWN = {
    "fft",  # a row of complex numbers depends on all others along an axis
    "platform_index",  # chooses a branch for the device
    "random_fold_in",  # keys of random streams, which have no rows
}
"""Primitives that no analysis knows: they are left alone, or end the analysis."""


def test_the_table_has_the_primitives_of_all_operators(monkeypatch):
    found, make_jaxpr = set(), jax.make_jaxpr

    def noting(function, **options):
        traced = make_jaxpr(function, **options)

        def call(*arrays):
            made = traced(*arrays)
            found.update(names((made[0] if isinstance(made, tuple) else made).jaxpr))
            return made

        return call

    monkeypatch.setattr(jax, "make_jaxpr", noting)
    for case in [case for name in OPERATORS for case in CASES.get(name, ())[:1]]:

        def body(proxies, trace, case=case):
            leaves = flat(case.call(np, *proxies))
            return [handles.read(leaf) for leaf in leaves if isinstance(leaf, Handle)], None

        arrays = given(next(samples(case, codes(case)[:1], ("ordinary",))))
        try:
            with quiet(), npx.backend("jax"):
                capture(case.name, body, [handles.read(a) for a in arrays])
        except Exception:  # what can't be traced has no primitives
            continue
    assert len(found) > 80
    assert found - primitives.FAMILIES.keys() - UNKNOWN == set()


def test_rules_are_for_primitives_of_the_table():
    for rules in (row_independence._RULES, ragged_values.RULES):
        assert rules.keys() - primitives.FAMILIES.keys() == set()


def test_families_have_names():
    assert primitives.family("arg_reduction") == {"argmax", "argmin"}
    assert {"scatter", "scatter-add"} < primitives.family("scatter")
    with pytest.raises(KeyError, match="no family of primitives is named 'reductions'"):
        primitives.family("reductions")


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x * 2 + 1, 24),
        (lambda x: x.T.reshape(-1)[::2], 0),
        (lambda x: x @ x.T, 2 * 3 * 3 * 4),
        (lambda x: x.sum(0), 12),
        (lambda x: x.at[jnp.array([0, 2, 2])].add(x), 12),
        (lambda x: x.at[jnp.array([0, 2, 2])].set(x), 0),
        (lambda x: jnp.where(x > 0, x, 0).astype("float64"), 0),
        (lambda x: jax.lax.scan(lambda total, row: (total + row, None), x[0], x)[0], 12),
    ],
)
def test_operations_are_counted(function, expected):
    with jax.enable_x64(True):
        found = flop_count.operations(function, jax.ShapeDtypeStruct((3, 4), jnp.float32))
    assert found == expected
