"""Losses against torch, hybridized; the template (test_layers.py) compares that with eager calls."""

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx

torch = pytest.importorskip(
    "torch", reason="torch is not installed; it is the oracle of the losses"
)
functional = torch.nn.functional
random = onp.random.RandomState(0)
PRED, OTHER, THIRD = (random.normal(size=(4, 5)).astype("float32") for _ in range(3))
PROBABILITY = random.uniform(0.05, 0.95, (4, 5)).astype("float32")
CLASSES = onp.array([0, 4, 2, 2])
SIGNS = onp.where(OTHER > 0, 1, -1).astype("float32")


def mean(x):
    return x.flatten(1).mean(1)


LOSSES = {
    "L2": (gluon.loss.L2Loss(), (OTHER,), lambda p, y: mean((p - y) ** 2) / 2),
    "L1": (gluon.loss.L1Loss(weight=3.0), (OTHER,), lambda p, y: 3 * mean((p - y).abs())),
    "BCE": (
        gluon.loss.SigmoidBCELoss(),
        (PROBABILITY,),
        lambda p, y: mean(functional.binary_cross_entropy_with_logits(p, y, reduction="none")),
    ),
    "CE": (
        gluon.loss.SoftmaxCELoss(),
        (CLASSES,),
        lambda p, y: functional.cross_entropy(p, y, reduction="none"),
    ),
    "CE dense": (
        gluon.loss.SoftmaxCELoss(sparse_label=False),
        (PROBABILITY,),
        lambda p, y: -(y * functional.log_softmax(p, 1)).sum(1),
    ),
    "KL": (
        gluon.loss.KLDivLoss(from_logits=False),
        (PROBABILITY,),
        lambda p, y: mean(functional.kl_div(functional.log_softmax(p, 1), y, reduction="none")),
    ),
    "Huber": (
        gluon.loss.HuberLoss(rho=0.7),
        (OTHER,),
        lambda p, y: mean(functional.huber_loss(p, y, reduction="none", delta=0.7)) / 0.7,
    ),
    "Hinge": (gluon.loss.HingeLoss(), (SIGNS,), lambda p, y: mean((1 - p * y).clamp(min=0))),
    "squared Hinge": (
        gluon.loss.SquaredHingeLoss(2),
        (SIGNS,),
        lambda p, y: mean((2 - p * y).clamp(min=0) ** 2),
    ),
    "logistic": (
        gluon.loss.LogisticLoss(),
        (SIGNS,),
        lambda p, y: mean(functional.softplus(-p * y)),
    ),
    "triplet": (
        gluon.loss.TripletLoss(margin=0.5),
        (OTHER, THIRD),
        lambda p, y, z: (((p - y) ** 2).sum(1) - ((p - z) ** 2).sum(1) + 0.5).clamp(min=0),
    ),
    "Poisson": (
        gluon.loss.PoissonNLLLoss(compute_full=True),
        (onp.float32(CLASSES[:, None] + onp.zeros((4, 5))),),
        lambda p, y: functional.poisson_nll_loss(p, y, full=True),
    ),
    "cosine": (
        gluon.loss.CosineEmbeddingLoss(margin=0.1),
        (OTHER, onp.array([1, -1, -1, 1])),
        lambda p, y, s: functional.cosine_embedding_loss(p, y, s, margin=0.1, reduction="none"),
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_their_gradients_agree_with_torch(name):
    loss, labels, theirs = LOSSES[name]
    loss.hybridize()
    pred = np.array(PRED)
    pred.attach_grad()
    other = torch.tensor(PRED, requires_grad=True)
    with autograd.record():
        found = loss(pred, *[np.array(y) for y in labels])
    found.backward()
    expected = theirs(other, *[torch.tensor(y) for y in labels])
    expected.sum().backward()
    onp.testing.assert_allclose(found.asnumpy(), expected.detach().numpy(), rtol=2e-5, atol=1e-6)
    onp.testing.assert_allclose(pred.grad.asnumpy(), other.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_weights_of_samples_and_of_positive_labels():
    w = np.array([[1.0], [0.0], [2.0], [1.0]])
    plain = gluon.loss.L2Loss()(np.array(PRED), np.array(OTHER)).asnumpy()
    onp.testing.assert_allclose(
        gluon.loss.L2Loss()(np.array(PRED), np.array(OTHER), w).asnumpy(),
        plain * [1, 0, 2, 1],
        rtol=1e-5,
    )
    p = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    for from_sigmoid in (False, True):
        pred = npx.sigmoid(np.array(PRED)) if from_sigmoid else np.array(PRED)
        found = gluon.loss.SigmoidBCELoss(from_sigmoid)(pred, np.array(PROBABILITY), None, p)
        expected = functional.binary_cross_entropy_with_logits(
            torch.tensor(PRED),
            torch.tensor(PROBABILITY),
            pos_weight=torch.tensor(p.asnumpy()),
            reduction="none",
        )
        onp.testing.assert_allclose(found.asnumpy(), mean(expected).numpy(), rtol=1e-4)


def test_axes_of_classes_and_of_samples():
    pred = np.array(random.normal(size=(2, 3, 4)))
    label = np.array([[0, 1, 2, 0], [2, 1, 1, 0]])
    loss = gluon.loss.SoftmaxCELoss(axis=1)(pred, label)
    expected = functional.cross_entropy(
        torch.tensor(pred.asnumpy()), torch.tensor(label.asnumpy()), reduction="none"
    ).mean(1)
    onp.testing.assert_allclose(loss.asnumpy(), expected.numpy(), rtol=1e-5)
    assert gluon.loss.L2Loss(batch_axis=1)(pred, pred).shape == (3,)
    assert gluon.loss.L2Loss()(np.ones((3, 1)), np.ones(3)).shape == (3,), (
        "labels take the shape of predictions"
    )


def test_large_logits_do_not_overflow():
    pred = np.array([[1000.0, -1000.0]])
    pred.attach_grad()
    for loss, label in (
        (gluon.loss.SoftmaxCELoss(), np.array([1])),
        (gluon.loss.SigmoidBCELoss(), np.array([[0.0, 1.0]])),
    ):
        with autograd.record():
            y = loss(pred, label)
        y.backward()
        assert onp.isfinite(y.asnumpy()).all() and onp.isfinite(pred.grad.asnumpy()).all()


def test_a_loss_says_what_it_is():
    assert repr(gluon.loss.L1Loss(batch_axis=1)) == "L1Loss(batch_axis=1, w=None)"
    with pytest.raises(ValueError, match="label_format must be"):
        gluon.loss.LogisticLoss(label_format="ternary")


def test_ctc_loss_agrees_with_torch():
    scores, labels = (
        random.normal(size=(6, 3, 5)).astype("float32"),
        onp.array([[0, 1, 1], [3, 2, -1], [-1, -1, -1]]),
    )
    other = torch.tensor(scores, requires_grad=True)
    lengths = (onp.array([6, 4, 5]), onp.array([3, 2, 0]))
    log_p = functional.log_softmax(other, 2)
    expected = functional.ctc_loss(
        log_p,
        torch.tensor(labels).clamp(min=0),
        *map(torch.tensor, lengths),
        blank=4,
        reduction="none",
    )
    expected.sum().backward()
    loss = gluon.loss.CTCLoss()
    loss.hybridize()
    pred = np.array(scores.swapaxes(0, 1))
    pred.attach_grad()
    for given in ((np.array(lengths[0]),), tuple(map(np.array, lengths))):
        with autograd.record():
            found = loss(pred, np.array(labels), *given)
        found.backward()
        onp.testing.assert_allclose(found.asnumpy(), expected.detach().numpy(), rtol=1e-5)
        onp.testing.assert_allclose(
            pred.grad.asnumpy(), other.grad.numpy().swapaxes(0, 1), rtol=1e-4, atol=1e-6
        )
    across = gluon.loss.CTCLoss("TNC", "TN", weight=2.0)
    found = across(
        np.array(scores), np.array(labels.T), *map(np.array, lengths), np.array([1.0, 0.5, 0.0])
    )
    onp.testing.assert_allclose(found.asnumpy(), expected.detach().numpy() * [2, 1, 0], rtol=1e-5)


def test_ctc_loss_of_labels_without_a_path_is_infinite_and_has_no_gradient():
    pred = np.zeros((2, 1, 3))
    pred.attach_grad()
    for label in ([[1, 1]], [[7, 0]]):
        with autograd.record():
            loss = npx.ctc_loss(pred, np.array(label))
        loss.backward()
        assert onp.isinf(loss.asnumpy()).all() and (pred.grad.asnumpy() == 0).all()
    assert npx.ctc_loss(np.zeros((0, 1, 3)), np.zeros((1, 0))).tolist() == [0], (
        "of no steps, nothing is certain"
    )
    assert npx.ctc_loss(np.zeros((3, 0, 3)), np.zeros((0, 2))).shape == (0,)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda x: npx.ctc_loss(x, [[1]], blank_label="middle"),
            "blank_label must be 'first' or 'last', got 'middle'",
        ),
        (
            lambda x: npx.ctc_loss(x, [[1]], [2]),
            "use_data_lengths=False, but data_lengths is given",
        ),
        (lambda x: npx.ctc_loss(x, [[1]], use_label_lengths=True), "label_lengths is missing"),
        (lambda x: npx.ctc_loss(x, [[1], [1]]), r"got shapes \(2, 1, 3\) and \(2, 1\)"),
        (
            lambda x: npx.ctc_loss(x, [[1]], [2, 2], use_data_lengths=True),
            r"lengths must have shape \(1,\), got \(2,\)",
        ),
        (lambda x: gluon.loss.CTCLoss("NCT"), "layout must be 'NTC' or 'TNC'"),
        (lambda x: gluon.loss.CTCLoss(label_layout="NTC"), "label_layout must be 'NT' or 'TN'"),
        (lambda x: gluon.loss.SDMLLoss(2), "smoothing_parameter must be between 0 and 1"),
        (lambda x: gluon.loss.SDMLLoss(batch_axis=1), "batch_axis must be 0"),
        (lambda x: gluon.loss.SDMLLoss()(x, x), "expected two batches of vectors"),
    ],
)
def test_what_does_not_fit_a_loss_is_an_error_that_says_so(call, text):
    with pytest.raises(ValueError, match=text):
        call(np.zeros((2, 1, 3)))


def test_sdml_loss_is_the_divergence_from_the_smoothed_truth():
    loss = gluon.loss.SDMLLoss(0.2)
    loss.hybridize()
    pred = np.array(PRED)
    pred.attach_grad()
    with autograd.record():
        found = loss(pred, np.array(OTHER))
    found.backward()
    a, b = torch.tensor(PRED, requires_grad=True), torch.tensor(OTHER)
    truth = torch.full((4, 4), 0.2 / 3) + torch.eye(4) * (0.8 - 0.2 / 3)
    expected = functional.kl_div(
        functional.log_softmax(-(torch.cdist(a, b) ** 2), 1), truth, reduction="none"
    ).sum(1)
    expected.sum().backward()
    onp.testing.assert_allclose(found.asnumpy(), expected.detach().numpy(), rtol=1e-4)
    onp.testing.assert_allclose(pred.grad.asnumpy(), a.grad.numpy(), rtol=1e-3, atol=1e-5)
    assert loss(pred[:1], pred[:1]).tolist() == [0]
