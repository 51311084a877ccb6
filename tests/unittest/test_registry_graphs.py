"""Every operator of the registry: types that are partly known, JSON, a node, a graph that is
loaded, a page.

An exception would be a row of docs/known_gaps.md: "| operator `_npi_name` in graphs | why | where
|".
"""

import re
from pathlib import Path

import numpy as onp
import pytest
from internals import FORWARD, REGISTRY, Trace, Value, handles, host, modes, symbolic
from registry_cases import CASES
from registry_cases.case import samples
from test_inference import check_inference, trace
from test_registry import OPERATORS, codes, expected_of, given, main_dtype, outcome

from npcompat import npx, ops, symbol
from npcompat.ops._manual import page
from npcompat.symbol import _graph

GAPS = (Path(__file__).parents[2] / "docs" / "known_gaps.md").read_text(encoding="utf-8")
EXCEPTIONS = set(re.findall(r"^\| operator `(\w+)` in graphs \| .+ \|", GAPS, flags=re.MULTILINE))


def test_few_operators_are_excepted():
    assert set(OPERATORS) >= EXCEPTIONS and len(EXCEPTIONS) <= 0.03 * len(OPERATORS)


class CallSeenError(Exception):
    """Raised by an operator when its call has been seen."""


def call_of(op, monkeypatch):
    """Attributes and operands of a call of an operator by one of its cases on the host, where
    nothing is compiled.
    """
    found = []
    forward = host.forward

    def catching(called, attrs, donate=()):
        def run(*arrays):
            found.append((attrs, arrays))
            raise CallSeenError

        return run if called is op else forward(called, attrs, donate)

    monkeypatch.setattr(host, "forward", catching)
    programs = [op.programs.table(FORWARD, host.name, policy) for policy in (0, 1)]
    for case in CASES[op.name]:
        for code in dict.fromkeys((main_dtype(case), *codes(case))):
            [p.clear() for p in programs]
            sample = next(samples(case, [code], ("ordinary",)))
            if isinstance(expected_of(case, sample.arrays), Exception):
                continue
            with npx.backend("numpy"):
                modes._MODE.set(
                    modes.current()._replace(is_default=False)
                )  # the fast path does not call it
                outcome(case, given(sample))
            if found:
                break
    monkeypatch.undo()
    [p.clear() for p in programs]
    if found:
        return found[0]
    return traced_call_of(op, monkeypatch)  # the host writes its buffers without some operators


def traced_call_of(op, monkeypatch):
    """Attributes and operands of a call while a case is traced: zeros for arrays, numbers as they
    are.
    """
    found = []
    run = Trace.run

    def noted(self, called, values, payloads, attrs, mode):
        if called is op:
            found.append(
                (
                    attrs,
                    tuple(
                        [
                            onp.zeros(p.shape, p.dtype) if hasattr(p, "shape") else p
                            for p in payloads
                        ]
                    ),
                )
            )
        return run(self, called, values, payloads, attrs, mode)

    monkeypatch.setattr(Trace, "run", noted)
    for case in CASES[op.name]:
        trace(case, next(samples(case, [main_dtype(case)], ("ordinary",))))
    monkeypatch.undo()
    return found[0]


@pytest.mark.parametrize("name", [n for n in OPERATORS if n not in EXCEPTIONS])
def test_an_operator_is_inferred_written_a_node_loaded_and_described(name, monkeypatch):
    op = REGISTRY[name]
    if op.inputs:
        check_inference(op, monkeypatch)

    attrs, operands = call_of(op, monkeypatch)
    made = ops.get(name)(**op.named(attrs))
    assert ops.from_json(made.to_json()) == made

    arrays = {f"v{i}": a for i, a in enumerate(operands) if isinstance(a, onp.ndarray)}
    if arrays:
        graph = symbol.Group(
            made(
                *[
                    symbol.var(f"v{i}", a.shape, a.dtype) if f"v{i}" in arrays else a
                    for i, a in enumerate(operands)
                ]
            )
        )
    else:  # without a symbol the operator would run
        node = symbolic.call(op, symbolic.operands(operands), attrs)
        graph = symbol.Group(
            [handles.wrap(Value(symbolic.Symbolic(node, i))) for i in range(op.outputs)]
        )
    assert graph.heads[0].node.op is op and len(graph) == op.outputs

    loaded = symbol.load_json(graph.tojson())
    with (
        npx.backend("numpy"),
        onp.errstate(all="ignore"),
    ):  # what has no kernel for the host is compiled, once for both calls
        expected = made(*operands)
        for value, e in zip(
            _graph.evaluated(loaded.heads, {n: Value(a) for n, a in arrays.items()}),
            expected,
            strict=True,
        ):
            assert value.payload.dtype == e.dtype
            onp.testing.assert_array_equal(value.payload, e)
    assert [h.type for h in loaded.heads] == [ops.TensorType(e.shape, e.dtype) for e in expected]

    assert page(op).startswith(f"## {name}\n")
