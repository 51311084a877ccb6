"""Linear regression from scratch: arrays with gradients, an explicit loss, updates in place."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from examples.gluon_programs.modes import Outcome, forever
from npcompat import autograd, np, npx

SCORE = "error of the weights"
STEPS = 60
TRUE_W, TRUE_B = [2.0, -3.4, 0.7], 4.2


def data_iter(batch_size: int, features: Any, labels: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate over the examples once, in random order."""
    indices = np.arange(len(features))
    np.random.shuffle(indices)
    for i in range(0, len(features), batch_size):
        chosen = indices[i : i + batch_size]
        yield features[chosen], labels[chosen]


def train(mode: str, steps: int) -> Outcome:
    """Train; the hybridized mode compiles the model, a function, by `npx.jit`."""
    np.random.seed(1)
    true_w = np.array(TRUE_W)
    features = np.random.normal(size=(200, len(true_w)))
    labels = np.dot(features, true_w) + TRUE_B
    labels += np.random.normal(0, 0.01, labels.shape)

    w, b = np.random.normal(0, 0.01, size=(len(true_w), 1)), np.zeros(1)
    for param in (w, b):
        param.attach_grad()

    def linreg(x: Any) -> Any:
        return np.dot(x, w) + b

    def squared_loss(y_hat: Any, y: Any) -> Any:
        return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2

    def sgd(params: Any, lr: float, batch_size: int) -> None:
        for param in params:
            param[:] -= lr * param.grad / batch_size

    model = npx.jit(linreg) if mode == "hybridized" else linreg

    def step(x: Any, y: Any) -> Any:
        with autograd.record():
            loss = squared_loss(model(x), y)
        loss.backward()
        sgd([w, b], 0.1, len(x))
        return loss.mean()

    run = npx.jit(step) if mode == "compiled step" else step
    batches = forever(lambda: data_iter(10, features, labels))
    losses = [run(x, y).item() for x, y in islice(batches, steps)]
    return Outcome.of(losses, {"w": w, "b": b}, np.abs(w[:, 0] - true_w).max())
