"""torch as the oracle of network operators: values and gradients of the same arrays."""

import numpy as onp
import pytest

from npcompat import autograd, np

torch = pytest.importorskip(
    "torch", reason="torch is not installed; it is the oracle of these operators"
)
functional = torch.nn.functional


def normal(*shape, dtype="float32"):
    return onp.random.RandomState(sum(shape) + 7 * len(shape)).normal(size=shape).astype(dtype)


def check(ours, theirs, *arrays, rtol=2e-5, atol=2e-5):
    """Values and the gradients of all inputs agree, for a cotangent that is not symmetric."""
    mine = [np.array(a) for a in arrays]
    for a in mine:
        a.attach_grad()
    others = [torch.tensor(a, requires_grad=True) for a in arrays]
    with autograd.record():
        y = ours(*mine)
    expected = theirs(*others)
    onp.testing.assert_allclose(y.asnumpy(), expected.detach().numpy(), rtol, atol)
    weights = normal(*y.shape)
    y.backward(np.array(weights))
    expected.backward(torch.tensor(weights))
    for a, b in zip(mine, others, strict=True):
        onp.testing.assert_allclose(a.grad.asnumpy(), b.grad.numpy(), 10 * rtol, 10 * atol)
