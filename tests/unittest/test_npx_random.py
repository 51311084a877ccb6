"""npx.random: frequencies, shapes, dtypes, and one stream with np.random, in every mode."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx

P = onp.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]], "float32")


def test_bernoulli_draws_ones_with_their_probability():
    prob = np.array([0.0, 0.25, 1.0])
    for sample in (
        npx.random.bernoulli(prob, size=(4000, 3)),
        npx.random.bernoulli(logit=np.array([-onp.inf, -onp.log(3), onp.inf]), size=(4000, 3)),
    ):
        assert sample.dtype == "float32" and set(sample.asnumpy().ravel()) == {0, 1}
        onp.testing.assert_allclose(sample.mean(0).asnumpy(), [0, 0.25, 1], atol=0.03)
    assert (
        npx.random.bernoulli(prob).shape == (3,)
        and npx.random.bernoulli(0.5, size=2, dtype="int32").dtype == "int32"
    )
    assert npx.random.bernoulli(1.0).asnumpy() == 1, "a scalar of this library, not of NumPy's"
    assert npx.random.bernoulli(1.0, size=()).shape == ()
    assert npx.random.bernoulli(prob, dtype=bool).tolist()[::2] == [False, True]
    out = np.zeros(3)
    assert npx.random.bernoulli(prob, out=out) is out and out.tolist()[::2] == [0, 1]


def test_bad_arguments_of_bernoulli_are_named():
    with pytest.raises(ValueError, match="bernoulli: expected either prob or logit"):
        npx.random.bernoulli()
    with pytest.raises(ValueError, match="prob < 0, prob > 1 or prob is NaN"):
        npx.random.bernoulli(1.5)
    with pytest.raises(ValueError, match="shape"):
        npx.random.bernoulli(np.ones(3), size=(2,))


def test_batches_of_uniform_and_normal_numbers():
    low = np.array([0.0, 10.0])
    x = npx.random.uniform_n(low, low + 1, batch_shape=(500, 3))
    assert x.shape == (500, 3, 2) and ((x >= low) & (x < low + 1)).all()
    y = npx.random.normal_n(low, np.array([[1.0], [0.1]]), batch_shape=2000, dtype="float64")
    assert y.shape == (2000, 2, 2) and y.dtype == "float64"
    onp.testing.assert_allclose(y.mean(0).asnumpy(), [[0, 10], [0, 10]], atol=0.1)
    onp.testing.assert_allclose(y.std(0).asnumpy(), [[1, 1], [0.1, 0.1]], atol=0.06)
    assert npx.random.normal_n().shape == () and npx.random.uniform_n(low, 20.0).shape == (2,)


def test_categorical_draws_positions_and_tells_their_probabilities():
    prob = np.array(P)
    sample = npx.random.categorical(prob, shape=4000)
    assert sample.shape == (2, 4000) and sample.dtype == "int32"
    onp.testing.assert_allclose([(sample[0] == k).mean() for k in range(3)], P[0], atol=0.03)
    assert (
        (sample[1] == 1).all()
        and npx.random.categorical(prob).shape == (2,)
        and npx.random.categorical(prob, (2, 3)).shape == (2, 2, 3)
    )
    prob.attach_grad()
    with autograd.record():
        drawn, logs = npx.random.categorical(prob, shape=5, get_prob=True, dtype="int64")
    logs.backward()
    picked = onp.take_along_axis(P, drawn.asnumpy(), 1)
    onp.testing.assert_allclose(logs.asnumpy(), onp.log(picked), rtol=1e-6)
    counts = (drawn.asnumpy()[..., None] == onp.arange(3)).sum(1)
    onp.testing.assert_allclose(
        prob.grad.asnumpy(), onp.where(counts > 0, counts / onp.where(P > 0, P, 1), 0), rtol=1e-6
    )
    with pytest.raises(
        ValueError,
        match=r"categorical: data: expected probabilities along the last axis, got shape \(\)",
    ):
        npx.random.categorical(0.5)


def test_multinomial_counts_outcomes_of_a_batch():
    sample = npx.random.multinomial(np.array([5, 2]), np.array(P), shape=3000)
    assert sample.shape == (2, 3000, 3) and sample.dtype == "int32"
    assert (sample.sum(-1) == np.array([[5], [2]])).all()
    onp.testing.assert_allclose(sample.mean(1).asnumpy(), [5 * P[0], 2 * P[1]], atol=0.1)
    assert npx.random.multinomial(4, np.array(P), dtype="float32").dtype == "float32"


def test_one_stream_eager_and_compiled():
    draws = []
    for wrap in (lambda f: f, npx.jit):
        npx.random.seed(17)

        def draw():
            return (
                npx.random.bernoulli(np.full(6, 0.5)),
                npx.random.categorical(np.array(P), 3),
                npx.random.normal_n(np.zeros(2), 1.0, 2),
            )

        run = wrap(draw)
        run()
        draws.append([x.tolist() for x in run()])
    assert draws[0] == draws[1]
    np.random.seed(17)
    a = np.random.normal(size=3).tolist()
    npx.random.seed(17)
    assert npx.random.normal_n(batch_shape=3).tolist() == a
    with pytest.raises(
        NotImplementedError,
        match=r"npx.random.seed\(device=cpu\(0\)\): all devices draw from one stream; expected 'all'",
    ):
        npx.random.seed(17, npx.cpu())
