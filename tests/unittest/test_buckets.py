"""Functions compiled for a few lengths: what they compute of padded arrays is what they compute of
the true rows.
"""

from functools import partial

import numpy as onp
import pytest
from internals import TracedValueError

from npcompat import autograd, gluon, init, np, npx, ops
from npcompat.gluon import nn, rnn
from npcompat.test_utils import assert_almost_equal

RNG = onp.random.default_rng(0)
LENGTHS = 1, 3, 5, 8, 11
W = RNG.normal(size=(4, 6)).astype("float32")
K = RNG.normal(size=(3, 2, 3, 3)).astype("float32")


def rows(n, *shape):
    return RNG.normal(size=(n, *shape)).astype("float32")


ROWS = """
np.exp(x) + 1
x[:, 1]
x[:, 1:3] * 2
x[:, ::-1]
x[:, None, :]
x[:, onp.array([2, 0, 0])]
x.T
x.T.reshape(2, 2, -1)
x.reshape(-1, 2, 2)
x.reshape(x.shape[0], -1)
x @ w
np.dot(x, w), np.einsum("ij,jk->ik", x, w)
np.tensordot(x, w, 1)
np.concatenate([x, x * 2], axis=1)
np.stack([x, x], axis=1), np.stack([x, x], axis=-1)
np.hstack([x, x]), np.split(x, 2, axis=1)
np.sort(x, axis=1), np.argsort(x, axis=1), x.argmax(1), np.median(x, axis=1)
np.cumsum(x, axis=1)
np.expand_dims(x, 0), np.swapaxes(x, 0, 1), np.moveaxis(x, 0, -1)
np.repeat(x, 2, axis=1), np.tile(x, (1, 2))
np.pad(x, ((0, 0), (1, 2)))
np.roll(x, 1, axis=1), np.flip(x, 1)
np.where(x > 0, x, 0)
np.linalg.norm(x, axis=1)
npx.softmax(x), npx.log_softmax(x, axis=-1)
npx.softmax(x, axis=0), npx.log_softmax(x, axis=0, temperature=2.0), np.log(npx.softmax(x.T, axis=1))
npx.layer_norm(x, np.ones(4), np.zeros(4), eps=1e-5)
npx.pick(x, np.abs(x[:, 0]).astype(int) % 4)
npx.one_hot(np.abs(x).astype(int) % 3, 3)
npx.embedding(np.abs(x).astype(int) % 4, w)
npx.topk(x, k=2, axis=1, ret_typ="value")
npx.convolution(x.reshape(-1, 2, 1, 2).repeat(3, 2).repeat(2, 3), k, kernel=(3, 3), num_filter=3, no_bias=True)
npx.pooling(x.reshape(-1, 1, 2, 2), kernel=(2, 2), pool_type="max")
npx.fully_connected(x, w.T, num_hidden=6, no_bias=True)
npx.batch_dot(x[:, :, None], x[:, None, :])
np.einsum("ni,nj->nij", x, x), np.einsum("ni,ni->n", x, x)
np.zeros_like(x), np.ones_like(x) * 2, np.full_like(x, 3)
""".strip().splitlines()
TOTALS = """
x.sum(), x.mean(), x.std(), x.max(), x.min(axis=0)
x.mean(axis=0), x.var(axis=0), np.ptp(x, axis=0)
x.sum() / x.shape[0], x.sum() * (1 / x.shape[0]), x.sum() // (x.shape[0] * 2)
x.sum() / len(w) + x.size
x.T @ x, np.dot(x.T, x), np.einsum("ni,nj->ij", x, x)
np.tensordot(x, x, ([0], [0])), x[:, 0] @ x[:, 1], np.vdot(x[:, 0], x[:, 2]), np.inner(x.T, x.T)
(x - x.mean(0)).T @ (x - x.mean(0)) / (x.shape[0] + 1)
np.count_nonzero(x > 0), np.all(x > -9), np.average(x, axis=0)
(npx.softmax(x) * x).sum()
npx.softmax(x @ w, axis=0).T @ x
""".strip().splitlines()


def pairs(found, expected):
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            yield from pairs(mine, theirs)
    else:
        yield found, expected


@pytest.mark.parametrize("lines", [ROWS, TOTALS], ids=["rows", "totals"])
def test_results_are_those_of_the_true_rows(lines):
    """All in one program, since compiling takes the time."""
    exec(
        f"def program(x, w, k):\n    return [{', '.join(f'({line})' for line in lines)}]",
        names := {"np": np, "npx": npx, "onp": onp},
    )
    program, w, k = names["program"], np.array(W), np.array(K)
    compiled = npx.jit(program, bucket=(4, 8, 16), bucket_axis=(0, None, None))
    with npx.compile_log() as log:
        for n in LENGTHS:
            x = np.array(rows(n, 4))
            for line, found, expected in zip(
                lines, compiled(x, w, k), program(x, w, k), strict=True
            ):
                for mine, theirs in pairs(found, expected):
                    assert mine.shape == theirs.shape and mine.dtype == theirs.dtype, (line, n)
                    assert_almost_equal(
                        mine, theirs, rtol=1e-4, atol=1e-5, names=(line, "unpadded")
                    )
    assert [entry.types[0] for entry in log if entry.name == "program"] == [
        "float32[4,4]",
        "float32[8,4]",
        "float32[16,4]",
    ]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[0],
        lambda x: x[::-1],
        lambda x: x[1:],
        lambda x: np.sort(x, axis=0),
        lambda x: np.concatenate([x, x]),
        lambda x: x @ x.T,
        lambda x: x.reshape(-1),
        lambda x: np.median(x, axis=0),
        lambda x: np.roll(x, 1),
        lambda x: np.exp(x).T @ np.ones((8, 2)),
        lambda x: range(x.shape[0]),
        lambda x: x * 2 if x.shape[0] == 3 else x,
        lambda x: x * 2 if x.size != 12 else x,
        lambda x: x * 2 if x.shape == (3, 4) else x,
        lambda x: np.ones(4) if 2 * x.shape[0] in (6, 8) else x,
        lambda x: np.eye(x.shape[0]),
        lambda x: np.zeros((x.shape[0], x.shape[0])),
        lambda x: x.sum(axis=0, where=x[:, 0] > 0),
        lambda x: npx.batch_norm(x, *(np.ones(8) for _ in range(4)), axis=0),
    ],
)
def test_what_padding_would_change_is_refused(function):
    message = r"test_buckets\.py:\d+: (.* of what bucket= pads|a number) is asked for while the function is being compiled"
    with autograd.train_mode(), pytest.raises(TracedValueError, match=message):
        npx.jit(function, bucket=8)(np.ones((3, 4)))


def test_lengths_that_resemble_those_that_are_tried():
    """The analysis finds the axis of rows by trying other lengths, 101 first."""
    f = npx.jit(
        lambda x: (
            np.zeros((101, x.shape[0])),
            np.full((x.shape[0], 102), x.shape[0]),
            x[:, :1] * np.ones(101),
        ),
        bucket=8,
    )
    for n in (1, 3, 8):
        assert [a.shape for a in f(np.ones((n, 4)))] == [(101, n), (n, 102), (n, 101)]


def training(net, loss, x, y, bucket):
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})

    def step(x, y):
        with autograd.record():
            each = loss(net(x), y)
        each.backward()
        trainer.step(x.shape[0])
        return each

    compiled = npx.jit(step, bucket=bucket)
    return [
        compiled(np.array(x[:n]), np.array(y[:n]))
        if bucket
        else step(np.array(x[:n]), np.array(y[:n]))
        for n in LENGTHS
    ]


def test_a_cross_entropy_of_padded_rows_checks_their_labels():
    x, y = rows(5, 3), RNG.integers(0, 3, 5)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    padded = npx.jit(lambda x, y: loss(x, y), bucket=8)
    for n in (5, 2):
        assert_almost_equal(padded(np.array(x[:n]), np.array(y[:n])), loss(np.array(x[:n]), y[:n]))
    with pytest.raises(IndexError, match="expected numbers of classes, from 0 to 2"):
        padded(np.array(x[:2]), np.array([0, 3])).asnumpy()


def twins(make):
    nets = [make() for _ in range(2)]
    for net in nets:
        np.random.seed(0)
        net.initialize(init.Normal(0.3))
    return nets


def convolutional():
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(3, 3),
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.MaxPool2D(),
        nn.Flatten(),
        nn.Dense(5),
        nn.LayerNorm(),
        nn.Dense(3),
    )
    return net


@pytest.mark.slow
def test_whole_steps_train_as_unpadded_ones():
    x, y = rows(11, 2, 6, 6), RNG.integers(0, 3, 11)
    loss, (net, twin) = gluon.loss.SoftmaxCrossEntropyLoss(), twins(convolutional)
    for mine, theirs in zip(
        training(net, loss, x, y, (4, 8, 16)), training(twin, loss, x, y, None), strict=True
    ):
        assert_almost_equal(mine, theirs, rtol=1e-4, atol=1e-5)
    for (name, one), other in zip(
        net.collect_params().items(), twin.collect_params().values(), strict=True
    ):
        assert_almost_equal(
            one.data(), other.data(), rtol=1e-3, atol=1e-5, names=(name, "unpadded")
        )


def test_hybridized_blocks_and_gradients_outside():
    net, twin = twins(convolutional)
    net.hybridize(bucket=(4, 16))
    for n in LENGTHS:
        gradients = []
        x = rows(n, 2, 6, 6)
        for one in (net, twin):
            given = np.array(x)
            given.attach_grad()
            with autograd.record():
                out = one(given)
                total = (out * out).sum()
            total.backward()
            gradients.append(
                [
                    out,
                    given.grad,
                    *[p.grad() for p in one.collect_params().values() if p.grad_req != "null"],
                ]
            )
        for mine, theirs in zip(*gradients, strict=True):
            assert mine.shape == theirs.shape
            assert_almost_equal(mine, theirs, rtol=1e-3, atol=1e-4)
    for one, other in zip(
        net.collect_params().values(), twin.collect_params().values(), strict=True
    ):
        assert_almost_equal(one.data(), other.data(), rtol=1e-4, atol=1e-5)


def test_recurrent_layers_with_a_varying_batch():
    layers = twins(lambda: rnn.LSTM(5, layout="NTC"))
    layers[0].hybridize(bucket=4)
    for n in (1, 3, 6):
        x = np.array(rows(n, 7, 3))
        assert_almost_equal(layers[0](x), layers[1](x), rtol=1e-4, atol=1e-5)


def test_gradients_of_shares_among_rows():
    """Rows of padding have no share; what is computed of none of them must not be infinite or nan."""

    def program(x):
        return np.log(npx.softmax(x, axis=0)) * npx.log_softmax(x[:, ::-1], axis=0)

    compiled = npx.jit(program, bucket=(4, 8, 16))
    for n in LENGTHS:
        gradients = []
        for function in (compiled, program):
            x = np.sin(np.arange(n * 4.0)).reshape(n, 4)
            x.attach_grad()
            with autograd.record():
                total = (function(x) * np.cos(np.arange(n * 4.0)).reshape(n, 4)).sum()
            total.backward()
            gradients.append(x.grad)
        assert_almost_equal(*gradients, rtol=1e-4, atol=1e-4)


def test_the_axis_by_argument():
    f = npx.jit(lambda x, w, scale=1: (x * scale).T @ w, bucket=8, bucket_axis={0: 1})
    x, w = rows(4, 3), rows(4, 2)
    assert_almost_equal(f(np.array(x), np.array(w), scale=2), 2 * x.T @ w, rtol=1e-5)
    f = npx.jit(lambda batch: batch["x"] + batch["y"][:, None], bucket=8)
    assert_almost_equal(f({"x": np.array(x), "y": np.array(x[:, 0])}), x + x[:, :1])


def test_one_program_for_a_bucket_and_none_for_what_is_cut():
    f = npx.jit(lambda x: x * 2, bucket=(4, 16))
    with npx.compile_log() as log:
        for n in range(17):
            assert f(np.ones((n, 3))).shape == (n, 3)
    assert len(log) == 3  # an empty array has a program of its own


def test_compiled_ahead():
    f = npx.jit(lambda x: x.sum(axis=0), bucket=(4, 16))
    f.compile(ops.TensorType((2, 3), "float32"))
    with npx.compile_log() as log:
        assert f(np.ones((3, 3))).tolist() == [3, 3, 3]
    assert not log


def test_draws_are_those_of_the_true_rows():
    def program(x):
        return npx.dropout(x, p=0.5), np.random.uniform(size=3)

    found = []
    for f in (program, npx.jit(program, bucket=8)):
        np.random.seed(3)
        with autograd.train_mode():
            found.append([*f(np.ones((5, 4))), *f(np.ones((2, 4)))])
    for mine, theirs in zip(*found, strict=True):
        assert_almost_equal(mine, theirs)


def test_calls_inside_of_others_are_not_padded():
    inner = npx.jit(lambda x: x[0], bucket=8)
    assert npx.jit(lambda x: inner(x) + 1)(np.ones((3, 2))).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("options", "arguments", "error", "message"),
    [
        (
            {"bucket": (4, 8)},
            (np.ones(9),),
            ValueError,
            r"bucket= has lengths up to 8, got arrays of 9",
        ),
        (
            {"bucket": 8},
            (np.ones(3), np.ones(4)),
            ValueError,
            r"one length along the axis that is padded, got argument 0: 3, argument 1: 4",
        ),
        (
            {"bucket": 8, "bucket_axis": 1},
            (np.ones(3),),
            ValueError,
            r"bucket_axis= of argument 0: expected an axis of an array of 1",
        ),
        (
            {"bucket": 8},
            (2,),
            TypeError,
            r"bucket= expects an array among the arguments, .* got int",
        ),
    ],
)
def test_bad_arguments(options, arguments, error, message):
    with pytest.raises(error, match=message):
        npx.jit(lambda *a: a[0] * 2, **options)(*arguments)


@pytest.mark.parametrize("bucket", [0, -1, (), (0, 4), 2.5, "8"])
def test_bad_lengths(bucket):
    for ask in (partial(npx.jit, lambda x: x), nn.Dense(2).hybridize):
        with pytest.raises(ValueError, match=r"bucket=: expected a positive int, or several"):
            ask(bucket=bucket)


def test_an_axis_without_lengths():
    for ask in (partial(npx.jit, lambda x: x), nn.Dense(2).hybridize):
        with pytest.raises(ValueError, match=r"bucket_axis=0: expected bucket= beside it"):
            ask(bucket_axis=0)


def test_what_padded_functions_do_not_write():
    def double(x):
        x *= 2

    with pytest.raises(
        NotImplementedError, match="argument 0 is written in place; return what it becomes"
    ):
        npx.jit(double, bucket=8)(np.ones(3))
    x = np.ones(3)
    x.attach_grad()
    with pytest.raises(NotImplementedError, match="argument 0 is a variable"):
        npx.jit(lambda x: x * 2, bucket=8)(x)
