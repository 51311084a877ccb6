"""Networks for the training benchmarks, in Gluon, plain JAX, flax.nnx and torch.

Each module has

- `SHAPE`: of a batch of inputs, images with the channels second;
- `net()`: the Gluon block, whose outputs are scores of ten classes;
- `by_hand(p, x)`: the same over a dict of arrays with the names of the block's parameters, as one
  writes it for `jax.jit`; returns the scores, and a dict of changed running statistics;
- `torch_net()`, `flax_net(rngs)`: the same for these libraries, if they are installed; flax takes
  images with the channels last.
"""

from types import ModuleType

from benchmarks.models import lenet, lstm, mlp, resnet, transformer

CLASSES = 10
MODELS: dict[str, ModuleType] = {
    "MLP": mlp,
    "LeNet": lenet,
    "ResNet-18": resnet,
    "LSTM": lstm,
    "Transformer encoder": transformer,
}
