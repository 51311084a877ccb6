"""Types that are only partly known: what is inferred is what running gives, or that it is not
known.

`test_registry_graphs.py` checks it over the registry.
"""

import contextlib

import pytest
from internals import (
    REGISTRY,
    Handle,
    InferenceError,
    OperatorError,
    TensorType,
    Trace,
    capture,
    handles,
    infer,
    substituted,
)
from registry_cases import CASES
from registry_cases.case import samples
from test_registry import codes, flat, given, main_dtype, quiet

import npcompat.gluon  # declares operators, too
from npcompat import np, npx, ops, symbol

PLACEMENT = "jax"

assert npcompat.gluon
F = "float32"


def type_of(payload):
    return TensorType(payload.shape, payload.dtype) if hasattr(payload, "dtype") else type(payload)


def calls_of(name, monkeypatch):
    """The calls of an operator while its cases are traced: attributes, input types, output types."""
    found = {}
    run = Trace.run

    def noted(self, op, values, payloads, attrs, mode):
        result = run(self, op, values, payloads, attrs, mode)
        if op is REGISTRY[name]:
            outs = (result,) if op.outputs == 1 else result
            found[attrs, tuple(map(type_of, payloads))] = tuple(type_of(o.payload) for o in outs)
        return result

    monkeypatch.setattr(Trace, "run", noted)
    for case in CASES[name]:
        for code in dict.fromkeys((main_dtype(case), *codes(case))):
            before = len(found)
            for sample in samples(case, [code], case.layouts):
                if sample.layout not in ("view", "special"):
                    trace(case, sample)
            if len(found) > before:
                break
    monkeypatch.setattr(Trace, "run", run)
    return [(attrs, types, outs) for (attrs, types), outs in found.items()]


def trace(case, sample):
    """Trace a call; nothing is compiled."""

    def body(proxies, trace):
        return [
            handles.read(leaf) for leaf in flat(case.call(np, *proxies)) if isinstance(leaf, Handle)
        ], None

    with (
        quiet(),
        contextlib.suppress(Exception),
    ):  # what raises, raises with the oracle, too, which other tests compare
        capture(case.name, body, [handles.read(a) for a in given(sample)])


def replaced(types, dim):
    """The types with each dimension replaced by what `dim(input, axis, length)` says."""
    return [
        TensorType(tuple(dim(i, j, n) for j, n in enumerate(t.shape)), t.dtype)
        if isinstance(t, TensorType)
        else t
        for i, t in enumerate(types)
    ]


def agrees(inferred, expected):
    """Return True if an inferred type, which may be partly unknown, contradicts nothing."""
    if inferred.dtype not in (None, expected.dtype) or (
        inferred.shape is not None and len(inferred.shape) != len(expected.shape)
    ):
        return False
    return inferred.shape is None or all(
        a in (None, b) for a, b in zip(inferred.shape, expected.shape, strict=True)
    )


def check_inference(op, monkeypatch):
    """Assert that inferred types of an operator's calls are those of its results.

    Types inferred from partly known types must not contradict them.
    """
    name = op.name
    calls = calls_of(name, monkeypatch)
    assert calls, f"{name}: no case traces it"
    for i, (attrs, types, outs) in enumerate(calls):
        made = ops.get(name)(**op.named(attrs))
        assert ops.from_json(made.to_json()) == made
        assert infer(op, types, attrs).outputs == outs
        if i > 3:
            continue
        lengths = {
            f"n{i}_{j}": n
            for i, t in enumerate(types)
            if isinstance(t, TensorType)
            for j, n in enumerate(t.shape)
        }
        if 0 in lengths.values():
            continue
        for partial in (
            replaced(types, lambda i, j, n: f"n{i}_{j}"),
            replaced(
                types, lambda i, j, n: f"n0_{j}" if lengths.get(f"n0_{j}") == n and j == 0 else n
            ),
            replaced(types, lambda i, j, n: None if j == 0 else n),
            [TensorType(None, t.dtype) if isinstance(t, TensorType) else t for t in types],
        ):
            for inferred, expected in zip(infer(op, partial, attrs).outputs, outs, strict=True):
                known = TensorType(
                    substituted(inferred.shape, lengths) if inferred.shape is not None else None,
                    inferred.dtype,
                )
                assert agrees(known, expected), (
                    f"{name}{attrs} of {partial}: {inferred}, but for {lengths} it is {expected}"
                )


def test_symbols_are_carried_through():
    rows = TensorType(("batch", 8), F)
    cases = {
        ops.Add(): ([rows, TensorType((8,), F)], ("batch", 8)),
        ops.Matmul(): ([rows, TensorType((8, "units"), F)], ("batch", "units")),
        ops.Transpose(axes=(1, 0)): ([rows], (8, "batch")),
        ops.Sum(axis=1): ([rows], ("batch",)),
        ops.Concatenate(axis=0): ([rows, rows], ("2*batch", 8)),
        ops.Reshape(shape=(-1,)): ([rows], ("8*batch",)),
    }
    for op, (types, expected) in cases.items():
        assert op.infer(types).outputs == (TensorType(expected, F),), op


def test_what_is_not_known_is_said_to_be_unknown():
    unknown = ops.Matmul().infer([TensorType(None, F), TensorType((8, 3), F)])
    assert unknown.outputs == (TensorType(None, F),) and not unknown.known
    assert ops.Greater().infer([TensorType(("n",)), TensorType(("n",))]).outputs == (
        TensorType(("n",), "bool"),
    )
    assert ops.Add().infer([TensorType(("n",)), TensorType(("n",), F)]).outputs == (
        TensorType(("n",), None),
    )
    assert ops.Add().infer([TensorType(("n", 3), F), TensorType((4, 3), F)]).outputs == (
        TensorType(None, F),
    )  # 1 and 4 fit
    assert ops.Exp().infer([TensorType((None, 2), F)]).outputs == (TensorType((None, 2), F),)


def test_contradictions_name_operator_arguments_and_types():
    with pytest.raises(
        InferenceError,
        match=r"_npi_matmul\(x1: TensorType\(\(batch, 8\), float32\), x2: .*\(4, 3\).*8.*4",
    ):
        ops.Matmul().infer([TensorType(("batch", 8), F), TensorType((4, 3), F)])
    with pytest.raises(
        InferenceError,
        match=r"_npi_add.*could not be broadcast together with shapes \(3,8\) \(4,8\)",
    ):
        ops.Add().infer([TensorType((3, 8), F), TensorType((4, 8), F)])
    with pytest.raises(OperatorError, match="_npi_add: expected the inputs x1, x2; 1 are given"):
        ops.Add().infer([TensorType((3,), F)])
    with pytest.raises(ValueError, match="can't be negative"):
        TensorType((-1, 2))


def test_types_are_joined_and_written():
    some, other = TensorType((None, 3), None), TensorType(("n", 3), F)
    assert some.joined(other) == other
    assert (
        TensorType.from_json(other.to_json())
        == other
        == TensorType.from_json(TensorType(("n", 3), F).to_json())
    )
    assert other.substituted({"n": 5}) == TensorType((5, 3), F) and other.symbols == {"n"}
    with pytest.raises(InferenceError, match=r"weight: expected shape \(n, 3\), given \(2, 4\)"):
        other.joined(TensorType((2, 4)), "weight")
    with pytest.raises(InferenceError, match="weight: expected dtype float32, given int64"):
        other.joined(TensorType(None, "int64"), "weight")


def test_policy_decides_the_default_float():
    assert ops.Sin().infer([TensorType((2,), "int64")]).outputs[0].dtype == "float32"
    with npx.np_default_dtype():
        assert ops.Sin().infer([TensorType((2,), "int64")]).outputs[0].dtype == "float64"


X = symbol.var("x", ("batch", 4, 8, 8), F)


@pytest.mark.parametrize(
    ("call", "weights", "shapes"),
    [
        (lambda x, w, b: npx.convolution(x, w, b), [(6, None, 3, 3), None], [(6, 4, 3, 3), (6,)]),
        (
            lambda x, w, b: npx.convolution(x, w, b, num_group=2),
            [(6, None, 3, 3), None],
            [(6, 2, 3, 3), (6,)],
        ),
        (
            lambda x, w, b: npx.convolution(x, w, b, layout="NHWC"),
            [(6, 3, 3, None), None],
            [(6, 3, 3, 8), (6,)],
        ),
        (
            lambda x, w, b: npx.deconvolution(x, w, b, num_group=2),
            [(None, 3, 3, 3), None],
            [(4, 3, 3, 3), (6,)],
        ),
        (lambda x, *v: npx.batch_norm(x, *v), [None] * 4, [(4,)] * 4),
        (lambda x, *v: npx.batch_norm(x, *v, axis=-1), [None] * 4, [(8,)] * 4),
        (lambda x, *v: npx.layer_norm(x, *v), [None] * 2, [(8,)] * 2),
        (lambda x, *v: npx.group_norm(x, *v, num_groups=2), [None] * 2, [(4,)] * 2),
        (lambda x, *v: npx.instance_norm(x, *v), [None] * 2, [(4,)] * 2),
    ],
)
def test_data_says_what_shapes_parameters_have(call, weights, shapes):
    variables = [symbol.var(f"w{i}", shape, F) for i, shape in enumerate(weights)]
    arguments, (out,) = call(X, *variables).infer()
    assert [arguments[f"w{i}"].shape for i in range(len(weights))] == shapes
    assert out.shape is not None and out.shape[0] == X.type.shape[0]


def test_a_parameter_of_another_shape_contradicts_the_data():
    x, w = symbol.var("x", (2, 4, 8, 8), F), symbol.var("w", (6, 3, 3, 3), F)
    with pytest.raises(InferenceError, match=r"_npx_convolution: argument weight: .*4.*3"):
        npx.convolution(x, w)
