"""Products of matrices in the forms that XLA's CPU computes fast: the same results."""

import itertools

import jax
import numpy as onp
import pytest
from internals import cpu_product, rewritten
from jax import lax

from npcompat import autograd, np, npx

LARGE = cpu_product.LARGE
SIDE = 256  # SIDE * SIDE is LARGE


def form(a, b, left, right, transposed=()):
    """Return the shapes of the operands of the product after the rewrite."""

    def product(a, b):
        a = a.T if 0 in transposed else a
        b = b.T if 1 in transposed else b
        return lax.dot_general(a, b, (((left,), (right,)), ((), ())))

    found = rewritten(jax.make_jaxpr(product)(onp.zeros(a, "f"), onp.zeros(b, "f")).jaxpr)
    (last,) = [e for e in found.eqns if e.primitive.name in ("dot_general", "jit", "pjit")][-1:]
    if last.primitive.name == "dot_general":
        return None
    (dot,) = [e for e in last.params["jaxpr"].eqns if e.primitive.name == "dot_general"]
    return [v.aval.shape for v in dot.invars]


@pytest.mark.parametrize(
    ("a", "b", "left", "right", "transposed", "expected"),
    [
        ((8, SIDE), (SIDE, SIDE), 1, 0, (), [(SIDE, SIDE), (8, SIDE)]),
        ((8, SIDE), (SIDE, SIDE), 1, 1, (), [(SIDE, SIDE), (8, SIDE)]),
        ((SIDE, 8), (SIDE, SIDE), 0, 0, (), [(SIDE, SIDE), (SIDE, 8)]),
        ((2, 3, SIDE), (SIDE, SIDE), 2, 0, (), [(SIDE, SIDE), (2, 3, SIDE)]),
        ((128, SIDE), (SIDE, SIDE), 1, 0, (), None),
        ((8, 32), (32, 32), 1, 0, (), None),
        ((100, SIDE * 8), (SIDE * 8, 32), 1, 0, (), None),
        ((SIDE, SIDE), (SIDE,), 1, 0, (), None),
        ((SIDE, SIDE), (SIDE,), 1, 0, (0,), [(SIDE,), (SIDE, SIDE)]),
        ((SIDE, SIDE), (SIDE,), 0, 0, (), [(SIDE,), (SIDE, SIDE)]),
        ((16, 16), (16,), 1, 0, (0,), None),
        ((1, SIDE), (SIDE, SIDE), 1, 0, (1,), [(1, SIDE), (SIDE, SIDE)]),
        ((1, SIDE), (SIDE, SIDE), 1, 0, (), None),
    ],
)
def test_which_products_change(a, b, left, right, transposed, expected):
    assert form(a, b, left, right, transposed) == expected


PRODUCTS = {
    "matrices": lambda np, a, b: a @ b,
    "left transposed": lambda np, a, b: a.T.copy().T @ b,
    "right transposed": lambda np, a, b: a @ b.T.copy().T,
    "left lies transposed": lambda np, a, b: np.matmul(a.T.copy().T, b) * 2,
    "tensordot": lambda np, a, b: np.tensordot(a.reshape(2, -1, a.shape[1]), b, (2, 0)),
    "einsum": lambda np, a, b: np.einsum("ij,jk->ki", a, b),
    "a vector": lambda np, a, b: b.T @ a[0],
    "a vector before": lambda np, a, b: a[0] @ b,
    "one row": lambda np, a, b: a[:1] @ b,
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
@pytest.mark.parametrize("product", PRODUCTS)
def test_as_numpy_with_derivatives(product, dtype):
    draw = onp.random.RandomState(1)
    a = draw.randint(-5, 5, (8, 300)).astype(dtype)
    b = draw.randint(-5, 5, (300, 320)).astype(dtype)
    function = PRODUCTS[product]
    with npx.np_default_dtype():
        found = npx.jit(lambda a, b: function(np, a, b))(np.array(a), np.array(b))
    expected = function(onp, a, b)
    assert found.dtype == expected.dtype
    onp.testing.assert_array_equal(found, expected)  # whole numbers: no rounding
    if dtype != "float32":
        return
    ours = [np.array(a), np.array(b)]
    grads = []
    for jitted in (False, True):
        for x in ours:
            x.attach_grad()
        with autograd.record():
            y = (
                npx.jit(lambda a, b: function(np, a, b))
                if jitted
                else lambda a, b: function(np, a, b)
            )(*ours)
            y = (y * y).sum()
        y.backward()
        grads.append([x.grad.asnumpy() for x in ours])
    for eager, compiled in zip(*grads, strict=True):
        onp.testing.assert_allclose(compiled, eager, rtol=1e-6)


def test_dense_layers_of_few_rows_equal_many():
    from npcompat.gluon import nn

    net = nn.HybridSequential()
    for _ in range(3):
        net.add(nn.Dense(SIDE + 44, activation="relu"))
    net.add(nn.Dense(3))
    net.initialize()
    x = np.random.normal(size=(160, SIDE))
    whole = net(x).asnumpy()
    net.hybridize()
    for rows, softmax in itertools.product((1, 2, 5, 31, 127, 160), (False, True)):
        function = npx.jit(lambda x: npx.softmax(net(x))) if softmax else net
        expected = npx.softmax(np.array(whole[:rows])) if softmax else whole[:rows]
        onp.testing.assert_allclose(function(x[:rows]), expected, rtol=2e-4, atol=2e-5)
