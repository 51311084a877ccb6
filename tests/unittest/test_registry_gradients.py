"""The template, backward: gradients of every operator, by its cases, against central differences on
each backend, eager and through compiled functions; second derivatives against JAX's.
"""

import zlib
from typing import Any, NamedTuple

import jax
import numpy as onp
import pytest
import test_registry
from internals import REGISTRY, Handle, compat, handles, language
from registry_cases import CASES
from registry_cases.case import as_dtype, samples
from test_registry import (
    ON_DEVICE,
    OPERATORS,
    expected_of,
    flat,
    given,
    main_dtype,
    outcome,
    quiet,
)

from npcompat import autograd, np, npx, test_utils

PLACEMENT, pytestmark = test_registry.PLACEMENT, test_registry.pytestmark
DIFFERENTIABLE = [
    n
    for n in OPERATORS
    if REGISTRY[n].differentiable and any(c.grad != () for c in CASES.get(n, ()))
]
SECOND = [n for n in DIFFERENTIABLE if any(c.second for c in CASES[n])]


def differentiated(case):
    """A float64 sample of a case in each layout, and the positions of the operands that are
    differentiated.
    """
    fixed = [o.dtype for o in case.operands]
    for sample in samples(case, ["d"], case.layouts):
        if (
            sample.layout == "special"
            or (sample.layout == "0-d" and not case.smooth)
            or isinstance(expected_of(case, sample.arrays), Exception)
        ):
            continue
        wanted = [
            i
            for i, d in enumerate(fixed)
            if (d is None or as_dtype(d).kind in "fc") and (case.grad is None or i in case.grad)
        ]
        if wanted:
            yield sample, wanted


def head_of(name, i, out):
    rng = onp.random.default_rng(zlib.crc32(f"{name} head {i}".encode()))
    head = rng.uniform(0.5, 1.5, out.shape)
    return head + 1j * rng.uniform(-1, 1, out.shape) if out.dtype.kind == "c" else head


def heads_of(case, arrays):
    """The results of a call that have derivatives, and a gradient for each."""
    outs = [
        o for o in flat(case.call(np, *arrays)) if isinstance(o, Handle) and o.dtype.kind in "fc"
    ]
    return outs, [head_of(case.name, i, o).astype(o.dtype) for i, o in enumerate(outs)]


def loss_of(case, arrays):
    """The real number of which these are the gradients."""
    return float(
        sum(
            [
                (o.asnumpy() * head).sum().real
                for o, head in zip(*heads_of(case, arrays), strict=True)
            ]
        )
    )


def gradients_of(case, arrays, wanted, call=None):
    """The gradients of some of the arrays."""
    for p in wanted:
        arrays[p].attach_grad()
    with autograd.record():
        results = zip(*(call or heads_of)(case, arrays), strict=True)
    recorded = [
        (out, np.array(head)) for out, head in results if handles.read(out).node is not None
    ]  # what is handed on is not
    autograd.backward(*map(list, zip(*recorded, strict=True)))
    return [arrays[p].grad for p in wanted]


def central_differences(case, sample, position, step=1e-6):
    found = onp.zeros_like(sample.arrays[position])
    directions = (1, 1j) if found.dtype.kind == "c" else (1,)
    for at in onp.ndindex(found.shape):
        for direction in directions:
            values = []
            for sign in (1, -1):
                arrays = [a.copy() for a in sample.arrays]
                arrays[position][at] += sign * step * direction
                values.append(loss_of(case, [np.array(a) for a in arrays]))
            found[at] += (values[0] - values[1]) / (2 * step) * onp.conj(direction)
    return found


class Check(NamedTuple):
    """A sample, the positions of its operands that are differentiated, and the central difference
    at each.
    """

    sample: Any
    wanted: list[int]
    expected: list[onp.ndarray]


def checks_of(case, layouts):
    """The samples of a case in some layouts that are differentiated; in all where none are
    named.
    """
    with placed_as(case), quiet():
        return [
            Check(sample, wanted, [central_differences(case, sample, p) for p in wanted])
            for sample, wanted in differentiated(case)
            if layouts is None or sample.layout in layouts
        ]


def placed_as(case):
    """Arrays are on the host, where nothing is compiled, if the case runs there; on a plug-in that
    is tested, always.
    """
    return npx.backend("numpy" if case.on_host and ON_DEVICE == PLACEMENT else ON_DEVICE)


def assert_central_differences(case, check, grads, where):
    for grad, difference in zip(grads, check.expected, strict=True):
        test_utils.assert_almost_equal(
            grad,
            difference,
            1e-5 * case.loose,
            1e-6 * case.loose,
            names=(
                f"{case.name}, {check.sample.layout}, {where}: gradient",
                "central difference",
            ),
        )


def assert_gradients_inside_a_compiled_function(case, checks):
    """All samples in one program, which records and differentiates."""

    @npx.jit
    def backward_inside(batch):
        return [
            gradients_of(case, arrays, check.wanted)
            for check, arrays in zip(checks, batch, strict=True)
        ]

    found = backward_inside([given(check.sample) for check in checks]) if checks else []
    for check, grads in zip(checks, found, strict=True):
        assert_central_differences(case, check, grads, "backward inside npx.jit")


def assert_gradients_of_eager_calls(case, check, where="eager"):
    grads = gradients_of(case, given(check.sample), check.wanted)
    assert_central_differences(case, check, grads, where)


def assert_gradients_through_a_compiled_function(case, check):
    """The function is compiled; it is recorded as one operator."""
    whole = npx.jit(lambda arrays: heads_of(case, arrays))
    grads = gradients_of(case, given(check.sample), check.wanted, lambda _, arrays: whole(arrays))
    assert_central_differences(case, check, grads, "through npx.jit")


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name):
    """Of all cases inside compiled functions, and of the first one in every way."""
    for i, case in enumerate(CASES[name]):
        if case.grad == ():
            continue
        checks = checks_of(case, None if i == 0 else ("ordinary", "view"))
        assert_gradients_inside_a_compiled_function(case, checks)
        for check in checks[:1] if i == 0 else ():
            assert_gradients_of_eager_calls(case, check)
            assert_gradients_through_a_compiled_function(case, check)
            if case.on_host:
                with npx.backend("numpy"):
                    assert_gradients_of_eager_calls(case, check, "host")


class Recorded(NamedTuple):
    """One recorded call: its node, the values of the node's operands, and which of them are the
    operands that are differentiated.
    """

    node: Any
    operands: list[Any]
    positions: list[int]
    head: onp.ndarray


def recorded(case, sample, wanted):
    with placed_as(case):
        arrays = given(sample)
        for p in wanted:
            arrays[p].attach_grad()
        with autograd.record():
            out = flat(case.call(np, *arrays))[0]
    node = handles.read(out).node
    leaves = [v.node for v in node.inputs]
    return Recorded(
        node,
        [v.payload for v in node.inputs],
        [leaves.index(handles.read(arrays[p]).node) for p in wanted],
        head_of(case.name, 0, out),
    )


def hessian_times(case, sample, wanted, head, directions):
    """The gradient of the gradient along some directions, by npcompat, compiled."""

    @npx.jit
    def twice(arrays):
        for p in wanted:
            arrays[p].attach_grad()
        with autograd.record():
            out = flat(case.call(np, *arrays))[0]
            grads = autograd.grad(
                (out * np.array(head)).sum(), [arrays[p] for p in wanted], create_graph=True
            )
            total = sum(
                ((g * np.array(v)).sum() for g, v in zip(grads, directions, strict=True)),
                np.array(0.0, dtype="float64"),
            )
        total.backward()
        return [arrays[p].grad for p in wanted]

    return twice(given(sample))


def hessian_times_by_jax(call, points, directions):
    """The same of the operator's compute, by JAX."""
    compute = language.function(call.node.op, call.node.attrs)

    def loss(*some):
        rest = dict(zip(call.positions, some, strict=True))
        found = compute(*[rest.get(i, jax.numpy.asarray(a)) for i, a in enumerate(call.operands)])
        first = found if call.node.op.outputs == 1 else found[0]
        return (first * jax.numpy.asarray(call.head)).sum()

    with jax.enable_x64(True):
        gradient = jax.grad(loss, argnums=tuple(range(len(points))))
        return jax.jit(lambda at, along: jax.jvp(gradient, at, along)[1])(
            tuple(map(jax.numpy.asarray, points)), tuple(map(jax.numpy.asarray, directions))
        )


@pytest.mark.parametrize("name", SECOND)
def test_second_order(name):
    """The gradient of a gradient is what JAX makes of the operator's compute: a Hessian times a
    vector.
    """
    case = next(c for c in CASES[name] if c.second)
    sample, wanted = next(differentiated(case))
    call = recorded(case, sample, wanted)
    assert call.node.op is REGISTRY[name], (
        f"{name}: the case's last operator is {call.node.op.name}"
    )
    points = [sample.arrays[p] for p in wanted]
    rng = onp.random.default_rng(zlib.crc32(name.encode()))
    directions = [rng.uniform(-1, 1, point.shape) for point in points]
    found = hessian_times(case, sample, wanted, call.head, directions)
    expected = hessian_times_by_jax(call, points, directions)
    for mine, theirs in zip(found, expected, strict=True):
        test_utils.assert_almost_equal(
            mine, onp.asarray(theirs), 1e-9, 1e-10, names=(f"{name}: second order", "JAX")
        )


@pytest.mark.slow
@pytest.mark.of_xla("it sees which products XLA is given")
def test_products_of_floats_are_not_rounded_on_devices(monkeypatch):
    """GPUs would multiply float32 in TF32: each product asks for the highest precision, in gradients
    too. Convolutions are left to XLA.
    """
    product = compat.private("jax._src.lax.lax", "dot_general_p")
    bind, seen, rounded, running = product.bind, [], set(), [""]

    def bound(*operands, **params):
        seen.append(running[0])
        exact = "HIGHEST" in str(params.get("precision"))
        if operands[0].dtype in ("float32", "complex64") and not exact:
            rounded.add(running[0])
        return bind(*operands, **params)

    monkeypatch.setattr(product, "bind", bound)
    for name in OPERATORS:
        running[0] = name
        for case in CASES.get(name, ())[:1]:
            for sample in samples(case, [main_dtype(case)], ("ordinary",)):
                outcome(case, given(sample))
    for name in DIFFERENTIABLE:
        running[0] = f"gradient of {name}"
        case = next(c for c in CASES[name] if c.grad != ())
        for sample, wanted in [*differentiated(case)][:1]:
            gradients_of(case, given(sample), wanted)
    assert "_npx_lstm" in seen
    assert not {name for name in rounded if not name.endswith("convolution")}
