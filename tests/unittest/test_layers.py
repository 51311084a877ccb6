"""The template: every layer, by its cases (layer_cases/).

Eagerly on the host, where nothing but the gradient is compiled, and hybridized on XLA: the same
results, random masks, gradients and updated statistics, twice in a row. The layer that is
hybridized is made with its shapes given, and reads its parameters from the file of the other one,
whose shapes were found at its first call. Then batches of one and of none, and both 16-bit floats.
"""

import numpy as onp
import pytest
from internals import Handle
from layer_cases import CASES

from npcompat import autograd, gluon, np, npx, test_utils
from npcompat.gluon.model_zoo import vision

MODULES = {"nn": gluon.nn, "rnn": gluon.rnn, "loss": gluon.loss, "zoo": vision}
BASES = {
    "nn.Block", "nn.HybridBlock", "loss.Loss", "rnn.RecurrentCell", "rnn.HybridRecurrentCell", "rnn.ModifierCell",
}  # fmt: skip
ELSEWHERE = {
    "nn.SymbolBlock": "test_symbol.py",
    "rnn.BidirectionalCell": "test_gluon_rnn.py: it has no step",
    **{f"zoo.{n}": "test_model_zoo.py: whole networks" for n in (
        "AlexNet", "DenseNet", "Inception3", "MobileNet", "MobileNetV2", "ResNetV1", "ResNetV2", "SqueezeNet", "VGG",
    )},
}  # fmt: skip


def layers():
    """The names of all public layers, each under the name of its class."""
    return {
        f"{space}.{value.__name__}"
        for space, module in MODULES.items()
        for value in map(vars(module).get, module.__all__)
        if isinstance(value, type) and issubclass(value, gluon.Block)
    }


def test_every_layer_has_a_case():
    assert layers() - CASES.keys() - BASES - ELSEWHERE.keys() == set(), (
        "add a case to tests/unittest/layer_cases/"
    )
    assert CASES.keys() - layers() == set()
    assert (BASES | ELSEWHERE.keys()) - layers() == set()


def flat(result):
    """The arrays of a result, in order."""
    if isinstance(result, list | tuple):
        return [leaf for part in result for leaf in flat(part)]
    return [result] if isinstance(result, Handle) else []


def mapped(function, given):
    """A function of each array of an input."""
    return [mapped(function, g) for g in given] if isinstance(given, list) else function(given)


def trained(layer, arrays):
    """Results, gradients and states of two training calls, as host arrays."""
    np.random.seed(7)
    found = []
    for _ in range(2):
        if isinstance(layer, gluon.rnn.RecurrentCell):
            layer.reset()
        inputs = mapped(np.array, arrays)
        variables = [a for a in flat(inputs) if a.dtype.kind == "f"]
        for v in variables:
            v.attach_grad()
        with autograd.record():
            outs = flat(layer(*inputs))
        autograd.backward(
            outs,
            [np.array(onp.cos(onp.arange(o.size)).reshape(o.shape), dtype=o.dtype) for o in outs],
        )
        parameters = layer.collect_params()
        gradients = [v.grad for v in variables] + [
            p.grad() for p in parameters.values() if p.grad_req != "null"
        ]
        states = [p.data() for p in parameters.values() if p.grad_req == "null"]
        found += [a.asnumpy() for a in (*outs, *gradients, *states)]
    return found


def predicted(layer, arrays):
    return [o.asnumpy() for o in flat(layer(*mapped(np.array, arrays)))]


def begun(case, arrays):
    """The case's layer with its shapes found at a first call, and parameters that are all
    different, and positive.
    """
    layer = case.make()
    layer.initialize("zeros")
    deferred = any(not p.shape_is_known for p in layer.collect_params().values())
    assert deferred == bool(case.known), (
        f"{case.name}: the case must say what makes its shapes explicit, and nothing else"
    )
    layer(*mapped(np.array, arrays))
    rng = onp.random.default_rng(0)
    for p in layer.collect_params().values():
        p.set_data(rng.uniform(0.2, 1.0, p.shape))
    return layer


@pytest.mark.filterwarnings("ignore:all blocks of this .* are hybrid")
@pytest.mark.parametrize("name", sorted(CASES))
def test_layer(name, tmp_path):
    for case in CASES[name]:
        arrays, file = case.arrays(), tmp_path / "parameters"
        with npx.backend("numpy"):
            layer = begun(case, arrays)
            layer.save_parameters(file)
            whole = predicted(layer, arrays)
            for count in () if case.mixes else (1, 0):
                part = predicted(layer, mapped(lambda a: a[:count], arrays))
                compared(part, [w[:count] for w in whole], name, f"a batch of {count}")
            for dtype in ("float16", "bfloat16"):
                check_half(case, file, arrays, whole, dtype)
            expected = trained(layer, arrays)
        twin = case.make(**case.known)
        assert [p.shape for p in twin.collect_params().values()] == [
            p.shape for p in layer.collect_params().values()
        ]
        twin.load_parameters(file)
        twin.hybridize()
        compared(trained(twin, arrays), expected, name, "hybridized")
        if not case.mixes:
            compared(
                predicted(twin, mapped(lambda a: a[:0], arrays)),
                [w[:0] for w in whole],
                name,
                "hybridized, a batch of 0",
            )
        assert type(layer).__name__ in repr(layer)


def compared(found, expected, name, what):
    assert len(found) == len(expected)
    for i, (mine, its) in enumerate(zip(found, expected, strict=True)):
        assert (mine.shape, mine.dtype) == (its.shape, its.dtype), (
            f"{name}, {what}: {mine.dtype}{mine.shape}, {its.dtype}{its.shape}"
        )
        test_utils.assert_almost_equal(
            mine, its, 1e-4, 1e-5, names=(f"{name}, {what}: array {i}", "expected")
        )


def check_half(case, file, arrays, whole, dtype):
    """In a 16-bit float a layer gives that dtype, and what float32 gives but for rounding."""
    layer = case.make()
    layer.load_parameters(file)
    layer.cast(dtype)
    found = flat(
        layer(*mapped(lambda a: np.array(a, dtype=dtype if a.dtype.kind == "f" else None), arrays))
    )
    rtol = case.loose * (2e-2 if dtype == "float16" else 6e-2)
    for mine, its in zip(found, whole, strict=True):
        assert mine.dtype == (
            np.zeros(0, dtype=dtype).dtype if its.dtype.kind == "f" else its.dtype
        ), f"{case.name}: {mine.dtype}"
        onp.testing.assert_allclose(
            mine.astype("float32").asnumpy(), its, rtol, rtol, err_msg=f"{case.name}, {dtype}"
        )
