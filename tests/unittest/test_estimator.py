"""Estimator: the loop, its handlers, files of checkpoints and going on from them."""

import io
import logging

import numpy as onp
import pytest

from npcompat import autograd, gluon, np
from npcompat.gluon import nn
from npcompat.gluon.contrib import estimator as est

RANDOM = onp.random.RandomState(5)
X = RANDOM.normal(size=(20, 4)).astype("float32")
Y = (X.sum(1) > 0).astype("int32")


def loader(batch_size=5, shuffle=False, size=20):
    return gluon.data.DataLoader(
        gluon.data.ArrayDataset(X[:size], Y[:size]), batch_size=batch_size, shuffle=shuffle
    )


def network():
    net = nn.HybridSequential()
    net.add(nn.Dense(6, activation="relu", in_units=4), nn.Dropout(0.2), nn.Dense(2, in_units=6))
    return net


def made(net=None, quiet=True, **kwargs):
    if net is None:
        net = network()
        net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    found = est.Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer, **kwargs)
    if quiet:
        found.logger.setLevel(logging.ERROR)
    return found


def weights(estimator):
    return [p.data().asnumpy() for p in estimator.net.collect_params().values()]


class Recorder(
    est.TrainBegin, est.TrainEnd, est.EpochBegin, est.EpochEnd, est.BatchBegin, est.BatchEnd
):
    """Notes what it is called for."""

    def __init__(self, priority=0):
        self.priority, self.seen = priority, []

    def train_begin(self, estimator, *args, **kwargs):
        self.seen.append("train_begin")

    def train_end(self, estimator, *args, **kwargs):
        self.seen.append("train_end")

    def epoch_begin(self, estimator, *args, **kwargs):
        self.seen.append("epoch_begin")

    def epoch_end(self, estimator, *args, **kwargs):
        self.seen.append("epoch_end")

    def batch_begin(self, estimator, *args, **kwargs):
        self.seen.append(f"batch_begin {kwargs['batch'][0].shape[0]}")

    def batch_end(self, estimator, *args, **kwargs):
        assert set(kwargs) == {"batch", "pred", "label", "loss"}
        self.seen.append("batch_end")


# --- the loop -------------------------------------------------------------------------------------


def test_fit_trains_as_the_loop_written_out():
    np.random.seed(3)
    estimator = made()
    estimator.fit(loader(8), epochs=2)
    np.random.seed(3)
    net = network()
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    loss_of, accuracy = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.metric.Accuracy()
    for _ in range(2):
        accuracy.reset()
        for x, y in loader(8):
            with autograd.record():
                pred = net(x)
                loss = loss_of(pred, y)
            loss.backward()
            trainer.step(len(x))
            accuracy.update(y, pred)
    for a, p in zip(weights(estimator), net.collect_params().values(), strict=True):
        onp.testing.assert_array_equal(a, p.data().asnumpy())
    assert [m.name for m in estimator.train_metrics] == [
        "training accuracy",
        "training softmaxcrossentropyloss",
    ]
    assert estimator.train_metrics[0].get()[1] == accuracy.get()[1]


def test_events_come_in_order_and_by_priority():
    early, late = Recorder(-5000), Recorder(5)
    estimator = made()
    estimator.fit(loader(8), epochs=1, event_handlers=[late, early])
    whole = ["train_begin", "epoch_begin"]
    for size in (8, 8, 4):
        whole += [f"batch_begin {size}", "batch_end"]
    assert early.seen == late.seen == [*whole, "epoch_end", "train_end"]
    updated = []

    class BeforeUpdate(est.BatchEnd):
        priority = -3000

        def batch_end(self, estimator, *args, **kwargs):
            updated.append(estimator.trainer.optimizer.num_update)

    estimator.fit(loader(8), batches=2, event_handlers=BeforeUpdate())
    assert updated == [3, 4] and estimator.trainer.optimizer.num_update == 5


def test_fit_ends_after_batches_and_when_a_handler_says_so():
    estimator = made()
    estimator.fit(loader(), batches=6)
    assert (estimator.trained_batches, estimator.trained_epochs) == (6, 1)

    class Enough(est.BatchEnd):
        def batch_end(self, estimator, *args, **kwargs):
            return estimator.trained_batches == 3

    recorder = Recorder()
    estimator.fit(loader(), epochs=5, event_handlers=[Enough(), recorder])
    assert estimator.trained_batches == 3 and recorder.seen[-1] == "train_end"


def test_train_end_is_called_after_an_error():
    class Fails(est.BatchProcessor):
        def fit_batch(self, estimator, train_batch, batch_axis=0):
            raise RuntimeError("no")

    recorder = Recorder()
    estimator = made(batch_processor=Fails())
    with pytest.raises(RuntimeError, match="no"):
        estimator.fit(loader(), epochs=1, event_handlers=recorder)
    assert recorder.seen == ["train_begin", "epoch_begin", "batch_begin 5", "train_end"]


def test_evaluation_measures_with_other_network_and_loss():
    estimator = made(
        val_metrics=[gluon.metric.Loss("l2")],
        val_loss=gluon.loss.L2Loss(),
        val_net=nn.Lambda(lambda x: x[:, 0] * 0 + 1),
    )
    recorder = Recorder()
    estimator.evaluate(loader(8), event_handlers=recorder)
    assert "train_begin" not in recorder.seen and recorder.seen.count("batch_end") == 3
    name, value = estimator.val_metrics[0].get()
    assert name == "validation l2" and value == pytest.approx(onp.mean((1 - Y) ** 2 / 2), rel=1e-5)
    estimator = made()
    estimator.fit(loader(), loader(8), epochs=2)
    assert [m.name for m in estimator.val_metrics] == [
        "validation accuracy",
        "validation softmaxcrossentropyloss",
    ]
    before = estimator.val_metrics[1].get()[1]
    estimator.evaluate(loader())
    assert estimator.val_metrics[1].get()[1] == pytest.approx(before, rel=1e-5)


def test_metrics_that_suit_the_loss():
    net = nn.Dense(1, in_units=4)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    other = est.Estimator(net, gluon.loss.SigmoidBCELoss(), trainer=trainer)
    assert [m.name for m in other.train_metrics] == ["training sigmoidbinarycrossentropyloss"]
    composite = gluon.metric.CompositeEvalMetric(["mse", gluon.metric.CompositeEvalMetric(["mae"])])
    given = est.Estimator(net, gluon.loss.L2Loss(), composite, trainer=trainer)
    assert [m.name for m in given.train_metrics] == ["training mse", "training mae"]
    assert [m.name for m in given.val_metrics] == ["validation mse", "validation mae"]


def test_parameters_without_values_are_initialized():
    net = network()
    with pytest.warns(UserWarning, match="no trainer was given; SGD with a learning rate of 0.001"):
        estimator = est.Estimator(
            net, gluon.loss.SoftmaxCrossEntropyLoss(), initializer="ones", device="cpu"
        )
    assert net[0].weight.data().min() == 1 and estimator.trainer.learning_rate == 0.001
    assert estimator.context == estimator.device
    with pytest.warns(
        UserWarning, match="all parameters are initialized, so the initializer is not used"
    ):
        est.Estimator(net, gluon.loss.L2Loss(), initializer="zeros", trainer=estimator.trainer)
    assert net[0].weight.data().min() == 1


def test_wrong_arguments_say_so():
    estimator = made()
    for call, kind, text in (
        (
            lambda: estimator.fit(loader()),
            ValueError,
            "either epochs or batches, got epochs=None and batches=None",
        ),
        (
            lambda: estimator.fit(loader(), epochs=1, batches=1),
            ValueError,
            "either epochs or batches",
        ),
        (lambda: estimator.fit(iter(loader()), epochs=1), TypeError, "not an iterator"),
        (lambda: estimator.fit([], epochs=1), ValueError, "train_data gave no batch"),
        (
            lambda: estimator.fit(loader(), epochs=1, event_handlers=[1]),
            ValueError,
            "expected handlers of events, .* got int",
        ),
        (
            lambda: est.Estimator(network(), lambda a, b: a),
            ValueError,
            "a loss must be a gluon.loss.Loss, got function",
        ),
        (lambda: made(batch_processor=1), ValueError, "batch_processor must be a BatchProcessor"),
        (lambda: made(train_metrics=["acc"]), ValueError, "expected metrics .*got str"),
        (lambda: made(device="cpu", context="cpu"), TypeError, "device and ctx are the same"),
        (lambda: est.LoggingHandler(0), ValueError, "'epoch' or a number of batches, got 0"),
        (lambda: est.GradientUpdateHandler(update_period=0), ValueError, "at least 1"),
        (lambda: est.EarlyStoppingHandler("acc"), ValueError, "monitor must be one of"),
        (
            lambda: est.EarlyStoppingHandler(gluon.metric.MSE(), mode="up"),
            ValueError,
            "'auto', 'min' or 'max', got 'up'",
        ),
    ):
        with pytest.raises(kind, match=text):
            call()


# --- handlers -------------------------------------------------------------------------------------


def test_gradients_of_several_batches_are_added_up():
    def trained(period, batch_size):
        np.random.seed(1)
        net = nn.Dense(2, in_units=4)
        net.initialize()
        net.setattr("grad_req", "add" if period > 1 else "write")
        estimator = made(net)
        estimator.fit(
            loader(batch_size),
            epochs=2,
            event_handlers=est.GradientUpdateHandler(update_period=period),
        )
        return weights(estimator), estimator.trainer.optimizer.num_update

    (ours, count), (whole, once) = trained(2, 5), trained(1, 10)
    assert count == once == 4
    for a, b in zip(ours, whole, strict=True):
        onp.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_early_stopping_waits_for_improvement():
    metric = gluon.metric.Loss("error")
    values = iter([3.0, 2.0, 2.5, 1.95, 2.0, 2.0, 2.0])

    class Measured(est.EpochEnd):
        priority = -1

        def epoch_end(self, estimator, *args, **kwargs):
            metric.reset()
            metric.update(None, np.array([next(values)]))

    estimator = made()
    handler = est.EarlyStoppingHandler(metric, min_delta=0.1, patience=3)
    estimator.fit(loader(10), epochs=7, event_handlers=[Measured(), handler])
    assert handler.stopped_epoch == estimator.trained_epochs == 5 and handler.best == 2.0
    rising = est.EarlyStoppingHandler(gluon.metric.Accuracy(), baseline=0.9)
    rising.train_begin(estimator)
    assert (
        rising.best == 0.9 and rising.epoch_end(estimator) is True
    )  # nothing was measured: no improvement


def test_validation_by_batches():
    estimator, calls = made(), []
    handler = est.ValidationHandler(
        "data", lambda **kwargs: calls.append(kwargs), epoch_period=None, batch_period=3
    )
    estimator.fit(loader(), epochs=2, event_handlers=handler)
    assert calls == [{"val_data": "data", "batch_axis": 0, "event_handlers": None}] * 2


def test_what_is_logged(capsys):
    estimator = made(quiet=False)
    estimator.fit(loader(), loader(), epochs=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Training begins with Adam, learning rate 0.05, for 1 epochs"
    assert (
        lines[1].startswith("[Epoch 1] ")
        and "training accuracy: " in lines[1]
        and "validation accuracy: " in lines[1]
    )
    assert lines[2].startswith("Training ended after ") and len(lines) == 3
    estimator.fit(
        loader(), batches=4, event_handlers=est.LoggingHandler(2, estimator.train_metrics)
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines if "Batch" in line] == [
        "[Epoch 0][Batch 2] 10 samples",
        "[Epoch 0][Batch 4] 20 samples",
    ]


def test_a_bar_shows_progress():
    pytest.importorskip("tqdm", reason="draws the bars")
    out = io.StringIO()
    made().fit(loader(), epochs=2, event_handlers=est.ProgressBarHandler(file=out))
    assert (
        "epoch 2: 100%" in out.getvalue()
        and "4/4" in out.getvalue()
        and "training accuracy: " in out.getvalue()
    )


# --- checkpoints ----------------------------------------------------------------------------------


def interrupted(tmp_path, stop, **kwargs):
    """Train, stop at a batch, and go on with new objects from the files."""

    class Stop(est.BatchEnd):
        priority = 2000

        def batch_end(self, estimator, *args, **kwargs):
            return estimator.trained_batches == stop

    np.random.seed(8)
    made().fit(
        loader(shuffle=True),
        epochs=3,
        event_handlers=[est.CheckpointHandler(tmp_path, **kwargs), Stop()],
    )
    np.random.seed(99)
    net = network()
    net.initialize()
    second = made(net)
    handler = est.CheckpointHandler(tmp_path, resume_from_checkpoint=True, **kwargs)
    second.fit(loader(shuffle=True), epochs=3, event_handlers=handler)
    return second


@pytest.mark.parametrize(
    ("stop", "options"),
    [(6, {}), (6, {"epoch_period": None, "batch_period": 1}), (7, {"batch_period": 3})],
)
def test_a_resumed_training_is_bit_equal(stop, options, tmp_path):
    """Dropout and the order of the data are random, and follow the same stream."""
    np.random.seed(8)
    whole = made()
    whole.fit(loader(shuffle=True), epochs=3)
    resumed = interrupted(tmp_path, stop, **options)
    assert resumed.trained_batches == whole.trained_batches == 12 and resumed.trained_epochs == 3
    for a, b in zip(weights(resumed), weights(whole), strict=True):
        onp.testing.assert_array_equal(a, b)


def test_checkpoints_are_kept_and_removed(tmp_path):
    estimator = made()
    monitor = estimator.train_metrics[1]
    handler = est.CheckpointHandler(
        tmp_path / "new", "m", monitor, save_best=True, batch_period=1, max_checkpoints=2, verbose=1
    )
    estimator.fit(loader(), epochs=2, event_handlers=handler)
    names = sorted(p.name for p in (tmp_path / "new").iterdir())
    assert names == [
        f"m-{n}.{e}"
        for n in ("best", "epoch1batch8", "epoch2batch8")
        for e in ("json", "params", "states")
    ]
    again = made()
    with pytest.raises(
        ValueError,
        match="written after 2 epochs and 8 batches, which is all that fit was asked for",
    ):
        again.fit(
            loader(),
            epochs=2,
            event_handlers=est.CheckpointHandler(
                tmp_path / "new", "m", resume_from_checkpoint=True
            ),
        )
    (tmp_path / "new" / "m-epoch2batch8.json").write_text("{")
    with pytest.raises(ValueError, match=r"m-epoch2batch8.json: not a whole file of a checkpoint"):
        again.fit(
            loader(),
            epochs=3,
            event_handlers=est.CheckpointHandler(
                tmp_path / "new", "m", resume_from_checkpoint=True
            ),
        )
    again.fit(
        loader(),
        epochs=1,
        event_handlers=est.CheckpointHandler(tmp_path / "other", resume_from_checkpoint=True),
    )
    assert again.trained_epochs == 1
    with pytest.raises(ValueError, match="CheckpointHandler: monitor must be one of"):
        est.CheckpointHandler(tmp_path, save_best=True)
