"""Operators as objects: constructed, called, compared, written and read, listed."""

import json

import numpy as onp
import pytest
from internals import REGISTRY, DefinitionError, Kernel, OperatorError, apply, from_function

import npcompat.gluon  # declares operators, too
from npcompat import autograd, np, npx, ops

assert npcompat.gluon


def test_an_operator_is_called_on_arrays_and_returns_a_tuple():
    op = ops.Cumsum(axis=1)
    (y,) = op(np.array([[1, 2, 3]]))
    assert y.tolist() == [[1, 3, 6]]
    parts = ops.Modf()(np.array([1.5, -2.25]))
    assert [p.tolist() for p in parts] == [[0.5, -0.25], [1.0, -2.0]]
    assert ops.Add()([1, 2], 3)[0].tolist() == [4, 5]
    with npx.backend("numpy"):
        assert ops.ToDevice(device=npx.cpu())([1, 2])[0].tolist() == [1, 2]


def test_an_operator_is_recorded_and_compiled():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        (y,) = ops.Multiply()(x, x)
    y.backward()
    assert x.grad.tolist() == [2, 4]
    assert npx.jit(lambda a: ops.Sum(axis=0)(a)[0])(x).tolist() == 3


def test_operators_are_compared_by_content():
    assert ops.Sum(axis=1) == ops.Sum(axis=1) and hash(ops.Sum(axis=1)) == hash(ops.Sum(axis=1))
    assert ops.Sum(axis=1) != ops.Sum(axis=0) and ops.Sum(axis=1) != ops.Prod(axis=1)
    assert ops.Sum(axis=[0, 1]) == ops.Sum(axis=(0, 1))
    assert len({ops.Exp(), ops.Exp(), ops.Log()}) == 2


def test_an_operator_prints_as_it_is_constructed():
    assert (
        repr(ops.Sum(axis=1, keepdims=True)) == "Sum(axis=1, keepdims=True)"
        and repr(ops.Exp()) == "Exp()"
    )
    assert eval(repr(ops.Sum(axis=(0, 1))), vars(ops) | {"Sum": ops.Sum}) == ops.Sum(axis=(0, 1))


def test_every_operator_has_a_class():
    for name in REGISTRY:
        cls = ops.get(name)
        assert cls.declaration is REGISTRY[name] and getattr(ops, cls.__name__) is cls


def test_unknown_names_attributes_and_versions_are_refused():
    with pytest.raises(AttributeError, match=r"no operator 'Cumsm' \(did you mean Cumsum\?\)"):
        ops.Cumsm
    with pytest.raises(OperatorError, match="no operator '_npi_nothing_such'"):
        ops.get("_npi_nothing_such")
    with pytest.raises(OperatorError, match="_npi_cumsum has no attribute axs; it has axis"):
        ops.Cumsum(axs=1)
    with pytest.raises(OperatorError, match="_npi_reshape: attribute shape is missing"):
        ops.Reshape()
    good = ops.Cumsum(axis=1).definition()
    for change, message in (
        ({"op": "_npi_cumsm"}, "no operator '_npi_cumsm' .did you mean _npi_cumsum"),
        ({"version": 99}, "version 99 of definitions is not known; this is version 1"),
        ({"attrs": {"axs": 1}}, "_npi_cumsum has no attribute axs"),
        ({"attrs": {"dtype": {"dtype": "float31"}}}, "dtype 'float31' can't be read"),
        ({"attrs": {"dtype": {"kind": 1}}}, "an object of one of the keys float, complex, dtype"),
    ):
        with pytest.raises(DefinitionError, match=message):
            ops.from_json(json.dumps({**good, **change}))
    with pytest.raises(DefinitionError, match="attrs is missing"):
        ops.from_json({"op": "_npi_cumsum", "version": 1})
    with pytest.raises(OperatorError, match="_npi_add: expected the inputs x1, x2; 3 are given"):
        ops.Add()(1, 2, 3)


def test_attributes_of_every_kind_are_written():
    fill = ops.Full(value=1 + 2j, shape=(2,), dtype=onp.dtype("complex64"))
    assert ops.from_json(fill.to_json()) == fill
    norm = ops.get("_npi_norm")(**{**REGISTRY["_npi_norm"].attrs, "ord": -float("inf")})
    assert ops.from_json(norm.to_json()) == norm and "Infinity" not in norm.to_json()


def test_declarations_are_listed():
    (cumsum,) = [d for d in ops.list() if d.name == "_npi_cumsum"]
    assert (
        list(cumsum.inputs) == ["a"]
        and "axis" in cumsum.attrs
        and cumsum.public == "np.cumsum"
        and cumsum.backends == ("jax", "numpy")
    )
    assert {d.pattern for d in ops.list(pattern="reduction")} == {"reduction"}
    assert all(d.public and d.backends == ("jax", "numpy") for d in ops.list(level=1))
    assert all(d.public and d.backends == ("jax",) for d in ops.list(level=2))
    assert all(d.public is None for d in ops.list(level=3))
    assert (
        sum(len(ops.list(level=level)) for level in (1, 2, 3)) == len(ops.list()) == len(REGISTRY)
    )
    add = next(d for d in ops.list() if d.name == "_npi_add")
    assert add.inputs["x1"].startswith("Operands") and add.attrs["dtype"].description
    for wrong, message in (
        ({"pattern": "fused"}, "pattern='fused'.: expected one of elementwise"),
        ({"level": 4}, "level=4.: .* 1, 2, 3"),
    ):
        with pytest.raises(ValueError, match=f"ops.list.{message}"):
            ops.list(**wrong)


# --- strategies -----------------------------------------------------------------------------------


def adding(amount):
    return lambda xp, x, *, fast: x + 1 + amount


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_a_strategy_chooses_by_backend_types_and_priority(backend):
    def of_halves(arrays, attrs):
        return arrays[0].dtype == "float16"

    def large(arrays, attrs):
        return attrs["fast"] and arrays[0].size > 3

    op = from_function(
        "_npi_test_strategy",
        lambda xp, x, *, fast=True: x + 1,
        strategy=(
            Kernel(backend, adding(10), priority=5, condition=large),
            Kernel(backend, adding(20), priority=9, condition=of_halves),
            Kernel({"jax": "numpy", "numpy": "jax"}[backend], adding(99)),
        ),
    )

    def call(size, dtype, fast=True):
        with npx.backend(backend):
            return apply(op, (np.zeros(size, dtype),), (fast,)).max().item()

    assert (
        call(2, "float32") == 1 and call(4, "float32") == 11 and call(4, "float32", fast=False) == 1
    )
    assert call(2, "float16") == 21 and call(4, "float16") == 21, (
        "the one of higher priority is taken"
    )
    assert npx.jit(lambda x: apply(op, (x,), (True,)))(np.zeros(4)).max().item() == (
        11 if backend == "jax" else 100
    )


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_a_strategy_chooses_by_platform(backend):
    def call(**platforms):
        kernels = tuple(
            Kernel(backend, adding(amount), platform=name) for name, amount in platforms.items()
        )
        op = from_function(
            "_npi_test_strategy", lambda xp, x, *, fast=True: x + 1, strategy=kernels
        )
        with npx.backend(backend):
            x = np.array([2.0, 3.0])
            x.attach_grad()
            with autograd.record():
                y = apply(op, (x,))
            y.backward(np.array([1.0, 3.0]))
            return y.tolist(), x.grad.tolist()

    assert call(cpu=10, gpu=20, tpu=30) == ([13, 14], [1, 3])
    assert call(gpu=20) == ([3, 4], [1, 3])
