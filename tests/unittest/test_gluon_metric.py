"""Metrics against scikit-learn and by hand."""

import math

import numpy as onp
import pytest

import npcompat
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
    assert value(metric.Accuracy(), (LABELS, SCORES.argmax(1).astype("float32"))) == pytest.approx(
        expected
    )
    m = metric.Accuracy()
    m.update([np.array(LABELS)], [np.array(SCORES)])
    assert m.get() == ("accuracy", pytest.approx(expected)) and m.num_inst == 60
    m.reset()
    assert math.isnan(m.get()[1]) and str(m) == "EvalMetric: {'accuracy': nan}"
    assert value(metric.Accuracy(axis=0), (LABELS, SCORES.T)) == pytest.approx(expected)
    with pytest.raises(
        ValueError, match=r"Accuracy: labels of shape \(3,\) do not fit predictions of shape \(2,\)"
    ):
        metric.Accuracy().update(np.array([1, 2, 3]), np.array([1, 2]))
    with pytest.raises(ValueError, match="do not fit predictions"):
        value(metric.Accuracy(), (LABELS, SCORES[:3]))
    with pytest.raises(ValueError, match="1 labels, 2 predictions"):
        m.update([np.array(LABELS)], [np.array(SCORES), np.array(SCORES)])


def test_top_k_accuracy_and_cross_entropy():
    learn = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is not installed; it is the oracle here"
    )
    m = metric.TopKAccuracy(top_k=2)
    assert value(m, *halves(LABELS, SCORES)) == pytest.approx(
        learn.top_k_accuracy_score(LABELS, SCORES, k=2)
    )
    assert m.name == "top_k_accuracy_2"
    p = SCORES / SCORES.sum(1, keepdims=True)
    assert value(metric.CrossEntropy(), *halves(LABELS, p)) == pytest.approx(
        learn.log_loss(LABELS, p), rel=1e-5
    )
    assert value(metric.CrossEntropy(from_logits=True), (LABELS, onp.log(p))) == pytest.approx(
        learn.log_loss(LABELS, p), rel=1e-5
    )
    assert value(metric.Perplexity(None), (LABELS, p)) == value(metric.Perplexity(), (LABELS, p))
    with pytest.raises(TypeError, match="ignore_label=0"):
        metric.Perplexity(0)
    assert value(metric.Perplexity(), (LABELS, p)) == pytest.approx(
        math.exp(learn.log_loss(LABELS, p)), rel=1e-5
    )
    kept = LABELS != 3
    expected = -onp.log(p[kept, LABELS[kept]]).mean()
    assert value(metric.CrossEntropy(ignore_label=3), (LABELS, p)) == pytest.approx(
        expected, rel=1e-5
    )


@pytest.mark.parametrize("average", ["micro", "macro", None])
@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_f_scores_agree_with_scikit_learn(kind, average):
    learn = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is not installed; it is the oracle here"
    )
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
    onp.testing.assert_allclose(
        value(metric.F1(**options), *halves(labels, preds)),
        learn.f1_score(labels, chosen, average=theirs),
    )
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
    assert value(metric.RMSE(), *halves(a, b)) == pytest.approx(
        ((a - b) ** 2).mean() ** 0.5, rel=1e-5
    )
    assert value(metric.MAE(), (onp.ones(4), onp.zeros((4, 1)))) == 1
    with pytest.raises(ValueError, match="do not fit"):
        value(metric.MAE(), (onp.ones(4), onp.zeros(3)))


def test_loss_is_the_mean_of_all_elements():
    assert value(metric.Loss(), (None, onp.array([1.0, 2.0])), (None, onp.array([6.0]))) == 3


def test_composite_custom_and_create():
    m = metric.create(
        ["acc", metric.MAE(), lambda label, pred: (abs(label - pred).sum(), len(label))]
    )
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
    m.update_dict(
        {"y": np.array([1]), "z": np.array([3])},
        {"out": np.array([[0.1, 0.9]]), "other": np.array([0])},
    )
    assert m.get()[1] == 1
    config = m.get_config()
    assert (
        config["metric"] == "Accuracy" and config["axis"] == 1 and config["output_names"] == ["out"]
    )


def test_binary_accuracy_of_samples_and_of_several_classes():
    labels, scores = LABELS % 2, SCORES[:, 0]
    assert value(metric.BinaryAccuracy(), *halves(labels, scores)) == pytest.approx(
        ((scores > 0.5) == labels).mean()
    )
    several = (SCORES[:, ::-1] > 0.4).astype(int)
    thresholds = np.array([0.2, 0.4, 0.6, 0.8])
    expected = ((thresholds.asnumpy() < SCORES) == several).mean()
    assert value(
        metric.BinaryAccuracy(threshold=thresholds), *halves(several, SCORES)
    ) == pytest.approx(expected)
    with pytest.raises(ValueError, match="has not one entry for each class"):
        value(metric.BinaryAccuracy(threshold=thresholds[:3]), (several, SCORES))
    with pytest.raises(ValueError, match="BinaryAccuracy: labels of shape"):
        value(metric.BinaryAccuracy(), (labels[:3], scores))


def test_correlations_of_classes_agree_with_scikit_learn():
    learn = pytest.importorskip("sklearn.metrics", reason="compares with scikit-learn")
    noisy = onp.where(RANDOM.uniform(size=60) < 0.5, LABELS, SCORES.argmax(1))
    assert value(metric.PCC(), *halves(LABELS, noisy)) == pytest.approx(
        learn.matthews_corrcoef(LABELS, noisy)
    )
    one_hot = onp.eye(4)[noisy]
    assert value(metric.PCC(), *halves(LABELS, one_hot)) == pytest.approx(
        learn.matthews_corrcoef(LABELS, noisy)
    )
    yes, scores = LABELS % 2, SCORES[:, 0]
    expected = pytest.approx(learn.matthews_corrcoef(yes, scores > 0.5))
    assert value(metric.MCC(), *halves(yes, scores)) == expected
    assert value(metric.MCC(), *halves(yes, onp.stack([1 - scores, scores], 1))) == expected
    assert value(metric.PCC(), *halves(yes, (scores > 0.5).astype(int))) == expected
    assert value(metric.MCC(), (onp.ones(3), onp.ones(3))) == 0, (
        "where nothing varies, nothing correlates"
    )
    m = metric.PCC()
    assert math.isnan(m.get()[1])
    for bad, text in (
        ((LABELS, noisy[:5]), "do not fit"),
        ((LABELS - 1, noisy), "classes are counted from 0, got -1"),
    ):
        with pytest.raises(ValueError, match=text):
            value(m, bad)
    value(m, (LABELS, noisy))
    m.reset()
    assert math.isnan(m.get()[1])


def test_correlation_of_numbers_agrees_with_scipy_however_they_come():
    stats = pytest.importorskip("scipy.stats", reason="compares with SciPy")
    a = RANDOM.normal(1000, 1, size=(60, 2))
    b = a * 0.3 + RANDOM.normal(size=(60, 2))
    expected = stats.pearsonr(a.ravel(), b.ravel()).statistic
    assert value(metric.PearsonCorrelation(), *halves(a, b)) == pytest.approx(expected, rel=1e-6)
    assert value(metric.PearsonCorrelation(), (a, b)) == pytest.approx(expected, rel=1e-6)
    assert value(metric.create("pearsonr"), (a[:0], b[:0]), (a, -a)) == pytest.approx(-1)
    assert math.isnan(value(metric.PearsonCorrelation(), (a, onp.ones_like(a))))
    with pytest.raises(ValueError, match="do not fit"):
        value(metric.PearsonCorrelation(), (a, b[:3]))


def test_angles_and_distances_agree_with_scipy():
    distance = pytest.importorskip("scipy.spatial.distance", reason="compares with SciPy")
    a, b = RANDOM.normal(size=(2, 60, 3))
    rows = list(zip(a, b, strict=True))
    cosines = onp.mean([1 - distance.cosine(x, y) for x, y in rows])
    assert value(metric.MeanCosineSimilarity(), *halves(a, b)) == pytest.approx(cosines, rel=1e-5)
    assert value(metric.MeanCosineSimilarity(), (a[0], b[0])) == pytest.approx(
        1 - distance.cosine(*rows[0]), rel=1e-5
    )
    assert value(metric.MeanCosineSimilarity(), (a * 0, b)) == 0
    for p in (1, 2, 3):
        expected = onp.mean([distance.minkowski(x, y, p) for x, y in rows])
        assert value(metric.MeanPairwiseDistance(p=p), *halves(a, b)) == pytest.approx(
            expected, rel=1e-5
        )
    with pytest.raises(
        ValueError, match="MeanPairwiseDistance: expected labels and predictions of one shape"
    ):
        value(metric.MeanPairwiseDistance(), (a, b[:, :2]))
    with pytest.raises(ValueError, match="p must be positive"):
        metric.MeanPairwiseDistance(p=0)


def test_losses_of_others_and_names_of_mxnet_1():
    assert value(npcompat.metric.Torch(), (None, onp.array([1.0, 2.0]))) == 1.5
    p = SCORES / SCORES.sum(1, keepdims=True)
    assert value(npcompat.metric.NegativeLogLikelihood(), (LABELS, p)) == value(
        metric.CrossEntropy(), (LABELS, p)
    )
    assert npcompat.metric is metric and npcompat.metric.create("nll_loss").name == "nll-loss"


def test_choices_as_arrays():
    found = metric.one_hot(np.array([2, 0]), 3)
    assert found.tolist() == [[0, 0, 1], [1, 0, 0]] and found.dtype == "int32"
    assert metric.predict_with_threshold(np.array([0.2, 0.7])).tolist() == [False, True]
    with pytest.raises(ValueError, match="has not one entry for each class of pred"):
        metric.predict_with_threshold(np.ones((2, 3)), np.ones(2))
