"""Metrics against scikit-learn and by hand."""

import math

import numpy as onp
import pytest

from npcompat import gluon, np
from npcompat.gluon import metric

RANDOM = onp.random.RandomState(0)
LABELS, SCORES = RANDOM.randint(0, 4, 60), RANDOM.uniform(size=(60, 4)).astype("float32")


def value(m, *batches):
    for labels, preds in batches:
        m.update(np.array(labels) if labels is not None else None, np.array(preds))
    return m.get()[1]


def halves(labels, preds):
    return (labels[:25], preds[:25]), (labels[25:], preds[25:])


def test_accuracy_of_scores_of_classes_and_of_lists():
    expected = (SCORES.argmax(1) == LABELS).mean()
    assert value(metric.Accuracy(), *halves(LABELS, SCORES)) == pytest.approx(expected)
    assert value(metric.Accuracy(), (LABELS, SCORES.argmax(1).astype("float32"))) == pytest.approx(expected)
    m = metric.Accuracy()
    m.update([np.array(LABELS)], [np.array(SCORES)])
    assert m.get() == ("accuracy", pytest.approx(expected)) and m.num_inst == 60
    m.reset()
    assert math.isnan(m.get()[1]) and str(m) == "EvalMetric: {'accuracy': nan}"
    assert value(metric.Accuracy(axis=0), (LABELS, SCORES.T)) == pytest.approx(expected)
    with pytest.raises(ValueError, match="do not fit predictions"):
        value(metric.Accuracy(), (LABELS, SCORES[:3]))
    with pytest.raises(ValueError, match="1 labels, 2 predictions"):
        m.update([np.array(LABELS)], [np.array(SCORES), np.array(SCORES)])


def test_top_k_accuracy_and_cross_entropy():
    learn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed; it is the oracle here")
    m = metric.TopKAccuracy(top_k=2)
    assert value(m, *halves(LABELS, SCORES)) == pytest.approx(learn.top_k_accuracy_score(LABELS, SCORES, k=2))
    assert m.name == "top_k_accuracy_2"
    p = SCORES / SCORES.sum(1, keepdims=True)
    assert value(metric.CrossEntropy(), *halves(LABELS, p)) == pytest.approx(learn.log_loss(LABELS, p), rel=1e-5)
    assert value(metric.CrossEntropy(from_logits=True), (LABELS, onp.log(p))) == pytest.approx(learn.log_loss(LABELS, p), rel=1e-5)
    assert value(metric.Perplexity(), (LABELS, p)) == pytest.approx(math.exp(learn.log_loss(LABELS, p)), rel=1e-5)
    kept = LABELS != 3
    expected = -onp.log(p[kept, LABELS[kept]]).mean()
    assert value(metric.CrossEntropy(ignore_label=3), (LABELS, p)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("average", ["micro", "macro", None])
@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_f_scores_agree_with_scikit_learn(kind, average):
    learn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed; it is the oracle here")
    if kind == "multiclass":
        labels, preds, chosen = LABELS, SCORES, SCORES.argmax(1)
    elif kind == "multilabel":
        labels, preds = (SCORES[:, ::-1] > 0.4).astype(int), SCORES
        chosen = preds > 0.6
    else:
        labels, preds = LABELS % 2, SCORES[:, 0]
        chosen = preds > 0.6
    options = {"threshold": 0.6, "class_type": kind, "average": average}
    theirs = "binary" if kind == "binary" else average
    onp.testing.assert_allclose(value(metric.F1(**options), *halves(labels, preds)), learn.f1_score(labels, chosen, average=theirs))
    found = value(metric.Fbeta(beta=2, **options), *halves(labels, preds))
    onp.testing.assert_allclose(found, learn.fbeta_score(labels, chosen, beta=2, average=theirs))


def test_binary_f1_takes_two_scores():
    assert value(metric.F1(), (onp.array([1, 0]), onp.array([[0.2, 0.8], [0.9, 0.1]]))) == 1
    with pytest.raises(ValueError, match="class_type must be"):
        metric.F1(class_type="ternary")
    assert math.isnan(metric.F1().get()[1])


def test_errors_of_numbers():
    a, b = RANDOM.normal(size=(2, 60, 3))
    assert value(metric.MAE(), *halves(a, b)) == pytest.approx(abs(a - b).mean(), rel=1e-5)
    assert value(metric.MSE(), *halves(a, b)) == pytest.approx(((a - b) ** 2).mean(), rel=1e-5)
    assert value(metric.RMSE(), *halves(a, b)) == pytest.approx(((a - b) ** 2).mean() ** 0.5, rel=1e-5)
    assert value(metric.MAE(), (onp.ones(4), onp.zeros((4, 1)))) == 1
    with pytest.raises(ValueError, match="do not fit"):
        value(metric.MAE(), (onp.ones(4), onp.zeros(3)))


def test_loss_is_the_mean_of_all_elements():
    assert value(metric.Loss(), (None, onp.array([1.0, 2.0])), (None, onp.array([6.0]))) == 3


def test_composite_custom_and_create():
    m = metric.create(["acc", metric.MAE(), lambda label, pred: (abs(label - pred).sum(), len(label))])
    m.update(np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    assert m.get() == (["accuracy", "mae", "custom(<lambda>)"], [0.5, 0.5, 0.5])
    assert m.get_name_value()[1] == ("mae", 0.5) and isinstance(m.get_metric(0), metric.Accuracy)
    m.add("mse")
    m.reset()
    assert all(math.isnan(v) for v in m.get()[1]) and len(m.metrics) == 4
    with pytest.raises(ValueError, match="metric 'nope': expected an EvalMetric"):
        gluon.metric.create("nope")


def test_metrics_of_dicts_and_configs():
    m = metric.Accuracy(output_names=["out"], label_names=["y"])
    m.update_dict({"y": np.array([1]), "z": np.array([3])}, {"out": np.array([[0.1, 0.9]]), "other": np.array([0])})
    assert m.get()[1] == 1
    config = m.get_config()
    assert config["metric"] == "Accuracy" and config["axis"] == 1 and config["output_names"] == ["out"]
