"""Sizes and data of the tests of recurrent layers and cells, and comparisons of their gradients."""

import numpy as onp

from npcompat import autograd, init, np

T, N, C, H = 4, 3, 5, 6
random = onp.random.RandomState(3)
DATA = random.normal(size=(T, N, C)).astype("float32")
LENGTHS = onp.array([2, 4, 0])
OURS = {"ih": "i2h", "hh": "h2h", "hr": "h2r"}
"""Names of parameters, by torch's."""


def gradients(call, *arrays):
    """Results of a call, and the gradients of a loss of them that weighs each number differently."""
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        outs = call(*arrays)
        loss = sum((o * np.sin(np.arange(o.size)).reshape(o.shape)).sum() for o in outs)
    loss.backward()
    return [o.asnumpy() for o in outs], [a.grad.asnumpy() for a in arrays]


def close(found, expected, rtol=1e-4, atol=1e-5):
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        onp.testing.assert_allclose(mine, theirs, rtol, atol)


def small(block):
    block.initialize(init.Uniform(0.6))
    return block
