"""Attention: masks, dropout, layers against torch, MXNet's interleaved products."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx
from npcompat.gluon import nn

torch = pytest.importorskip("torch", reason="compares with torch")


def values(*shape, seed=0):
    return onp.random.default_rng(seed).normal(size=shape).astype("float32")


# --- the operator ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lengths_masks_and_causality_combine(dtype):
    q, k = values(2, 3, 2, 4).astype(dtype), values(2, 5, 2, 4, seed=1).astype(dtype)
    lengths, mask = onp.array([2, 5]), onp.random.default_rng(2).random((2, 1, 3, 5)) < 0.7
    mask[0, 0, 0, 0] = False  # the first query sees nothing
    seen = mask & (onp.arange(5) < lengths[:, None, None, None]) & onp.tri(3, 5, dtype=bool)
    hidden = ~seen.any(-1)[:, 0]
    expected = torch.nn.functional.scaled_dot_product_attention(
        *[torch.tensor(a).transpose(1, 2) for a in (q, k, k)], attn_mask=torch.tensor(seen)
    )
    found = npx.scaled_dot_product_attention(
        q, k, k, mask=mask, valid_length=lengths, is_causal=True
    ).asnumpy()
    assert found.dtype == dtype and hidden.any() and (found[hidden] == 0).all()
    onp.testing.assert_allclose(
        found[~hidden], expected.transpose(1, 2).numpy()[~hidden], rtol=2e-5, atol=1e-6
    )
    each = npx.scaled_dot_product_attention(
        q, k, k, valid_length=onp.repeat(lengths[:, None], 3, 1)
    ).asnumpy()
    onp.testing.assert_allclose(
        each, npx.scaled_dot_product_attention(q, k, k, valid_length=lengths).asnumpy(), rtol=1e-6
    )


def test_what_sees_nothing_gives_zeros_and_zero_gradients():
    q, k = np.array(values(1, 2, 1, 3)), np.array(values(1, 2, 1, 3, seed=1))
    for a in (q, k):
        a.attach_grad()
    with autograd.record():
        y = npx.scaled_dot_product_attention(q, k, k, valid_length=np.array([0]))
    y.backward()
    assert not y.asnumpy().any() and not q.grad.asnumpy().any() and not k.grad.asnumpy().any()


def test_dropout_is_drawn_from_the_stream_and_only_in_training():
    q, ones = np.zeros((4, 8, 2, 1)), np.ones((4, 16, 2, 1))

    def attend():
        return npx.scaled_dot_product_attention(q, ones, ones, dropout=0.25)

    assert (attend() == 1).all()
    results = []
    for call in (attend, attend, npx.jit(attend)):
        np.random.seed(3)
        with autograd.train_mode():
            results.append(call().asnumpy())
    assert (results[0] == results[1]).all() and onp.allclose(results[0], results[2])
    kept = results[0] * 0.75 * 16  # how many of the 16 equal weights are left
    onp.testing.assert_allclose(kept, kept.round(), atol=1e-4)
    assert 0.65 < kept.mean() / 16 < 0.85 and kept.std() > 0.5


@pytest.mark.parametrize(("batch", "time", "length"), [(0, 2, 3), (1, 0, 3), (1, 2, 0), (1, 1, 1)])
def test_sizes_of_zero_and_one(batch, time, length):
    found = npx.scaled_dot_product_attention(
        np.ones((batch, time, 2, 4)), np.ones((batch, length, 2, 4)), np.ones((batch, length, 2, 4))
    )
    assert found.shape == (batch, time, 2, 4) and (found.asnumpy() == (1 if length else 0)).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_computed_in_float32(dtype):
    q = np.array(values(1, 3, 2, 4)).astype(dtype)
    wide = npx.scaled_dot_product_attention(*[q.astype("float32")] * 3).asnumpy()
    found = npx.scaled_dot_product_attention(q, q, q)
    assert found.dtype == dtype
    onp.testing.assert_allclose(found.astype("float32").asnumpy(), wide, rtol=2e-2, atol=1e-2)


# --- MXNet's products -----------------------------------------------------------------------------


def test_interleaved_products_are_attention():
    length, batch, heads, features = 4, 2, 3, 5
    projected = values(length, batch, heads, 3, features)
    flat = np.array(projected.reshape(length, batch, -1))
    flat.attach_grad()
    q, k, v = (projected[:, :, :, i].swapaxes(0, 1) for i in range(3))
    with autograd.record():
        weights = npx.softmax(npx.interleaved_matmul_selfatt_qk(flat, heads))
        y = npx.interleaved_matmul_selfatt_valatt(flat, weights, heads)
    y.backward()
    expected = npx.scaled_dot_product_attention(q, k, v).swapaxes(0, 1).reshape(length, batch, -1)
    onp.testing.assert_allclose(y.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-6)
    assert weights.shape == (batch * heads, length, length) and flat.grad.asnumpy().any()
    keys = projected[:, :, :, 1:].reshape(length, batch, -1)
    products = npx.interleaved_matmul_encdec_qk(
        projected[:2, :, :, 0].reshape(2, batch, -1), keys, heads
    )
    onp.testing.assert_allclose(
        npx.softmax(products).asnumpy(), weights.asnumpy()[:, :2], rtol=1e-4, atol=1e-6
    )
    found = npx.interleaved_matmul_encdec_valatt(keys, npx.softmax(products), heads)
    onp.testing.assert_allclose(found.asnumpy(), y.asnumpy()[:2], rtol=1e-4, atol=1e-6)


def test_a_window_as_wide_as_the_sequence_is_attention():
    q, k, v = (values(1, 4, 2, 3, seed=s) for s in range(3))
    dilation, w = np.array([1, 1]), 3
    score = npx.sldwin_atten_score(q / onp.sqrt(3).astype("float32"), k, dilation, w)
    weights = npx.masked_softmax(
        score, npx.sldwin_atten_mask_like(score, dilation, np.array([4]), w) != 0
    )
    found = npx.sldwin_atten_context(weights, v, dilation, w)
    onp.testing.assert_allclose(
        found.asnumpy(), npx.scaled_dot_product_attention(q, k, v).asnumpy(), rtol=1e-4, atol=1e-6
    )


# --- layers ---------------------------------------------------------------------------------------


def in_all_ways(layer, x, ways=("eager", "hybridized"), **options):
    """Assert that a layer's result and the gradient of its data agree in all modes; return them."""
    found = []
    for way in ways:
        layer.hybridize(way == "hybridized")
        call = npx.jit(layer) if way == "jit" else layer
        data = np.array(x)
        data.attach_grad()
        np.random.seed(7)
        with autograd.record():
            y = call(data, **options)
            (y * y).sum().backward()
        found.append((y.asnumpy(), data.grad.asnumpy()))
    for other in found[1:]:
        for one, another in zip(found[0], other, strict=True):
            onp.testing.assert_allclose(another, one, rtol=1e-4, atol=1e-5)
    return found[0]


def test_multi_head_attention_is_that_of_torch():
    x, lengths = values(3, 5, 8), np.array([5, 1, 3])
    layer = nn.MultiHeadAttention(8, 2)
    layer.initialize()
    layer(np.array(x))
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad():
        projections = [layer.query_proj, layer.key_proj, layer.value_proj]
        theirs.in_proj_weight.copy_(
            torch.tensor(onp.concatenate([p.weight.data().asnumpy() for p in projections]))
        )
        theirs.in_proj_bias.zero_()
        theirs.out_proj.weight.copy_(torch.tensor(layer.out_proj.weight.data().asnumpy()))
        theirs.out_proj.bias.zero_()
    data = torch.tensor(x, requires_grad=True)
    expected, _ = theirs(
        data,
        data,
        data,
        key_padding_mask=torch.arange(5) >= torch.tensor(lengths.asnumpy())[:, None],
    )
    (expected * expected).sum().backward()
    y, grad = in_all_ways(layer, x, valid_length=lengths)
    onp.testing.assert_allclose(y, expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    onp.testing.assert_allclose(grad, data.grad.numpy(), rtol=1e-4, atol=1e-5)
    assert repr(layer).startswith(
        "MultiHeadAttention(heads=2, dropout=0.0,\n  (query_proj): Dense(8 -> 8, linear)"
    )


def test_grouped_heads_and_other_keys_and_dropout_agree_in_all_ways():
    layer = nn.MultiHeadAttention(8, 4, dropout=0.5, num_key_heads=2)
    layer.initialize()
    x, memory = values(2, 3, 6), np.array(values(2, 4, 5, seed=1))
    y, _ = in_all_ways(layer, x, key=memory)
    assert y.shape == (2, 3, 8) and layer.key_proj.weight.shape == (4, 5)


@pytest.mark.parametrize("pre_norm", [False, True])
def test_the_encoder_cell_is_that_of_torch(pre_norm):
    x = values(2, 4, 8)
    cell = nn.TransformerEncoderCell(8, 16, 2, dropout=0.0, activation="relu", pre_norm=pre_norm)
    cell.initialize()
    theirs = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=pre_norm)
    attention, its = cell.attention, theirs.self_attn
    projections = [attention.query_proj, attention.key_proj, attention.value_proj]
    with torch.no_grad():
        its.in_proj_weight.copy_(
            torch.tensor(onp.concatenate([p.weight.data().asnumpy() for p in projections]))
        )
        its.in_proj_bias.zero_()
        for mine, other in (
            (attention.out_proj, its.out_proj),
            (cell.hidden, theirs.linear1),
            (cell.output, theirs.linear2),
        ):
            other.weight.copy_(torch.tensor(mine.weight.data().asnumpy()))
            other.bias.zero_()
    data = torch.tensor(x, requires_grad=True)
    expected = theirs(data, src_mask=torch.nn.Transformer.generate_square_subsequent_mask(4))
    (expected * expected).sum().backward()
    y, grad = in_all_ways(
        cell, x, ("hybridized", "jit") if pre_norm else ("eager", "hybridized"), is_causal=True
    )
    onp.testing.assert_allclose(y, expected.detach().numpy(), rtol=1e-4, atol=1e-4)
    onp.testing.assert_allclose(grad, data.grad.numpy(), rtol=1e-3, atol=1e-4)


# --- errors ---------------------------------------------------------------------------------------

Q = np.ones((1, 2, 4, 3))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: npx.scaled_dot_product_attention(Q[0], Q, Q),
            ValueError,
            r"axes \(batch, time, heads, features\)",
        ),
        (
            lambda: npx.scaled_dot_product_attention(Q, Q[:, :, :3], Q[:, :, :3]),
            ValueError,
            "key_heads dividing 4",
        ),
        (
            lambda: npx.scaled_dot_product_attention(Q, Q, Q[:, :1]),
            ValueError,
            "expects keys and values of shape",
        ),
        (
            lambda: npx.scaled_dot_product_attention(Q, Q, Q, dropout=1.0),
            ValueError,
            "probability less than 1, got 1.0",
        ),
        (
            lambda: npx.scaled_dot_product_attention(Q, Q, Q, np.ones((2, 2))),
            TypeError,
            "mask must be of bool, got float32",
        ),
        (
            lambda: npx.scaled_dot_product_attention(Q, Q, Q, bias=np.ones((3, 2))),
            ValueError,
            r"bias must broadcast .* got \(3, 2\)",
        ),
        (
            lambda: npx.scaled_dot_product_attention(Q, Q, Q, valid_length=np.ones(2)),
            ValueError,
            r"shape \(1,\) or \(1, 2\), got \(2,\)",
        ),
        (
            lambda: npx.interleaved_matmul_selfatt_qk(np.ones((2, 1, 8)), 2),
            ValueError,
            r"2 heads x 3 x features\), got \(2, 1, 8\)",
        ),
        (
            lambda: npx.interleaved_matmul_encdec_qk(np.ones((2, 1, 8)), np.ones((2, 1, 8)), 2),
            ValueError,
            "do not fit keys",
        ),
        (
            lambda: npx.interleaved_matmul_selfatt_valatt(
                np.ones((2, 1, 6)), np.ones((2, 2, 3)), 2
            ),
            ValueError,
            r"shape \(2, time, 2\)",
        ),
        (
            lambda: npx.sldwin_atten_score(Q, Q, np.array([1]), 1),
            ValueError,
            "dilation be an int for each head",
        ),
        (
            lambda: npx.sldwin_atten_score(Q, Q[:, :1], np.ones(4, dtype=int), 1),
            ValueError,
            "query and key must agree",
        ),
        (
            lambda: npx.sldwin_atten_score(Q, Q, np.ones(4, dtype=int), -1),
            ValueError,
            "w must not be negative",
        ),
        (
            lambda: npx.sldwin_atten_context(Q, Q, np.ones(4, dtype=int), 2),
            ValueError,
            "have 5 elements, got scores of shape",
        ),
        (
            lambda: npx.sldwin_atten_mask_like(Q, np.ones(4, dtype=int), np.ones(2), 1),
            ValueError,
            "valid_length must have shape",
        ),
        (lambda: nn.MultiHeadAttention(8, 3), ValueError, "num_heads must divide units"),
        (
            lambda: nn.MultiHeadAttention(8, 2, dropout=1),
            ValueError,
            "probability less than 1, got 1",
        ),
        (
            lambda: nn.MultiHeadAttention(8, 2)(np.ones((2, 8))),
            ValueError,
            r"expected axes \(batch, time, features\), got shape \(2, 8\)",
        ),
    ],
)
def test_what_does_not_fit_is_an_error(call, error, text):
    with pytest.raises(error, match=text):
        call()
