"""Hybridized block of 16 dense layers, against `jax.jit` of the same function.

The function takes its parameters as a flat tuple.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy

from benchmarks.report import Table
from npcompat import gluon, np, npx

LAYERS = 16


def run(seconds: float) -> dict[str, Any]:
    """Return a table with a row for each width."""
    table = Table(
        f"{LAYERS} dense layers, us",
        [("hybridized", "jit"), ("eager", "jit")],
        ["hybridized", "jit", "eager"],
    )
    for width, batch in ((16, 8), (64, 32), (256, 64)):
        net, eager = _network(width), _network(width)
        for ours, copy in zip(
            net.collect_params().values(), eager.collect_params().values(), strict=True
        ):
            copy.set_data(ours.data())
        net.hybridize()
        host = numpy.random.RandomState(0).normal(size=(batch, width)).astype("float32")
        with npx.backend("jax"):  # the backend of the reference's operand
            x, jx = np.array(host), jnp.asarray(host)
        flat = tuple(jnp.asarray(p.data().asnumpy()) for p in net.collect_params().values())
        numpy.testing.assert_allclose(net(x).asnumpy(), reference(flat, jx), rtol=1e-4, atol=1e-5)
        functions = {
            "hybridized": lambda net=net, x=x: net(x).wait_to_read(),
            "jit": lambda flat=flat, jx=jx: reference(flat, jx).block_until_ready(),
            "eager": lambda eager=eager, x=x: eager(x).wait_to_read(),
        }
        table.measure(f"width {width}, batch {batch}", functions, seconds)
    return {"hybridized": table.close()}


def _network(width: int) -> gluon.nn.HybridSequential:
    net = gluon.nn.HybridSequential()
    for _ in range(LAYERS):
        net.add(gluon.nn.Dense(width, in_units=width, activation="relu"))
    net.initialize()
    return net


@jax.jit
def reference(flat: tuple[jax.Array, ...], x: jax.Array) -> jax.Array:
    """Compute the same layers from a flat tuple of weights and biases."""
    for weight, bias in zip(flat[::2], flat[1::2], strict=True):
        x = jnp.maximum(x @ weight.T + bias, 0)
    return x
