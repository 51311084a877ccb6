"""A hybridized block of 16 dense layers, called, against `jax.jit` of the same function on a flat tuple of parameters."""

import jax
import jax.numpy as jnp
import numpy

from benchmarks.timing import interleaved
from npcompat import gluon, np

LAYERS = 16


def run(seconds: float) -> dict[str, float]:
    """Print and return the ratio for several widths."""
    ratios = {}
    for width, batch in ((16, 8), (64, 32), (256, 64)):
        net = gluon.nn.HybridSequential()
        for _ in range(LAYERS):
            net.add(gluon.nn.Dense(width, in_units=width, activation="relu"))
        net.initialize()
        eager = _time_free_copy(net)
        net.hybridize()
        host = numpy.random.RandomState(0).normal(size=(batch, width)).astype("float32")
        x, jx = np.array(host), jnp.asarray(host)
        flat = tuple(jnp.asarray(p.data().asnumpy()) for p in net.collect_params().values())

        @jax.jit
        def reference(flat: tuple[jax.Array, ...], x: jax.Array) -> jax.Array:
            for weight, bias in zip(flat[::2], flat[1::2], strict=True):
                x = jnp.maximum(x @ weight.T + bias, 0)
            return x

        numpy.testing.assert_allclose(net(x).asnumpy(), reference(flat, jx), rtol=1e-4, atol=1e-5)
        functions = {
            "hybridized": lambda net=net, x=x: net(x).wait_to_read(),
            "jit": lambda flat=flat, jx=jx, reference=reference: reference(flat, jx).block_until_ready(),
            "eager": lambda eager=eager, x=x: eager(x).wait_to_read(),
        }
        times = interleaved(functions, seconds)
        ratios[f"{width}"] = times.ratio("hybridized", "jit")
        print(
            f"{LAYERS} layers of {width}, batch {batch}: hybridized {times['hybridized']:.1f} us, jax.jit {times['jit']:.1f} us, "
            f"ratio {ratios[f'{width}']:.2f} (eager {times.ratio('eager', 'jit'):.1f})"
        )
    return ratios


def _time_free_copy(net: gluon.nn.HybridSequential) -> gluon.nn.HybridSequential:
    """The same layers in a block of their own, which stays eager."""
    copy = gluon.nn.HybridSequential()
    for layer in net:
        twin = gluon.nn.Dense(layer.weight.shape[0], in_units=layer.weight.shape[1], activation="relu")
        twin.initialize()
        twin.weight.set_data(layer.weight.data())
        twin.bias.set_data(layer.bias.data())
        copy.add(twin)
    return copy
