"""Errors for wrong arguments of optimizers, losses, metrics, trainers and layers.

They name the class, the expected and the actual value.
"""

import re

import pytest

import npcompat
from npcompat import gluon, init, np, optimizer
from npcompat.gluon import data, loss, metric, nn

X, CLASSES = np.ones((4, 5)), np.array([0, 1, 2, 3])


def parameters():
    return nn.Dense(3, in_units=5).collect_params()


def called(layer, x):
    layer.initialize()
    return layer(x)


def hybrid(block):
    block.hybridize()
    return block


WRONG_TYPES = {
    "Adam: there is no argument 'lr'; did you mean 'learning_rate'? There are learning_rate, beta1,": lambda: (
        optimizer.create("adam", lr=0.1)
    ),
    "SGD: there is no argument 'momentun'; did you mean 'momentum'?": lambda: optimizer.SGD(
        momentun=0.9
    ),
    "LAMB: there is no argument 'eps'; did you mean 'epsilon'?": lambda: optimizer.LAMB(eps=1e-3),
    "SGD: there is no argument 'lr'; did you mean 'learning_rate'?": lambda: gluon.Trainer(
        parameters(), "sgd", {"lr": 0.1}
    ),
    "SGD: there is no argument 'foo'. There are learning_rate, momentum,": lambda: optimizer.SGD(
        foo=1
    ),
    "SGD: wd: expected a number, got 'x'": lambda: optimizer.SGD(wd="x"),
    "Trainer: optimizer_params: expected a dict, got list": lambda: gluon.Trainer(
        parameters(), "sgd", [0.1]
    ),
    "Dense: units: expected an integer, got '3'": lambda: nn.Dense("3"),
    "Dense: units: expected an integer, got 3.5": lambda: nn.Dense(3.5),
    "Conv2D: channels: expected an integer, got None": lambda: nn.Conv2D(None, 3),
    "BatchSampler: batch_size: expected an integer, got '2'": lambda: data.DataLoader(
        [1, 2, 3], "2"
    ),
    "Sequential.add: expected blocks, one by one, got list": lambda: nn.Sequential().add(
        [nn.Dense(1)]
    ),
    "initializer: expected an Initializer, got the class Xavier; call it: Xavier()": lambda: (
        nn.Dense(3, in_units=2).initialize(init.Xavier)
    ),
    "CustomMetric: feval: expected a function of labels and predictions, got int": lambda: (
        metric.CustomMetric(3)
    ),
}
WRONG_VALUES = {
    "Dense: units must be at least 0, got -1": lambda: nn.Dense(-1),
    "Embedding: input_dim must be at least 1, got -1": lambda: nn.Embedding(-1, 2),
    "Trainer: batch_size is what gradients are divided by, so it must be positive; got 0": lambda: gluon.Trainer(parameters(), "sgd").step(0),
    "axis 3 is out of bounds for array of dimension 2": lambda: called(nn.BatchNorm(axis=3), X),
    "SoftmaxCrossEntropyLoss: label: expected classes in shape (4,), that of pred (4, 5) without axis 1, or probabilities with "
    "sparse_label=False, got shape (3,)": lambda: loss.SoftmaxCELoss()(X, CLASSES[:3]),
    "that of pred (4, 5) without axis 0": lambda: hybrid(loss.SoftmaxCELoss(axis=0))(X, CLASSES),
    "SoftmaxCrossEntropyLoss: label: expected as many elements as pred of shape (4, 5) has, got shape (4,)": lambda: loss.SoftmaxCELoss(
        sparse_label=False
    )(X, CLASSES),
    "axis 3 is out of bounds": lambda: loss.SoftmaxCELoss(axis=3, from_logits=True)(X, CLASSES),
    "SoftmaxCrossEntropyLoss: sample_weight: expected a shape that broadcasts to (4, 1), that of the loss of each element, got shape (4,)": (
        lambda: loss.SoftmaxCELoss()(X, CLASSES, np.ones(4))
    ),
    "L2Loss: sample_weight: expected a shape that broadcasts to (4, 5), that of the loss of each element, got shape (3,)": (
        lambda: loss.L2Loss()(X, X, np.ones(3))
    ),
    "SigmoidBinaryCrossEntropyLoss: pos_weight: expected a shape that broadcasts to (4, 5)": lambda: loss.SigmoidBCELoss()(
        X, X, None, np.ones(3)
    ),
    "KLDivLoss: label: expected probabilities in the shape of pred, (4, 5), got shape (4, 3)": lambda: loss.KLDivLoss()(X, np.ones((4, 3))),
    "TripletLoss: negative: expected as many elements as pred of shape (4, 5) has, got shape (3, 5)": lambda: loss.TripletLoss()(X, X, X[:3]),
    "PoissonNLLLoss: target: expected": lambda: loss.PoissonNLLLoss()(X, CLASSES),
    "CosineEmbeddingLoss: label: expected as many elements as the cosine of shape (4,) has, got shape (3,)": (
        lambda: loss.CosineEmbeddingLoss()(X, X, CLASSES[:3])
    ),
    "TopKAccuracy: labels of shape (3,) do not fit predictions of shape (4, 5)": lambda: metric.TopKAccuracy(2).update(CLASSES[:3], X),
    "CrossEntropy: labels of shape (3,) do not fit predictions of shape (4, 5)": lambda: metric.CrossEntropy().update(CLASSES[:3], X),
    "Perplexity: labels of shape (3,) do not fit predictions of shape (4, 5)": lambda: metric.Perplexity().update(CLASSES[:3], X),
    "F1: labels of shape (4,) do not fit predictions of shape (4, 5)": lambda: metric.F1().update(CLASSES, X),
    "Fbeta: labels of shape (3, 5) do not fit predictions of shape (4, 5)": (
        lambda: metric.Fbeta(class_type="multilabel").update(X[:3], X)
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG_TYPES)
def test_arguments_of_a_wrong_type_or_name(text):
    with pytest.raises(TypeError, match=re.escape(text)):
        WRONG_TYPES[text]()


@pytest.mark.parametrize("text", WRONG_VALUES)
def test_arguments_of_a_wrong_value_or_shape(text):
    with pytest.raises(ValueError, match=re.escape(text)):
        WRONG_VALUES[text]()


def test_every_loss_of_predictions_and_labels_names_the_label():
    for kind in (
        loss.L1Loss,
        loss.L2Loss,
        loss.HuberLoss,
        loss.SigmoidBCELoss,
        loss.HingeLoss,
        loss.SquaredHingeLoss,
        loss.LogisticLoss,
    ):
        words = rf"{kind.__name__}: label: expected as many elements as pred of shape \(4, 5\) has, got shape \(4, 3\)"
        for block in (kind(), hybrid(kind())):
            with pytest.raises(ValueError, match=words):
                block(X, np.ones((4, 3)))


def test_an_optimizer_of_ones_own_may_take_what_it_likes():
    @optimizer.register
    class Taking(optimizer.SGD):
        def __init__(self, **options):
            self.lr_of_my_own = options.pop("lr")
            super().__init__(**options)

    assert optimizer.create("taking", lr=3, learning_rate=0.5).learning_rate == 0.5
    with pytest.raises(
        TypeError, match="Taking: there is no argument 'learning_rat'; did you mean 'learning_rate'"
    ):
        Taking(lr=3, learning_rat=0.5)


def test_losses_on_symbols():
    pred, label = (npcompat.sym.var(name, shape=(4, 5)) for name in ("pred", "label"))
    graph = loss.L2Loss()(pred, label, npcompat.sym.var("weight", shape=(4, 1)))
    with pytest.raises(ValueError, match="its shape is needed"):
        loss.L2Loss()(npcompat.sym.var("pred"), label)
    out = graph.eval(pred=X, label=X + 1, weight=np.full((4, 1), 2.0))
    assert (out[0] if isinstance(out, list) else out).tolist() == [1, 1, 1, 1]
